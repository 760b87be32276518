"""Parts of contracts, and columns that several of them share."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.io.names import MODEL_FORM, NAME_FORM, Form
from fathom.io.run_path import RunPath

STRING = "string"
BOOL = "bool"
YES_NO = "yes or no"
"""A truth value that a CSV shows as `yes` or `no`, where BOOL shows `True` or `False`."""
INT16, INT32, INT64, UINT64 = "int16", "int32", "int64", "uint64"
DOUBLE = "double"
STRINGS, BOOLS, INTS, FLOATS, DOUBLES = (f"list<{kind}>" for kind in (STRING, BOOL, INT32, "float", DOUBLE))
"""Types have Arrow's names."""


@dataclass(frozen=True)
class Check:
    """Constraints on the values of a column, beside their type; for list columns, on the elements."""

    at_least: float | None = None
    at_most: float | None = None
    unique: bool = False  # whether no value occurs twice in what is written at once
    nan: bool = False  # whether NaN is allowed; in tables of text infinite values then are, too
    infinite: bool = False  # whether infinite values are allowed
    form: Form | None = None

    def describe(self, missing: str = "NaN") -> str:
        """Return the check in a few words, given the mark of a missing number; empty without constraints."""
        limits = (("≥", self.at_least), ("≤", self.at_most))
        parts = [f"{sign} {limit:g}" for sign, limit in limits if limit is not None]
        flags = [name for name, given in (("unique", self.unique), (f"or {missing}", self.nan),
                                    ("or infinite", self.infinite)) if given]  # fmt: skip
        forms = [self.form.about] if self.form else []
        return ", ".join([*parts, *flags, *forms])

    def find_fault(self, value: float | str) -> str:
        """Return what is wrong with a value of a table of text; empty if valid."""
        if isinstance(value, str):
            fits = self.form is None or re.fullmatch(self.form.pattern, value)
            return "" if fits or self.form is None else f"is not {self.form.about}"
        if not (math.isfinite(value) or self.nan or (self.infinite and math.isinf(value))):
            return "is not a finite number"
        if self.at_least is not None and value < self.at_least:
            return f"is less than {self.at_least:g}"
        if self.at_most is not None and value > self.at_most:
            return f"is greater than {self.at_most:g}"
        return ""


FINITE = Check()
UNIQUE = Check(unique=True)
NOT_NEGATIVE = Check(at_least=0)
NOT_POSITIVE = Check(at_most=0)
FROM_ONE = Check(at_least=1)
SHARE = Check(at_least=0, at_most=1)
COSINE = Check(at_least=-1, at_most=1)
ANY_OR_NAN = Check(nan=True)
NOT_NEGATIVE_OR_NAN = Check(at_least=0, nan=True)
FROM_ONE_OR_NAN = Check(at_least=1, nan=True)
SHARE_OR_NAN = Check(at_least=0, at_most=1, nan=True)
COSINE_OR_NAN = Check(at_least=-1, at_most=1, nan=True)


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str  # a piece in braces stands for any text: `{benchmark}_rank` is any number of columns, or none
    type: str
    about: str  # one line on what it holds
    # constraints on its values. In a CSV, a number that may be NaN may be an empty field
    check: Check = FINITE
    digits: str = ".6g"  # format of floats in a CSV; empty: with all digits
    optional: bool = False  # whether a table may lack it

    def fits(self, name: str) -> bool:
        """Return whether a column of a table is this one, or one of these."""
        return re.fullmatch(re.sub(r"\\{\w+\\}", ".+", re.escape(self.name)), name) is not None

    @property
    def needed(self) -> bool:
        """Whether every table of the contract has it."""
        return not self.optional and "{" not in self.name


def text(name: str, about: str, check: Check = FINITE, optional: bool = False) -> Column:
    """Return a column of text."""
    return Column(name, STRING, about, check, optional=optional)


def flag(name: str, about: str) -> Column:
    """Return a column of truth values."""
    return Column(name, BOOL, about)


def count(name: str, about: str, check: Check = NOT_NEGATIVE) -> Column:
    """Return a column of whole numbers in 64 bits."""
    return Column(name, INT64, about, check)


def count32(name: str, about: str, check: Check = NOT_NEGATIVE) -> Column:
    """Return a column of whole numbers in 32 bits, for large tables."""
    return Column(name, INT32, about, check)


def number(
    name: str, about: str, check: Check = FINITE, digits: str = ".6g", optional: bool = False
) -> Column:
    """Return a column of floats."""
    return Column(name, DOUBLE, about, check, digits, optional)


class Contract:
    """Description of a table.

    `places` are its places in a run, one or several: paths of :mod:`fathom.io.paths`, or text. `hint` is for
    a file that does not fit. People write a table `by_hand`: a line may end before columns that need no
    value. No two lines have the same values in the columns of `key`; without any, lines may repeat.
    """

    def __init__(
        self,
        places: str | tuple[str, ...],
        about: str,
        *columns: Column,
        hint: str = "make it again",
        by_hand: bool = False,
        key: tuple[str, ...] = (),
    ) -> None:
        self.places, self.about, self.columns = places, about, columns
        self.hint, self.by_hand, self.key = hint, by_hand, key

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    @property
    def files(self) -> str:
        """Its places below the folder of a run, with wildcards in braces and commas between."""
        places = (self.places,) if isinstance(self.places, str) else self.places
        return ", ".join(each.below if isinstance(each, RunPath) else each for each in places)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    def find_place(self, path: Path | str) -> str:
        """Return the end of a path that gives its file's place, such as domain and model.

        Nothing for a path that is not one of a run.
        """
        named = (RunPath(each) for each in self.files.split(", ") if " " not in each)
        return next((place for each in named if (place := each.find_end(path))), "")

    @property
    def delimiter(self) -> str:
        """Separator of fields, for a table of text."""
        return "\t" if self.files.endswith(".tsv") else ","

    def match(self, header: Sequence[str]) -> list[Column | None]:
        """Return the column that each name of a header belongs to, None for one that is unknown."""
        exact = {column.name: column for column in self.columns}
        repeated = [column for column in self.columns if "{" in column.name]
        return [
            exact.get(name) or next((each for each in repeated if each.fits(name)), None) for name in header
        ]


DOC_ID = text("doc_id", "canonical id of a document, unique in a corpus")
TITLE = text("title", "title on one line, may be empty")
ABSTRACT = text("abstract", "abstract or beginning of the text, white space collapsed, may be empty")
DATE = text("date", "day of the first version, YYYY-MM-DD, or empty when unknown")
DOMAINS = Column("domains", STRINGS, "names of the configured domains that hold the document, sorted")
SPLIT = text("split", "benchmark, adapt-train, adapt-valid or adapt-test")
TEXT_HASH = text("text_hash", "sha256 of the full text; distinguishes versions of one document")
CHARACTERS = count("characters", "length of the full text, 0 where there is none")
KEYWORD = text("keyword", "keyword in lower case, words separated by one blank")
MODEL = text("model", "name of the model", Check(form=MODEL_FORM))
ANY_MODEL = text("model", "name of the model, as the user's files have it")
FAMILY = text("family", "family of the model")
KIND = text("kind", "base or chat")
DOMAIN = text("domain", "name of the domain", Check(form=NAME_FORM))
VARIANT = text(
    "variant", "that of the benchmark, or text or keywords for what needs no pairs", Check(form=NAME_FORM)
)
METRIC = text("metric", "what was measured")
AGGREGATE = text("aggregate", "how pairs are summed up: trimmed_mean, geometric_mean, mean, median")
VALUE = number("value", "the number", ANY_OR_NAN)
CI_LOW = number("ci_low", "lower end of its interval", ANY_OR_NAN)
CI_HIGH = number("ci_high", "upper end", ANY_OR_NAN)
INTERVAL = (CI_LOW, CI_HIGH)
ESTIMATE = (VALUE, *INTERVAL)
P = number("p", "two-sided p-value", SHARE_OR_NAN)
P_ADJUSTED = number(
    "p_adjusted",
    "p corrected for the number of tests by Holm's method; the table says of which tests",
    SHARE_OR_NAN,
)
APART_OF_ALL = Column("apart", YES_NO, "significantly different: whether p_adjusted is at most 0.05")
PLACE = count("place", "place, from 1", FROM_ONE)
SEEDS = count("seeds", "number of trainings")
BASE_MODEL = text("base", "model that all start from")
ITEMS = count("items", "number of pairs, documents or keywords")
KEYWORD_COUNT = count("keywords", "number of keywords")
PAIR_COUNT = count("pairs", "number of pairs; of scored documents, of keywords for the attribute rate")
CLUSTERS = text(
    "clusters",
    "what the bootstrap draws: keywords; documents where pairs have no two keywords; else pairs",
    optional=True,
)
MODEL_COUNT = count("models", "number of models")


def numbers(*names: str, about: str) -> tuple[Column, ...]:
    """Return columns of numbers that may be empty: the first is described, the others are its interval."""
    told = (about, "lower end of its interval", "upper end")
    return tuple(number(name, text, ANY_OR_NAN) for name, text in zip(names, told, strict=False))
