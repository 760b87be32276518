"""What a contract is made of, and columns that several of them share."""

from dataclasses import dataclass

import pyarrow as pa

_STRING = pa.string()
_STRINGS = pa.list_(pa.string())
_INT64 = pa.int64()


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

DOC_ID = Column("doc_id", _STRING, "canonical id of a document, unique in a corpus")
TITLE = Column("title", _STRING, "title on one line, may be empty")
ABSTRACT = Column("abstract", _STRING, "abstract or first paragraph, white space collapsed, may be empty")
DATE = Column("date", _STRING, "day of the first version, YYYY-MM-DD, or empty when unknown")
DOMAINS = Column("domains", _STRINGS, "names of the configured domains that hold the document, sorted")
FOLD = Column("fold", _STRING, "benchmark, adapt-train, adapt-valid or adapt-test")
TEXT_HASH = Column("text_hash", _STRING, "sha256 of the full text; tells versions of one document apart")
CHARACTERS = Column("characters", _INT64, "length of the full text, 0 where there is none", NOT_NEGATIVE)
KEYWORD = Column("keyword", _STRING, "keyword in lower case, words separated by one blank")
