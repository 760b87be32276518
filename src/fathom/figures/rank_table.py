"""The ranks of a run as tables for the terminal, best model first."""

import textwrap
from pathlib import Path

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.errors import InputError
from fathom.figures.model_ranks import ModelRanks, describe_agreement, measure_agreements, read_model_ranks
from fathom.figures.style import VARIANT_SERIES, clean_name
from fathom.io.contracts.scoring import GROUP_COLUMNS
from fathom.io.files import read_delimited
from fathom.scoring.describe import format_rank

MEANING = (
    "A rank says how far down a model's list of likely next tokens the true word stands, over the pairs of a "
    "benchmark (20 % trimmed mean by default): 1 is the top, so low is best. [low, high] is its interval, "
    "from a bootstrap over keywords."
)
SHARED = (
    "Letters: two models with a letter in common cannot be told apart on that benchmark; two with none are "
    "apart, by the interval of their difference on the same pairs."
)

Groups = dict[tuple[str, str, str], str]
"""Letters by domain, variant and model."""


def describe_run(folder: Path, width: int) -> list[str]:
    """Return the table of each domain of a run, and what the tables mean.

    Parameters
    ----------
    folder : Path
        The run's results: `summary.csv`, and `groups.csv` if models were compared.
    width : int
        Characters in a line.

    Returns
    -------
    list of str
        One block of lines for each domain, then one on their meaning.

    Raises
    ------
    InputError
        If the folder has no `summary.csv`, or a table is damaged.
    """
    if not (folder / "summary.csv").is_file():
        raise InputError("there is no summary.csv", str(folder), "give the folder of a run: results/RUN")
    groups = _read_groups(folder / "groups.csv")
    ranks = read_model_ranks(folder / "summary.csv")
    blocks = [_format_domain(domain, models, width, groups) for domain, models in ranks.items()]
    return [*blocks, "\n".join([*_wrap(MEANING, width), *(_wrap(SHARED, width) if groups else [])])]


def _read_groups(path: Path) -> Groups:
    """Read the letters of `groups.csv`; nothing without the file."""
    if not path.is_file():
        return {}
    rows = read_delimited(path, ",", GROUP_COLUMNS)
    return {(row["domain"], row["variant"], row["model"]): row["groups"] for row in rows}


def _list_cells(model: ModelRanks, variants: list[str], domain: str, groups: Groups) -> list[str]:
    """Return what follows a model's name: its rank or a hyphen, and its letters, by variant."""
    cells = []
    for variant in variants:
        rank = model.ranks.get(variant)
        cells.append(format_rank(rank.value, rank.low, rank.high) if rank else "-")
        cells.append(groups.get((domain, variant, model.model), ""))
    return cells


def _format_domain(domain: str, models: list[ModelRanks], width: int, groups: Groups) -> str:
    """Return the table of one domain; a block for each model where the terminal is too narrow for a table."""
    variants = [*VARIANTS, *([REFERENCE] if any(REFERENCE in m.ranks for m in models) else [])]
    labels = [VARIANT_SERIES[v].label if v in VARIANT_SERIES else v for v in variants]
    heads = [head for label in labels for head in (f"{label} rank", "")]
    rows = [[clean_name(m.model), *_list_cells(m, variants, domain, groups)] for m in models]
    table = [["model", *heads], *rows]
    wide = [max(len(row[column]) for row in table) for column in range(len(heads) + 1)]
    texts = []
    for name, *cells in table:
        line = f"  {name:<{wide[0]}}"
        for place in range(0, len(cells), 2):
            rank, letters = (f"{cells[place]:>{wide[place + 1]}}", f"{cells[place + 1]:<{wide[place + 2]}}")
            line += f"  {rank} {letters}" if groups else f"  {rank}"
        texts.append(line.rstrip())
    if max(map(len, texts)) > width:
        texts = []
        for name, *cells in rows:
            texts.append(f"  {name}")
            for place in range(0, len(cells), 2):
                texts.append(f"    {heads[place]}: {cells[place]} {cells[place + 1]}".rstrip())
    agreements = [describe_agreement(found) for found in measure_agreements(models)]
    return "\n".join(
        [clean_name(domain), *texts, *(line for text in agreements for line in _wrap(text, width))]
    )


def _wrap(text: str, width: int) -> list[str]:
    """Break a sentence into indented lines no wider than the terminal."""
    return textwrap.wrap(text, max(20, width - 2), initial_indent="  ", subsequent_indent="  ")
