"""Settings of the papers' claims about metrics of adapted models, and which models they are checked on."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from fathom.config.model_names import ModelName
from fathom.config.models import Models
from fathom.config.section import Name, Section

UNUSED, CLOZES = "unused", "clozes"
"""Variants that are references for the others: pairs from documents set aside, clozes of held-out text."""


class Claims(Section):
    """References that metrics of adapted models are compared with [RawCorpora, Sec. 4.1]."""

    unused: float = Field(
        0.0,
        ge=0.0,
        lt=1.0,
        description="share of a domain's benchmark documents to set aside: their pairs are a reference, "
        "`unused`; TF and TF-IDF pairs come from the others",
    )
    clozes: int = Field(
        0,
        ge=0,
        description="number of clozes drawn from documents of split adapt-valid: a reference of single "
        "random words, `clozes`",
    )
    near: dict[Name, list[Name]] = Field(
        {},
        description="domains near to each domain with a benchmark; all others that models are adapted to "
        "are far; figures of adapted models show near ones first",
    )

    @property
    def variants(self) -> list[str]:
        """The variants that are references."""
        return [name for name, given in ((UNUSED, self.unused), (CLOZES, self.clozes)) if given]

    def order_by_nearness(self, models: Sequence[str], domain: str) -> list[str]:
        """Return a base and models adapted from it by how near their training is to a domain.

        The order that the papers expect [BeyondBenchmarks, Sec. 3.1.1]: trained on the domain alone; on
        near ones; on far ones, then on the domain or near ones; the base; on the domain or near ones, then
        on far ones; on far ones alone. Equally near models keep their order.

        Parameters
        ----------
        models : sequence of str
        domain : str
            That they are measured on.
        """
        known = {domain, *self.near.get(domain, [])}

        def place(model: str) -> int:
            path = ModelName.parse(model).path
            near = [name in known for name in path]
            if not path:
                return 3
            if not near[-1]:
                return 4 if any(near) else 5
            return 2 if not all(near) else int(path[-1] != domain)

        return sorted(models, key=place)


class Condition(Section):
    """Models adapted in the same way, one for each seed."""

    path: list[str] = Field([], description="domains in the order of training; none for the base")
    is_end: bool = Field(True, description="whether the last stage is complete, not a checkpoint")
    models: list[str] = Field(description="a model for each seed; the base alone")


def list_conditions(models: Models) -> dict[str, list[Condition]]:
    """Return adapted models by base: followed paths of `models.adapt` on unchanged texts.

    Each model occurs once; the base comes first.
    """
    found: dict[str, dict[str, Condition]] = {}
    for adaptation in (each for each in models.adapt if each.is_followed and each.text == "as-is"):
        own = found.setdefault(adaptation.base, {})
        own.setdefault(adaptation.base, Condition(models=[adaptation.base]))
        for path in adaptation.paths:
            names = [adaptation.name_stages(path, seed) for seed in adaptation.list_seeds()]
            for point in models.tracks.get(names[0][-1], []):
                if point.stage and point.seed == str(adaptation.list_seeds()[0]):
                    step = ModelName.parse(point.model).step
                    ends = [ModelName.parse(stages[point.stage - 1]) for stages in names]
                    same = [str(replace(end, step=step)) for end in ends]
                    condition = Condition(path=path[: point.stage], is_end=step is None, models=same)
                    own.setdefault(point.model, condition)
    return {base: list(conditions.values()) for base, conditions in found.items()}
