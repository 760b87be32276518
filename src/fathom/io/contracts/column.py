"""What a contract is made of, and columns that several of them share."""

from dataclasses import dataclass

import pyarrow as pa

STRING = pa.string()
BOOL = pa.bool_()
INT32 = pa.int32()
INT64 = pa.int64()
DOUBLE = pa.float64()
STRINGS = pa.list_(pa.string())
INTS = pa.list_(pa.int32())
FLOATS = pa.list_(pa.float32())


@dataclass(frozen=True)
class Check:
    """What the values of a column must be, beside their type; of a list column, the elements of the lists.

    Attributes
    ----------
    at_least, at_most : float, optional
        Limits of the values.
    unique : bool, default=False
        Whether no value occurs twice in what is written at once.
    nan : bool, default=False
        Whether NaN is allowed; infinite values never are.
    """

    at_least: float | None = None
    at_most: float | None = None
    unique: bool = False
    nan: bool = False

    def describe(self) -> str:
        """Return the check in a few words; nothing for one that takes every finite value."""
        limits = (("≥", self.at_least), ("≤", self.at_most))
        parts = [f"{sign} {limit:g}" for sign, limit in limits if limit is not None]
        flags = [name for name, given in (("unique", self.unique), ("or NaN", self.nan)) if given]
        return ", ".join([*parts, *flags])


FINITE = Check()
UNIQUE = Check(unique=True)
NOT_NEGATIVE = Check(at_least=0)
NOT_POSITIVE = Check(at_most=0)
FROM_ONE = Check(at_least=1)
SHARE = Check(at_least=0, at_most=1)
COSINE = Check(at_least=-1, at_most=1)
ANY_OR_NAN = Check(nan=True)
COSINE_OR_NAN = Check(at_least=-1, at_most=1, nan=True)


@dataclass(frozen=True)
class Column:
    """One column of a contract: its name, Arrow type, a line on what it holds, and a check of its values."""

    name: str
    type: pa.DataType
    about: str
    check: Check = FINITE


Contract = tuple[Column, ...]

DOC_ID = Column("doc_id", STRING, "canonical id of a document, unique in a corpus")
TITLE = Column("title", STRING, "title on one line, may be empty")
ABSTRACT = Column("abstract", STRING, "abstract or first paragraph, white space collapsed, may be empty")
DATE = Column("date", STRING, "day of the first version, YYYY-MM-DD, or empty when unknown")
DOMAINS = Column("domains", STRINGS, "names of the configured domains that hold the document, sorted")
SPLIT = Column("split", STRING, "benchmark, adapt-train, adapt-valid or adapt-test")
TEXT_HASH = Column("text_hash", STRING, "sha256 of the full text; tells versions of one document apart")
CHARACTERS = Column("characters", INT64, "length of the full text, 0 where there is none", NOT_NEGATIVE)
KEYWORD = Column("keyword", STRING, "keyword in lower case, words separated by one blank")
