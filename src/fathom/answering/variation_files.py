"""Sets of multiple-choice questions asked of one model in all variations, from files to files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.answering.answerer import LETTER_TOKENS, Answerer, ask_items
from fathom.answering.choice_files import OPTIONS, make_items
from fathom.answering.prompts import Item, Style
from fathom.answering.speaking import SpeakingAnswerer, open_answerer
from fathom.answering.variations import Variation, VariedQuestion, list_variations, vary
from fathom.config.choices import Choices, ChoiceStyles
from fathom.config.section import check_values
from fathom.config.yaml_files import read_values
from fathom.io.contracts.answering import CHOICE_ANSWERS, CHOICE_QUESTIONS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.models.open_model import Measurement, OpenModel


class ChoiceFiles(NamedTuple):
    """Questions of one set, the table to write with a report beside it, and the subject of the questions."""

    name: str
    subject: str
    questions: Path
    answers: Path


def read_styles(path: Path | str) -> dict[str, Style]:
    """Return the styles of a file by name; raise `InputError` if it is wrong."""
    found = check_values(read_values(path), ChoiceStyles, str(path)).styles
    return {name: Style(style.system, style.user) for name, style in found.items()}


def plan_choices(files: ChoiceFiles, settings: Choices, styles: Mapping[str, Style]) -> Measurement:
    """Return the measurement of a model on the questions of one set."""

    def measure(model: OpenModel, outputs: Sequence[Path], resume: object) -> None:
        table = read_table(files.questions, CHOICE_QUESTIONS)
        shots = 0 if model.pointer.chat_template else settings.shots
        items = make_items(table, files.subject, shots, files.name)
        chat = model.pointer.chat_template
        answers = answer_choices(open_answerer(model), items, settings, styles, chat)
        write_table(outputs[0], answers, CHOICE_ANSWERS)
        write_json(outputs[1], {**model.description, **_report(answers, files, chat)})

    known = {"choices": settings.model_dump(mode="json", include=ASKED), "subject": files.subject}
    known["styles"] = {name: style._asdict() for name, style in styles.items()}
    outputs = [files.answers, files.answers.with_suffix(".json")]
    return Measurement(f"{files.name}.choices", __file__, [files.questions], outputs, known, measure)


ASKED = {"shots", "factors", "chat_factors", "shuffles", "orders", "ways", "seed"}
"""Keys of the section that answers depend on."""


_NAMED = {"variation": "name", "factor": "factor", "baseline": "baseline"}


def answer_choices(
    answerer: Answerer, items: Sequence[Item], settings: Choices, styles: Mapping[str, Style], chat: bool
) -> pl.DataFrame:
    """Ask all questions of a set in all variations; return the answers under CHOICE_ANSWERS.

    Items come as shipped, with their examples.
    """
    asked = vary_items(items, settings, styles, chat)
    longest = {item.item_id: find_longest(item.options) for item in items}
    if isinstance(answerer, SpeakingAnswerer):
        answerer.announce([each.prompt for _, each in asked], [LETTER_TOKENS] * len(asked))
    found = ask_items(
        answerer, [each.item for _, each in asked], [each.prompt for _, each in asked], settings.ways
    )
    again = asked * len(settings.ways)
    chosen = found["chosen"].to_list()
    numbers = {
        "right": [each.item.right[0] for _, each in again],
        "option": [
            each.order[place] if place >= 0 else -1 for (_, each), place in zip(again, chosen, strict=True)
        ],
        "options": [len(each.order) for _, each in again],
        "longest": [longest[each.item.item_id] for _, each in again],
    }
    table = found.with_columns(
        *(
            pl.Series(name, [getattr(each, key) for each, _ in again], pl.String)
            for name, key in _NAMED.items()
        ),
        *(pl.Series(name, values, pl.Int32) for name, values in numbers.items()),
        order=pl.Series([list(each.order) for _, each in again], dtype=pl.List(pl.Int32)),
    )
    return table.select(CHOICE_ANSWERS.names)


def vary_items(
    items: Sequence[Item], settings: Choices, styles: Mapping[str, Style], chat: bool
) -> list[tuple[Variation, VariedQuestion]]:
    """Return all questions of a set in all variations."""
    return [
        (variation, vary(item, variation, chat, styles, settings))
        for variation in list_variations(settings, chat, list(styles), OPTIONS)
        for item in items
    ]


def find_longest(options: Sequence[str]) -> int:
    """Return which option has the most characters, -1 if several have."""
    sizes = [len(option) for option in options]
    return sizes.index(max(sizes)) if sizes.count(max(sizes)) == 1 else -1


def _report(answers: pl.DataFrame, files: ChoiceFiles, chat: bool) -> dict[str, Any]:
    names = answers["variation"].unique(maintain_order=True).to_list()
    unread = answers.filter((pl.col("way") == "text") & (pl.col("chosen") < 0))
    report = {
        "questions_sha256": hash_file(files.questions),
        "chat_template": chat,
        "questions": answers["item_id"].n_unique(),
        "variations": names,
        "answers": len(answers),
        "no_letter": len(unread),
        "questions_cut": answers.filter(pl.col("cut") > 0)["item_id"].n_unique(),
        "fewest_shots": answers["shots"].min(),
        "most_shots": answers["shots"].max(),
    }
    log.info(
        "%s: %s questions in %s variations; %s written answers name no letter; %s to %s examples fitted;"
        " %s questions lost their beginning",
        files.name, report["questions"], len(names), len(unread), report["fewest_shots"],
        report["most_shots"], report["questions_cut"],
    )  # fmt: skip
    return report
