"""The files of a run, from its configuration, and those of each target."""

from collections.abc import Collection, Iterable
from itertools import chain, product

from fathom.config.model_names import ModelName
from fathom.config.tuning import WHOLE
from fathom.config.whole import Config
from fathom.io import paths
from fathom.io.run_path import RunPath
from fathom.planning.run_files import Orders, RunFiles, Studies, Texts
from fathom.planning.run_inputs import Inputs

RANKING_TABLES = (
    "agreement", "pairwise", "means", "categories", "perplexity", "pca", "pc1", "alignment", "selection",
)  # fmt: skip


class Outputs(RunFiles):
    """Names of the files that a run makes.

    `stored`: whether results are in a storage, where a job gets a model's weights only as an input.
    """

    def __init__(
        self, config: Config, inputs: Inputs, results: str, served: Collection[str] = (), stored: bool = False
    ) -> None:
        super().__init__(config, results)
        self.inputs, self._served, self._stored = inputs, served, stored
        self.orders, self.texts = Orders(config, results), Texts(config, results)
        self.studies = Studies(config, results)

    # members of each kind

    @property
    def benchmarks(self) -> list[tuple[str, str]]:
        """Domain and variant of every benchmark."""
        return [
            (domain, variant)
            for domain in self._config.benchmark_domains
            for variant in self.studies.list_variants(domain)
        ]

    @property
    def scored_benchmarks(self) -> list[tuple[str, str]]:
        """Domain and variant of all that one job scores a model on: benchmarks and further references."""
        return [*self.benchmarks, *self.studies.references, *self.studies.other_references]

    @property
    def shown_models(self) -> list[str]:
        """Models that the page of a run shows: scored, followed, or asked questions about records."""
        models, answering = self._config.models, self._config.coverage.evaluation.models
        return list(dict.fromkeys([*models.scored, *self.followed_models, *models.followed, *answering]))

    @property
    def overlapping(self) -> list[tuple[str, str]]:
        """Domain and variant of every benchmark that is compared with training text."""
        return self.benchmarks if self.texts.list_trained() else []

    @property
    def overlapping_domains(self) -> list[str]:
        """Domains whose held-out text and matched sentences are compared with training text."""
        compared = self.texts.list_trained() and self._config.summary.overlap != "keep"
        return self._config.benchmark_domains if compared else []

    @property
    def scored(self) -> list[tuple[str, str, str]]:
        """Domain, variant and model of every table of scores."""
        return [(*benchmark, model) for benchmark in self.benchmarks for model in self._config.models.scored]

    @property
    def plain_models(self) -> list[str]:
        """Scored models that read running text and keywords too: not in a chat template or at a server."""
        return [
            name
            for name in self._config.models.scored
            if not ModelName.parse(name).chat and name not in self._served
        ]

    @property
    def measured_models(self) -> list[str]:
        """Models measured by one job each: scored ones, and those only followed."""
        return [*self.plain_models, *self._config.models.followed]

    @property
    def followed_models(self) -> list[str]:
        """Models at points of followed trainings, scored anyway or only for that."""
        tracks = self._config.models.tracks.values()
        return list(dict.fromkeys(point.model for track in tracks for point in track))

    @property
    def chat_models(self) -> list[str]:
        """Scored models that are scored inside their chat template, and not behind a server."""
        chat = [name for name in self._config.models.scored if ModelName.parse(name).chat]
        return [name for name in chat if name not in self._served]

    @property
    def served_models(self) -> list[str]:
        """Scored models that are behind a server."""
        return [name for name in self._config.models.scored if name in self._served]

    @property
    def measured(self) -> list[tuple[str, str]]:
        """Domain and model of every attribute rate."""
        return list(product(self._config.benchmark_domains, self.plain_models))

    @property
    def held_out(self) -> list[tuple[str, str]]:
        """Domain and model of every perplexity."""
        return list(product(self.held_out_domains, self.plain_models))

    @property
    def held_out_domains(self) -> list[str]:
        """Domains with text to measure perplexity on: from elsewhere, or held-out documents."""
        own, others = self._config.corpus.splits.adapt_test > 0, self._config.perplexity.texts
        return [name for name in self._config.benchmark_domains if own or name in others]

    @property
    def tuned(self) -> list[tuple[str, str]]:
        """Model and task of every tuning."""
        return list(product(self.inputs.tuned_models, self.inputs.tasks))

    @property
    def preparations(self) -> list[str]:
        """Names of the shorter preparations."""
        return [each.name for each in self._config.train_before_test.preparations]

    @property
    def prepared(self) -> list[tuple[str, str, str]]:
        """Preparation, model and task of every tuning: shorter ones, then the whole one."""
        return [
            (preparation, *tuned) for preparation, tuned in product([*self.preparations, WHOLE], self.tuned)
        ]

    @property
    def fetched_models(self) -> list[str]:
        """Models that come from the hub or a local folder: scored, or a base of adapted ones, or optional."""
        models = self._config.models
        made = {*models.train, *models.adapted, *models.checkpoints}
        names = dict.fromkeys([*models.scored, *models.bases, *models.followed, *models.optional])
        return [name for name in names if name not in made]

    @property
    def fetched_weights(self) -> list[str]:
        """Fetched models whose weights are files of the run; NAME@chat shares those of NAME.

        With a storage all are. Else they are those that are deleted after their last job; bases of adapted
        models and models that are tuned are not among them: to fetch one again would train all that comes
        from it again.
        """
        if not self._config.models.on_disk and not self._stored:
            return []
        kept = set[str]()
        if not self._stored:
            others = (*self._config.models.bases, *self.inputs.tuned_models)
            kept = {ModelName.parse(name).plain for name in others}
        here = [name for name in self.fetched_models if name not in self._served]
        names = dict.fromkeys(ModelName.parse(name).plain for name in here)
        return [name for name in names if name not in kept]

    @property
    def fetched_tokenizers(self) -> list[str]:
        """The model whose tokenizer counts the tokens of pairs, if not trained here."""
        pairs = self._config.pairs
        return [pairs.tokenizer] if pairs and pairs.tokenizer not in self._config.models.train else []

    @property
    def trains_lenses(self) -> bool:
        """Whether tuned lenses are trained on one split, for use on another."""
        splits = self._config.corpus.splits
        return self._config.lens.steps > 0 and min(splits.adapt_train, splits.adapt_valid) > 0

    @property
    def compares_preparations(self) -> bool:
        """Whether rankings after shorter preparations are compared."""
        return bool(self.inputs.tasks and self.preparations)

    def has_rankings(self) -> bool:
        """Say whether models can be ranked: by a folder of scores, or by two benchmarks and three models."""
        if self.inputs.tasks:
            return len(self.inputs.tasks) > 1 and len(self.inputs.tuned_models) > 2
        return self._config.scores is not None or (
            len(self._config.benchmark_domains) > 1 and len(self._config.models.scored) > 2
        )

    # files of one kind

    def of_domains(self, path: RunPath, domains: Iterable[str] | None = None) -> list[RunPath]:
        """Return a path for each of some domains, by default those with a benchmark."""
        return [
            path.of(domain=name) for name in (self._config.benchmark_domains if domains is None else domains)
        ]

    def of_benchmarks(self, path: RunPath) -> list[RunPath]:
        """Return a path for each benchmark that is scored."""
        return path.of_each(self.scored_benchmarks)

    def of_sets(self, path: RunPath) -> list[RunPath]:
        """Return a path for each set of questions about records."""
        return [path.of(set=name) for name in self._config.coverage.questions]

    def of_varied(self, path: RunPath) -> list[RunPath]:
        """Return a path for each set that models answer with other thresholds, too."""
        return self.of_sets(path) if self._config.coverage.scores_thresholds else []

    def name_pairs(self) -> list[str]:
        """Return the pairs of every benchmark, in the order of `benchmarks`."""
        return self._files(paths.PAIRS, self.benchmarks)

    def name_overlaps(self) -> list[str]:
        """Return the overlap of every benchmark with training text, in the order of `overlapping`."""
        return [self.studies.name_overlap(*benchmark) for benchmark in self.overlapping]

    def name_scores(self) -> list[str]:
        """Return every table of scores, in the order of `scored`."""
        return self._files(paths.SCORES, self.scored)

    def name_perplexities(self) -> list[str]:
        """Return perplexities in the order of `held_out`."""
        return self._files(paths.PERPLEXITY, self.held_out)

    def name_attribute_rates(self) -> list[str]:
        """Return attribute rates in the order of `measured`."""
        return self._files(paths.RATES, self.measured)

    def name_followed(self) -> dict[str, list[str]]:
        """Return the tables of followed models by kind, each in the order of its places."""
        models, domains = self.followed_models, self._config.benchmark_domains
        scores = [(*benchmark, model) for benchmark, model in product(self.benchmarks, models)]
        others = dict.fromkeys(chain.from_iterable(self._config.models.follow.values()))
        return {
            "scores": self._files(paths.SCORES, scores),
            "perplexity": self._files(paths.PERPLEXITY, product(self.held_out_domains, models)),
            "attribute_rates": self._files(paths.RATES, product(domains, models)),
            "pointers": [self.find_pointer(model) for model in others],
        }

    def name_tuned(self, ending: str) -> list[str]:
        """Return a file of every tuning, in the order of `tuned`."""
        return self._files(paths.TUNED.ending(ending), ((task, model) for model, task in self.tuned))

    def name_prepared(self, ending: str) -> list[str]:
        """Return a file of every tuning, in the order of `prepared`."""
        return [
            self._file(paths.TUNED.ending(ending), task=task, model=model)
            if name == WHOLE
            else self._file(paths.PREPARED.ending(ending), preparation=name, task=task, model=model)
            for name, model, task in self.prepared
        ]

    def find_weights(self, model: str) -> list[str]:
        """Return the folders of weights that a job with a model needs as inputs.

        With a storage these are the model's, and those of what it was adapted from, for an adapter lies apart
        from its base. Else there is one of a fetched model that is deleted after its last job.
        """
        plain = ModelName.parse(model).plain
        if not self._stored:
            return [self._file(paths.WEIGHTS, model=plain)] if plain in self.fetched_weights else []
        return [self._file(paths.WEIGHTS, model=name) for name in self._list_loaded(plain)]

    def _list_loaded(self, model: str) -> list[str]:
        models = self._config.models
        made = models.checkpoints.get(model)
        if made is None and model not in models.adapted:
            return [] if model in self._served else [model]
        own = [] if made else [model]  # a checkpoint lies in the folder that its pointer lies in
        parent, _, how = models.adapted[made[0] if made else model]
        return [*own, *(self._list_loaded(parent) if how.lora else [])]

    def find_pointer(self, model: str) -> str:
        """Return the file that points to a model's weights; for a checkpoint, the folder that holds it."""
        checkpoints = self._config.models.checkpoints
        if model in checkpoints:
            return self._file(paths.CHECKPOINTS, model=checkpoints[model][0])
        return self._file(paths.POINTER, model=model)

    def name_pointer(self, model: str) -> str:
        """Return the file that points to a model's weights; a checkpoint's lies in a folder of them."""
        checkpoints, found = self._config.models.checkpoints, self.find_pointer(model)
        return f"{found}/step{checkpoints[model][1]}.json" if model in checkpoints else found

    def list_before(self, model: str) -> list[str]:
        """Return what must be finished before a model is fetched, to limit models on disk.

        They follow each other in the order of the configuration: each waits until the one
        `models.on_disk` places before it is finished.
        """
        if not self._config.models.on_disk:
            return []
        place = self.fetched_weights.index(model) - self._config.models.on_disk
        if place < 0 or not self.benchmarks:
            return []
        domain, variant = self.benchmarks[0]  # one job writes the scores of all
        plain, models = self.fetched_weights[place], self._config.models
        used = (*models.scored, *models.followed)
        names = [name for name in used if ModelName.parse(name).plain == plain]
        return self._files(paths.SCORES, product([domain], [variant], names))

    def find_task_source(self, name: str) -> str | list[str]:
        """Return the file of this run that a task is made from; nothing for a task of the harness."""
        task = self.inputs.tasks[name]
        if task.kind == "harness":
            return []
        if task.kind == "text":
            return self._file(paths.TEXTS, domain=task.domain)
        return self._file(paths.PAIRS, domain=task.domain, variant=task.variant)

    def name_ranking_tables(self) -> list[str]:
        """Return the tables of agreement of rankings."""
        forecast = ["forecast"] if self._config.ranking.forecast else []
        preparation = ["preparation"] if self.compares_preparations else []
        names = (*RANKING_TABLES, *forecast, *preparation)
        return self._files(paths.RANKING, product(names))

    def list_benchmarks(self) -> list[str]:
        """Return the cards and task folders of all benchmarks, and what changed since the earlier run."""
        cards, tasks = (self._files(path, self.benchmarks) for path in (paths.CARD, paths.TASK))
        changes = [self._file(paths.CHANGES_TABLE)] if self._config.previous and self._config.domains else []
        return [*cards, *tasks, *changes]
