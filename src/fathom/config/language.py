"""The language of a corpus: every resource that depends on it, in one place.

Everything specific to English is here, so another language is another :class:`Language`.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """What the steps know about a language.

    `before_numbers`, `before_small`, `before_names`, `at_ends`: abbreviations after which no sentence ends
    before a number, none before a small letter, none before a name, and one only before words of
    `beginnings`. `frequent_words`, `frequent_pairs`: files of symspellpy with the frequencies of words, and
    of pairs of words, on the web. `project_ends`, `project_starts`: lemmas at the end, and words at the
    beginning, of phrases about a program itself, not its subject. `generic_ends`, `generic_starts`: lemmas at
    the end, and words at the beginning, of pairs of words that name data, quality, effort or means of any
    study.
    """

    code: str  # ISO 639-1, which also names spaCy's blank pipeline and the detector's class
    name: str  # for messages
    papers_splitter: str  # spaCy pipeline that the papers split sentences with
    abbreviations: str  # words with a full stop after which no sentence ends, separated by blanks
    before_numbers: str
    before_small: str
    before_names: str
    at_ends: str
    beginnings: str  # words that begin sentences but not names
    lemmas: str  # file of spacy-lookups-data with the lemma of each word
    frequent_words: str
    frequent_pairs: str
    stemmer: str  # name of the Snowball stemmer
    embedding: str  # default model of sentence embeddings
    word_lists: str  # default folder of word lists
    manuals: str  # table of phrases in manuals of programs
    project_ends: frozenset[str]
    project_starts: frozenset[str]
    generic_ends: frozenset[str]
    generic_starts: frozenset[str]
    generic_phrases: frozenset[str]  # such pairs of lemmas, neither of which is generic alone


ENGLISH = Language(
    code="en",
    name="English",
    papers_splitter="en_core_web_sm",
    # frequent in scientific text; blank English would end a sentence here
    abbreviations=(
        "al. et. ex. cf. Cf. e.g. E.g. i.e. I.e. vs. viz. resp. approx. ca. w.r.t. s.t. a.k.a. incl. "
        "Eq. Eqs. Eqn. Eqns. eq. eqs. Fig. Figs. fig. figs. Tab. Tabs. Sec. Secs. Sect. Sects. sec. "
        "Ref. Refs. ref. refs. Thm. Thms. Def. Defs. Prop. Props. Lem. Cor. Alg. App. Ch. Chap. Vol. vol. "
        "pp. p. Nos. Ex. Exs. Univ. Prof. Dr. St. Phys. Rev. Lett. Nucl. Astrophys. Proc. Natl. "
        "Acad. Sci. Mod. Math. Chem. Biol."
    ),
    before_numbers=(
        "No. Nos. no. nos. Art. Arts. art. arts. Para. Paras. para. paras. Cl. cl. Pt. pt. Pts. pts. "
        "Sch. Reg. Regs. Stat. fn. n. c. v. ver. Ver. Ch. ch. ss. s. ll. l. cc. col. cols. tab. tabs. "
        "Jan. Feb. Mar. Apr. Jun. Jul. Aug. Sep. Sept. Oct. Nov. Dec. Op. op. Bd. Suppl. suppl. Tel. "
        "tel. lit. ser. Ser. cap. sect. Abs. rev. Rev. fol. fols. nr. Nr. Tbl."
    ),
    before_small=(
        "ff. fols. vols. bk. bks. ms. mss. Mss. eqn. eqns. coeff. lbs. oz. cwt. gal. hrs. wt. dia. Assn. Mfg."
    ),
    before_names=(
        "Mr. Mrs. Ms. Messrs. Mme. Mlle. Mx. Rev. Hon. Capt. Cpt. Lt. Col. Cmdr. Gen. Sgt. Maj. Brig. "
        "Gov. Sen. Rep. Pres. Supt. Insp. Prof. Profs. Dr. Drs. St. Sts. Mt. Ft. Fr. Sr. Br. Msgr. v. "
        "pv. pvs. cv. subsp. ssp. var. subg. aff. bv. f.sp. sp. spp. Ave. Cir. ed. eds. trans. esp. "
        "misc. temp. max. min. ft. hon. avg. dept. Dept. est. resp. incl. ibid. loc. cit. op. seq. cert. "
        "Supp. Univ. Inst. Assoc. Bros. Dist. Ct. Ass'n."
    ),
    at_ends=(
        "al. Inc. Ltd. Co. Cos. Corp. LLC. Jr. Sr. Ph.D. Ph.Ds. M.D. D.Phil. B.A. M.A. B.Sc. M.Sc. "
        "Sc.D. Esq. U.S. U.K. U.N. E.U. U.S.A. U.S.S.R. D.C. B.C. A.D. N.Y. L.A. P.C. S.A. N.V. S.p.A."
    ),
    beginnings=(
        "A After Additionally All Also Although Among An And Another As At Because Before Between Both "
        "But By Consequently Despite During Each Even Every Finally First For From Further Furthermore "
        "Given He Hence Her Here His How However I If In Indeed Instead It Its Last Let Like Many "
        "Moreover Most My Nevertheless Next No Nor Not Note Now On Once One Or Other Our Over Rather "
        "Second See Several She Similarly Since So Some Still Such That The Their Then There Therefore "
        "These They This Those Though Through Thus To Today Two Under Unless Unlike Until Upon Using We "
        "Were What When Where Whereas Whether Which While Who Why With Within Without Yet You Your"
    ),
    lemmas="en_lemma_lookup.json.gz",
    frequent_words="frequency_dictionary_en_82_765.txt",
    frequent_pairs="frequency_bigramdictionary_en_243_342.txt",
    stemmer="english",
    embedding="all-MiniLM-L6-v2",
    word_lists="config/wordlists",
    manuals="config/wordlists/manuals.tsv",
    # from reading the keywords of thirteen manuals
    project_ends=frozenset(
        ["binary distribution", "bug tracker", "contributor", "developer", "faq", "guide", "installation",
         "license agreement", "mailing list", "maintainer", "manual", "project", "source distribution",
         "version"]
    ),
    project_starts=frozenset(
        ["building", "compiling", "configuring", "downloading", "installing", "upgrading", "using"]
    ),
    # from reading 509 keywords of seven fields
    generic_ends=frozenset(
        ["ability", "accuracy", "assumption", "capability", "collection", "constraint", "cost", "data",
         "demand", "domain", "efficiency", "estimate", "information", "input", "instruction", "issue",
         "limitation", "metric", "module", "need", "objective", "output", "overhead", "performance",
         "quality", "requirement", "resource", "result", "sample", "scenario",
         "setting", "source", "subject", "task", "truth", "value"]
    ),
    generic_starts=frozenset(
        ["closed-source", "computational", "contextual", "healthy", "input", "labeled", "labelled", "large",
         "open-source", "output", "raw", "sensitive", "trainable", "unlabeled", "unlabelled"]
    ),
    generic_phrases=frozenset(
        ["big data", "ground truth", "group member", "group size", "labeled data", "model parameter",
         "objective function", "parameter estimate", "parameter space", "sample size", "united states"]
    ),
)  # fmt: skip
