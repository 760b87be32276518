"""Contracts of questions and of the records that they are about."""

import pyarrow as pa

from fathom.io.contracts.column import (
    BOOL,
    DOUBLE,
    INT32,
    NOT_NEGATIVE,
    SHARE,
    STRING,
    STRINGS,
    UNIQUE,
    Column,
    Contract,
)

ENTITIES: Contract = (
    Column("iri", STRING, "name of the entity in the ontology", UNIQUE),
    Column("class", STRING, "class of the entity"),
    Column("label", STRING, "name that questions use"),
    Column("likeness", STRING, "what entities share that may be one: none is a wrong answer for another"),
    Column("source", STRING, "where it comes from: file and line, or the id of a record"),
    Column("text", STRING, "the record in words: what is embedded; empty for entities that are no record"),
    Column("usable", BOOL, "whether questions may name it: no other of its class has the same label"),
)  # fmt: skip
"""Entities of an ontology, sorted by class and name; its statements lie in `ontology.nt`."""

QUESTIONS: Contract = (
    Column("question_id", STRING, "hash of the question, its options and where it comes from", UNIQUE),
    Column("round", INT32, "round in which it was asked, from 0", NOT_NEGATIVE),
    Column("template", STRING, "name of the template; of open questions the file or benchmark"),
    Column("level", STRING, "memorise, understand, apply or create"),
    Column("form", STRING, "binary, multiple-choice, multiple-answer or open"),
    Column("question", STRING, "what is asked"),
    Column("options", STRINGS, "answers to choose from, in the order in which they are shown; open: none"),
    Column("right", pa.list_(BOOL), "whether each option is right"),
    Column("answer", STRING, "the answer in words: right options joined by semicolons, or the text"),
    Column("sources", STRINGS, "rows of the tables, or records, that the answer follows from"),
    Column("chunks", STRINGS, "entities that it is about and whose texts are embedded"),
    Column("query", STRING, "SPARQL ASK that proves it; empty for open questions"),
    Column("bindings", STRINGS, "values of the query's variables, as variable=IRI"),
    Column("asked", STRING, "variable that each option is put in for; empty for binary and open questions"),
    Column("option_iris", STRINGS, "entities that the options name; none for binary and open questions"),
)
"""Questions with their answers, and the query that proves them, by round and id."""

CHUNKS: Contract = (
    Column("iri", STRING, "entity whose text it is", UNIQUE),
    Column("text", STRING, "the text that was embedded"),
)
"""Texts of records that a hash draws, by that hash; row by row those of the embeddings beside it."""

_QUESTION_ID = Column("question_id", STRING, "id of the question")
_PROMPTING = Column("prompting", STRING, "what stands before the question: plain, few-shot or rag")

ANSWERED: Contract = (
    _QUESTION_ID,
    _PROMPTING,
    Column("corpus", STRING, "records that those in the prompt are drawn from: t_c that keeps them, or all"),
    Column("chosen", pa.list_(BOOL), "whether the answer chooses each option; of open questions none"),
    Column("text", STRING, "what the model wrote; empty where likelihoods decide"),
    Column("answered", BOOL, "whether an option was chosen, or anything said"),
    Column("shots", INT32, "examples that fitted into the prompt", NOT_NEGATIVE),
    Column("cut", INT32, "tokens that the beginning of the prompt lost to fit", NOT_NEGATIVE),
)
"""Answers of a model: to a set of questions, by prompting, then to those of other t_d and with other t_c."""

RECORD_CORPORA: Contract = (
    Column("max_correlation", DOUBLE, "t_c that the record is kept with"),
    Column("iri", STRING, "entity whose text it is"),
)
"""Records that a corpus keeps with each t_c, in their order."""

MEASURES: Contract = (
    _QUESTION_ID,
    _PROMPTING,
    Column("form", STRING, "binary, multiple-choice, multiple-answer or open"),
    Column("level", STRING, "memorise, understand, apply or create"),
    Column("template", STRING, "name of the template; of open questions the file or benchmark"),
    Column("metric", STRING, "accuracy, precision, recall, f1, bleu_2 or bleu_4"),
    Column("numerator", DOUBLE, "a metric of many questions is the sum of these", NOT_NEGATIVE),
    Column("denominator", DOUBLE, "over the sum of these", NOT_NEGATIVE),
    Column("answered", BOOL, "whether an option was chosen, or anything said"),
)
"""What the answers of a model are worth: a row for each metric of each question and prompting."""

QUESTION_MAP: Contract = (
    Column("gap_percentile", DOUBLE, "t_d that the questions were asked with", SHARE),
    Column("kind", STRING, "record or question"),
    Column("id", STRING, "IRI of the record, or the question's id"),
    Column("x", DOUBLE, "first principal component of the records' embeddings, four decimals"),
    Column("y", DOUBLE, "second principal component, four decimals"),
    Column("round", INT32, "round in which the question was asked, from 0; 0 for records", NOT_NEGATIVE),
    Column("large", BOOL, "the record is a large gap at the end; false for questions"),
)
"""Where records and the questions about them lie, for each t_d."""

PERCENTILE_COLUMNS = (
    "gap_percentile", "threshold", "rounds", "questions", "share_of_possible", "large_gaps_first",
    "large_gaps", "redundancy", "correlation", "end",
)  # fmt: skip
"""Header of percentiles.csv: what questions are with each t_d."""
SIZE_COLUMNS = ("of", "quantity", "here", "paper")
"""Header of sizes.csv: corpora and sets of questions beside those of [CompComp]; empty: not told."""
SCORE_COLUMNS = (
    "set", "model", "prompting", "form", "level", "template", "metric", "value", "ci_low", "ci_high",
    "questions", "unanswered",
)  # fmt: skip
"""Header of question-scores.csv; an empty template stands for all."""
THRESHOLD_COLUMNS = (
    "set", "parameter", "threshold", "size", "model", "form", "level", "metric", "value", "ci_low", "ci_high",
    "questions", "unanswered",
)  # fmt: skip
"""Header of question-thresholds.csv: `size` counts questions of t_d, records of t_c; no threshold: all."""
DIFFERENCE_COLUMNS = (
    "set", "form", "level", "metric", "model", "prompting", "than_model", "than_prompting", "difference",
    "ci_low", "ci_high", "apart", "questions",
)  # fmt: skip
"""Header of question-differences.csv: the first model and prompting less the second."""
