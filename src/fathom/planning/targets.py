"""What each target of the workflow asks for."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io import paths
from fathom.planning.comparing import Comparing
from fathom.planning.failures import refusing
from fathom.planning.outputs import Outputs
from fathom.planning.question_files import ChoiceNames, list_questions
from fathom.planning.run_figures import RunFigures
from fathom.planning.run_files import RunFiles, find_controls

HINTS = {
    "fetch": "it needs models from elsewhere: docs/models.md",
    "layers": "it needs a domain with a benchmark: docs/layers.md",
    "order": "it needs models.continual: docs/continual.md",
    "follow": "it needs seeds, checkpoints or controls, models.continual or claims: docs/following.md",
    "coverage": "it needs coverage: docs/coverage.md, docs/questions.md",
    "choices": "it needs choices.questions: docs/multiple-choice.md",
}
"""What an empty target needs."""


def make_some(target: str, files: Sequence[str]) -> Callable[[Any], Sequence[str]]:
    """Return the input of a target; stop if there is nothing to make, as that would succeed silently."""

    def find(wildcards: Any) -> Sequence[str]:
        with refusing():
            if not files:
                raise InputError(f"target {target} has nothing to make", hint=HINTS[target])
        return files

    return find


class Targets(RunFiles):
    """Files that targets ask for; tables that no figure reads are made on the way."""

    def __init__(self, config: Config, outputs: Outputs, comparing: Comparing) -> None:
        super().__init__(config, outputs.results)
        self._outputs = outputs
        self.figures = RunFigures(config, outputs, comparing)
        self._choices = ChoiceNames(config, outputs.results)

    def list_compared(self) -> list[str]:
        """Return the comparison of models on domains: tables, benchmarks, figures, rankings."""
        tables = (paths.JOIN_REPORT, paths.SUMMARY, paths.COMPARISONS) if self._config.domains else ()
        return [
            *map(self._file, tables),
            *self._outputs.list_benchmarks(),
            *self.figures.list_figures("compare", "rankings"),
            *([self._file(paths.EXAMPLES)] if self._config.benchmark_domains else []),
            *([self._file(paths.RANKING_PAGE)] if self._outputs.has_rankings() else []),
        ]

    def list_fetched(self) -> list[str]:
        """Return the pointer of each model from the hub, a folder, a package or a server."""
        return [self._outputs.find_pointer(name) for name in self._outputs.fetched_models]

    def list_orders(self) -> list[str]:
        """Return the order of domains of each study of continual pretraining, as configuration and figure."""
        orders = self._files(paths.ORDER_KEYS, product(self._config.models.continual))
        return [*orders, *self.figures.list_figures("order")]

    def list_following(self) -> list[str]:
        """Return results on followed models, and orders of domains."""
        models = self._config.models
        tables = {
            paths.FOLLOWING: models.tracks and self._outputs.benchmarks,
            paths.CONTROLS: find_controls(models),
            paths.CLAIMS: self._config.claims.variants,
        }
        return [
            *self.list_orders(),
            *(self._file(table) for table, wanted in tables.items() if wanted),
            *self.figures.list_figures("follow"),
        ]

    def list_coverage(self) -> list[str]:
        """Return maps of coverage, a table of benchmarks, and sets of questions with models' answers."""
        measured = self._config.coverage.benchmarks and self._config.benchmark_domains
        tables = [self._file(paths.EXAMPLES)] if measured else []
        return [*self.figures.list_figures("coverage"), *tables, *self.list_questions()]

    def list_questions(self) -> list[str]:
        """Return the questions of all sets, their proofs, tasks and figures, and the scores of models."""
        return [*list_questions(self._config, self.results), *self.figures.list_figures("questions")]

    def list_layers(self) -> list[str]:
        """Return the summaries by layer and their figures, for each domain and family of models."""
        summaries = self._files(paths.LAYERS, product(self._config.benchmark_domains))
        return [*summaries, *self.figures.list_figures("layers")]

    def list_choices(self) -> list[str]:
        """Return results on answers to multiple-choice questions."""
        return [*self._choices.list_tables(), *self.figures.list_figures("choices")]

    def list_figures(self) -> list[str]:
        """Return the figures of a whole run except those of questions, and tables beside them.

        Figures by layer have their own target.
        """
        domains = self._config.benchmark_domains if self._config.compared_models else []
        unwanted = () if self._config.coverage.benchmarks else ("coverage", "benchmarks")
        return [
            *self.list_compared(),
            *self.list_following(),
            *self._files(paths.BEST_AND_WORST, product(domains)),
            *self.figures.list_figures("figures", "coverage", without=unwanted),
        ]

    def list_results(self) -> list[str]:
        """Return the tables and figures of a whole run, which its page is made from."""
        rankings = self._outputs.name_ranking_tables() if self._outputs.has_rankings() else []
        return [*self.list_figures(), *rankings, *self.list_questions(), *self.list_choices()]

    def list_finished(self) -> list[str]:
        """Return what a whole run makes, but for the table of its time and memory."""
        return [*self.list_results(), *self.name_page()]

    def name_page(self) -> list[str]:
        """Return the page of a run; none where there is nothing to show."""
        return [self._file(paths.PAGE)] if self.list_results() else []
