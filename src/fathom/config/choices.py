"""Settings of multiple-choice questions: files, examples, how they are asked [RawCorpora, App. A.7]."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from fathom.config.section import Name, Positive, Section, Text, check_case, find_repeated

Factor = Literal["examples", "options", "styles"]
"""What varies: the order of options in examples or questions, or the style of the prompt."""

SPLITS = ("dev", "test")
"""Parts of a set by their names in files: examples, and questions."""

STANDARD = "standard"
"""The style that the others are compared with."""


class ChoiceSet(Section):
    """A set of multiple-choice questions: files like MMLU's, of a folder or of the Hugging Face hub."""

    folder: Text | None = Field(
        None, description="folder with `NAME_test.csv` and `NAME_dev.csv`: question, options, letter"
    )
    hub: Text | None = Field(
        None, description="in place of `folder`: a data set of the hub with subsets like those of `cais/mmlu`"
    )
    revision: str | None = Field(
        None,
        pattern=r"^[0-9a-f]{40}$",
        description="commit of the data set, all 40 digits (needed with `hub`)",
    )
    subject: Text | None = Field(
        None, description="subject of the questions, as prompts name it; null: NAME with spaces"
    )

    @model_validator(mode="after")
    def _need_one_source(self) -> Self:
        if (self.folder is None) == (self.hub is None):
            raise ValueError("give either folder or hub")
        if (self.hub is None) != (self.revision is None):
            raise ValueError("revision belongs to hub: a commit of the data set")
        return self


class Choices(Section):
    """Multiple-choice questions, asked in several ways [RawCorpora, Sec. 3.1, App. A.7]."""

    questions: dict[Name, ChoiceSet] = Field(
        {},
        description="sets of questions, see [choices.questions](#choicesquestionsname); NAME as in its files",
    )
    models: list[Text] = Field(
        [],
        description="scored models to ask, NAME@chat inside its chat template; empty: all. Models of "
        "`models.speaking` are asked only if named",
    )
    shots: int = Field(
        5, ge=0, description="examples before a question outside a chat, fewer if they do not fit"
    )
    factors: list[Factor] = Field(
        ["examples"], description="what is varied outside a chat: examples, options, styles"
    )
    exchange_biased: bool = Field(
        False,
        description="if all examples have the question's right letter, exchange that option of the question "
        "with another, as published [RawCorpora, App. A.7.1]; false: only the examples differ from the "
        "baseline",
    )
    chat_factors: list[Factor] = Field(
        ["options", "styles"],
        description="what is varied in a chat, where no examples are shown: options, styles",
    )
    shuffles: Positive = Field(3, description="number of shuffles of options, of examples or of questions")
    orders: bool = Field(True, description="ask each question with its options in all cyclic orders")
    ways: list[Literal["letter", "text"]] = Field(
        ["letter", "text"],
        min_length=1,
        description="how answers are found: letter, the most likely; text, the one that a model writes",
    )
    styles: Text = Field(
        "config/choices/styles.yaml",
        description="YAML file of styles, which are compared with `standard`",
    )
    seed: int = Field(0, description="for the shuffles")

    @field_validator("questions")
    @classmethod
    def _differ(cls, value: dict[str, ChoiceSet]) -> dict[str, ChoiceSet]:
        check_case(value, "choices.questions")
        return value

    @field_validator("chat_factors")
    @classmethod
    def _show_no_examples(cls, value: list[Factor]) -> list[Factor]:
        if "examples" in value:
            raise ValueError("no examples are shown in a chat; options, styles")
        return value

    @field_validator("models", "factors", "chat_factors", "ways")
    @classmethod
    def _name_once(cls, value: list[str]) -> list[str]:
        if twice := find_repeated(value):
            raise ValueError(f"{', '.join(twice)} is named twice")
        return value


class ChoiceStyle(Section):
    """A style of prompt: `{question}` stands for question and options, `{subject}` for its subject."""

    system: str = Field("", description="system message; outside a chat, the first paragraph")
    user: Text = Field(description="message of the user")

    @field_validator("user")
    @classmethod
    def _ask(cls, value: str) -> str:
        if value.count("{question}") != 1:
            raise ValueError("{question} must occur in it once")
        return value


class ChoiceStyles(Section):
    """A file of styles."""

    styles: dict[Name, ChoiceStyle]

    @field_validator("styles")
    @classmethod
    def _need_standard(cls, value: dict[str, ChoiceStyle]) -> dict[str, ChoiceStyle]:
        if STANDARD not in value:
            raise ValueError(f"the style {STANDARD!r}, which the others are compared with, is missing")
        return value
