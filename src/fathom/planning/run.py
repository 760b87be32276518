"""A run as it is known before its first job: its configuration, what it reads, makes and needs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fathom.benchmark.embedding_models import find_identifier
from fathom.config.merging import choose
from fathom.config.model_names import ModelName
from fathom.config.whole import Config, read_config
from fathom.io import paths
from fathom.io.places import find_own
from fathom.jobs.resources import read_rates
from fathom.models.pipelines import is_fetched
from fathom.models.registry import find_model, read_registry
from fathom.planning.apart import RunStorage, check_stored
from fathom.planning.comparing import Comparing
from fathom.planning.model_checks import check_models, find_served, leave_out_unfetched
from fathom.planning.model_memory import read_cards
from fathom.planning.needs import Needs
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import ChoiceNames, QuestionFiles, find_question_files
from fathom.planning.run_inputs import Inputs, find_inputs
from fathom.planning.settings import Settings
from fathom.planning.targets import Targets


def read_checked(
    values: Mapping[str, Any], files: Sequence[str], root: Path, given: bool = False
) -> tuple[Config, str]:
    """Return a configuration whose models are all known, and the name of where it comes from.

    Raises
    ------
    InputError
        If a value is wrong, or there is no model of a name.
    """
    source = ", ".join([*files, *(["--config"] if given else [])]) or "config"
    checked = read_config(choose(dict(values), files), source)
    check_models(checked, find_own(checked.models.registry, root), source)
    return checked, source


class Run:
    """What is known of a run before its first job.

    Parameters
    ----------
    profile : mapping of str to str, optional
        What a profile says of the cluster: `gpu_cards` and `max_minutes`.

    Attributes
    ----------
    entries : mapping of str to ModelRow
        Rows of the table of models; none where no model is fetched.
    fetched_pipeline, fetched_embedder : list of str
        The spaCy pipeline, and what is written of the embedding model, where they are fetched.
    choice_files, question_files : dict
        Files of sets of multiple-choice questions, and of questions about records, by set.
    inputs, outputs, settings, needs, comparing, choices, targets
        What the run reads and makes, what programs get, what jobs that load models ask for, what is known of
        compared models, files of multiple-choice questions, what targets ask for.

    Raises
    ------
    InputError
        If something that the run needs is missing, or a model fits no GPUs that the profile names.
    """

    def __init__(
        self,
        config: Config,
        source: str,
        results: str,
        root: Path,
        profile: Mapping[str, str] | None = None,
        apart: RunStorage | None = None,
    ) -> None:
        self.config, self.left_out = leave_out_unfetched(
            config, results, source, *([apart.is_made] if apart else [])
        )
        self.results, self.root = results, root
        self._recall = apart.recall if apart else lambda name, kind, find: find()
        self.inputs: Inputs = self._recall("inputs", Inputs, lambda: find_inputs(self.config, results))
        self.pipelines = find_own("config/pipelines.yaml", root)
        self.registry = find_own(self.config.models.registry, root)
        stored, served = bool(apart and apart.stored), find_served(self.config, self.registry)
        self.outputs = Outputs(self.config, self.inputs, results, served, stored)
        self.entries = read_registry(self.registry) if self.outputs.fetched_models else {}
        if stored:
            names = {model: ModelName.parse(model).plain for model in self.outputs.fetched_models}
            fetched = {model: find_model(self.entries, name, self.registry) for model, name in names.items()}
            check_stored(self.config, fetched, served)
        self.settings = Settings(self.config)
        self.needs = self._find_needs(profile or {})
        self.comparing = Comparing(self.config, self.entries, self.needs, self.outputs)
        self.choices = ChoiceNames(self.config, results)
        self.choice_files = {
            name: self.choices.find_files(name, root) for name in self.config.choices.questions
        }
        self.question_files: dict[str, QuestionFiles] = self._recall(
            "questions", dict[str, QuestionFiles], lambda: find_question_files(self.config, root)
        )
        self.fetched_pipeline, self.fetched_embedder = self._name_pipeline(), self._name_embedder()
        self.targets = Targets(self.config, self.outputs, self.comparing)

    @property
    def tokens(self) -> dict[str, int | None]:
        """Tokens that followed models of others have seen, by the table of models."""
        followed = self.config.models.follow.values()
        return {model: self.entries[model].tokens for models in followed for model in models}

    def _name_pipeline(self) -> list[str]:
        needed = self.config.domains and is_fetched(self.config.sentences.splitter, self.pipelines)
        return [paths.PIPELINE.under(self.results)] if needed else []

    def _name_embedder(self) -> list[str]:
        embedding = self.config.embedding
        needed = self.config.benchmark_domains or self.config.coverage.questions
        found = needed and find_identifier(embedding.model, embedding.revision)
        return [paths.EMBEDDER.under(self.results)] if found else []

    @property
    def writers(self) -> dict[str, str]:
        """Models that write open questions, by set."""
        sets = self.config.coverage.questions.items()
        return {name: chosen.writer for name, chosen in sets if chosen.writer}

    def warn(self) -> Iterator[str]:
        """Yield a warning for each study of continual pretraining that waits for its order of domains."""
        for study, section in self.config.models.continual.items():
            if not section.order:
                keys = paths.ORDER_KEYS.of(study=study).under(self.results)
                yield (
                    f"models.continual.{study} has no order yet, so nothing is trained: `snakemake order`"
                    f" writes {keys}, for --configfile after the other files"
                )

    def _find_needs(self, profile: Mapping[str, str]) -> Needs:
        """Return what jobs that load models ask for, checked against the GPUs of a profile."""
        rates = read_rates(find_own("config/rates.tsv", self.root))
        limit = int(profile["max_minutes"]) if "max_minutes" in profile else None
        cards = read_cards(profile.get("gpu_cards"))
        found = Needs(self.config, self.registry, rates, cards, self.results, limit)
        found.check()
        return found
