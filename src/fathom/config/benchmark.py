"""Settings of keywords, sentences, embeddings, matches, vocabularies and pairs [RawCorpora, Sec. 2]."""

from typing import Literal, get_args

from pydantic import Field, field_validator

from fathom.config.language import ENGLISH
from fathom.config.section import Device, Positive, Section, Share, Text

Variant = Literal["tf", "tfidf"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Characters = Literal["text", "ascii"]
REFERENCE = "reference"
"""The variant of a benchmark that a person or another model wrote [RawCorpora, Sec. 3.2]."""


class Keywords(Section):
    """Keyword extraction [RawCorpora, Sec. 2.2, App. A.1]."""

    count: Positive = Field(300, description="keywords for each domain")
    shares: dict[Literal["2", "3", "4", "5+"], Share] = Field(
        {"2": 0.5, "3": 0.3, "4": 0.15, "5+": 0.05}, description="share of keywords by number of words"
    )
    min_count: Positive = Field(
        5, description="as in gensim's Phrases: ignore words and phrases that occur less often"
    )
    min_documents: Positive = Field(
        2,
        description="fewest documents that a keyword occurs in; if 2 or more, copies of a document count "
        "once",
    )
    threshold: float = Field(
        10.0, ge=0.0, description="as in gensim's Phrases: score above which words are joined"
    )
    passes: Positive = Field(3, description="passes that join words; candidates are collected after each")
    merge_above: Share = Field(0.85, description="cosine above which two keywords are merged")
    complete: float | None = Field(
        0.8,
        gt=0.5,
        le=1.0,
        description="complete a phrase by the word that follows or precedes this share of its uses, as in "
        "`online social networks`; drop the phrase if no keyword may contain that word; null: never",
    )
    drop_truncated: Share | None = Field(
        0.9,
        description="drop a phrase if this share of its uses lies inside one longer kept phrase; null: never",
    )
    drop_modifiers: Share | None = Field(
        0.8,
        description="if this share of a phrase's uses is before content words, such as `monte carlo`, "
        "complete it by the word that follows most of them, or else drop it; half of the share is enough "
        "if its last word is no noun, and none is needed if that can only be an adjective, participle or "
        "adverb; null: never",
    )
    drop_verbs: bool = Field(
        True,
        description="drop phrases with a word that can only be a verb, such as `model predicts`, that is a "
        "verb in most of their uses, such as `pass data` after `to`, or that ends in -s and is a verb "
        "elsewhere in the corpus, such as `returns null`",
    )
    drop_names: bool = Field(
        True,
        description="drop names of people and places: phrases of nouns and unknown words that the corpus "
        "nearly always capitalises",
    )
    min_ratio: float | None = Field(
        1.5,
        ge=0.0,
        description="drop phrases whose share of documents in the domain is less than this many times that "
        "outside; null: never",
    )
    min_word_ratio: float | None = Field(
        3.5,
        ge=0.0,
        description="drop loosely joined pairs of words, such as `parameter space`, if neither word is this "
        "many times as frequent as outside the domain; null: never",
    )
    drop_generic: bool = Field(
        True,
        description="drop pairs of words that name data, quality, effort or means of any study, such as "
        "`image quality` or `computational overhead`, unless the other word rarely occurs elsewhere, as in "
        "`mutual information`",
    )
    min_keyness: float | None = Field(
        7000.0,
        ge=0.0,
        description="drop phrases of a lower keyness, such as `operating system`. Keyness: how many times "
        "as frequent a phrase is as in general English, times the mean of that ratio over its words, times "
        "the square of its ratio to documents outside the domain, if any. Without such documents, and in a "
        "folder of documents, phrases common to manuals of all programs are also dropped: `error code`, "
        "`bug tracker`. null: never",
    )


RULES = "rules"
"""The default splitter, the same on every installation."""


class Sentences(Section):
    """Sentence splitting and cleaning [RawCorpora, Sec. 2.3, App. A.2]."""

    splitter: Text = Field(
        RULES,
        description="rules: spaCy's blank English with a sentencizer and corrections for quotes, brackets "
        "and abbreviations, the same on every installation; or another spaCy pipeline: an installed "
        "package, a folder, or a name in config/pipelines.yaml, which is fetched. The papers use "
        "en_core_web_sm",
    )
    max_characters: Positive = Field(
        2000, description="leave out and count longer sentences, such as tables, data and failed splits"
    )
    characters: Characters = Field(
        "text",
        description="allowed characters. text: typographic characters become ASCII, letters with accents "
        "stay; sentences with other scripts or more than two symbols are dropped; LaTeX is read as a "
        "document, with the author's macros. ascii: sentences with any other character are dropped, and "
        "LaTeX is converted sentence by sentence, as in the papers, which loses 41 % of a typeset book's "
        "sentences",
    )
    titles: bool = Field(
        False,
        description="put a document's title before the first sentence of its abstract, as in `A Title : We "
        "show`; it is then context of an unrelated target",
    )
    limit: Positive | None = Field(
        None,
        description="most sentences of each domain, from documents that a hash draws; null: all, see "
        "docs/pipeline.md",
    )

    @field_validator("splitter")
    @classmethod
    def _refuse_auto(cls, splitter: str) -> str:
        if splitter == "auto":
            raise ValueError("auto is gone: rules is the default; name en_core_web_sm if that was installed")
        return splitter


class Embedding(Section):
    """Sentence embeddings [RawCorpora, Secs. 2.2, 2.3]."""

    model: Text = Field(
        ENGLISH.embedding, description="sentence-transformers model: hub id, folder, or the packaged default"
    )
    # None is left out of params, so that runs without it do not change
    revision: Text | None = Field(
        None,
        exclude_if=lambda revision: revision is None,
        description="commit, branch or tag of a model of the hub; null: the newest when it is fetched",
    )
    batch_tokens: Positive = Field(512, description="tokens in a batch on a processor, padding included")
    device: Device = Field(
        "auto",
        description="where to embed sentences: cpu, cuda, cuda:N, or auto: a GPU if the job sees one; "
        "matches are the same",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="number format for embedding on a processor: float32; bfloat16, with float32 for close "
        "cosines (float32 without AVX-512); auto: bfloat16 on processors with matrix units (AMX); matches "
        "are the same",
    )


HOW_TO_EMBED = {"device", "precision"}
"""Keys of :class:`Embedding` that do not affect matches."""


class Matches(Section):
    """Which sentences belong to a keyword [RawCorpora, Sec. 2.3]."""

    named: bool = Field(
        True,
        description="a sentence matches a keyword only if it names it, with its words side by side in any "
        "form; only such sentences are embedded. false: the cosine alone decides, as in the papers",
    )
    min_cosine: Share = Field(0.3, description="cosine from which a sentence matches a keyword")


class Vocabulary(Section):
    """Target vocabularies [RawCorpora, Sec. 2.4]."""

    max_share: dict[Variant, Share] = Field(
        {"tf": 0.8, "tfidf": 0.5}, description="leave out terms in more than this share of keyword documents"
    )
    mean_of: Literal["words", "terms"] = Field(
        "words",
        description="a keyword's terms must reach the mean score of these. words: all words that max_share "
        "leaves, whatever the stopwords; terms: words that can be terms, as published [BeyondBenchmarks, "
        "Sec. 2.4]",
    )
    min_cosine: Share = Field(0.3, description="cosine of term and keyword from which a term is kept")
    min_characters: Positive = Field(3, description="shortest term")


class Pairs(Section):
    """Prompt-target pairs [RawCorpora, Sec. 2.5]."""

    per_keyword: Positive = Field(50, description="most pairs for each keyword and variant")
    min_characters: Positive = Field(40, description="fewest characters of a sentence")
    min_tokens: Positive = Field(10, description="fewest tokens of a sentence; targets start at or after it")
    scan_from: int = Field(6, ge=0, description="token at which the search for terms starts")
    earlier_terms: Literal["any", "adjacent"] = Field(
        "adjacent",
        description="which earlier terms, from scan_from on, rule out a target: any, or only one right "
        "before it [BeyondBenchmarks, Sec. 2.6]",
    )
    max_tokens: Positive = Field(
        1024, description="most tokens of a pair; the context length of the smallest model"
    )
    tokenizer: Text = Field(
        description="model whose tokenizer counts tokens, best the smallest one: trained here, or as under "
        "models.score"
    )
    gap_in_prompt: bool = Field(
        False,
        description="keep pairs whose prompt lacks a word: it has `<ref>` in place of a reference, formula, "
        "picture or unknown macro, or a preposition that lost its citation",
    )
    target_in_prompt: bool = Field(
        False, description="keep pairs whose prompt contains the target or another form of it"
    )
    target_in_keyword: bool = Field(
        True,
        description="keep pairs whose keyword, which no model sees, contains the target or another form of "
        "it",
    )
    min_association: float = Field(
        0.5,
        ge=0.0,
        description="least association of a pair: binary logarithm of how many times as frequent its target "
        "is, in other documents, after one of the field's own words near the prompt's end; 0: any. Unknown "
        "in domains of fewer than 100 documents, where no pair is left out",
    )
    gifts: bool = Field(
        True,
        description="keep pairs that need no knowledge of the field: the target is less than three times as "
        "frequent in it as outside, or text outside, general English or an abbreviation gives it away",
    )
    in_other_keyword: bool = Field(
        False, description="keep pairs that repeat another keyword's prompt and target"
    )
    near_copies: bool = Field(
        False,
        description="keep pairs that share their sentence, or half of its sequences of three words, with "
        "another pair, as versions of one page do",
    )
    max_target_share: Share = Field(
        0.03,
        description="largest share of a benchmark's pairs with the same target, in any form; five are "
        "always allowed",
    )
    seed: int = Field(0, description="for choosing among several targets of a sentence")
