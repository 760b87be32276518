"""Files of sets of questions, with their sources, looked up before any job, and of multiple choice."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from fathom.config.choices import SPLITS
from fathom.config.model_names import ModelName
from fathom.config.questions import DUMP, QuestionSet, list_templates, read_tables_file
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.places import find_own
from fathom.models.registry import ModelRow
from fathom.planning.run_files import RunFiles
from fathom.planning.run_inputs import find_corpus


class QuestionFiles(NamedTuple):
    """Files of one set of questions."""

    source: Path
    tables: list[Path]
    templates: list[Path]
    users: list[Path]
    pairs: list[tuple[str, str]]


def find_question_files(config: Config, root: Path) -> dict[str, QuestionFiles]:
    """Return the files of each set of questions, of the working folder or of the workflow itself."""
    return {
        name: _find_files(_name_metadata(chosen, config), root, f"coverage.questions.{name}")
        for name, chosen in config.coverage.questions.items()
    }


def list_questions(config: Config, results: str) -> list[str]:
    """Return the questions of all sets, their proofs, tasks, and the scores of models."""
    coverage = config.coverage
    kinds = [paths.QUESTIONS, paths.PROOF, paths.QUESTION_TASKS]
    if coverage.ablation.gap_percentile:
        kinds.append(paths.PERCENTILES)
    tables = [paths.SIZES] if coverage.questions or coverage.expand else []
    if coverage.evaluation.models and coverage.questions:
        tables += [paths.QUESTION_SCORES, paths.QUESTION_DIFFERENCES]
    if coverage.scores_thresholds:
        tables.append(paths.QUESTION_THRESHOLDS)
    asked = [path.of(set=name) for name in coverage.questions for path in kinds]
    return [path.under(results) for path in (*asked, *tables)]


def list_bases(config: Config, entries: Mapping[str, ModelRow]) -> list[tuple[str, str]]:
    """Return models that answer questions, each with another one to compare it with.

    An adapted model is compared with its parent, a chat model with its base or, if that does not answer,
    with itself outside its chat template.
    """
    models, found = config.coverage.evaluation.models, []
    for name in models:
        plain = ModelName.parse(name).plain
        listed = [entries[plain].base_of] if plain in entries else []
        others = [*config.models.find_references(name), *listed, plain]
        other = next((other for other in others if other in models and other != name), None)
        if other:
            found.append((name, other))
    return found


def _name_metadata(chosen: QuestionSet, config: Config) -> QuestionSet:
    """Return a set of questions, with the metadata of the run's dump if requested."""
    if chosen.metadata != DUMP or config.corpus.source != "arxiv":
        return chosen
    return chosen.model_copy(update={"metadata": str(find_corpus(config)[1])})


def _find_files(chosen: QuestionSet, root: Path, key: str) -> QuestionFiles:
    kind = "tables" if chosen.tables else "metadata"
    source = _require(getattr(chosen, kind) or "", root, f"{key}.{kind}")
    tables = [source.parent / name for name in read_tables_file(source)] if chosen.tables else []
    if missing := next((table for table in tables if not table.is_file()), None):
        raise InputError("there is no such table", str(missing), f"{source} names it")
    templates = list_templates(_require(chosen.templates, root, f"{key}.templates"))
    if not templates:
        raise InputError(
            "this folder has no .yaml files", f"{key}.templates = {chosen.templates}", "check the path"
        )
    users = [_require(path, root, f"{key}.user_questions") for path in chosen.user_questions]
    pairs = [(domain, variant) for domain, variant in (each.split("/") for each in chosen.pairs)]
    return QuestionFiles(source, tables, templates, users, pairs)


def _require(path: str, root: Path, key: str) -> Path:
    found = Path(find_own(path, root))
    if not found.exists():
        raise InputError("there is no such file", f"{key} = {path}", "check the path")
    return found


TABLES = ("accuracy", "orders", "rankings", "diagnosis")


class ChoiceNames(RunFiles):
    """Names of the files of multiple-choice questions."""

    def __init__(self, config: Config, results: str) -> None:
        super().__init__(config, results)
        self._choices, self._models = config.choices, config.asked_models
        self._speaking = config.models.speaking

    @property
    def places(self) -> list[tuple[str, str]]:
        """Set and model of every table of answers."""
        return list(product(self._choices.questions, self._models))

    def name_subject(self, name: str) -> str:
        """Return the subject of a set's questions, as named in prompts."""
        return self._choices.questions[name].subject or name.replace("_", " ")

    @property
    def subjects(self) -> dict[str, str]:
        """Subject of each set of questions."""
        return {name: self.name_subject(name) for name in self._choices.questions}

    def find_folder(self, name: str, root: Path) -> Path | None:
        """Return the folder that a set comes from; None for the hub."""
        folder = self._choices.questions[name].folder
        return None if folder is None else find_own(folder, root)

    def find_files(self, name: str, root: Path) -> list[Path]:
        """Return the CSV files of a set of the working folder or of the workflow itself; none for the hub."""
        folder = self.find_folder(name, root)
        files = [folder / f"{name}_{split}.csv" for split in SPLITS] if folder else []
        if missing := next((file for file in files if not file.is_file()), None):
            hint = "check the folder and the name of the set"
            raise InputError("there is no such file", f"choices.questions.{name}: {missing}", hint)
        return files

    def name_answers(self) -> list[str]:
        """Return every table of answers, in the order of `places`."""
        return self._files(paths.CHOICE_ANSWERS, self.places)

    @property
    def varied(self) -> list[tuple[str, str]]:
        """Factors and ways with answers; models behind a service only write."""
        found: list[tuple[str, str]] = []
        for way in self._choices.ways:
            models = [model for model in self._models if way == "text" or model not in self._speaking]
            found += [(factor, way) for factor in self._list_factors(models)]
        return found

    def _list_factors(self, models: Sequence[str]) -> list[str]:
        if not self._choices.questions or not models:
            return []
        chat = [ModelName.parse(model).chat or model in self._speaking for model in models]
        factors = [
            *(self._choices.factors if not all(chat) else []),
            *(self._choices.chat_factors if any(chat) else []),
            *(["orders"] if self._choices.orders else []),
        ]
        return [each for each in dict.fromkeys(factors) if self._choices.shots or each != "examples"]

    def list_tables(self) -> list[str]:
        """Return the tables that compare models."""
        return self._files(paths.CHOICES, product(TABLES)) if self._choices.questions else []
