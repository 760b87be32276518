"""The figures of a run, their sources, and what they lack without references."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, product
from pathlib import Path
from typing import Any

from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.figures.catalogue import CATALOGUE
from fathom.figures.entry import Figure
from fathom.io import paths
from fathom.io.run_path import RunPath
from fathom.planning.comparing import Comparing
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import ChoiceNames
from fathom.planning.run_files import FEWEST as FEWEST_CORRELATED
from fathom.planning.run_files import RunFiles, find_controls
from fathom.planning.settings import Settings

SECTIONS = ("summary", "layers", "ranking")
"""Sections of the configuration that affect figures."""

FEWEST = 2
"""Fewest models of known and different size in a figure of sizes."""

Parts = dict[str, str]


class RunFigures(RunFiles):
    """Figures of a run."""

    def __init__(self, config: Config, outputs: Outputs, comparing: Comparing) -> None:
        super().__init__(config, outputs.results)
        self._outputs, self._comparing = outputs, comparing

    @cached_property
    def lists(self) -> Mapping[str, Sequence[Any] | Mapping[str, Any]]:
        """Subjects of figures by the names in the catalogue; members of groups by group."""
        domains = self._config.benchmark_domains
        return self._list_compared(domains) | self._list_studies(domains) | self._list_others()

    def _list_compared(self, domains: list[str]) -> dict[str, Any]:
        config, comparing = self._config, self._comparing
        paired = {base for _, base, _ in comparing.chat_pairs}
        known_sizes = {parameters for *_, parameters, _ in comparing.sizes}
        return {
            "domains": domains,
            "led_domains": domains if config.summary.lead == "bits" else [],
            "groups": comparing.groups,
            "reference_groups": comparing.reference_groups,
            "families": self._outputs.studies.families,
            "referenced_domains": [name for name, files in config.references.items() if len(files) > 1],
            "chat_pairs": comparing.chat_pairs if domains else [],
            "paired_domains": domains if len(paired) >= FEWEST_CORRELATED else [],
            "sized_domains": domains if len(known_sizes) >= FEWEST else [],
            "dated_domains": domains if comparing.cutoffs else [],
            "compared_models": list(config.compared_models),
            "layer_families": config.layer_families,
        }

    def _list_studies(self, domains: list[str]) -> dict[str, Any]:
        models, outputs = self._config.models, self._outputs
        return {
            "tracks": list(models.tracks) if outputs.benchmarks else [],
            "followed_domains": {name: list(models.follow) for name in domains if models.follow},
            "path_families": outputs.studies.path_families,
            "orders": list(models.continual),
            "stage_tracks": list(models.studies),
            "controlled_domains": list(dict.fromkeys(domain for _, domain in find_controls(models))),
            "claimed_domains": domains if self._config.claims.variants else [],
        }

    def _list_others(self) -> dict[str, Any]:
        coverage, ranking, outputs = self._config.coverage, self._config.ranking, self._outputs
        sets, ranked, conditions = list(coverage.questions), outputs.has_rankings(), outputs.inputs.conditions
        choices = ChoiceNames(self._config, self.results)
        found = {
            "benchmarks": outputs.benchmarks,
            "expanded_domains": coverage.expand,
            "other_domains": [name for name, others in coverage.others.items() if others],
            "varied_domains": coverage.expand if coverage.ablation.max_correlation else [],
            "question_sets": sets,
            "varied_sets": sets if coverage.ablation.gap_percentile else [],
            "answered_sets": sets if coverage.evaluation.models else [],
            "threshold_sets": sets if coverage.scores_thresholds else [],
            "varied_choices": choices.varied,
        }
        rankings = {
            "rankings": ["rankings"],
            "conditions": conditions,
            "perplexity_figures": ["perplexity", *(["perplexity-before"] if len(conditions) > 1 else [])],
            "component_figures": [
                *("pca", "pc1-compute", "pc1-scores"),
                *(["pca-family"] if ranking.one_family else []),
            ],
            "forecasts": ranking.forecast,
            "preparations": outputs.preparations if outputs.compares_preparations else [],
        }
        return found | {name: each if ranked else [] for name, each in rankings.items()}

    def list_places(self, figure: Figure) -> list[Parts]:
        """Return the parts of each job that draws a kind of figure."""
        every: list[list[Parts]] = []
        for names, of in figure.of.items():
            found = [[each] if isinstance(each, str) else each for each in self.lists[of]]
            # a list under an empty name only says whether there is anything to draw
            parts = names.split()
            places: list[Parts] = [dict(zip(parts, some, strict=True)) if names else {} for some in found]
            every.append(places if names else places[:1])
        return [{name: value for part in place for name, value in part.items()} for place in product(*every)]

    def list_figures(self, *targets: str, without: Sequence[str] = ()) -> list[str]:
        """Return the figures of some targets, but for those of some kinds."""
        return [
            self._file(paths.FIGURE, figure=figure.pattern.format_map(place | values))
            for figure in CATALOGUE.values()
            if figure.target in targets and figure.name not in without
            for place in self.list_places(figure)
            for values in figure.vary()
        ]

    def constrain(self, figure: Figure) -> dict[str, list[str]]:
        """Return the values of each part except domains and variants, which all rules share."""
        return {
            names: list(self.lists[name])
            for names, name in figure.of.items()
            if names in figure.parts and names != "domain"
        }

    def find_inputs(self, figure: Figure) -> dict[str, Callable[[Any], str | list[str]]]:
        """Return an input function for each table that a figure reads, by name; []: a domain has none."""

        def find(path: RunPath, wildcards: Any) -> str:
            return RunPath(path.format_map(self._read_parts(figure, wildcards))).under(self.results)

        def find_variant(path: RunPath, variant: str, wildcards: Any) -> str | list[str]:
            mapped = variant in self._outputs.studies.list_mapped(wildcards.domain)
            return find(path.of(variant=variant), wildcards) if mapped else []

        found: dict[str, Callable[[Any], str | list[str]]] = {
            name: partial(find, path) for name, path in figure.reads.items()
        }
        if figure.reads_each is not None and figure.each:
            # numbered: a domain may have the name of another input
            found |= {
                str(number): partial(find, figure.reads_each.of(domain=name))
                for number, name in enumerate(self.lists[figure.each], 1)
            }
        elif figure.reads_each is not None:
            variants = (self._outputs.studies.list_mapped(name) for name in self._config.benchmark_domains)
            found |= {
                name: partial(find_variant, figure.reads_each, name)
                for name in dict.fromkeys(chain.from_iterable(variants))
            }
        return found

    def find_settings(self, figure: Figure) -> Callable[[Any], str]:
        """Return a param: a figure's settings and texts beside its tables, as JSON."""

        def find(wildcards: Any) -> str:
            parts = self._read_parts(figure, wildcards)
            sections = [name for name in figure.settings if name in SECTIONS]
            texts = {
                name: self._find_text(name, figure, parts) for name in figure.settings if name not in SECTIONS
            }
            return Settings(self._config).of_figure(sections, texts)

        return find

    def _read_parts(self, figure: Figure, wildcards: Any) -> Parts:
        parts = {name: str(getattr(wildcards, name)) for name in figure.asked}
        if figure.of.get("track") == "stage_tracks":
            parts["study"] = Path(self._outputs.orders.find_order(parts["track"])).stem
        return parts

    def _find_text(self, name: str, figure: Figure, parts: Parts) -> Any:
        comparing, config = self._comparing, self._config
        if name == "references" and "domain" not in parts and "track" not in parts:
            return config.name_all_references()
        if name in ("title", "references"):
            domain = parts.get("domain") or config.models.studies[parts["track"]].evaluation_domain
            # pairs, as the first one is the reference and JSON sorts the keys of a mapping
            named = config.name_references(domain)
            return named if name == "references" else config.titles[domain]
        if name == "members":
            lists = [(part, self.lists[of]) for part, of in figure.of.items()]
            members = next(found[parts[part]] for part, found in lists if isinstance(found, Mapping))
            adapted = "families" in figure.of.values()
            return config.claims.order_by_nearness(members, parts["domain"]) if adapted else members
        owners = {"titles": config, "share": config.targets, "subjects": ChoiceNames(config, self.results)}
        found = getattr(owners.get(name, comparing), name)
        return dict(found) if name == "bases" else found


_PARTS = ("compare", "follow")
"""Targets that draw only figures of their own."""
_WHOLE = ("all", "figures")
"""Targets that draw all figures that have a reference in a paper."""


def describe_missing_references(config: Config, figures: RunFigures, asked: Iterable[str] = ()) -> str:
    """Return what figures lack without references, with a hint; empty if they lack nothing."""
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
    hint = "Hint: give files of them by --config references=FOLDER (docs/reference.md)"
    return "\n".join([f"references: {lack}, so figures lack parts of the papers'", *lines, hint])


def _find_drawn(asked: Iterable[str]) -> set[str]:
    drawn = set[str]()
    for name in map(Path, list(asked) or _WHOLE):
        if str(name) in _WHOLE or name.name == paths.PAGE.below or name.parent.name == "figures":
            drawn.update([*_PARTS, "figures"])
        elif str(name) in _PARTS:
            drawn.add(str(name))
    return drawn


def _list_numbers(config: Config, figures: RunFigures, figure: Figure) -> str:
    """Return the papers' figures that a run draws without a reference."""
    places = figures.list_places(figure)
    if "references" in figure.reads:
        places = [] if places else [{"group": group} for group in figures.lists["reference_groups"]]
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


def _find_domain(config: Config, place: dict[str, str]) -> str:
    return place["domain"] if "domain" in place else config.models.studies[place["track"]].evaluation_domain
