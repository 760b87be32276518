"""Requests, tokens and price of models behind a service in a run, before any job."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fathom.config.questions import QuestionSet
from fathom.config.whole import Config
from fathom.io import paths
from fathom.planning.question_files import ChoiceNames

SERVED = frozenset({"answer_questions_served", "answer_choices_served"})
"""Rules whose jobs ask a service."""
_QUESTION, _RECORD = 60.0, 250.0
"""Assumed tokens of a question and of a record that do not exist yet."""


class Cost(NamedTuple):
    """Costs of some requests.

    `read`, `written`: tokens of all prompts, and of all answers at most. `is_whole`: whether that is all;
    tables that do not exist yet may add more.
    """

    requests: int
    read: float
    written: float
    is_whole: bool = True


def describe_speakers(config: Config, results: str, root: Path) -> list[str]:
    """Return a line for each model behind a service with its requests and costs.

    Answered sets are not counted.
    """
    lines = []
    for name in dict.fromkeys([*config.answering_speakers, *config.asked_speakers]):
        costs = list(_list_answers(config, results, name)) if name in config.answering_speakers else []
        costs += _list_choices(config, results, root, name) if name in config.asked_speakers else []
        if costs:
            lines.append(_describe(config, name, costs))
    return lines


def _describe(config: Config, name: str, costs: list[Cost]) -> str:
    from fathom.answering.speaking import describe_requests

    speaker = config.models.speaking[name]
    requests, read, written = (sum(cost[place] for cost in costs) for place in range(3))
    written += requests * speaker.thinking
    text = describe_requests(int(requests), read, written, speaker.calculate_price(read, written))
    lines = [f"{name}: {text}"]
    if not all(cost.is_whole for cost in costs):
        lines.append("there may be more, as some questions are not made yet")
    return "; ".join(lines)


def _list_answers(config: Config, results: str, name: str) -> Iterator[Cost]:
    for chosen, section in config.coverage.questions.items():
        if not Path(paths.QUESTION_ANSWERS.of(set=chosen, model=name).under(results)).is_file():
            questions = Path(paths.QUESTIONS.of(set=chosen).under(results))
            yield _measure_set(config, results, chosen) if questions.is_file() else _guess(config, section)


def _guess(config: Config, section: QuestionSet) -> Cost:
    settings = config.coverage.evaluation
    asked = math.ceil(section.first * (1 - settings.shown))
    before = {"plain": 0.0, "few-shot": settings.shots * _QUESTION, "rag": settings.retrieved * _RECORD}
    read = sum(asked * (_QUESTION + before[prompting]) for prompting in settings.promptings)
    requests = asked * len(settings.promptings)
    return Cost(requests, read, float(requests * settings.max_tokens), is_whole=False)


def _measure_set(config: Config, results: str, name: str) -> Cost:
    """Return the costs of a set of questions; records count with their mean length, equal prompts twice."""
    from fathom.answering.prompts import make_prompt
    from fathom.answering.speaking import CHARACTERS, count_tokens, make_messages
    from fathom.io.contracts.questions import CHUNKS, QUESTIONS
    from fathom.io.tables import read_table
    from fathom.questions.answer_files import find_limit, list_threshold_questions
    from fathom.questions.asked_items import RAG, ask, divide_questions

    settings = config.coverage.evaluation.model_copy(update={"by": "text"})
    table = read_table(Path(paths.QUESTIONS.of(set=name).under(results)), QUESTIONS)
    chunks = Path(paths.CHUNKS.of(set=name).under(results))
    sizes = read_table(chunks, CHUNKS)["text"].str.len_chars().to_list() if chunks.is_file() else []
    record = sum(sizes) / len(sizes) / CHARACTERS if sizes else _RECORD
    shown, asked = divide_questions(table, settings.shown)
    rows, examples = [(row, "") for row in asked.rows(named=True)], shown.rows(named=True)
    found = [each for prompting in settings.promptings for each in ask(rows, examples, prompting, settings)]
    made = (paths.PERCENTILE_QUESTIONS, paths.RECORD_CORPORA)
    varied = [Path(path.of(set=name).under(results)) for path in made]
    is_whole = not config.coverage.scores_thresholds
    if not is_whole and all(path.is_file() for path in varied):
        others = list_threshold_questions(varied[0], varied[1], table, settings)
        found += ask([(row, "") for row in others], [], RAG, settings)
        is_whole = True
    read = sum(count_tokens(make_messages(make_prompt(each.items[0]))) for each in found)
    read += sum(settings.retrieved * record for each in found if each.prompting == RAG)
    written = sum(find_limit(each.row["form"], settings) for each in found)
    return Cost(len(found), read, float(written), is_whole)


def _list_choices(config: Config, results: str, root: Path, name: str) -> Iterator[Cost]:
    from fathom.answering.answerer import LETTER_TOKENS
    from fathom.answering.choice_files import make_items, read_choice_folder
    from fathom.answering.speaking import count_tokens, make_messages
    from fathom.answering.variation_files import read_styles, vary_items
    from fathom.io.contracts.answering import CHOICE_QUESTIONS
    from fathom.io.places import find_own
    from fathom.io.tables import read_table

    names = ChoiceNames(config, results)
    for chosen in config.choices.questions:
        if Path(paths.CHOICE_ANSWERS.of(questions=chosen, model=name).under(results)).is_file():
            continue
        made, folder = Path(paths.CHOICE_QUESTIONS.of(questions=chosen).under(results)), None
        if not made.is_file():
            folder = names.find_folder(chosen, root)
            if folder is None:
                yield Cost(0, 0.0, 0.0, is_whole=False)
                continue
        table = read_table(made, CHOICE_QUESTIONS) if folder is None else read_choice_folder(folder, chosen)
        items = make_items(table, names.name_subject(chosen), 0, chosen)
        styles = read_styles(find_own(config.choices.styles, root))
        prompts = [varied.prompt for _, varied in vary_items(items, config.choices, styles, chat=True)]
        messages = {str(each): each for each in map(make_messages, prompts)}  # equal ones are asked once
        read = sum(map(count_tokens, messages.values()))
        yield Cost(len(messages), read, float(LETTER_TOKENS * len(messages)))
