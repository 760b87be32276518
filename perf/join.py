"""Time the join of full texts with metadata against json and a dictionary.

Makes a dump in arXiv's schemas from the words of a finished run: many small texts, and texts of RedPajama's
size. There are two baselines. The full one writes the same table as the join: cleaned fields, domains,
splits, sha256 of the shard and of each text, Parquet with zstd. The minimal one only joins records and
texts as JSON lines, without hashing. For metadata, the baseline keeps records in memory and writes nothing.
Runs on one thread, alternates between the ways, and prints tables of median processor times.
"""

import argparse
import hashlib
import json
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from perf.turns import DEMO, clock, measure_memory, note, print_table, read_texts, take_turns

from fathom.config.corpus import Selection
from fathom.corpus.arxiv_join import _cut_id, join_shard
from fathom.corpus.lines import JsonLines
from fathom.corpus.metadata import read_categories, read_metadata
from fathom.corpus.records import clean_line
from fathom.corpus.selection import DomainSelector, SplitChooser
from fathom.io.contracts.corpus import DOCUMENTS
from fathom.io.files import hash_text
from fathom.io.tables import arrow_schema
from fathom.jobs.program import run_program

KINDS = {"small texts": 700, "RedPajama's size": 56_000}
GOAL = 0.7  # of what the machine allows
SHARE = 0.1
WANTED = {"all": "*", "a tenth": "wanted", "none": "nothing"}
PLAIN, LINES, OURS = "same table", "JSON lines", "ours"


def make_dump(folder: Path, texts: list[str], records: int, megabytes: int) -> None:
    """Write metadata and one shard of each kind: a text per record, or as many texts as the size allows."""
    choose = random.Random(0)
    whole = "\n\n".join(texts)
    ids = [f"{15 + n // 1_000_000:02d}{1 + n // 90_000 % 12:02d}.{n % 90_000:05d}" for n in range(records)]
    with (folder / "metadata.json").open("wb") as stream:
        for number in ids:
            start = choose.randrange(max(1, len(whole) - 2000))
            record = {
                "id": number,
                "submitter": "A. Author",
                "title": whole[start : start + 80],
                "abstract": "  " + whole[start + 100 : start + 1100],
                "categories": "wanted stat.ML" if choose.random() < SHARE else "other",
                "versions": [{"version": "v1", "created": "Mon, 2 Apr 2018 19:18:42 GMT"}],
                "update_date": "2018-04-03",
            }
            stream.write(orjson.dumps(record) + b"\n")
    for kind, size in KINDS.items():
        written, order = 0, choose.sample(ids, len(ids))
        with (folder / f"{kind}.jsonl").open("wb") as stream:
            while order and written < megabytes * 1_000_000:
                number = order.pop()
                start = choose.randrange(max(1, len(whole) - size))
                meta = {"timestamp": None, "url": f"https://arxiv.org/abs/{number}", "arxiv_id": number}
                line = {
                    "text": whole[start : start + choose.randrange(size // 2, 3 * size // 2)],
                    "meta": meta,
                }
                written += stream.write(orjson.dumps(line) + b"\n")


def read_plainly(path: Path, selection: Selection) -> dict[str, Any]:
    """Return the record of each id that belongs to a domain, and None for the others."""
    selector, splits = DomainSelector(selection), SplitChooser(selection.corpus.splits)
    records: dict[str, Any] = {}
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            record = json.loads(line)
            categories = read_categories(record["categories"])
            domains, reason = selector.select(categories, "2018-04-02")
            records[record["id"]] = None if reason else {
                "doc_id": record["id"],
                "title": clean_line(record["title"]),
                "abstract": clean_line(record["abstract"]),
                "categories": categories,
                "date": "2018-04-02",
                "domains": domains,
                "split": splits.choose(record["id"]),
            }  # fmt: skip
    return records


def join_plainly(records: dict[str, Any], shard: Path, output: Path) -> str:
    """Join a shard with records in memory, write the documents; return the sha256 of the shard."""
    rows, digest = [], hashlib.sha256()
    with shard.open("rb") as stream:
        for line in stream:
            digest.update(line)
            parsed = json.loads(line)
            record = records.get(parsed["meta"]["arxiv_id"])
            if record is not None:
                text = parsed["text"]
                rows.append({**record, "text": text, "text_hash": hash_text(text), "characters": len(text)})
    table = pa.Table.from_pylist(rows, schema=arrow_schema(DOCUMENTS))
    pq.write_table(table, output, compression="zstd", row_group_size=1000)
    return digest.hexdigest()


def join_to_lines(records: dict[str, Any], shard: Path, output: Path) -> None:
    """Join a shard with records in memory, and write JSON lines without hashing."""
    with shard.open(encoding="utf-8") as stream, output.open("w", encoding="utf-8") as joined:
        for line in stream:
            parsed = json.loads(line)
            record = records.get(parsed["meta"]["arxiv_id"])
            if record is not None:
                joined.write(json.dumps({**record, "text": parsed["text"]}) + "\n")


def time_shared_work(shard: Path, output: Path, written: Path) -> float:
    """Return the seconds of unavoidable work: read, hash shard and texts, write the table."""
    table = pq.read_table(output)
    texts = [text.encode() for text in table["text"].to_pylist()]

    def work() -> None:
        hashlib.sha256(shard.read_bytes())
        for text in texts:
            hashlib.sha256(text).hexdigest()
        pq.write_table(table, written, compression="zstd", row_group_size=1000)

    return clock(work)[0]


def tell_plainly(shard: Path, known: frozenset[str]) -> int:
    """Count the lines with a known id by parsing each."""
    with shard.open("rb", buffering=1 << 20) as stream:
        return sum(json.loads(line)["meta"]["arxiv_id"] in known for line in stream)


def tell_by_cutting(shard: Path, known: frozenset[str]) -> int:
    """Count the lines with a known id as the join does, without hashing."""
    with shard.open("rb", buffering=1 << 20) as stream:
        return sum(_cut_id(line.rstrip()) in known for line in stream)


def tell_and_hash(shard: Path, known: frozenset[str]) -> int:
    """Count the lines with a known id as the join does, with the hash of the file."""
    return sum(found in known for found in JsonLines(shard, 0.0).parse(_cut_id))


def measure_metadata(folder: Path, wanted: str, rounds: int) -> tuple[list[Any], dict[str, Any]]:
    """Return a row on reading the metadata, and its records."""
    source, selection = folder / "metadata.json", select(WANTED[wanted])
    ways = {
        PLAIN: partial(read_plainly, source, selection),
        OURS: partial(read_metadata, source, selection, folder / f"{wanted}.parquet"),
    }
    seconds, found = take_turns(ways, rounds)
    return ["metadata", wanted, *describe(source, seconds), "", ""], found[PLAIN]


def measure_shard(folder: Path, kind: str, wanted: str, records: dict[str, Any], rounds: int) -> list[Any]:
    """Return a row on joining a shard."""
    shard, corpus = folder / f"{kind}.jsonl", select(WANTED[wanted]).corpus
    plain, lines, ours = folder / "plain.parquet", folder / "plain.jsonl", folder / "ours.parquet"
    ways = {
        PLAIN: partial(join_plainly, records, shard, plain),
        LINES: partial(join_to_lines, records, shard, lines),
        OURS: partial(join_shard, folder / f"{wanted}.parquet", shard, corpus, ours),
    }
    seconds, found = take_turns(ways, rounds)
    table = pl.read_parquet(ours)
    same = pl.read_parquet(plain).equals(table) and found[PLAIN] == found[OURS]["input"]["sha256"]
    with lines.open("rb") as stream:
        joined = (orjson.loads(line) for line in stream)
        pairs = zip(joined, table.select("doc_id", "text").iter_rows(), strict=True)
        same = same and all((one["doc_id"], one["text"]) == other for one, other in pairs)
    limit = time_shared_work(shard, ours, folder / "again.parquet") / seconds[OURS]
    ratio = seconds[PLAIN] / seconds[OURS]
    note(
        f"join, {kind}, {wanted} wanted", "json and a dictionary", f"{ratio:.1f}",
        f">= 1, and {GOAL:.0%} of the limit",
        ratio >= 1 and limit >= GOAL and same, exact="same" if same else "NOT the same", share=f"{limit:.0%}",
    )  # fmt: skip
    return [kind, wanted, *describe(shard, seconds), f"{limit:.0%}", "same" if same else "NOT the same"]


def measure(folder: Path, rounds: int) -> None:
    """Print the tables."""
    rows = []
    for wanted in WANTED:
        row, records = measure_metadata(folder, wanted, rounds)
        rows.append(row)
        rows += [measure_shard(folder, kind, wanted, records, rounds) for kind in KINDS]
    ratios = [f"over {PLAIN}", f"over {LINES}"]
    rates = [f"{name} MB/s" for name in (PLAIN, LINES, OURS)]
    print_table(["what", "wanted", "MB", *rates, *ratios, "share of limit", "tables"], rows)
    print("\nThe limit: read and hash the shard, hash the wanted texts, write the table, and nothing else.\n")
    print_telling(folder, frozenset(records), rounds)


def print_telling(folder: Path, known: frozenset[str], rounds: int) -> None:
    """Print how fast lines with a known id are found: the part of the join that reads every byte."""
    rows = []
    for kind in KINDS:
        shard = folder / f"{kind}.jsonl"
        ways = {
            "json": partial(tell_plainly, shard, known),
            "id cut out": partial(tell_by_cutting, shard, known),
            "id cut out, file hashed": partial(tell_and_hash, shard, known),
        }
        seconds, found = take_turns(ways, rounds)
        same = "same" if len(set(found.values())) == 1 else "NOT the same"
        size = shard.stat().st_size / 1e6
        for name, spent in seconds.items():
            rows.append([kind, name, f"{size / spent:.0f}", f"{seconds['json'] / spent:.1f}", same])
    print_table(["lines told apart", "way", "MB/s", "ratio", "count"], rows)


def select(pattern: str) -> Selection:
    """Return a selection of one domain."""
    return Selection.model_validate({"domains": {"one": {"categories": [pattern]}}})


def describe(path: Path, seconds: dict[str, float]) -> list[str]:
    """Return size, rates and ratios as text, empty for a way that was not run."""
    size = path.stat().st_size / 1e6
    rates = [f"{size / seconds[name]:.0f}" if name in seconds else "" for name in (PLAIN, LINES, OURS)]
    ratios = [f"{seconds[name] / seconds[OURS]:.1f}" if name in seconds else "" for name in (PLAIN, LINES)]
    return [f"{size:.0f}", *rates, *ratios]


def run_alone(folder: Path, way: str) -> None:
    """Read the metadata and join all shards one way, or do nothing."""
    selection = select("*")
    metadata, output = folder / "alone.parquet", folder / "joined.parquet"
    records = read_plainly(folder / "metadata.json", selection) if way == "plain" else {}
    if way == "ours":
        read_metadata(folder / "metadata.json", selection, metadata)
    for kind in KINDS:
        shard = folder / f"{kind}.jsonl"
        if way == "plain":
            join_plainly(records, shard, output)
        elif way == "ours":
            join_shard(metadata, shard, selection.corpus, output)


def main(arguments: argparse.Namespace) -> None:
    """Make the dump, measure, print the tables."""
    if arguments.alone:
        run_alone(arguments.folder, arguments.alone)
        return
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        make_dump(folder, read_texts(arguments.run, 20_000_000), arguments.records, arguments.megabytes)
        measure(folder, arguments.rounds)
        memory = [measure_memory("--folder", name, "--alone", way) for way in ("nothing", "plain", "ours")]
    used = f"{memory[2]} MB"
    note("join, memory", f"{memory[1]} MB plainly", used, "< 1,000 MB", memory[2] < 1000)
    print(f"\nMemory for all of it: {memory[1]} MB plainly, {memory[2]} MB ours; imports: {memory[0]} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="run with the texts")
    parser.add_argument("--records", type=int, default=60_000)
    parser.add_argument("--megabytes", type=int, default=100, help="size of a shard")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()), help="where the dump is made"
    )
    parser.add_argument(
        "--alone", choices=["nothing", "plain", "ours"], help="run one way only, to measure its memory"
    )
    run_program(parser, main)
