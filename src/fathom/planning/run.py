"""A run before its first job, and the inputs and params of its jobs by wildcards.

It has the configuration, and what the run reads, makes and needs; inputs and params are functions for
Snakemake.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from fathom.benchmark.embedding_models import find_identifier
from fathom.config.language import ENGLISH
from fathom.config.merging import choose, merge_files
from fathom.config.model_names import ModelName
from fathom.config.whole import Config, read_config
from fathom.io import paths
from fathom.io.places import find_own
from fathom.io.run_path import RunPath
from fathom.jobs.program import log
from fathom.jobs.resources import read_rates
from fathom.models.packages import is_fetched, name_wheel
from fathom.models.registry import find_model, read_registry
from fathom.planning import run_inputs
from fathom.planning.apart import RunStorage, check_stored
from fathom.planning.comparing import Comparing
from fathom.planning.failures import refusing
from fathom.planning.model_checks import check_models, find_served, leave_out_unfetched
from fathom.planning.model_memory import read_cards
from fathom.planning.needs import RESOURCES, Needs
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import ChoiceNames, QuestionFiles, find_question_files
from fathom.planning.run_models import Say, find_table, pin_models
from fathom.planning.settings import Settings, dump_json
from fathom.planning.targets import Targets


def read_checked(
    values: Mapping[str, Any],
    files: Sequence[str],
    root: Path,
    given: bool = False,
    say: Say | None = log.info,
) -> tuple[Config, str]:
    """Return a configuration with only known models, and the name of its source.

    Parameters
    ----------
    say : callable, optional
        See :func:`fathom.planning.run_models.pin_models`.

    Raises
    ------
    InputError
        If a value is wrong or a model unknown.
    """
    source = ", ".join([*files, *(["--config"] if given else [])]) or "config"
    merge_files(file for file in files if Path(file).is_file())  # of duplicate keys, Snakemake takes the last
    checked = read_config(pin_models(choose(dict(values), files), root, source, say), source)
    check_models(checked, find_table(checked, root), source)
    return checked, source


class Run:
    """A run before its first job.

    `profile`: the cluster's `gpu_cards` and `max_minutes`, from a profile. `rates`: table of rates by rule;
    that of the workflow by default. Raise `InputError` if something that the run needs is missing, or a model
    fits no GPUs that the profile names.

    `entries` are the rows of the table of models, empty if no model is fetched; `table` is the one that the
    configuration names, `registry` that which has all models of the run (:func:`run_models.find_table`).
    `fetched_pipeline` and `fetched_embedder` are empty where nothing is fetched.
    """

    def __init__(
        self,
        config: Config,
        source: str,
        results: str,
        root: Path,
        profile: Mapping[str, str] | None = None,
        apart: RunStorage | None = None,
        rates: Path | None = None,
    ) -> None:
        self.config, self.left_out = leave_out_unfetched(
            config, results, source, *([apart.is_made] if apart else [])
        )
        self.results, self.root = results, root
        self._recall = apart.recall if apart else lambda name, kind, find: find()
        self.inputs: run_inputs.Inputs = self._recall(
            "inputs", run_inputs.Inputs, lambda: run_inputs.find_inputs(self.config, results)
        )
        self.pipelines = find_own("config/pipelines.yaml", root)
        self.table = find_own(self.config.models.registry, root)
        self.registry = find_table(self.config, root)
        stored, served = bool(apart and apart.stored), find_served(self.config, self.registry)
        self.outputs = Outputs(self.config, self.inputs, results, served, stored)
        is_read = bool(self.outputs.fetched_models or self.outputs.fetched_tokenizers)
        self.entries = read_registry(self.registry) if is_read else {}
        if stored:
            names = {model: ModelName.parse(model).plain for model in self.outputs.fetched_models}
            fetched = {model: find_model(self.entries, name, self.registry) for model, name in names.items()}
            check_stored(self.config, fetched, served)
        self.settings = Settings(self.config)
        self.needs = self._find_needs(profile or {}, rates or find_own("config/rates.tsv", root))
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
    def followed(self) -> dict[str, dict[str, Any]]:
        """Tokens and revisions of followed models from elsewhere, by the table of models."""
        names = chain.from_iterable(self.config.models.follow.values())
        rows = {name: self.entries[name] for name in names}
        return {name: {"tokens": row.tokens, "revision": row.revision} for name, row in rows.items()}

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

    def _find_needs(self, profile: Mapping[str, str], rates: Path) -> Needs:
        limit = int(profile["max_minutes"]) if "max_minutes" in profile else None
        cards = read_cards(profile.get("gpu_cards"))
        found = Needs(self.config, self.registry, read_rates(rates), cards, self.results, limit)
        found.check()
        return found


class RunJobs:
    """Inputs and params of the jobs of a run."""

    def __init__(self, run: Run, apart: RunStorage) -> None:
        self._run, self._apart = run, apart
        self.outside, self.ship, self._mark_old = apart.outside, apart.ship, apart.marks.old
        self._config, self._inputs, self._outputs = run.config, run.inputs, run.outputs
        if run.registry != run.table:
            self.ship(run.registry)  # jobs elsewhere also plan with it

    # files from outside

    def own(self, path: Path | str) -> Any:
        """Return a file of the working folder, or the workflow's own where there is none, as an input."""
        return self.ship(find_own(path, self._run.root))

    def word_lists(self, *names: str) -> list[Any]:
        """Return lists of words by name, as inputs."""
        folder = find_own(ENGLISH.word_lists, self._run.root)
        return [self.ship(f"{folder}/{name}.txt") for name in names]

    def find_shard(self, wildcards: Any) -> Any:
        """Return the input file of a part."""
        return self._read(self._inputs.shards[wildcards.part], paths.DOCUMENTS.of(part=wildcards.part))

    def find_metadata(self, wildcards: Any) -> Any:
        """Return the metadata file of a dump."""
        return self._read(self._inputs.metadata, paths.METADATA)

    def sample_shard(self, wildcards: Any) -> str:
        """Return a sample of the content of a part's file."""
        return run_inputs.sample_input(self._inputs.shards[wildcards.part])

    def sample_metadata(self, wildcards: Any) -> str:
        """Return a sample of the content of a dump's metadata."""
        return run_inputs.sample_input(self._inputs.metadata)

    def sample_part(self, wildcards: Any) -> str:
        """Return a sample of the content of all files of a part of a folder."""
        return run_inputs.sample_part(self._config, wildcards.part)

    def list_choice_files(self, wildcards: Any) -> list[str]:
        """Return the files of a set of multiple-choice questions."""
        return [self.outside(path) for path in self._run.choice_files[wildcards.questions]]

    def find_reference(self, wildcards: Any) -> Any:
        """Return the file of a reference; a missing one stops the plan of its import."""
        place = wildcards.domain, wildcards.variant
        file = str(self._outputs.studies.reference_files[place])
        if not self._apart.in_module:  # another workflow's rules may make it
            with refusing():
                run_inputs.require_reference(file, f"references.{wildcards.domain}")
        return self.outside(file)

    # slices and domains

    def find_documents(self, wildcards: Any) -> RunPath:
        """Return the documents of the part that a slice belongs to."""
        return paths.DOCUMENTS.of(part=self._inputs.slices[wildcards.slice].part)

    def number_slice(self, wildcards: Any) -> list[int]:
        """Return the number of a slice and of all slices."""
        chosen = self._inputs.slices[wildcards.slice]
        return [chosen.number, chosen.total]

    def find_title(self, wildcards: Any) -> str:
        """Return a domain's title in figures and cards."""
        return self._config.titles[wildcards.domain]

    def find_reference_name(self, wildcards: Any) -> str:
        """Return the configured name of a reference."""
        return dict(self._config.name_references(wildcards.domain))[wildcards.variant]

    def find_phrase(self, wildcards: Any) -> str:
        """Return the phrase that targets of a domain are near to or far from."""
        title = self._config.domains[wildcards.domain].title or wildcards.domain
        return self._config.targets.phrases.get(wildcards.domain) or title

    def find_order(self, wildcards: Any) -> str:
        """Return the order of domains that a study of continual pretraining follows."""
        return self._outputs.orders.find_order(wildcards.track)

    # models

    def find_pointer(self, wildcards: Any) -> str:
        """Return the pointer of a model: a file, or the folder of checkpoints that contains it."""
        return self._outputs.find_pointer(wildcards.model)

    def name_pointer(self, wildcards: Any) -> str:
        """Return a param: the file that points to a model's weights."""
        return str(self._apart.find_copy(self._outputs.name_pointer(wildcards.model)))

    def find_weights(self, wildcards: Any) -> list[Any]:
        """Return the weights of a model as inputs, if they are in a storage or deleted after its last job.

        Their date does not matter: a fetched model is known by the fingerprint in its pointer.
        """
        return [self._mark_old(path) for path in self._outputs.find_weights(wildcards.model)]

    def find_entry(self, wildcards: Any) -> str:
        """Return the row of a fetched model, independent of other rows."""
        table = self._locate_table(wildcards.model)
        entries = self._run.entries if table == self._run.registry else read_registry(table)
        row = vars(find_model(entries, wildcards.model, table))
        # neither properties of the weights nor a further name change what is fetched
        return dump_json({name: value for name, value in row.items() if name not in ("weights", "asked")})

    def find_registry(self, wildcards: Any) -> Any:
        """Return the table that has the row of a fetched model: one in the run's own changes no other."""
        return self.ship(self._locate_table(wildcards.model))

    def _locate_table(self, model: str) -> Path:
        added = self._run.entries.get(ModelName.parse(model).plain)
        return self._run.registry if added and added.asked else self._run.table

    def find_wheel(self, wildcards: Any) -> str:
        """Return the fetched pipeline's entry in the table, independent of other entries."""
        return dump_json(name_wheel(self._config.sentences.splitter, self._run.pipelines))

    def keep_finished(self, kind: str) -> Callable[[Any], str]:
        """Return a param: the folder of a model's finished results, which are not made again."""
        return lambda wildcards: f"{self._run.results}/models/{wildcards.model}/finished/{kind}"

    # tasks

    def find_task_source(self, wildcards: Any) -> str | list[str]:
        """Return the file that the examples of a task are made from."""
        file = self._inputs.tasks[wildcards.task].file
        return self.outside(file) if file else self._outputs.find_task_source(wildcards.task)

    def find_task_overlap(self, wildcards: Any) -> str | list[str]:
        """Return the table of a task's pairs that occur in training text; nothing for tasks without pairs."""
        task = self._inputs.tasks[wildcards.task]
        if task.kind in ("text", "harness") or task.file or task.domain is None:
            return []
        known = (task.domain, task.variant) in self._outputs.overlapping
        return self._outputs.studies.name_overlap(task.domain, task.variant) if known else []

    # questions about records

    def find_questions(self, what: str, small: bool = False) -> Callable[[Any], Any]:
        """Return an input: files of a set of questions, or one of them; small ones go with the sources."""
        take = self.ship if small else self.outside

        def find(wildcards: Any) -> Any:
            found = getattr(self._run.question_files[wildcards.set], what)
            return [take(path) for path in found] if isinstance(found, list) else take(found)

        return find

    def find_joining_pairs(self, wildcards: Any) -> list[RunPath]:
        """Return the tables of pairs that may join a set of questions."""
        return paths.PAIRS.of_each(self._run.question_files[wildcards.set].pairs)

    def find_open_questions(self, wildcards: Any) -> list[str]:
        """Return files of open questions by people and by a model."""
        asked = [self.ship(path) for path in self._run.question_files[wildcards.set].users]
        written = paths.WRITTEN.of(set=wildcards.set)
        return [*asked, written] if wildcards.set in self._run.writers else asked

    def find_writer(self, wildcards: Any) -> str:
        """Return the pointer of the model that writes questions."""
        return self._outputs.find_pointer(self._run.writers[wildcards.set])

    def find_writer_weights(self, wildcards: Any) -> list[Any]:
        """Return the weights of that model as :meth:`find_weights` does."""
        found = self._outputs.find_weights(self._run.writers[wildcards.set])
        return [self._mark_old(path) for path in found]

    def ask_for_writer(self) -> dict[str, Callable[[Any, int], Any]]:
        """Return the resources of the job that writes questions."""

        def find(name: str, wildcards: Any, attempt: int) -> Any:
            writer = self._run.writers[wildcards.set]
            return getattr(self._run.needs.find("answer_questions", writer, attempt), name)

        return {resource: partial(find, name) for resource, name in RESOURCES.items()}

    def _read(self, path: Any, table: RunPath) -> Any:
        """Return an input file, one with a newer date and the same bytes marked as not changed."""
        unchanged = run_inputs.is_unchanged_input(path, Path(self._run.results), table)
        return self._mark_old(self.outside(path)) if unchanged else self.outside(path)
