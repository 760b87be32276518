"""Contracts of questions and of the records that they are about."""

import pyarrow as pa

from fathom.io.contracts.column import NOT_NEGATIVE, UNIQUE, Column, Contract

_STRING = pa.string()
_STRINGS = pa.list_(pa.string())
_BOOL = pa.bool_()
_INT32 = pa.int32()

ENTITIES: Contract = (
    Column("iri", _STRING, "name of the entity in the ontology", UNIQUE),
    Column("class", _STRING, "class of the entity"),
    Column("label", _STRING, "name that questions use"),
    Column("likeness", _STRING, "what entities share that may be one: none is a wrong answer for another"),
    Column("source", _STRING, "where it comes from: file and line, or the id of a record"),
    Column("text", _STRING, "the record in words: what is embedded; empty for entities that are no record"),
    Column("usable", _BOOL, "whether questions may name it: no other of its class has the same label"),
)  # fmt: skip
"""Entities of an ontology, sorted by class and name; its statements lie in `ontology.nt`."""

QUESTIONS: Contract = (
    Column("question_id", _STRING, "hash of the question, its options and where it comes from", UNIQUE),
    Column("round", _INT32, "round in which it was asked, from 0", NOT_NEGATIVE),
    Column("template", _STRING, "name of the template; of open questions the file or benchmark"),
    Column("level", _STRING, "memorise, understand, apply or create"),
    Column("form", _STRING, "binary, multiple-choice, multiple-answer or open"),
    Column("question", _STRING, "what is asked"),
    Column("options", _STRINGS, "answers to choose from, in the order in which they are shown; open: none"),
    Column("right", pa.list_(_BOOL), "whether each option is right"),
    Column("answer", _STRING, "the answer in words: right options joined by semicolons, or the text"),
    Column("sources", _STRINGS, "rows of the tables, or records, that the answer follows from"),
    Column("chunks", _STRINGS, "entities that it is about and whose texts are embedded"),
    Column("query", _STRING, "SPARQL ASK that proves it; empty for open questions"),
    Column("bindings", _STRINGS, "values of the query's variables, as variable=IRI"),
    Column("asked", _STRING, "variable that each option is put in for; empty for binary and open questions"),
    Column("option_iris", _STRINGS, "entities that the options name; none for binary and open questions"),
)
"""Questions with their answers, and the query that proves them, by round and id."""

CHUNKS: Contract = (
    Column("iri", _STRING, "entity whose text it is", UNIQUE),
    Column("text", _STRING, "the text that was embedded"),
)
"""Texts of records that a hash draws, by that hash; row by row those of the embeddings beside it."""
