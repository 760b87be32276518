"""What a run makes of adapted models beside their scores: comparisons with their bases, controls, paths."""

from collections.abc import Iterable, Sequence
from itertools import product

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.io import paths
from fathom.planning.run_files import RunFiles

FEWEST = 3
"""Models in a figure of adapted models, for fewer have no correlation."""


class Studies(RunFiles):
    """Names of the files that a run makes of adapted models."""

    def list_variants(self, domain: str) -> list[str]:
        """Return the variants of a domain's benchmarks, `reference` among them where one is configured."""
        written = [REFERENCE] if domain in self._config.references else []
        return [*VARIANTS, *written]

    def list_mapped(self, domain: str) -> list[str]:
        """Return the variants of a domain that are on one map: its benchmarks, and every reference."""
        return [*VARIANTS, *(variant for variant, _ in self._config.name_references(domain))]

    @property
    def references(self) -> list[tuple[str, str]]:
        """Domain and variant of what the papers' claims are checked against."""
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
