"""Print the ranks of every domain as a small table, best model first; writes no file."""

import argparse
import math
import shutil
import textwrap
from pathlib import Path

from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.errors import InputError
from fathom.figures.model_ranks import ModelRanks, describe_agreement, measure_agreements, read_model_ranks
from fathom.figures.style import VARIANT_SERIES, clean_name
from fathom.io.contracts.scoring import GROUP_COLUMNS
from fathom.io.files import read_delimited
from fathom.running.program import run_program

MEANING = (
    "A rank says how far down a model's list of likely next tokens the true word stands, over the pairs of a "
    "benchmark (20 % trimmed mean by default): 1 is the top, so low is best. [low, high] is its interval, "
    "from a bootstrap over keywords."
)
SHARED = (
    "Letters: two models with a letter in common cannot be told apart on that benchmark; two with none are "
    "apart, by the interval of their difference on the same pairs."
)
NEXT = ".venv/bin/snakemake -c2 --configfile config/arxiv.yaml --config dump=FOLDER run=NAME"

Groups = dict[tuple[str, str, str], str]
"""Letters by domain, variant and model."""


def format_rank(model: ModelRanks, variant: str) -> str:
    """Return `12.3 [11.0, 13.9]`, the value alone where there is no interval, or a hyphen.

    From 100 on there are no decimals: differences that small are in groups.csv, not in a table.
    """
    rank = model.ranks.get(variant)
    if rank is None:
        return "-"
    digits = 1 if rank.value < 100 else 0
    if not (math.isfinite(rank.low) and math.isfinite(rank.high)):
        return f"{rank.value:,.{digits}f}"
    return f"{rank.value:,.{digits}f} [{rank.low:,.{digits}f}, {rank.high:,.{digits}f}]"


def read_groups(path: Path | None) -> Groups:
    """Read the letters of `groups.csv`; nothing without a file."""
    if path is None:
        return {}
    rows = read_delimited(path, ",")
    missing = [column for column in GROUP_COLUMNS if rows and column not in rows[0]]
    if missing:
        raise InputError(f"columns are missing: {', '.join(missing)}", str(path), "make it again")
    return {(row["domain"], row["variant"], row["model"]): row["groups"] for row in rows}


def list_cells(model: ModelRanks, variants: list[str], domain: str, groups: Groups) -> list[str]:
    """Return what stands behind a model's name: for each variant its rank, and its letters or nothing."""
    cells = []
    for variant in variants:
        cells += [format_rank(model, variant), groups.get((domain, variant, model.model), "")]
    return cells


def format_domain(domain: str, models: list[ModelRanks], width: int, groups: Groups) -> str:
    """Return the table of one domain; a block for each model where the terminal is too narrow for a table."""
    variants = [*VARIANTS, *([REFERENCE] if any(REFERENCE in m.ranks for m in models) else [])]
    labels = [VARIANT_SERIES[v].label if v in VARIANT_SERIES else v for v in variants]
    heads = [head for label in labels for head in (f"{label} rank", "")]
    rows = [[clean_name(m.model), *list_cells(m, variants, domain, groups)] for m in models]
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
    return "\n".join(
        [
            clean_name(domain),
            *texts,
            *(
                line
                for found in measure_agreements(models)
                for line in wrap(describe_agreement(found), width)
            ),
        ]
    )


def wrap(text: str, width: int) -> list[str]:
    """Break a sentence into indented lines no wider than the terminal."""
    return textwrap.wrap(text, max(20, width - 2), initial_indent="  ", subsequent_indent="  ")


def main(arguments: argparse.Namespace) -> None:
    """Print every domain's table, what it means, where the report lies, and what to try next."""
    width = min(100, shutil.get_terminal_size().columns)
    ranks = read_model_ranks(arguments.summary)
    groups = read_groups(arguments.groups)
    blocks = [format_domain(domain, models, width, groups) for domain, models in ranks.items()]
    blocks.append("\n".join([*wrap(MEANING, width), *(wrap(SHARED, width) if groups else [])]))
    blocks.append(f"Report:  {arguments.report}\nNumbers: {arguments.summary}")
    blocks.append(f"Next, on an arXiv dump:\n  {NEXT}")
    print("\n" + "\n\n".join(blocks))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv of a run")
    parser.add_argument("--groups", type=Path, help="groups.csv of a run: shows which models are apart")
    parser.add_argument("--report", type=Path, required=True, help="where the report lies, to be named")
    run_program(parser, main)
