"""Names of files of a run: the common base, and the files of trainings.

Trainings have texts and orders of domains, and results of adapted models besides scores; compared
adaptations separate knowledge from style.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.models import Models
from fathom.config.whole import Config
from fathom.io import paths
from fathom.io.run_path import RunPath


class RunFiles:
    """Names of files of a run."""

    def __init__(self, config: Config, results: str) -> None:
        self._config, self.results = config, results

    def _file(self, path: RunPath, **fields: object) -> str:
        return path.of(**fields).under(self.results)

    def _files(self, path: RunPath, places: Iterable[Sequence[object]]) -> list[str]:
        """Return a file for each place: values of the fields of its path, in their order."""
        return [each.under(self.results) for each in path.of_each(places)]


FEWEST = 3
"""Fewest models in a figure of adapted models: fewer have no correlation."""


class Texts(RunFiles):
    """Names of the texts that models are trained on."""

    def __init__(self, config: Config, results: str) -> None:
        super().__init__(config, results)
        self._models = config.models
        self._of_questions = config.list_question_texts()

    def list_trained(self) -> list[str]:
        """Return the text of every domain that any model of the run is trained on."""
        trained = {training.domain for training in self._models.train.values()}
        trained |= {adapted.domain for adapted in self._models.adapted.values()}
        return [self.name(domain) for domain in sorted(trained)]

    def find(self, model: str) -> str:
        """Return the text that a model is trained on, or adapted to."""
        if model in self._models.train:
            return self.name(self._models.train[model].domain)
        _, domain, adaptation = self._models.adapted[model]
        changed = self._file(paths.CHANGED_TEXTS, domain=domain, text=adaptation.text)
        return self.name(domain) if adaptation.text == "as-is" else changed

    def name(self, domain: str) -> str:
        """Return the text of a domain: of its own documents, from elsewhere, or of a set of questions."""
        if domain in self._of_questions:
            chosen, kind = self._of_questions[domain]
            return self._file(paths.QUESTION_TEXTS, set=chosen, kind=kind)
        path = paths.TRAINING_TEXTS if domain in self._models.texts else paths.TEXTS
        return self._file(path, domain=domain)

    def name_held_out(self, domain: str) -> str:
        """Return the text whose split adapt-test perplexity is measured on."""
        elsewhere = domain in self._config.perplexity.texts
        return self._file(paths.HELD_OUT_TEXTS if elsewhere else paths.TEXTS, domain=domain)


class Orders(RunFiles):
    """Names of the files of continual pretraining."""

    def name_means(self, study: str) -> list[str]:
        """Return the mean embeddings of a study's evaluation domain and of those compared with it."""
        section = self._config.models.continual[study]
        domains = dict.fromkeys([section.evaluation_domain, *self._config.list_compared(study)])
        return self._files(paths.MEAN_VECTORS, product(domains, [section.abstracts]))

    def find_order(self, track: str) -> str:
        """Return the table of the order of domains that a track of continual pretraining follows."""
        study = track.removeprefix(f"{self._config.models.studies[track].base}+")
        return self._file(paths.ORDER, study=study)


class Studies(RunFiles):
    """Names of a run's files on adapted models."""

    def list_variants(self, domain: str) -> list[str]:
        """Return the variants of a domain's benchmarks, `reference` among them where one is configured."""
        written = [REFERENCE] if domain in self._config.references else []
        return [*VARIANTS, *written]

    def list_mapped(self, domain: str) -> list[str]:
        """Return the variants of a domain that are on one map: its benchmarks, and every reference."""
        return [*VARIANTS, *(variant for variant, _ in self._config.name_references(domain))]

    @property
    def references(self) -> list[tuple[str, str]]:
        """Domain and variant of the references for the papers' claims."""
        return list(product(self._config.benchmark_domains, self._config.claims.variants))

    @property
    def reference_files(self) -> dict[tuple[str, str], str]:
        """Files of reference benchmarks, by domain and variant."""
        return {
            (domain, variant): files[name]
            for domain, files in self._config.references.items()
            for variant, name in self._config.name_references(domain)
        }

    @property
    def other_references(self) -> list[tuple[str, str]]:
        """Domain and variant of references beside the one that leads in a domain."""
        return [place for place in self.reference_files if place[1] != REFERENCE]

    @property
    def other_variants(self) -> list[str]:
        """Variants of references beside those that lead."""
        return list(dict.fromkeys(variant for _, variant in self.other_references))

    @property
    def families(self) -> dict[str, list[str]]:
        """Models that are drawn together: a base, if it is scored, and the ends of the paths from it."""
        scored, found = self._config.models.scored, dict[str, list[str]]()
        for model, base in self._config.models.path_ends.items():
            found.setdefault(base, [base] if base in scored else []).append(model)
        return {base: models for base, models in found.items() if len(models) >= FEWEST}

    @property
    def path_families(self) -> dict[str, list[str]]:
        """Paths with checkpoints that are drawn over each other, by the model that they start from.

        A path that is the beginning of another one lies within the track of that one.
        """
        found: dict[str, dict[str, None]] = {}
        for adaptation in self._config.models.adapt:
            for path in adaptation.paths if adaptation.checkpoints else []:
                end = adaptation.name_stages(path, adaptation.list_seeds()[0])[-1]
                found.setdefault(adaptation.base, {})[end] = None
        return {base: list(ends) for base, ends in found.items() if len(ends) > 1}

    def name_overlap(self, domain: str, variant: str) -> str:
        """Return the overlap of pairs with training text."""
        return self._file(paths.OVERLAP, domain=domain, variant=variant)

    def name_claimed(
        self, benchmarks: Iterable[tuple[str, str]], models: Sequence[str]
    ) -> dict[tuple[str, str, str], str]:
        """Return the tables of scores that claims are checked on, by domain, variant and model."""
        places = [(*benchmark, model) for benchmark, model in product(benchmarks, models)]
        return dict(zip(places, self._files(paths.SCORES, places), strict=True))

    def name_compared(self, domain: str) -> list[tuple[str, str, str]]:
        """Return variant, model and table of the scores whose targets are compared on a domain."""
        pairs = self._config.compared_models.items()
        models = dict.fromkeys(model for pair in pairs for model in pair)
        return [
            (variant, model, self._file(paths.SCORES, domain=domain, variant=variant, model=model))
            for variant, model in product(self.list_variants(domain), models)
        ]


def find_controls(models: Models) -> dict[tuple[str, str], dict[str, str]]:
    """Return tracks by base and domain whose text is changed, and there by text; other domains by their name.

    All are followed and have one stage. A domain's own text is `as-is`.
    """
    single = [
        (adaptation, path[0])
        for adaptation in models.adapt
        if adaptation.is_followed
        for path in adaptation.paths
        if len(path) == 1
    ]
    changed = {(each.base, domain): dict[str, str]() for each, domain in single if each.text != "as-is"}
    for (base, domain), found in changed.items():
        for adaptation, other in single:
            name = adaptation.name_stages([other], adaptation.list_seeds()[0])[-1]
            is_own, is_plain = other == domain, adaptation.text == "as-is"
            if adaptation.base == base and name in models.tracks and (is_own or is_plain):
                found[adaptation.text if is_own else other] = name
    return changed
