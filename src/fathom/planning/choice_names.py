"""Files of multiple-choice questions: where they come from, and what a run makes of them."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from fathom.config.choices import SPLITS
from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.places import find_own
from fathom.planning.run_files import RunFiles

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

    def tell_subject(self, name: str) -> str:
        """Return what the questions of a set are about, as prompts say it."""
        return self._choices.questions[name].subject or name.replace("_", " ")

    def find_folder(self, name: str, root: Path) -> Path | None:
        """Return the folder that a set comes from; None for the hub."""
        folder = self._choices.questions[name].folder
        return None if folder is None else find_own(folder, root)

    def find_files(self, name: str, root: Path) -> list[Path]:
        """Return the CSV files of a set of the working folder or of the workflow itself; none for the hub."""
        folder = self._choices.questions[name].folder
        if folder is None:
            return []
        files = [Path(find_own(folder, root), f"{name}_{split}.csv") for split in SPLITS]
        for file in files:
            if not file.is_file():
                raise InputError(
                    "there is no such file",
                    f"choices.questions.{name}: {file}",
                    "check the folder and the name of the set",
                )
        return files

    def name_answers(self) -> list[str]:
        """Return every table of answers, in the order of `places`."""
        return self._files(paths.CHOICE_ANSWERS, self.places)

    @property
    def varied(self) -> list[tuple[str, str]]:
        """Factors and ways that there are answers for; models behind a service only write."""
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
