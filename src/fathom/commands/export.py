"""Export a run's results: for Every Eval Ever, for model cards, and as a table that `rankings` reads.

Writes data/, a record for each model and domain in the schema of Every Eval Ever and a line for each pair;
model-index/, a YAML entry for each model's card on the Hugging Face hub; scores/, a table of models by
benchmarks; with --dataset also eval-results/, a file for each model's repository on the hub. --publish adds
dataset/, the benchmarks with a data set card, and site/, the page as a static site; --push sends both to
the hub, where new repositories are private.
"""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.io.names import show_count

if TYPE_CHECKING:
    from fathom.exports.every_eval_ever import Source

_YEAR_10000 = 253_402_300_800
DATASET_FORM = r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*"
"""An id of the hub."""

EXAMPLES = (
    "fathom export results/docs --output exported",
    "fathom export results/docs --output for-hub --dataset OWNER/NAME --publish",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom export`."""
    parser = verbs.add_verb(into, "export", __doc__, run, EXAMPLES)
    parser.add_argument("folder", type=Path, help="folder of a run: results/RUN")
    parser.add_argument("--output", type=Path, required=True, help="folder to write, new or empty")
    parser.add_argument(
        "--retrieved",
        type=int,
        help="time of the record in seconds since 1970; default: when summary.csv was written",
    )
    parser.add_argument(
        "--registry", type=Path, help="table of models; default: the run's, else config/models.tsv"
    )
    parser.add_argument(
        "--confidence",
        type=float,
        default=0.95,
        help="confidence level of the intervals, as in summary.confidence; 0.95",
    )
    parser.add_argument(
        "--dataset",
        metavar="OWNER/NAME",
        help="id on the hub of the benchmarks' data set: also write eval-results/",
    )
    parser.add_argument("--publish", action="store_true", help="also write dataset/ and site/")
    parser.add_argument(
        "--push", metavar="OWNER/NAME", help="publish, and push data set and site to the hub under this id"
    )
    parser.add_argument("--without-pairs", action="store_true", help="leave out the lines for each pair")


def run(arguments: argparse.Namespace) -> None:
    """Read the run, write records, model-index entries and the table of scores."""
    import fathom
    from fathom.config.scoring import Summary
    from fathom.errors import InputError
    from fathom.explorer.reader import read_run
    from fathom.exports.every_eval_ever import Source, make_records
    from fathom.exports.published import push, write_eval_results, write_model_indexes, write_score_table
    from fathom.io import paths
    from fathom.io.files import require_empty, require_file, write_atomically, write_json, write_json_lines
    from fathom.io.names import place_inside
    from fathom.io.places import find_own
    from fathom.jobs.file_contents import describe_record, require_unchanged
    from fathom.jobs.program import log
    from fathom.models.registry import find_folder, read_registry

    folder: Path = arguments.output
    require_empty(folder, "--output")
    if not 0 < arguments.confidence < 1:
        raise InputError("a confidence level lies between 0 and 1", f"--confidence {arguments.confidence}")
    dataset, publish = arguments.dataset or arguments.push, arguments.publish or bool(arguments.push)
    for option, value in (("--dataset", arguments.dataset), ("--push", arguments.push)):
        if value is not None and not re.fullmatch(DATASET_FORM, value):
            raise InputError("an id of the hub is OWNER/NAME", f"{option} {value}")
    if publish and arguments.without_pairs:
        raise InputError(
            "a published data set contains the pairs",
            "--without-pairs",
            "remove --no-samples, --publish or --push",
        )
    if arguments.retrieved is not None and not 0 <= arguments.retrieved < _YEAR_10000:
        raise InputError("not a plausible time", f"--retrieved {arguments.retrieved}", "seconds since 1970")
    summary = require_file(arguments.folder / "summary.csv", "give the folder of a finished run: results/RUN")
    require_unchanged(arguments.folder)
    for sentence in [*describe_record(arguments.folder), *read_run(arguments.folder, Summary()).missing]:
        log.warning("%s", sentence)
    retrieved = arguments.retrieved if arguments.retrieved is not None else int(summary.stat().st_mtime)
    own = Path(paths.MODELS.under(arguments.folder))
    table = arguments.registry or (own if own.is_file() else find_own("config/models.tsv"))
    registry = read_registry(table)
    local = frozenset(name for name, entry in registry.items() if find_folder(entry, table))
    name = arguments.folder.resolve().name
    source = Source(arguments.folder, name, retrieved, fathom.__version__, local)
    records = pairs = 0
    with write_atomically(folder) as half:
        for record in make_records(source, registry, not arguments.without_pairs):
            write_json(place_inside(half, record.path), record.content)
            if record.samples:
                write_json_lines(place_inside(half, record.samples_path), record.samples)
            records, pairs = records + 1, pairs + len(record.samples)
        models = write_model_indexes(source, half / "model-index", arguments.confidence)
        if dataset is not None:
            write_eval_results(source, half / "eval-results", arguments.confidence, dataset)
        if publish:
            _publish(source, half)
        benchmarks = write_score_table(source, half / "scores", arguments.confidence)
    print(
        f"{folder}: {show_count(records, 'record')} with {show_count(pairs, 'line')} of pairs, model-index"
        f" entries of {show_count(models, 'model')}, a table of {show_count(benchmarks, 'benchmark')}"
    )
    if arguments.push:
        print("\n".join(push(folder, arguments.push)))


def _publish(source: "Source", folder: Path) -> None:
    from fathom.config.scoring import Summary
    from fathom.explorer.page import write_page
    from fathom.exports.published import DATASET, SITE, write_dataset, write_site_card

    write_dataset(source, folder / DATASET)
    (folder / SITE).mkdir()
    write_page(source.folder, folder / SITE / "index.html", Summary())
    write_site_card(folder / SITE, source.run)
