"""What a comparison shows besides ranks: every metric, chat models against their bases, sizes, dates."""

from collections.abc import Iterable, Mapping
from itertools import product

from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.io import paths
from fathom.models.registry import ModelRow
from fathom.planning.needs import Needs
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import list_bases
from fathom.planning.run_files import FEWEST as FEWEST_CORRELATED


class Comparing:
    """Properties of compared models known before scoring."""

    def __init__(
        self, config: Config, entries: Mapping[str, ModelRow], needs: Needs, outputs: Outputs
    ) -> None:
        self._config, self._entries, self._needs, self._outputs = config, entries, needs, outputs

    @property
    def groups(self) -> dict[str, list[str]]:
        """Groups of models that are drawn together by every metric, in the order of the configuration.

        `base` has pretrained models, `chat` those tuned for chat, `all` both and adapted models, if
        different. Groups of fewer than three models, which have no correlation, are left out.
        """
        scored, adapted = self._config.models.scored, self._config.models.adapted
        rows = {name: self._find_row(name) for name in scored}
        chat = [name for name, row in rows.items() if row is not None and row.kind == "chat"]
        base = [name for name in scored if name not in chat and name not in adapted]
        found = {"base": base, "chat": chat}
        if scored not in (base, chat):
            found["all"] = scored
        return {name: models for name, models in found.items() if len(models) >= FEWEST_CORRELATED}

    @property
    def reference_groups(self) -> dict[str, list[str]]:
        """Groups of models that are drawn together by several references, with `paired`.

        `paired` holds base models whose chat models are scored too, if these are not all base models
        [RawCorpora, Fig. 3].
        """
        found = self.groups
        bases = {base for _, base, _ in self.chat_pairs}
        paired = [name for name in found.get("base", []) if name in bases]
        if len(paired) >= FEWEST_CORRELATED and paired != found["base"]:
            found["paired"] = paired
        return found

    def _find_row(self, name: str) -> ModelRow | None:
        return self._entries.get(ModelName.parse(name).plain)

    @property
    def tokenizers(self) -> list[str]:
        """The first model of each family that reads running text: models of one family share a tokenizer."""
        families: dict[str, str] = {}
        for name in self._outputs.plain_models:
            if name not in self._config.models.adapted:
                made, row = self._config.models.train.get(name), self._entries.get(name)
                family = made.architecture if made else row.family if row else name
                families.setdefault(family, name)
        return list(families.values())

    @property
    def other_scores(self) -> list[tuple[tuple[str, str, str], str]]:
        """Domain, variant and model, and the table of scores, on references that do not lead."""
        references = product(self._outputs.studies.other_references, self._config.models.scored)
        places = [(*reference, model) for reference, model in references]
        scores = paths.SCORES.of_each(places)
        return [
            (place, each.under(self._outputs.results)) for place, each in zip(places, scores, strict=True)
        ]

    @property
    def chat_pairs(self) -> list[tuple[str, str, str]]:
        """Chat model, its base and their family, for each chat model whose base is scored too."""
        scored, found = self._config.models.scored, []
        for name in scored:
            entry = self._find_row(name)
            if entry and entry.base_of and entry.base_of in scored:
                found.append((name, entry.base_of, entry.family))
        return found

    @property
    def bases(self) -> list[tuple[str, str]]:
        """Models that answer questions, each with the one to compare it with."""
        return list_bases(self._config, self._entries)

    @property
    def titles(self) -> list[tuple[str, str]]:
        """Domain and title of each benchmark's domain."""
        titles = self._config.titles
        return [(name, titles[name]) for name in self._config.benchmark_domains]

    @property
    def sizes(self) -> list[tuple[str, str, str, int, int]]:
        """Model, family, kind, parameters and training tokens, 0: unknown, where parameters are known."""
        described = (self._describe(name) for name in self._config.models.scored)
        return [each for each in described if each and each[3]]

    @property
    def cutoffs(self) -> dict[str, str]:
        """Last day of the training text of each scored model, if the table of models gives it.

        None if documents have no dates to compare with.
        """
        if not self._config.corpus.has_dates:
            return {}
        rows = {name: self._find_row(name) for name in self._config.models.scored}
        return {name: row.cutoff for name, row in rows.items() if row and row.cutoff}

    def list_dated(self, benchmarks: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
        """Return domain, variant and model of every table of scores that is split by date."""
        return [(*benchmark, model) for benchmark, model in product(benchmarks, self.cutoffs)]

    def name_dated_scores(self, benchmarks: Iterable[tuple[str, str]]) -> list[str]:
        """Return the tables of scores that are split by date, in the order of :meth:`list_dated`."""
        return [
            path.under(self._outputs.results) for path in paths.SCORES.of_each(self.list_dated(benchmarks))
        ]

    def _describe(self, name: str) -> tuple[str, str, str, int, int] | None:
        models, root, tokens = self._config.models, name, 0
        while root in models.adapted:
            root, _, training = models.adapted[root]
            tokens += training.steps * training.batch * training.sequence
        if root in models.train:
            made, shape = models.train[root], self._needs.find_shape(root)
            tokens += made.steps * made.batch * made.sequence
            return name, made.architecture, "base", shape.parameters if shape else 0, tokens
        row = self._find_row(root)
        if row is None:
            return None
        return name, row.family, row.kind, row.parameters or 0, row.tokens + tokens if row.tokens else 0
