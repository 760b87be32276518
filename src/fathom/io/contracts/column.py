"""What a contract is made of, and columns that several of them share."""

from dataclasses import dataclass

import pyarrow as pa

_STRING = pa.string()
_STRINGS = pa.list_(pa.string())
_INT64 = pa.int64()


@dataclass(frozen=True)
class Column:
    """One column of a contract: its name, Arrow type, and a line on what it holds."""

    name: str
    type: pa.DataType
    about: str


Contract = tuple[Column, ...]

DOC_ID = Column("doc_id", _STRING, "canonical id of a document, unique in a corpus")
TITLE = Column("title", _STRING, "title on one line, may be empty")
ABSTRACT = Column("abstract", _STRING, "abstract or first paragraph, white space collapsed, may be empty")
DATE = Column("date", _STRING, "day of the first version, YYYY-MM-DD, or empty when unknown")
DOMAINS = Column("domains", _STRINGS, "names of the configured domains that hold the document, sorted")
FOLD = Column("fold", _STRING, "benchmark, adapt-train, adapt-valid or adapt-test, by a hash of doc_id")
TEXT_HASH = Column("text_hash", _STRING, "sha256 of the full text; tells versions of one document apart")
CHARACTERS = Column("characters", _INT64, "length of the full text, 0 where there is none")
KEYWORD = Column("keyword", _STRING, "keyword in lower case, words separated by one blank")
