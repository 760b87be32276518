"""Contracts of questions and of the records that they are about."""

from fathom.io import paths
from fathom.io.contracts.column import (
    ANY_OR_NAN,
    APART_OF_ALL,
    BOOL,
    BOOLS,
    DOUBLE,
    ESTIMATE,
    INT32,
    INT64,
    METRIC,
    MODEL,
    NOT_NEGATIVE,
    P_ADJUSTED,
    SHARE,
    STRING,
    STRINGS,
    UNIQUE,
    Check,
    Column,
    Contract,
    P,
    describe_numbers,
)

ENTITIES = Contract(
    paths.ENTITIES,
    "Entities of an ontology, sorted by class and name; its statements lie in `ontology.nt`.",
    (
        Column("iri", STRING, "name of the entity in the ontology", UNIQUE),
        Column("class", STRING, "class of the entity"),
        Column("label", STRING, "name that questions use"),
        Column("likeness", STRING, "what entities share that may be one: none is a wrong answer for another"),
        Column("source", STRING, "where it comes from: file and line, or the id of a record"),
        Column(
            "text", STRING, "the record in words: what is embedded; empty for entities that are no record"
        ),
        Column("usable", BOOL, "whether questions may name it: no other of its class has the same label"),
    ),
)

QUESTIONS = Contract(
    (paths.QUESTIONS, "questions/{set}/rounds/round-{round}.parquet", paths.PERCENTILE_QUESTIONS),
    "Questions with their answers, and the query that proves them, by round and id.",
    (
        Column("question_id", STRING, "hash of the question, its options and where it comes from", UNIQUE),
        Column("round", INT32, "round in which it was asked, from 0", NOT_NEGATIVE),
        Column("template", STRING, "name of the template; of open questions the file or benchmark"),
        Column("level", STRING, "memorise, understand, apply or create"),
        Column("form", STRING, "binary, multiple-choice, multiple-answer or open"),
        Column("question", STRING, "what is asked"),
        Column(
            "options", STRINGS, "answers to choose from, in the order in which they are shown; open: none"
        ),
        Column("right", BOOLS, "whether each option is right"),
        Column("answer", STRING, "the answer in words: right options joined by semicolons, or the text"),
        Column("sources", STRINGS, "rows of the tables, or records, that the answer follows from"),
        Column("chunks", STRINGS, "entities that it is about and whose texts are embedded"),
        Column("query", STRING, "SPARQL ASK that proves it; empty for open questions"),
        Column("bindings", STRINGS, "values of the query's variables, as variable=IRI"),
        Column(
            "asked", STRING, "variable that each option is put in for; empty for binary and open questions"
        ),
        Column("option_iris", STRINGS, "entities that the options name; none for binary and open questions"),
    ),
)

QUESTION_EXAMPLES = Contract(
    "figures/{set}.examples.csv",
    "A question of each form and level, with a row for each option; of an open question for its answer.",
    (
        Column("form", STRING, "binary, multiple-choice, multiple-answer or open"),
        Column("level", STRING, "memorise, understand, apply or create"),
        Column("questions", INT64, "number of questions of this form and level", NOT_NEGATIVE),
        Column("question_id", STRING, "id of the question"),
        Column("question", STRING, "what is asked"),
        Column("option", STRING, "an answer to choose, or that to an open question"),
        Column("right", BOOL, "whether it is right"),
    ),
)

CHUNKS = Contract(
    paths.CHUNKS,
    "Texts of records that a hash draws, by that hash; row by row those of the embeddings beside it.",
    (
        Column("iri", STRING, "entity whose text it is", UNIQUE),
        Column("text", STRING, "the text that was embedded"),
    ),
)

_QUESTION_ID = Column("question_id", STRING, "id of the question")
_PROMPTING = Column("prompting", STRING, "what stands before the question: plain, few-shot or rag")

ANSWERED = Contract(
    paths.QUESTION_ANSWERS,
    "Answers of a model: to a set of questions, by prompting, then to those of other t_d and with other t_c.",
    (
        _QUESTION_ID,
        _PROMPTING,
        Column(
            "corpus", STRING, "records that those in the prompt are drawn from: t_c that keeps them, or all"
        ),
        Column("chosen", BOOLS, "whether the answer chooses each option; of open questions none"),
        Column("text", STRING, "what the model wrote; empty where likelihoods decide"),
        Column("answered", BOOL, "whether an option was chosen, or anything said"),
        Column("shots", INT32, "examples that fitted into the prompt", NOT_NEGATIVE),
        Column("cut", INT32, "tokens that the beginning of the prompt lost to fit", NOT_NEGATIVE),
    ),
)

RECORD_CORPORA = Contract(
    paths.RECORD_CORPORA,
    "Records that a corpus keeps with each t_c, in their order.",
    (
        Column("max_correlation", DOUBLE, "t_c that the record is kept with"),
        Column("iri", STRING, "entity whose text it is"),
    ),
)

MEASURES = Contract(
    "",
    "Scores of a model's answers: a row for each metric of each question and prompting.",
    (
        _QUESTION_ID,
        _PROMPTING,
        Column("form", STRING, "binary, multiple-choice, multiple-answer or open"),
        Column("level", STRING, "memorise, understand, apply or create"),
        Column("template", STRING, "name of the template; of open questions the file or benchmark"),
        Column("metric", STRING, "accuracy, precision, recall, f1, bleu_2 or bleu_4"),
        Column("numerator", DOUBLE, "a metric of many questions is the sum of these", NOT_NEGATIVE),
        Column("denominator", DOUBLE, "over the sum of these", NOT_NEGATIVE),
        Column("answered", BOOL, "whether an option was chosen, or anything said"),
    ),
)

QUESTION_MAP = Contract(
    (paths.PERCENTILE_MAP, "figures/{set}.questions.csv"),
    "Where records and the questions about them lie, for each t_d.",
    (
        Column("gap_percentile", DOUBLE, "t_d that the questions were asked with", SHARE),
        Column("kind", STRING, "record or question"),
        Column("id", STRING, "IRI of the record, or the question's id"),
        Column("x", DOUBLE, "first principal component of the records' embeddings, four decimals"),
        Column("y", DOUBLE, "second principal component, four decimals"),
        Column("round", INT32, "round in which the question was asked, from 0; 0 for records", NOT_NEGATIVE),
        Column("large", BOOL, "the record is a large gap at the end; false for questions"),
    ),
)

_SIZE_OR_EMPTY = Check(at_least=0, nan=True)
_SHARE_OR_EMPTY = Check(at_least=0, at_most=1, nan=True)

PERCENTILES = Contract(
    paths.PERCENTILES,
    "Questions with each t_d.",
    (
        Column("gap_percentile", DOUBLE, "t_d", SHARE),
        *describe_numbers("threshold", about="log-density above which a gap is large"),
        Column("rounds", INT64, "number of rounds", NOT_NEGATIVE),
        Column("questions", INT64, "number of questions", NOT_NEGATIVE),
        Column("share_of_possible", DOUBLE, "share of the questions that can be asked", _SHARE_OR_EMPTY),
        Column("large_gaps_first", INT64, "large gaps in the first round", _SIZE_OR_EMPTY),
        Column("large_gaps", INT64, "large gaps in the last round", _SIZE_OR_EMPTY),
        Column("redundancy", DOUBLE, "share of pairs of questions that are alike", _SHARE_OR_EMPTY),
        *describe_numbers("correlation", about="correlation of the densities of questions and records"),
        Column("end", STRING, "why it ended"),
    ),
)

SIZES = Contract(
    paths.SIZES,
    "Corpora and sets of questions beside those of [CompComp].",
    (
        Column("of", STRING, "the corpus or set of questions"),
        Column("quantity", STRING, "what is counted"),
        *describe_numbers("here", about="the number here; empty: not told"),
        *describe_numbers("paper", about="the number in the paper"),
    ),
)

_SET = Column("set", STRING, "name of the set of questions")
_FORM = Column("form", STRING, "binary, multiple-choice, multiple-answer, open, or all")
_LEVEL = Column("level", STRING, "memorise, understand, apply, create, or all")
_TOLD = (
    Column("questions", INT64, "number of questions", NOT_NEGATIVE),
    Column("unanswered", INT64, "number of those without an answer", NOT_NEGATIVE),
)

QUESTION_SCORES = Contract(
    (paths.QUESTION_SCORES, "figures/{set}.scores.csv", "figures/{set}.radar.csv"),
    "Metrics of models by prompting, form and level.",
    (
        *(_SET, MODEL, _PROMPTING, _FORM, _LEVEL),
        Column("template", STRING, "name of the template; empty: all"),
        *(METRIC, *ESTIMATE, *_TOLD),
    ),
    key=("set", "model", "prompting", "form", "level", "template", "metric"),
)

QUESTION_THRESHOLDS = Contract(
    (paths.QUESTION_THRESHOLDS, "figures/{set}.answers-by-threshold.csv"),
    "Metrics of models with other t_d and t_c.",
    (
        _SET,
        Column("parameter", STRING, "t_d or t_c"),
        Column("threshold", DOUBLE, "its value; empty: all records", ANY_OR_NAN),
        Column("size", INT64, "number of questions of t_d, of records of t_c", NOT_NEGATIVE),
        *(MODEL, _FORM, _LEVEL, METRIC, *ESTIMATE, *_TOLD),
    ),
)

QUESTION_DIFFERENCES = Contract(
    paths.QUESTION_DIFFERENCES,
    "The first model and prompting less the second. Interval and `p` hold for one difference, "
    "`p_adjusted` and `apart` for all of a set and metric together.",
    (
        *(_SET, _FORM, _LEVEL, METRIC, MODEL, _PROMPTING),
        Column("than_model", STRING, "the second model"),
        Column("than_prompting", STRING, "its prompting"),
        *describe_numbers("difference", "ci_low", "ci_high", about="first less second"),
        *(P, P_ADJUSTED, APART_OF_ALL),
        _TOLD[0],
    ),
)

WRITTEN_FAULTS = Contract(
    paths.WRITTEN_FAULTS,
    "Texts by a model that are left out.",
    (
        Column("source", STRING, "record, or file and line, that it comes from"),
        Column("fault", STRING, "what is wrong"),
        Column("text", STRING, "what was written"),
    ),
)
