"""Find the pairs of a benchmark that occur in a corpus, such as training data or another benchmark.

Exactly: 13 words in a row occur there. Nearly: one passage has half of the pair's sequences of three words,
as in a copy with some words changed. Writes a row for each pair and the counts; with --scores also each
model's ranks on all pairs, on the found ones, and on the others.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.errors import InputError
from fathom.io.names import show_count

if TYPE_CHECKING:
    import polars as pl

EXAMPLES = (
    "fathom contamination pairs.jsonl corpus.jsonl",
    "fathom contamination pairs.jsonl corpus.jsonl --near 0.7 --output found.parquet",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom contamination`."""
    parser = verbs.add_verb(into, "contamination", __doc__, run, EXAMPLES)
    parser.add_argument("pairs", type=Path, help=".parquet or .jsonl with prompt and target")
    parser.add_argument(
        "texts",
        nargs="+",
        help=".parquet, .jsonl, .csv or .txt, optionally .gz; or pairs of another benchmark",
    )
    parser.add_argument("--column", default="text", help="column that holds the text; text if absent")
    parser.add_argument(
        "--near",
        type=float,
        default=0.5,
        help="share of a pair's sequences of three words that count as near; 0.5",
    )
    parser.add_argument("--scores", type=Path, nargs="+", default=[], help="scores of models on these pairs")
    parser.add_argument(
        "--output", type=Path, help="table to write; PAIRS.contamination.parquet beside the pairs if absent"
    )


def run(arguments: argparse.Namespace) -> None:
    """Read pairs and texts; write the table, its counts, and models' ranks on found and other pairs."""
    from fathom.benchmark.contaminated_pairs import (
        find_contamination,
        flag_contamination,
        report_contamination,
    )
    from fathom.io.contracts.benchmark import CONTAMINATION
    from fathom.io.files import require_file, write_json
    from fathom.io.tables import write_table
    from fathom.jobs.program import show_progress
    from fathom.scoring.pair_files import read_pairs

    if not 0 < arguments.near <= 1:
        raise InputError("not a share above 0 and up to 1", f"--near {arguments.near}", "0.5 is the default")
    for path in (*arguments.texts, *arguments.scores):  # before anything is read
        require_file(path)
    pairs = read_pairs(arguments.pairs)
    scores = _read_scores(arguments.scores, pairs)
    output = arguments.output or arguments.pairs.with_name(f"{arguments.pairs.stem}.contamination.parquet")
    counts: Counter[str] = Counter()
    texts = _name_texts(arguments.texts, arguments.column, counts)
    table = find_contamination(pairs, show_progress(texts, "texts"), arguments.near)
    if not counts["texts"]:
        raise InputError(
            "the corpus holds no text",
            " ".join(arguments.texts),
            "give files with text, or name their column with --text",
        )
    report = {**report_contamination(table, counts["texts"]), "empty_texts": counts["empty"]}
    write_table(output, table, CONTAMINATION)
    write_json(output.with_suffix(".json"), report)
    print(
        f"{report['either']:,} of {report['pairs']:,} pairs occur in {show_count(report['texts'], 'text')}: "
        f"{report['exact']:,} exactly, {report['near']:,} nearly; {report['too_short']:,} are too short to "
        f"search for; table in {output}"
    )
    if scores:
        _compare(scores, flag_contamination(table), output.with_suffix(".csv"))


def _read_scores(paths: Sequence[Path], pairs: "pl.DataFrame") -> "dict[str, pl.DataFrame]":
    from fathom.io.contracts.scoring import SCORES
    from fathom.io.tables import read_table

    tables: dict[str, pl.DataFrame] = {}
    for path in paths:
        if path.stem in tables:
            raise InputError("another table of scores has the same name", f"--scores {path}", "rename one")
        scores = read_table(path, SCORES, ["pair_id", "keyword", "rank"])
        unknown = set(scores["pair_id"]).difference(pairs["pair_id"])
        if unknown:
            raise InputError(
                f"the scores belong to other pairs ({len(unknown):,} are unknown)",
                f"--scores {path}",
                "give the pairs that the models were scored on",
            )
        known = [name for name in ("pair_id", "doc_id") if name in pairs.columns]
        tables[path.stem] = scores.join(pairs.select(known), on="pair_id", maintain_order="left")
    return tables


def _compare(scores: "dict[str, pl.DataFrame]", flagged: "pl.DataFrame", output: Path) -> None:
    from fathom.config.scoring import Summary
    from fathom.io.contracts.statistics import PAIR_PARTS
    from fathom.io.delimited import write_rows
    from fathom.statistics.clusters import KEYWORDS
    from fathom.statistics.summaries import split_ranks

    rows = split_ranks(scores, flagged, Summary())
    write_rows(output, rows, PAIR_PARTS)
    for model, statistic, part, value, low, high, pairs, clusters in rows:
        drawn = f" (interval over {clusters})" if clusters != KEYWORDS else ""
        print(f"{model}  {statistic}  {part:8}  {value} [{low}, {high}]  {show_count(pairs, 'pair')}{drawn}")


def _name_texts(files: Sequence[str], column: str, counts: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield each text that is not empty with its file and number; count the others, too."""
    for file in files:
        for number, text in enumerate(_read_texts(file, column), start=1):
            has_text = bool(text and text.strip())
            counts["texts" if has_text else "empty"] += 1
            if has_text:
                yield str(text), f"{file}, row {number}"


def _read_texts(file: str, column: str) -> Iterator[str | None]:
    from fathom.config.corpus import TextSource
    from fathom.corpus.text_sources import read_source
    from fathom.scoring.pair_files import has_pairs, read_pairs

    if has_pairs(Path(file)):
        for prompt, target in read_pairs(Path(file)).select("prompt", "target").iter_rows():
            yield prompt + target
    else:
        yield from read_source(TextSource(files=[file], column=column), file)
