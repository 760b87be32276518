"""What the figures of a run lack because a domain has no reference benchmark, said before the run.

Only where text comes from a dump of arXiv, as the papers' does, and a figure is asked for that has a
reference in a paper, of models from elsewhere: nobody is asked to write pairs for text of their own, or for
an example, whose models are trained here.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.entry import Figure
from fathom.io import paths
from fathom.planning.run_figures import RunFigures

_PARTS = ("compare", "follow")
"""Targets that draw only figures of their own."""
_WHOLE = ("all", "figures")
"""Targets that draw all figures that have a reference in a paper."""


def describe_missing_references(config: Config, figures: RunFigures, asked: Iterable[str] = ()) -> str:
    """Return what figures lack without references, and what to do about it; empty if they lack nothing."""
    if config.corpus.source != "arxiv":
        return ""
    drawn = _find_drawn(asked)
    lines = [
        f"  {figure.pattern}: {figure.unreferenced} [{numbers}]"
        for figure in CATALOGUE.values()
        if figure.unreferenced
        and figure.target in drawn
        and (numbers := _list_numbers(config, figures, figure))
    ]
    if not lines:
        return ""
    without = [name for name in config.benchmark_domains if name not in config.references]
    lack = (
        f"no benchmark by an expert or a model for {', '.join(without)}" if without else "no domain has two"
    )
    hint = "Hint: --config references=FOLDER gives files of them; docs/reference.md says what they hold"
    return "\n".join([f"references: {lack}, so figures lack what the papers' have", *lines, hint])


def _find_drawn(asked: Iterable[str]) -> set[str]:
    drawn = set[str]()
    for name in list(asked) or _WHOLE:
        needs_all = (
            name in _WHOLE or Path(name).name == paths.PAGE.below or Path(name).parent.name == "figures"
        )
        drawn.update([name] if name in _PARTS else [*_PARTS, "figures"] if needs_all else [])
    return drawn


def _list_numbers(config: Config, figures: RunFigures, figure: Figure) -> str:
    """Return the papers' figures that some of a run's are, and that lack a reference."""
    places = figures.list_places(figure)
    if "references" in figure.reads:
        places = [] if places else _list_groups(figures)
    else:
        places = [place for place in places if _find_domain(config, place) not in config.references]
    places = [place for place in places if not _is_example(config, figures, place)]
    parts = [place | values for place in places for values in figure.vary()]
    found: dict[str, list[str]] = {}
    for row in figure.shown:
        if row.paper and any(row.values.items() <= each.items() for each in parts):
            found.setdefault(row.paper, []).append(row.number)
    return "; ".join(f"{paper}, {', '.join(dict.fromkeys(numbers))}" for paper, numbers in found.items())


def _is_example(config: Config, figures: RunFigures, place: dict[str, str]) -> bool:
    if "track" in place:
        bases = [config.models.studies[place["track"]].base]
    elif "base" in place:
        bases = [place["base"]]
    elif "group" in place:
        groups: Mapping[str, list[str]] = dict(figures.lists["reference_groups"])
        bases = [ModelName.parse(name).base for name in groups[place["group"]]]
    else:
        return False
    return all(base in config.models.train for base in bases)


def _list_groups(figures: RunFigures) -> list[dict[str, str]]:
    return [{"group": group} for group in figures.lists["reference_groups"]]


def _find_domain(config: Config, place: dict[str, str]) -> str:
    return place["domain"] if "domain" in place else config.models.studies[place["track"]].evaluation_domain
