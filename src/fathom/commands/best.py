"""Find which of several models knows most, on as few prompt-target pairs as that takes.

Scores all models on some pairs, then continues with those that may still be best. Prints the results and
writes them, with the scores, to a folder beside the pairs, or to --output. A stopped run resumes where it
stopped.
"""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.commands.score import add_scoring_options, add_server_options, add_tokenizer_option, find_models

if TYPE_CHECKING:
    import polars as pl

    from fathom.scoring.best_model import Standing

EXAMPLES = (
    "fathom best pairs.jsonl gpt2 path/to/model",
    "fathom best pairs.jsonl gpt2 path/to/model --output best --batch-tokens 4096",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom best`."""
    parser = verbs.add_verb(into, "best", __doc__, run, EXAMPLES)
    parser.add_argument("pairs", type=Path, help=".parquet or .jsonl with prompt and target")
    parser.add_argument("models", nargs="+", metavar="model", help="as for `fathom score`")
    parser.add_argument("--output", type=Path, help="folder to write; PAIRS.best if absent")
    parser.add_argument(
        "--by",
        choices=["bits", "rank"],
        default="bits",
        help="compare by bits of knowledge (default) or by geometric mean rank, which bits fall back to if "
        "the pairs have fewer than two keywords or no different targets",
    )
    add_scoring_options(parser)
    add_tokenizer_option(add_server_options(parser))


def run(arguments: argparse.Namespace) -> None:
    """Score in rounds; print the models, best first."""
    from fathom.jobs.program import require_extra
    from fathom.models.served import ServedModel
    from fathom.scoring.best_model import find_best
    from fathom.scoring.served_ranks import require_first_tokens

    require_extra("models", "fathom best")
    pairs = _read_pairs(arguments.pairs)
    models = find_models(arguments.models, arguments)
    for open_model in models.values():
        model = open_model()  # loads nothing
        if isinstance(model, ServedModel):
            require_first_tokens(model)
    folder = arguments.output or arguments.pairs.with_suffix(".best")
    print(describe(find_best(models, pairs, folder, arguments.by), len(pairs)))


def _read_pairs(path: Path) -> "pl.DataFrame":
    import polars as pl

    from fathom.config.scoring import Summary
    from fathom.io import paths
    from fathom.io.files import require_file
    from fathom.scoring.pair_files import read_pairs
    from fathom.scoring.ranks import check_pairs
    from fathom.statistics.left_out import read_flagged

    pairs = read_pairs(require_file(path))
    check_pairs(pairs)
    place = paths.PAIRS.read(path) or {}
    overlap = path.with_name(Path(paths.OVERLAP).name)
    if not place or not overlap.is_file():
        return pairs
    benchmark = place["domain"], place["variant"]
    flagged = read_flagged([(*benchmark, str(overlap))], Summary())
    return pairs.filter(~pl.col("pair_id").is_in(flagged[benchmark].implode())) if flagged else pairs


def describe(found: "list[Standing]", pairs: int) -> str:
    """Return the answer in a sentence, and a line for each model."""
    best, *others = found
    alike = [each.model for each in others if each.verdict == "alike"]
    by_bits = not math.isnan(best.bits)
    answer = f"{best.model} knows most" if by_bits else f"{best.model} is best by geometric mean rank"
    answer += f"; not significantly different: {', '.join(alike)}" if alike else ", significantly"
    columns = {"rank": "rank", "rival_rank": "among rivals"}
    columns = {"bits": "bits", **columns} if by_bits else columns
    rows = [
        ["model", "pairs", *(head for name in columns.values() for head in (name, "best there")), "verdict"]
    ]
    for each in found:
        cells = [
            _format(getattr(each, f"{start}{name}"), 2 if name == "bits" else 1)
            for name in columns
            for start in ("", "best_")
        ]
        rows.append([each.model, f"{each.pairs:,}", *cells, each.verdict])
    share = sum(each.pairs for each in found) / (pairs * len(found))
    return "\n".join(
        [f"{answer}.", *verbs.align_columns(rows), f"Read {share:.0%} of the pairs of all models."]
    )


def _format(number: float, digits: int) -> str:
    return "-" if math.isnan(number) else f"{number:,.{digits}f}"
