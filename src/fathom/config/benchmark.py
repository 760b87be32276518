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
    min_count: Positive = Field(5, description="as in gensim's Phrases: ignore what occurs less often")
    min_documents: Positive = Field(
        2, description="fewest documents that a keyword occurs in; from 2 on, copies of one count as one"
    )
    threshold: float = Field(10.0, ge=0.0, description="as in gensim's Phrases: score above which words join")
    passes: Positive = Field(3, description="passes of joining words; candidates are collected after each")
    merge_above: Share = Field(0.85, description="cosine above which two keywords are merged")
    complete: float | None = Field(
        0.8,
        gt=0.5,
        le=1.0,
        description="a word that follows or precedes this share of a phrase's uses joins it, as in "
        "`online social networks`; if a keyword cannot have it, the phrase is dropped; null: never",
    )
    drop_truncated: Share | None = Field(
        0.9,
        description="drop a phrase if this share of its uses lies inside one longer kept phrase; null: never",
    )
    drop_modifiers: Share | None = Field(
        0.8,
        description="a phrase with this share of its uses before content words, such as `monte carlo`, takes "
        "the word that follows most of them, else it is dropped; half of the share is enough if its last "
        "word is no noun, none if it can only be an adjective, participle or adverb; null: never",
    )
    drop_verbs: bool = Field(
        True,
        description="drop phrases with a verb that can be nothing else, such as `model predicts`, or that "
        "most of their uses show as a verb, such as `pass data` after `to`, or with a form in -s that is "
        "a verb elsewhere in the corpus, such as `returns null`",
    )
    drop_names: bool = Field(
        True,
        description="drop names of people and places: phrases of nouns and unknown words that the corpus "
        "hardly ever begins with a small letter",
    )
    min_ratio: float | None = Field(
        1.5,
        ge=0.0,
        description="drop phrases in fewer than this many times as many documents, in proportion, as outside "
        "the domain; null: never",
    )
    min_word_ratio: float | None = Field(
        3.5,
        ge=0.0,
        description="drop pairs of words, such as `parameter space`, of which neither is this many times as "
        "frequent as outside the domain, and which are joined loosely; null: never",
    )
    drop_generic: bool = Field(
        True,
        description="drop pairs of words that name data, quality, effort or means of any study, such as "
        "`image quality` or `computational overhead`, unless the other word hardly stands elsewhere, as in "
        "`mutual information`",
    )
    min_keyness: float | None = Field(
        7000.0,
        ge=0.0,
        description="drop phrases of a lower keyness, such as `operating system`. Keyness: how many times as "
        "frequent a phrase is as in general English, times the mean of that over its words; and times the "
        "square of the same ratio to documents outside the domain, where there are any; where there are "
        "none, and in a folder of documents, what manuals of programs have, whatever the program, goes, too: "
        "`error code`, `bug tracker`. null: never",
    )


RULES = "rules"
"""The default splitter: it is the same wherever Fathom is installed."""


class Sentences(Section):
    """Sentence splitting and cleaning [RawCorpora, Sec. 2.3, App. A.2]."""

    splitter: Text = Field(
        RULES,
        description="rules: blank English of spaCy with a sentencizer and corrections for quotes, brackets"
        " and abbreviations, the same wherever Fathom is installed;"
        " or another spaCy pipeline, an installed package, a folder, or a name in config/pipelines.yaml,"
        " which is fetched; the papers' is en_core_web_sm",
    )
    max_characters: Positive = Field(
        2000, description="leave out and count longer sentences, such as tables, data and failed splits"
    )
    characters: Characters = Field(
        "text",
        description="characters of sentences. text: typographic ones become ASCII, letters with accents stay;"
        " other scripts, and more than two symbols, drop a sentence; LaTeX is read as a document, with the"
        " author's macros. ascii: any other character drops it, and LaTeX is converted sentence by sentence,"
        " as in the papers, which costs 41 % of a typeset book's sentences",
    )
    titles: bool = Field(
        False,
        description="whether a document's title stands before the first sentence of its abstract, as in "
        "`A Title : We show`, which makes it context of a target that it has no part in",
    )
    limit: Positive | None = Field(
        None,
        description="most sentences of each domain, from documents that a hash draws; null: all, see "
        "docs/pipeline.md",
    )

    @field_validator("splitter")
    @classmethod
    def _refuse_auto(cls, splitter: str) -> str:
        """Refuse what version 1 called its default."""
        if splitter == "auto":
            raise ValueError("auto is gone: rules is the default; name en_core_web_sm if that was installed")
        return splitter


class Embedding(Section):
    """Sentence embeddings [RawCorpora, Secs. 2.2, 2.3]."""

    model: Text = Field(
        ENGLISH.embedding, description="sentence-transformers model: hub id, folder, or the packaged default"
    )
    # what it is not given is in no param, so that runs without it stay as they are
    revision: Text | None = Field(
        None,
        exclude_if=lambda revision: revision is None,
        description="commit, branch or tag of a model of the hub; null: the newest when it is fetched",
    )
    batch_tokens: Positive = Field(512, description="tokens in a batch on a processor, padding included")
    device: Device = Field(
        "auto",
        description="where sentences are embedded: cpu, cuda, cuda:N, or auto: a GPU if the job sees one;"
        " matches are the same",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="type in which a processor embeds sentences: float32; bfloat16, after which float32"
        " decides what is close (without AVX-512: float32); auto: bfloat16 if there are matrix units (AMX);"
        " matches are the same",
    )


HOW_TO_EMBED = {"device", "precision"}
"""Keys of :class:`Embedding` that no match depends on."""


class Matches(Section):
    """Which sentences belong to a keyword [RawCorpora, Sec. 2.3]."""

    named: bool = Field(
        True,
        description="whether a sentence must name a keyword to match it: have its words side by side, in any "
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
        description="whose mean score a keyword's terms must reach. words: of all that max_share leaves, so"
        " that no list of stopwords moves it; terms: of those that can be terms, as published"
        " [BeyondBenchmarks, Sec. 2.4]",
    )
    min_cosine: Share = Field(0.3, description="cosine of term and keyword from which a term is kept")
    min_characters: Positive = Field(3, description="shortest term")


class Pairs(Section):
    """Prompt-target pairs [RawCorpora, Sec. 2.5]."""

    per_keyword: Positive = Field(50, description="pairs for each keyword and variant, if there are as many")
    min_characters: Positive = Field(40, description="fewest characters of a sentence")
    min_tokens: Positive = Field(10, description="fewest tokens of a sentence; targets start at or after it")
    scan_from: int = Field(6, ge=0, description="token from which terms are searched")
    earlier_terms: Literal["any", "adjacent"] = Field(
        "adjacent",
        description="which earlier terms, from scan_from on, rule out a target: any, or one that ends right "
        "before it [BeyondBenchmarks, Sec. 2.6]",
    )
    max_tokens: Positive = Field(1024, description="most tokens of a pair: the context of the smallest model")
    tokenizer: Text = Field(
        description="model whose tokenizer counts, the smallest one: trained here, or as under models.score"
    )
    gap_in_prompt: bool = Field(
        False,
        description="keep pairs whose prompt lacks a word: it has `<ref>` for a reference, a formula, a "
        "picture or an unknown macro, or a preposition without the citation that followed it",
    )
    target_in_prompt: bool = Field(
        False, description="keep pairs whose prompt gives the target away: it has it, or another form of it"
    )
    target_in_keyword: bool = Field(
        True,
        description="keep pairs whose target, or another form of it, is in the keyword, which no model sees",
    )
    min_association: float = Field(
        0.5,
        ge=0.0,
        description="least association of a pair: how much more frequent its target is, in other documents, "
        "after a word of the prompt's end that is the field's own; logarithm to base 2; 0: any. In a domain "
        "of fewer than 100 documents it is unknown, and no pair is left out",
    )
    gifts: bool = Field(
        True,
        description="keep pairs that need no knowledge of the field: the target is not three times "
        "as frequent in it as outside, text outside or general English gives it, or an abbreviation does",
    )
    in_other_keyword: bool = Field(
        False, description="keep pairs that another keyword has, too, with the same prompt and target"
    )
    near_copies: bool = Field(
        False,
        description="keep pairs whose sentence is that of another pair, or shares half of its sequences of "
        "three words with it, as versions of one page do",
    )
    max_target_share: Share = Field(
        0.03, description="most of a benchmark's pairs that have one target, in all its forms; five may"
    )
    seed: int = Field(0, description="for the choice among several targets of a sentence")
