"""Contracts of questions and of the records that they are about."""

from fathom.io import paths
from fathom.io.contracts import column
from fathom.io.contracts.column import Column, Contract, count, count32, flag, number, numbers, text

ENTITIES = Contract(
    paths.ENTITIES,
    "Entities of an ontology, sorted by class and name; its statements lie in `ontology.nt`.",
    text("iri", "name of the entity in the ontology", column.UNIQUE),
    text("class", "class of the entity"),
    text("label", "name that questions use"),
    text("likeness", "what entities share that may be one: none is a wrong answer for another"),
    text("source", "where it comes from: file and line, or the id of a record"),
    text("text", "the record in words: what is embedded; empty for entities that are no record"),
    flag("usable", "whether questions may name it: no other of its class has the same label"),
)

QUESTIONS = Contract(
    (paths.QUESTIONS, "questions/{set}/rounds/round-{round}.parquet", paths.PERCENTILE_QUESTIONS),
    "Questions with their answers, and the query that proves them, by round and id.",
    text("question_id", "hash of the question, its options and where it comes from", column.UNIQUE),
    count32("round", "round in which it was asked, from 0"),
    text("template", "name of the template; of open questions the file or benchmark"),
    text("level", "memorise, understand, apply or create"),
    text("form", "binary, multiple-choice, multiple-answer or open"),
    text("question", "what is asked"),
    Column(
        "options", column.STRINGS, "answers to choose from, in the order in which they are shown; open: none"
    ),
    Column("right", column.BOOLS, "whether each option is right"),
    text("answer", "the answer in words: right options joined by semicolons, or the text"),
    Column("sources", column.STRINGS, "rows of the tables, or records, that the answer follows from"),
    Column("chunks", column.STRINGS, "entities that it is about and whose texts are embedded"),
    text("query", "SPARQL ASK that proves it; empty for open questions"),
    Column("bindings", column.STRINGS, "values of the query's variables, as variable=IRI"),
    text("asked", "variable that each option is put in for; empty for binary and open questions"),
    Column(
        "option_iris", column.STRINGS, "entities that the options name; none for binary and open questions"
    ),
)

QUESTION_EXAMPLES = Contract(
    "figures/{set}.examples.csv",
    "A question of each form and level, with a row for each option; of an open question for its answer.",
    text("form", "binary, multiple-choice, multiple-answer or open"),
    text("level", "memorise, understand, apply or create"),
    count("questions", "number of questions of this form and level"),
    text("question_id", "id of the question"),
    text("question", "what is asked"),
    text("option", "an answer to choose, or that to an open question"),
    flag("right", "whether it is right"),
)

CHUNKS = Contract(
    paths.CHUNKS,
    "Texts of records that a hash draws, by that hash; row by row those of the embeddings beside it.",
    text("iri", "entity whose text it is", column.UNIQUE),
    text("text", "the text that was embedded"),
)

_QUESTION_ID = text("question_id", "id of the question")
_PROMPTING = text("prompting", "what stands before the question: plain, few-shot or rag")

ANSWERED = Contract(
    paths.QUESTION_ANSWERS,
    "Answers of a model: to a set of questions, by prompting, then to those of other t_d and with other t_c.",
    *(_QUESTION_ID, _PROMPTING),
    text("corpus", "records that those in the prompt are drawn from: t_c that keeps them, or all"),
    Column("chosen", column.BOOLS, "whether the answer chooses each option; of open questions none"),
    text("text", "what the model wrote; empty where likelihoods decide"),
    flag("answered", "whether an option was chosen, or anything said"),
    count32("shots", "examples that fitted into the prompt"),
    count32("cut", "tokens that the beginning of the prompt lost to fit"),
)

RECORD_CORPORA = Contract(
    paths.RECORD_CORPORA,
    "Records that a corpus keeps with each t_c, in their order.",
    number("max_correlation", "t_c that the record is kept with"),
    text("iri", "entity whose text it is"),
)

MEASURES = Contract(
    "",
    "Scores of a model's answers: a row for each metric of each question and prompting.",
    *(_QUESTION_ID, _PROMPTING),
    text("form", "binary, multiple-choice, multiple-answer or open"),
    text("level", "memorise, understand, apply or create"),
    text("template", "name of the template; of open questions the file or benchmark"),
    text("metric", "accuracy, precision, recall, f1, bleu_2 or bleu_4"),
    number("numerator", "a metric of many questions is the sum of these", column.NOT_NEGATIVE),
    number("denominator", "over the sum of these", column.NOT_NEGATIVE),
    flag("answered", "whether an option was chosen, or anything said"),
)

QUESTION_MAP = Contract(
    (paths.PERCENTILE_MAP, "figures/{set}.questions.csv"),
    "Where records and the questions about them lie, for each t_d.",
    number("gap_percentile", "t_d that the questions were asked with", column.SHARE),
    text("kind", "record or question"),
    text("id", "IRI of the record, or the question's id"),
    number("x", "first principal component of the records' embeddings, four decimals"),
    number("y", "second principal component, four decimals"),
    count32("round", "round in which the question was asked, from 0; 0 for records"),
    flag("large", "the record is a large gap at the end; false for questions"),
)


PERCENTILES = Contract(
    paths.PERCENTILES,
    "Questions with each t_d.",
    number("gap_percentile", "t_d", column.SHARE),
    *numbers("threshold", about="log-density above which a gap is large"),
    count("rounds", "number of rounds"),
    count("questions", "number of questions"),
    number("share_of_possible", "share of the questions that can be asked", column.SHARE_OR_NAN),
    count("large_gaps_first", "large gaps in the first round", column.NOT_NEGATIVE_OR_NAN),
    count("large_gaps", "large gaps in the last round", column.NOT_NEGATIVE_OR_NAN),
    number("redundancy", "share of pairs of questions that are alike", column.SHARE_OR_NAN),
    *numbers("correlation", about="correlation of the densities of questions and records"),
    text("end", "why it ended"),
)

SIZES = Contract(
    paths.SIZES,
    "Corpora and sets of questions beside those of [CompComp].",
    text("of", "the corpus or set of questions"),
    text("quantity", "what is counted"),
    text("source", "what questions are made from; empty: no single form of questions"),
    text("metric", "what answers are scored by; empty: no single form of questions"),
    *numbers("here", about="the number here; empty: not told"),
    *numbers("paper", about="the number in the paper"),
)

_SET = text("set", "name of the set of questions")
_FORM = text("form", "binary, multiple-choice, multiple-answer, open, or all")
_LEVEL = text("level", "memorise, understand, apply, create, or all")
_TOLD = (count("questions", "number of questions"), count("unanswered", "number of those without an answer"))

QUESTION_SCORES = Contract(
    (paths.QUESTION_SCORES, "figures/{set}.scores.csv", "figures/{set}.radar.csv"),
    "Metrics of models by prompting, form and level.",
    *(_SET, column.MODEL, _PROMPTING, _FORM, _LEVEL),
    text("template", "name of the template; empty: all"),
    *(column.METRIC, *column.ESTIMATE, *_TOLD),
    key=("set", "model", "prompting", "form", "level", "template", "metric"),
)

QUESTION_THRESHOLDS = Contract(
    (paths.QUESTION_THRESHOLDS, "figures/{set}.answers-by-threshold.csv"),
    "Metrics of models with other t_d and t_c.",
    _SET,
    text("parameter", "t_d or t_c"),
    number("threshold", "its value; empty: all records", column.ANY_OR_NAN),
    count("size", "number of questions of t_d, of records of t_c"),
    *(column.MODEL, _PROMPTING, _FORM, _LEVEL, column.METRIC, *column.ESTIMATE, *_TOLD),
)

QUESTION_DIFFERENCES = Contract(
    paths.QUESTION_DIFFERENCES,
    "The first model and prompting less the second. Interval and `p` hold for one difference, "
    "`p_adjusted` and `apart` for all of a set and metric together.",
    *(_SET, _FORM, _LEVEL, column.METRIC, column.MODEL, _PROMPTING),
    text("than_model", "the second model"),
    text("than_prompting", "its prompting"),
    *numbers("difference", "ci_low", "ci_high", about="first less second"),
    *(column.P, column.P_ADJUSTED, column.APART_OF_ALL),
    _TOLD[0],
)

WRITTEN_FAULTS = Contract(
    paths.WRITTEN_FAULTS,
    "Texts by a model that are left out.",
    text("source", "record, or file and line, that it comes from"),
    text("fault", "what is wrong"),
    text("text", "what was written"),
)
