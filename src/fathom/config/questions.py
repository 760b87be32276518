"""Settings of questions: their tables, templates and rounds [CompComp, Secs. 3.3, 4.2]."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fathom.config.section import Name, Positive, Section, Text, check_values, find_repeated
from fathom.config.yaml_files import read_values

Term = str
"""Names of classes: a letter, then letters, digits, underscores; of columns: anything after a letter."""

_TERM = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_PROPERTY = re.compile(r"[^\W\d_]\w*")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")

OPTIONS = {"binary": 2, "multiple-choice": 4, "multiple-answer": 8}
"""Options of a question by its form [CompComp, App. B.1]."""

Form = Literal["binary", "multiple-choice", "multiple-answer"]
Level = Literal["memorise", "understand", "apply"]
OPEN, CREATE = "open", "create"
"""Form and level of questions answered by texts, not by queries [CompComp, App. B.3]."""


class Asking(Section):
    """How many questions to ask, and about which records [CompComp, Sec. 3.3]."""

    categories: list[Text] = Field(
        ["*"], min_length=1, description="categories of papers to ask about: `cs.AI`, `cs.*`, `*`"
    )
    first: Positive = Field(500, description="number of questions in the first round, from all records")
    per_gap: Positive = Field(1, description="most questions for each gap in a round")
    rounds: int = Field(10, ge=0, description="most rounds after the first")
    chunks: Positive = Field(5_000, description="most records to embed and ask about, drawn by a hash")


DUMP = "dump"
"""In place of a file: the metadata of the run's arXiv dump."""


class QuestionSet(Asking):
    """A set of questions about one's own tables or about arXiv's metadata [CompComp, Sec. 3.3]."""

    tables: Text | None = Field(
        None, description="YAML file that lists CSV tables and describes their columns"
    )
    metadata: Text | None = Field(
        None,
        description="in place of `tables`: arXiv's metadata, JSON lines, plain or compressed; dump: the "
        "metadata of the run's arXiv dump",
    )
    templates: Text = Field(description="YAML file of templates, or a folder of them")
    user_questions: list[Text] = Field(
        [],
        description="questions by people, .csv or .jsonl with question and answer, to add; they count as "
        "gaps",
    )
    pairs: list[Annotated[str, Field(pattern=r"^[^/]+/(tf|tfidf|reference)$")]] = Field(
        [], description="benchmarks of this run, DOMAIN/VARIANT, whose pairs may become open questions"
    )

    writer: Text | None = Field(
        None,
        description="model of models.score that writes open questions about records by greedy decoding; "
        "they are added like `user_questions`",
    )
    written: Positive = Field(
        50, description="number of records that it writes a question about, drawn by a hash"
    )

    @model_validator(mode="after")
    def _need_one_source(self) -> Self:
        if (self.tables is None) == (self.metadata is None):
            raise ValueError("give either tables or metadata")
        return self


Prompting = Literal["plain", "few-shot", "rag"]
PROMPTINGS: tuple[Prompting, ...] = ("plain", "few-shot", "rag")
"""What precedes a question: nothing, answered questions, or the nearest records."""


class Evaluation(Section):
    """Which models answer all sets of questions, and how [CompComp, Sec. 5]."""

    models: list[Text] = Field(
        [],
        description="models that answer: trained, adapted, or under models.score, such as NAME@chat, or under"
        " models.speaking; empty: none",
    )
    promptings: list[Prompting] = Field(
        [*PROMPTINGS],
        min_length=1,
        description="plain: the question alone; few-shot: after `shots` answered ones; rag: after the "
        "`retrieved` nearest records",
    )
    by: Literal["likelihood", "text"] = Field(
        "likelihood",
        description="likelihood: the most likely letter, or the likelier of yes and no; each of eight options"
        " is asked about alone. text: what the model writes. Open questions are always answered in writing",
    )
    shown: float = Field(
        0.2,
        ge=0,
        lt=1,
        description="share of the questions of each form and level, drawn by a hash, that models are not "
        "asked: examples for few-shot prompts, and the training text NAME.questions",
    )
    shots: Positive = Field(5, description="most examples in a few-shot prompt")
    retrieved: Positive = Field(5, description="records in a rag prompt")
    max_tokens: Positive = Field(128, description="longest answer to an open question, in tokens")
    per_threshold: Positive = Field(
        200,
        description="most questions of each form and level to answer with the records of each t_c of "
        "`ablation`, drawn by a hash",
    )

    @model_validator(mode="after")
    def _name_each_once(self) -> Self:
        for key, names in (("models", self.models), ("promptings", [str(each) for each in self.promptings])):
            if twice := find_repeated(names):
                raise ValueError(f"{key}: {twice[0]} is named twice")
        if "few-shot" in self.promptings and not self.shown:
            raise ValueError("shown = 0: few-shot prompts need examples; raise it, or leave them out")
        return self


TEXTS = ("records", "questions")
"""Texts of a set of questions to train models on, as domain SET.records and SET.questions."""


def name_property(column: str) -> str:
    """Return a column's name in queries: underscores replace spaces and punctuation."""
    return re.sub(r"\W+", "_", column).strip("_")


class Link(Section):
    """A column whose values name entities."""

    to: Term = Field(description="class of the entities")
    separator: Text | None = Field(None, description="what stands between several values, such as `;`")
    tree: bool = Field(False, description="a hierarchy: no entity may be its own ancestor")


class Table(Section):
    """What the columns of a CSV table mean; its rows become the entities of one class."""

    kind: Term = Field(alias="class", description="class of the rows")
    key: Text = Field(description="column whose values are unique")
    label: Text = Field(description="column with the name that questions use")
    links: dict[Term, Link] = Field(
        {}, description="columns that name other entities: keys of a class with a table, else new entities"
    )
    values: list[Term] = Field([], description="columns of plain values that queries may compare")
    text: list[Text] = Field([], description="columns that make up the text of a row")
    same_label: Literal["refuse", "leave-out"] = Field(
        "refuse",
        description="how to treat rows of the same name: as an error, or ask no questions about them",
    )


class Tables(Section):
    """A file of tables."""

    tables: dict[Text, Table] = Field(min_length=1, description="by file, next to the file of tables")

    @model_validator(mode="after")
    def _need_names(self) -> Self:
        if twice := find_repeated(table.kind for table in self.tables.values()):
            raise ValueError(f"tables: several are of class {', '.join(twice)}; merge them")
        for file, table in self.tables.items():
            for name in (table.kind, *(each.to for each in table.links.values())):
                if not _TERM.fullmatch(name):
                    raise ValueError(f"tables.{file}: {name!r} is no name: use letters, digits, underscores")
            columns: dict[str, str] = {}
            for column in dict.fromkeys([*table.links, *table.values]):
                name = name_property(column)
                if not _PROPERTY.fullmatch(name):
                    raise ValueError(f"tables.{file}: the column {column!r} does not begin with a letter")
                if name in columns:
                    raise ValueError(
                        f"tables.{file}: queries call the columns {columns[name]!r} and {column!r} :{name}"
                    )
                columns[name] = column
            for name, link in table.links.items():
                if link.tree and link.to != table.kind:
                    raise ValueError(f"tables.{file}.links.{name}.tree: it leads to another class, {link.to}")
        return self


class Template(Section):
    """A question with variables, and the queries that fill them and prove the answers."""

    level: Level = Field(description="memorise, understand or apply")
    form: Form = Field(description="binary, multiple-choice (4 options) or multiple-answer (8 options)")
    text: Text = Field(description="the question; {variable} stands for the name of an entity")
    answer: Name = Field(description="variable of the answers; part of the text in binary questions only")
    kind: Term = Field(alias="class", description="class of the right and wrong answers")
    select: Text = Field(description="SPARQL SELECT: all true combinations, one per row")
    ask: Text = Field(description="SPARQL ASK: whether a combination is true")

    @property
    def placeholders(self) -> list[str]:
        """Variables in the text, each once, in order."""
        return list(dict.fromkeys(_PLACEHOLDER.findall(self.text)))

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if (self.answer in self.placeholders) != (self.form == "binary"):
            needs = "belongs into" if self.form == "binary" else "must not occur in"
            raise ValueError(
                f"text: {{{self.answer}}}, the answer, {needs} a question of the form {self.form}"
            )
        if set(self.placeholders) <= {self.answer}:
            raise ValueError("text: it has no variable for an entity to ask about")
        if (self.form == "binary") != (self.level == "memorise"):
            raise ValueError(f"level = {self.level}: binary questions are of level memorise, others are not")
        if self.form == "multiple-choice" and self.level != "understand":
            raise ValueError(f"level = {self.level}: multiple choice is of level understand")
        return self


class Templates(Section):
    """A file of templates."""

    templates: dict[Name, Template] = Field(min_length=1)


def read_tables_file(path: Path | str) -> dict[str, Table]:
    """Return the tables of a file by name; raise `InputError` if it is wrong."""
    return check_values(read_values(path), Tables, str(path)).tables


def list_templates(path: Path | str) -> list[Path]:
    """Return the files of templates: one file, or those of a folder, sorted."""
    path = Path(path)
    return sorted(path.glob("*.yaml")) if path.is_dir() else [path]
