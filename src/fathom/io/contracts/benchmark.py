"""Contracts of matches and pairs."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Contract, count, count32, flag, number, text

MATCHES = Contract(
    paths.MATCHED,
    "Matches of keywords and sentences in one domain.",
    *(column.KEYWORD, column.DOC_ID),
    count32("position", "index of the sentence in its document, from 0"),
    text("clean", "the cleaned sentence"),
    number("cosine", "cosine of keyword and raw sentence, three decimals", column.COSINE),
)

CANDIDATES = Contract(
    paths.MATCHES,
    "Matches of one slice; uncertain ones are decided when all slices are gathered.",
    *MATCHES.columns[:-1],
    number("cosine", "cosine of keyword and raw sentence, three decimals; if uncertain, the float32 result"),
    text("uncertain", "the raw sentence if rounding errors could decide, else empty"),
)

OVERLAP = Contract(
    paths.OVERLAP,
    "Which pairs of a benchmark occur in training text, in the order of the pairs.",
    text("pair_id", "pair that was looked for", column.UNIQUE),
    flag("sentence", "prompt and target occur word for word in text that models are trained on"),
    flag("ending", "the last six words of prompt and target occur there"),
)

HELD_OUT_OVERLAP = Contract(
    paths.HELD_OUT_OVERLAP,
    "Stretches of a domain's held-out text that perplexity leaves out, as they occur in training text.",
    column.DOC_ID,
    count("start", "their first character, from 0"),
    count("end", "the character after their last", column.FROM_ONE),
)

SENTENCE_OVERLAP = Contract(
    paths.SENTENCE_OVERLAP,
    "Matched sentences that token lists leave out, as they occur in training text.",
    text("clean", "the cleaned sentence", column.UNIQUE),
)

CONTAMINATION = Contract(
    "{pairs}.contamination.parquet",
    "Which pairs of a benchmark occur in a corpus, exactly or nearly, in the order of the pairs.",
    text("pair_id", "pair that was looked for", column.UNIQUE),
    count("words", "its words, prompt and target together"),
    count("exact", "its sequences of 13 words that occur in the corpus; 0: none"),
    number(
        "near",
        "largest share of its sequences of three words in one passage; 0: below the threshold",
        column.SHARE,
    ),
    text("source", "text with the best passage, or else the first exact match; empty: none"),
)

PAIRS = Contract(
    paths.PAIRS,
    "Prompt-target pairs of one benchmark, by keyword and pair_id.",
    text("pair_id", "hash of keyword, variant, prompt and target", column.UNIQUE),
    column.KEYWORD,
    text("variant", "tf or tfidf, the vocabulary that the target comes from; reference; unused or clozes"),
    text("prompt", "the sentence up to the target, no blank at its end"),
    text("target", "one blank and the term"),
    *(column.DOC_ID, column.DATE),
    number(
        "cosine", "cosine of keyword and sentence, three decimals; NaN in a reference", column.COSINE_OR_NAN
    ),
    flag("target_in_prompt", "the prompt gives the target away: it has it, or another form of it"),
    flag("target_in_keyword", "the keyword has the target, or another form of it"),
    number(
        "association",
        "logarithm, to base 2, of how many times as frequent the target is after a word of the prompt; "
        "0: no more, NaN: unknown",
        column.NOT_NEGATIVE_OR_NAN,
        optional=True,
    ),
)

ASSOCIATIONS = Contract(
    paths.ASSOCIATIONS,
    "Terms of matched sentences that belong to the words before them, or are not gifts.",
    column.DOC_ID,
    count32("position", "index of the sentence in its document, from 0"),
    count32("start", "first character of the term in the clean sentence, from 0"),
    number(
        "association",
        "logarithm, to base 2, of how many times as frequent the term is after a word before it; NaN: "
        "too few documents to tell",
        column.NOT_NEGATIVE_OR_NAN,
    ),
    flag("gift", "no knowledge of the domain is needed: text outside it gives the term"),
)

DOMAIN_ORDERS = Contract(
    (paths.ORDER, "figures/order.{study}.csv"),
    "Domains that a study of continual pretraining compares with its evaluation domain, by place.",
    text("evaluation_domain", "domain that the others are compared with"),
    text("domain", "name of the domain", column.UNIQUE),
    number("similarity", "cosine of the mean embeddings of its and that domain's abstracts", column.COSINE),
    count32("place", "place by similarity, from 1, the least similar first", column.FROM_ONE),
    flag("chosen", "whether it is one of the domains at even distances"),
    count32("stage", "its stage of the training, 0 for none"),
)


DOMAIN_KEYWORDS = Contract(
    paths.KEYWORDS,
    "Keywords of a domain, those of most documents first.",
    column.KEYWORD,
    count("words", "number of its words", column.FROM_ONE),
    count("documents", "abstracts that hold it"),
    count("count", "its uses"),
    text("merged", "phrases that were merged into it"),
)

MANUAL_PHRASES = Contract(
    "config/wordlists/manuals.tsv",
    "Pairs of words in manuals of programs, by how many manuals have them.",
    text("words", "the lemmas of two words, with a blank between them", column.UNIQUE),
    number("share", "share of the manuals that have them", column.SHARE, ".3f"),
    number("per_million", "mean number of uses in a million words", column.NOT_NEGATIVE, ".2f"),
)

VOCABULARY = Contract(
    paths.VOCABULARY,
    "Terms of each keyword, best first.",
    column.KEYWORD,
    text("term", "one blank and the word; case counts"),
    count("count", "its uses in the keyword's sentences"),
    number("score", "its TF or TF-IDF value", digits=".6f"),
    number("share", "share of the keywords whose sentences hold it", column.SHARE, ".6f"),
    number("cosine", "nearness to the keyword", column.COSINE, ".3f"),
)

CHANGES = Contract(
    paths.CHANGES_TABLE,
    "What differs from the previous run: input files, documents, keywords, pairs.",
    text("domain", "name of the domain; empty: all"),
    text("what", "input files, documents, keywords, pairs, documents of pairs"),
    text("variant", "that of the benchmark, for its pairs"),
    count("previous", "number in the previous run"),
    count("now", "number in this run"),
    count("kept", "in both, with equal content"),
    count("changed", "in both, with other content"),
    count("new", "in this run only"),
    count("gone", "in the previous run only"),
    number("overlap", "kept divided by the number in either run", column.ANY_OR_NAN, ".4f"),
)

KEYWORD_CHANGES = Contract(
    paths.KEYWORD_CHANGES,
    "A line for each keyword of this run or the previous one.",
    *(column.DOMAIN, column.KEYWORD),
    text("change", "kept, gained or lost"),
    count("previous_documents", "abstracts that hold it in the previous run", column.NOT_NEGATIVE_OR_NAN),
    count("documents", "abstracts that hold it in this run", column.NOT_NEGATIVE_OR_NAN),
)

REQUEST_FAULTS = Contract(
    "{answer}.faults.csv",
    "Rules that a model's answer to a request breaks.",
    text("file", "file of the answer"),
    count("line", "its line; empty: the whole file", column.NOT_NEGATIVE_OR_NAN),
    count("entry", "number of the entry in it; empty: none", column.NOT_NEGATIVE_OR_NAN),
    text("rule", "the broken rule"),
    text("text", "what breaks it"),
)

EXAMPLE_KEYWORDS = Contract(
    paths.EXAMPLE_TABLE.of(table="keywords"),
    "Keywords of each domain: those that the configuration names, then the first ones.",
    *(column.DOMAIN, column.PLACE, column.KEYWORD, DOMAIN_KEYWORDS.columns[2]),
)

EXAMPLE_VOCABULARIES = Contract(
    paths.EXAMPLE_TABLE.of(table="vocabularies"),
    "Terms and tokens of some keywords of each domain.",
    *(column.DOMAIN, column.KEYWORD),
    text("list", "TF, TF-IDF, or `tokens of` the models with one tokenizer"),
    column.PLACE,
    text("entry", "a term or token; tokens that differ only in a blank before the word stand once"),
)

_CALLED = text("benchmark", "what it is called: TF, TF-IDF, or the configured name of a reference")

EXAMPLE_BENCHMARKS = Contract(
    paths.EXAMPLE_TABLE.of(table="benchmarks"),
    "What each benchmark and each set of questions is about, and how large it is.",
    text("domain", "name of the domain, or of the set of questions"),
    text("title", "what it is called"),
    text("variant", "that of the benchmark; of a set of questions empty"),
    _CALLED,
    text("kind", "kind of its questions: completion, or the forms of a set of questions"),
    count("pairs", "number of pairs, or of questions"),
    count("keywords", "number of keywords, or categories of a reference", column.NOT_NEGATIVE_OR_NAN),
    count("targets", "number of distinct targets", column.NOT_NEGATIVE_OR_NAN),
    count("documents", "number of documents, or of records that questions are about"),
)

EXAMPLE_PAIRS = Contract(
    paths.EXAMPLE_TABLE.of(table="pairs"),
    "Pairs of some keywords of each domain, and of some categories of its references.",
    *(column.DOMAIN, column.VARIANT, _CALLED, column.KEYWORD),
    text("prompt", "the sentence up to the target"),
    text("target", "the term"),
)
