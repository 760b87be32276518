"""All kinds of figures: the one place that says what each is called, shows and is drawn from."""

from fathom.figures.entry import Figure
from fathom.figures.model_figures import MODEL_FIGURES
from fathom.figures.question_figures import QUESTION_FIGURES
from fathom.figures.ranking_figures import RANKING_FIGURES
from fathom.figures.study_figures import STUDY_FIGURES

CATALOGUE = {
    each.name: each for each in (*MODEL_FIGURES, *STUDY_FIGURES, *QUESTION_FIGURES, *RANKING_FIGURES)
}
"""Kinds of figures by name, in the order of the page."""


def find_figure(stem: str) -> tuple[Figure, dict[str, str]] | None:
    """Return the kind of a figure and the parts of its file's name, without its ending; None if unknown."""
    for figure in CATALOGUE.values():
        parts = figure.match(stem)
        if parts is not None:
            return figure, parts
    return None
