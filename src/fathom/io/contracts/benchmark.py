"""Contracts of matches and pairs."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_OR_NAN,
    BOOL,
    COSINE,
    COSINE_OR_NAN,
    DATE,
    DOC_ID,
    DOMAIN,
    DOUBLE,
    FROM_ONE,
    INT32,
    INT64,
    KEYWORD,
    NOT_NEGATIVE,
    PLACE,
    SHARE,
    STRING,
    UNIQUE,
    VARIANT,
    Check,
    Column,
    Contract,
)

MATCHES = Contract(
    paths.MATCHED,
    "Matches of keywords and sentences in one domain.",
    (
        KEYWORD,
        DOC_ID,
        Column("position", INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE),
        Column("clean", STRING, "the cleaned sentence"),
        Column("cosine", DOUBLE, "cosine of keyword and raw sentence, three decimals", COSINE),
    ),
)

CANDIDATES = Contract(
    paths.MATCHES,
    "Matches of one slice; uncertain ones are decided when all slices are gathered.",
    (
        *MATCHES.columns[:-1],
        Column(
            "cosine",
            DOUBLE,
            "cosine of keyword and raw sentence, three decimals; if uncertain, the float32 result",
        ),
        Column("uncertain", STRING, "the raw sentence if rounding errors could decide, else empty"),
    ),
)

OVERLAP = Contract(
    paths.OVERLAP,
    "Which pairs of a benchmark occur in training text, in the order of the pairs.",
    (
        Column("pair_id", STRING, "pair that was looked for", UNIQUE),
        Column("sentence", BOOL, "prompt and target occur word for word in text that models are trained on"),
        Column("ending", BOOL, "the last six words of prompt and target occur there"),
    ),
)

HELD_OUT_OVERLAP = Contract(
    paths.HELD_OUT_OVERLAP,
    "Stretches of a domain's held-out text that perplexity leaves out, as they occur in training text.",
    (
        DOC_ID,
        Column("start", INT64, "their first character, from 0", NOT_NEGATIVE),
        Column("end", INT64, "the character after their last", FROM_ONE),
    ),
)

SENTENCE_OVERLAP = Contract(
    paths.SENTENCE_OVERLAP,
    "Matched sentences that token lists leave out, as they occur in training text.",
    (Column("clean", STRING, "the cleaned sentence", UNIQUE),),
)

CONTAMINATION = Contract(
    "{pairs}.contamination.parquet",
    "Which pairs of a benchmark occur in a corpus, exactly or nearly, in the order of the pairs.",
    (
        Column("pair_id", STRING, "pair that was looked for", UNIQUE),
        Column("words", INT64, "its words, prompt and target together", NOT_NEGATIVE),
        Column("exact", INT64, "its sequences of 13 words that occur in the corpus; 0: none", NOT_NEGATIVE),
        Column(
            "near",
            DOUBLE,
            "largest share of its sequences of three words in one passage; 0: below the threshold",
            SHARE,
        ),
        Column("source", STRING, "text with the best passage, or else the first exact match; empty: none"),
    ),
)

PAIRS = Contract(
    paths.PAIRS,
    "Prompt-target pairs of one benchmark, by keyword and pair_id.",
    (
        Column("pair_id", STRING, "hash of keyword, variant, prompt and target", UNIQUE),
        KEYWORD,
        Column(
            "variant",
            STRING,
            "tf or tfidf, the vocabulary that the target comes from; reference; unused or clozes",
        ),
        Column("prompt", STRING, "the sentence up to the target, no blank at its end"),
        Column("target", STRING, "one blank and the term"),
        DOC_ID,
        DATE,
        Column(
            "cosine",
            DOUBLE,
            "cosine of keyword and sentence, three decimals; NaN in a reference",
            COSINE_OR_NAN,
        ),
        Column(
            "target_in_prompt", BOOL, "the prompt gives the target away: it has it, or another form of it"
        ),
        Column("target_in_keyword", BOOL, "the keyword has the target, or another form of it"),
        Column(
            "association",
            DOUBLE,
            "logarithm, to base 2, of how many times as frequent the target is after a word of the prompt; "
            "0: no more, NaN: unknown",
            Check(at_least=0, nan=True),
            optional=True,
        ),
    ),
)

ASSOCIATIONS = Contract(
    paths.ASSOCIATIONS,
    "Terms of matched sentences that belong to the words before them, or are not gifts.",
    (
        DOC_ID,
        Column("position", INT32, "index of the sentence in its document, from 0", NOT_NEGATIVE),
        Column("start", INT32, "first character of the term in the clean sentence, from 0", NOT_NEGATIVE),
        Column(
            "association",
            DOUBLE,
            "logarithm, to base 2, of how many times as frequent the term is after a word before it; NaN: "
            "too few documents to tell",
            Check(at_least=0, nan=True),
        ),
        Column("gift", BOOL, "no knowledge of the domain is needed: text outside it gives the term"),
    ),
)

DOMAIN_ORDERS = Contract(
    (paths.ORDER, "figures/order.{study}.csv"),
    "Domains that a study of continual pretraining compares with its evaluation domain, by place.",
    (
        Column("evaluation_domain", STRING, "domain that the others are compared with"),
        Column("domain", STRING, "name of the domain", UNIQUE),
        Column(
            "similarity", DOUBLE, "cosine of the mean embeddings of its and that domain's abstracts", COSINE
        ),
        Column("place", INT32, "place by similarity, from 1, the least similar first", FROM_ONE),
        Column("chosen", BOOL, "whether it is one of the domains at even distances"),
        Column("stage", INT32, "its stage of the training, 0 for none", NOT_NEGATIVE),
    ),
)

_COUNT_OR_EMPTY = Check(at_least=0, nan=True)

DOMAIN_KEYWORDS = Contract(
    paths.KEYWORDS,
    "Keywords of a domain, those of most documents first.",
    (
        KEYWORD,
        Column("words", INT64, "number of its words", FROM_ONE),
        Column("documents", INT64, "abstracts that hold it", NOT_NEGATIVE),
        Column("count", INT64, "its uses", NOT_NEGATIVE),
        Column("merged", STRING, "phrases that were merged into it"),
    ),
)

MANUAL_PHRASES = Contract(
    "config/wordlists/manuals.tsv",
    "Pairs of words in manuals of programs, by how many manuals have them.",
    (
        Column("words", STRING, "the lemmas of two words, with a blank between them", UNIQUE),
        Column("share", DOUBLE, "share of the manuals that have them", SHARE, ".3f"),
        Column("per_million", DOUBLE, "mean number of uses in a million words", NOT_NEGATIVE, ".2f"),
    ),
)

VOCABULARY = Contract(
    paths.VOCABULARY,
    "Terms of each keyword, best first.",
    (
        KEYWORD,
        Column("term", STRING, "one blank and the word; case counts"),
        Column("count", INT64, "its uses in the keyword's sentences", NOT_NEGATIVE),
        Column("score", DOUBLE, "its TF or TF-IDF value", digits=".6f"),
        Column("share", DOUBLE, "share of the keywords whose sentences hold it", SHARE, ".6f"),
        Column("cosine", DOUBLE, "nearness to the keyword", COSINE, ".3f"),
    ),
)

CHANGES = Contract(
    paths.CHANGES_TABLE,
    "What differs from the previous run: input files, documents, keywords, pairs.",
    (
        Column("domain", STRING, "name of the domain; empty: all"),
        Column("what", STRING, "input files, documents, keywords, pairs, documents of pairs"),
        Column("variant", STRING, "that of the benchmark, for its pairs"),
        *(
            Column(name, INT64, about, NOT_NEGATIVE)
            for name, about in (
                ("previous", "number in the previous run"),
                ("now", "number in this run"),
                ("kept", "in both, with equal content"),
                ("changed", "in both, with other content"),
                ("new", "in this run only"),
                ("gone", "in the previous run only"),
            )
        ),
        Column("overlap", DOUBLE, "kept divided by the number in either run", ANY_OR_NAN, ".4f"),
    ),
)

KEYWORD_CHANGES = Contract(
    paths.KEYWORD_CHANGES,
    "A line for each keyword of this run or the previous one.",
    (
        *(DOMAIN, KEYWORD),
        Column("change", STRING, "kept, gained or lost"),
        Column("previous_documents", INT64, "abstracts that hold it in the previous run", _COUNT_OR_EMPTY),
        Column("documents", INT64, "abstracts that hold it in this run", _COUNT_OR_EMPTY),
    ),
)

REQUEST_FAULTS = Contract(
    "{answer}.faults.csv",
    "Rules that a model's answer to a request breaks.",
    (
        Column("file", STRING, "file of the answer"),
        Column("line", INT64, "its line; empty: the whole file", _COUNT_OR_EMPTY),
        Column("entry", INT64, "number of the entry in it; empty: none", _COUNT_OR_EMPTY),
        Column("rule", STRING, "the broken rule"),
        Column("text", STRING, "what breaks it"),
    ),
)

EXAMPLE_KEYWORDS = Contract(
    paths.EXAMPLE_TABLE.of(table="keywords"),
    "Keywords of each domain: those that the configuration names, then the first ones.",
    (DOMAIN, PLACE, KEYWORD, DOMAIN_KEYWORDS.columns[2]),
)

EXAMPLE_VOCABULARIES = Contract(
    paths.EXAMPLE_TABLE.of(table="vocabularies"),
    "Terms and tokens of some keywords of each domain.",
    (
        *(DOMAIN, KEYWORD),
        Column("list", STRING, "tf, tfidf, or `tokens of` the models with one tokenizer"),
        PLACE,
        Column("entry", STRING, "a term or token"),
    ),
)

EXAMPLE_BENCHMARKS = Contract(
    paths.EXAMPLE_TABLE.of(table="benchmarks"),
    "What each benchmark is about, and how large it is.",
    (
        DOMAIN,
        Column("title", STRING, "title of the domain"),
        VARIANT,
        Column("kind", STRING, "kind of its questions: completion"),
        Column("pairs", INT64, "number of pairs", NOT_NEGATIVE),
        Column("keywords", INT64, "number of keywords, or categories of a reference", NOT_NEGATIVE),
        Column("targets", INT64, "number of distinct targets", NOT_NEGATIVE),
        Column("documents", INT64, "number of documents", NOT_NEGATIVE),
    ),
)

EXAMPLE_PAIRS = Contract(
    paths.EXAMPLE_TABLE.of(table="pairs"),
    "Pairs of some keywords of each domain, and of some categories of its references.",
    (
        *(DOMAIN, VARIANT, KEYWORD),
        Column("prompt", STRING, "the sentence up to the target"),
        Column("target", STRING, "the term"),
    ),
)
