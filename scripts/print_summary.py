"""Print the ranks of every domain as a small table, best model first; writes no file."""

import argparse
import math
import shutil
import textwrap
from pathlib import Path

from fathom.config import VARIANTS
from fathom.figures.model_ranks import ModelRanks, describe_agreement, measure_agreement, read_model_ranks
from fathom.figures.style import VARIANT_SERIES, clean_name
from fathom.program import run_program

MEANING = (
    "A rank says how far down a model's list of likely next tokens the true word stands, over the pairs of a "
    "benchmark (20 % trimmed mean by default): 1 is the top, so low is best. [low, high] is its interval, "
    "from a bootstrap over keywords."
)
NEXT = ".venv/bin/snakemake -c2 --configfile config/arxiv.yaml --config dump=FOLDER run=NAME"


def format_rank(model: ModelRanks, variant: str) -> str:
    """Return `12.3 [11.0, 13.9]`, the value alone where there is no interval, or a hyphen."""
    rank = model.ranks.get(variant)
    if rank is None:
        return "-"
    if not (math.isfinite(rank.low) and math.isfinite(rank.high)):
        return f"{rank.value:,.1f}"
    return f"{rank.value:,.1f} [{rank.low:,.1f}, {rank.high:,.1f}]"


def format_domain(domain: str, models: list[ModelRanks], width: int) -> str:
    """Return the table of one domain; a block for each model where the terminal is too narrow for a table."""
    heads = [f"{VARIANT_SERIES[variant].label} rank" for variant in VARIANTS]
    rows = [[clean_name(m.model), *(format_rank(m, variant) for variant in VARIANTS)] for m in models]
    wide = [max(len(row[column]) for row in [["model", *heads], *rows]) for column in range(3)]
    lines = [clean_name(domain)]
    if sum(wide) + 6 <= width:
        for row in [["model", *heads], *rows]:
            lines.append(f"  {row[0]:<{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:>{wide[2]}}")
    else:
        for name, *ranks in rows:
            lines.append(f"  {name}")
            lines += [f"    {head}: {rank}" for head, rank in zip(heads, ranks, strict=True)]
    return "\n".join([*lines, *wrap(describe_agreement(measure_agreement(models)), width)])


def wrap(text: str, width: int) -> list[str]:
    """Break a sentence into indented lines no wider than the terminal."""
    return textwrap.wrap(text, max(20, width - 2), initial_indent="  ", subsequent_indent="  ")


def main(arguments: argparse.Namespace) -> None:
    """Print every domain's table, what it means, where the report lies, and what to try next."""
    width = min(100, shutil.get_terminal_size().columns)
    ranks = read_model_ranks(arguments.summary)
    blocks = [format_domain(domain, models, width) for domain, models in ranks.items()]
    blocks.append("\n".join(wrap(MEANING, width)))
    blocks.append(f"Report:  {arguments.report}\nNumbers: {arguments.summary}")
    blocks.append(f"Next, on an arXiv dump:\n  {NEXT}")
    print("\n" + "\n\n".join(blocks))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summary", type=Path, required=True, help="summary.csv of a run")
    parser.add_argument("--report", type=Path, required=True, help="where the report lies, to be named")
    run_program(parser, main)
