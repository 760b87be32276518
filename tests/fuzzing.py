"""A fuzzer of everything that reads files of others: damaged runs, logs, tables, pairs, weights, documents.

`python -m tests.fuzzing --calls 3000` prints how many calls of each kind were refused, went well, ended in a
traceback, did not end, or gave another result without a word; equal seeds give equal calls.
"""

import argparse
import contextlib
import io
import json
import random
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
import polars as pl
from tests.documents import make_docx, make_epub, make_pdf
from tests.explorer.runs import write_questions, write_run

from fathom.commands.main import main
from fathom.config.corpus import Selection
from fathom.corpus.documents.reading import read_document
from fathom.corpus.table_rows import read_table_documents
from fathom.errors import InputError
from fathom.explorer.reader import list_read
from fathom.io import paths
from fathom.io.files import hash_folder
from fathom.jobs.file_contents import write_contents
from fathom.logs.items import read_logs
from fathom.models.arriving import describe_tensors, find_lack
from fathom.scoring.pair_files import has_pairs, read_pairs

SECONDS = 60
"""After which a call counts as one that does not end."""
WELL, REFUSED, TRACEBACK, HANG, SILENT = "went well", "refused", "traceback", "did not end", "silent change"
ODD = (None, True, -1, 0, 3.5, float("nan"), float("inf"), 2**63, 10**400, "", "text", "\x1b[2J", "../../x",
       "\ud835", [], [1, "a"], {}, {"a": None}, [[[]]])  # fmt: skip
"""What stands where something else should."""
TEXT = b'"[]{},:\n\x00\xff\xe9 NaN'


class Kind(NamedTuple):
    """Something that is read: how a sound one is written, and how one is read; it returns what it says."""

    write: Callable[[Path], object]
    read: Callable[[Path], str]


def damage_bytes(content: bytes, chance: random.Random) -> bytes:
    """Flip a bit, cut, double or put other bytes into a file."""
    where, kind = chance.randrange(max(1, len(content))), chance.randrange(5)
    if kind == 0:
        changed = bytearray(content or b"\0")
        changed[where] ^= 1 << chance.randrange(8)
        return bytes(changed)
    if kind == 1:
        return content[:where]
    if kind == 2:
        return content + content[where:]
    other = chance.choice([b"", bytes(chance.sample(TEXT, 4)), b"[" * 5000, b"9" * 400])
    return content[:where] + other + content[where + chance.randrange(4) :]


def damage_line(content: bytes, chance: random.Random) -> bytes:
    """Put something odd at some place of one JSON value of a file of lines, or of a whole file."""
    lines = content.splitlines() or [b"{}"]
    place = chance.randrange(len(lines))
    try:
        values = [json.loads(content)]
        whole = True
    except ValueError:
        try:
            values, whole = [json.loads(lines[place])], False
        except ValueError:
            return damage_bytes(content, chance)
    holder, key, here = values, 0, values[0]
    while isinstance(here, dict | list) and here and chance.random() < 0.8:
        holder = here
        key = chance.choice(sorted(here)) if isinstance(here, dict) else chance.randrange(len(here))
        here = holder[key]
    if chance.random() < 0.3 and holder is not values:
        del holder[key]
    else:
        holder[key] = chance.choice(ODD)
    text = json.dumps(values[0]).encode()
    return text if whole else b"\n".join([*lines[:place], text, *lines[place + 1 :]]) + b"\n"


def damage(folder: Path, chance: random.Random) -> None:
    """Damage one file of a folder, or put another in its place."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        return
    path, kind = chance.choice(files), chance.randrange(12)
    if kind == 0:
        path.unlink()
    elif kind == 1:
        other = chance.choice([each for each in files if each.suffix == path.suffix])
        path.write_bytes(other.read_bytes())
    elif kind == 2:
        path.unlink()
        path.mkdir()
    elif kind == 3:
        path.unlink()
        path.symlink_to(path)
    elif kind == 4 and path.suffix == ".parquet":
        with contextlib.suppress(pl.exceptions.PolarsError):  # it may be damaged by now
            frame = pl.read_parquet(io.BytesIO(path.read_bytes()))
            frame.head(chance.randrange(len(frame) + 1)).write_parquet(part := io.BytesIO())
            path.write_bytes(part.getvalue())
    elif kind == 5:
        path.rename(path.with_name(path.stem[:3] + "\udce9" + path.suffix))
    elif path.suffix in (".json", ".jsonl") and kind < 10:
        path.write_bytes(damage_line(path.read_bytes(), chance))
    else:
        path.write_bytes(damage_bytes(path.read_bytes(), chance))


def write_whole_run(folder: Path) -> None:
    """Write a run with the record of its files."""
    write_questions(write_run(folder, keywords=4, each=3))
    write_contents(folder / paths.CONTENTS.below, folder, list_read(folder))


def call(*words: object) -> str:
    """Call the command; return what it prints, and raise `InputError` if it refuses."""
    said, told = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            main([str(word) for word in words])
    except SystemExit as end:
        if end.code != 1 or "Error: " not in told.getvalue():
            raise RuntimeError(f"ended with {end.code}: {told.getvalue()}") from end
        raise InputError(told.getvalue()) from end
    return said.getvalue() + told.getvalue()


def export(folder: Path) -> str:
    """Export a run; return what is said, and the hash of what is written."""
    output = folder.parent / "out"
    return call("export", folder, "--output", output, "--retrieved", 1) + hash_folder(output)


def page(folder: Path) -> str:
    """Write the page of a run; return the size of what it holds. What is missing stands in the page."""
    call("page", folder, "--output", folder.parent / "out.html")
    return "What is missing"


def write_logs(folder: Path) -> None:
    """Write logs of lm-evaluation-harness, Every Eval Ever and Inspect, and a table."""
    time = "2026-11-25T03-37-49.471098"
    folder.mkdir(parents=True)
    sample = {"doc": {"question": "1 + 1?"}, "target": "1", "arguments": [["1 + 1?", " 2"]], "resps": [["2"]],
              "filtered_resps": ["2"], "filter": "none", "metrics": ["acc"], "acc": 1.0}  # fmt: skip
    rows = [sample | {"doc_id": number, "doc_hash": f"h{number}"} for number in range(3)]
    _write_lines(folder / f"samples_sums_{time}.jsonl", rows)
    results = {"model_name": "org/one", "higher_is_better": {"sums": {"acc": True}}, "group_subtasks": {},
               "results": {}}  # fmt: skip
    (folder / f"results_{time}.json").write_text(json.dumps(results))
    instance = {"evaluation_result_id": "e", "model_id": "m", "evaluation_name": "law",
                "input": {"raw": "The", "reference": ["a"]}, "output": {"raw": []}, "answer_attribution": [],
                "evaluation": {"score": 1.0}, "metadata": {}}  # fmt: skip
    _write_lines(folder / "a_samples.jsonl", [instance | {"sample_id": f"p{number}"} for number in range(3)])
    config = {"metric_kind": "rank", "lower_is_better": True}
    result = {"evaluation_result_id": "e", "metric_config": config}
    (folder / "a.json").write_text(json.dumps({"evaluation_results": [result]}))
    table = pl.DataFrame({"model": ["x", "y"], "item": ["1", "1"], "score": [0.5, 1.0]})
    table.write_csv(folder / "t.csv")
    table.with_columns(task=pl.lit("u")).write_parquet(folder / "u.parquet")


def _write_lines(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_tables(folder: Path) -> None:
    """Write tables of documents, one of each kind."""
    folder.mkdir(parents=True)
    rows = [
        {"id": f"d{number}", "title": "A", "text": "First.\n\nSecond.", "date": "2020-01-02"}
        for number in range(4)
    ]
    frame = pl.DataFrame(rows)
    frame.write_csv(folder / "t.csv")
    frame.write_parquet(folder / "t.parquet")
    _write_lines(folder / "t.jsonl", [row | {"tags": ["a", {"name": "b"}]} for row in rows])


def read_tables(folder: Path) -> str:
    """Read the first table that there is, into documents."""
    selection = Selection.model_validate(
        {"corpus": {"source": "table"}, "domains": {"all": {"categories": ["*"]}}}
    )
    said = []
    for path in sorted(folder.iterdir()):
        said.append(str(read_table_documents(path, selection, folder.parent / "out.parquet")))
    return "".join(said)


def write_pairs(folder: Path) -> None:
    """Write pairs as lines and as a table."""
    folder.mkdir(parents=True)
    rows = [{"prompt": f"the {number}", "target": " a", "keyword": "k", "doc_id": "d"} for number in range(4)]
    _write_lines(folder / "p.jsonl", rows)
    pl.DataFrame(rows).write_parquet(folder / "p.parquet")


def read_all_pairs(folder: Path) -> str:
    """Read the pairs of each file."""
    return "".join(f"{has_pairs(path)}{read_pairs(path)}" for path in sorted(folder.iterdir()))


def write_documents(folder: Path) -> None:
    """Write a document of each format."""
    folder.mkdir(parents=True)
    text = "The model is fitted to the data of the plant, and its errors are small over the years. " * 3
    page = f"<html><body><h1>A</h1><p>{text}</p><table><tr><td>1</td></tr></table></body></html>"
    code = "\\begin{lstlisting}x\\end{lstlisting}"
    contents = {
        "a.html": page, "a.txt": text, "a.md": f"# A\n\n{text}\n\n```py\nx = 1\n```\n\n- {text}\n",
        "a.rst": f"A\n=\n\n{text}\n\n.. code::\n\n   x = 1\n\n=== ===\na b\n=== ===\n",
        "a.tex": f"\\begin{{document}}\\section{{A}}{text}$x^2${code}\\footnote{{b}}\\end{{document}}",
        "a.pdf": make_pdf([[(50, 700 - 12 * line, 10, text[:60]) for line in range(8)]] * 3),
        "a.docx": make_docx([("Heading1", "A"), ("", text)]), "a.epub": make_epub([page]),
    }  # fmt: skip
    for name, content in contents.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def read_documents(folder: Path) -> str:
    """Read each document; count those that are refused."""
    said = ""
    for path in sorted(folder.iterdir()):
        try:
            said += str(read_document(path, 10))
        except InputError as error:
            said += f"refused: {error.what}"
    return said


def write_weights(folder: Path) -> None:
    """Write a checkpoint with the header of its weights."""
    folder.mkdir(parents=True)
    header = orjson.dumps({"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}})
    (folder / "config.json").write_text('{"architectures": ["GPT2LMHeadModel"]}')
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(16))


def read_weights(folder: Path) -> str:
    """Say what a checkpoint lacks and what its tensors are."""
    return find_lack(folder, tokenizer=False) or describe_tensors(folder)


KINDS = {
    "summary of a run": Kind(write_whole_run, lambda folder: call("summary", folder)),
    "export of a run": Kind(write_whole_run, export),
    "questions of a run": Kind(write_whole_run, lambda folder: call("questions", folder)),
    "page of a run": Kind(write_whole_run, page),
    "logs": Kind(write_logs, lambda folder: str(read_logs([folder]))),
    "tables": Kind(write_tables, read_tables),
    "pairs": Kind(write_pairs, read_all_pairs),
    "documents": Kind(write_documents, read_documents),
    "weights": Kind(write_weights, read_weights),
}  # fmt: skip
SHARES = (
    "summary of a run",
    "export of a run",
    "questions of a run",
    "page of a run",
    *("logs", "tables", "pairs", "documents", "weights") * 3,
)
"""Kinds in turn: those of runs take longer."""
_WORDS = ("What is missing", "was changed", "is missing", "has no record", "There is no contents.json")


@contextlib.contextmanager
def limit_time() -> Iterator[None]:
    """Raise `TimeoutError` after :data:`SECONDS`."""

    def stop(*_: object) -> None:
        raise TimeoutError

    earlier = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)


def judge(kind: str, folder: Path, sound: str) -> tuple[str, str]:
    """Read something damaged; return how it ended, and what an unexpected error said."""
    try:
        with limit_time():
            said = KINDS[kind].read(folder)
    except InputError:
        return REFUSED, ""
    except TimeoutError:
        return HANG, ""
    except OSError as error:  # of a path: the command turns it into a message
        return (REFUSED, "") if error.filename is not None else (TRACEBACK, traceback.format_exc())
    except Exception:  # noqa: BLE001 -- what is looked for
        return TRACEBACK, traceback.format_exc()
    same = said.replace(str(folder.parent), "") == sound
    told = same or "of a run" not in kind or any(word in said for word in _WORDS)
    return (WELL, "") if told else (SILENT, said)


def fuzz(calls: int, seed: int, report: Callable[[str], object]) -> Counter[tuple[str, str]]:
    """Damage and read as often as asked; return how calls ended by kind, and report those that went wrong."""
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        sounds = {}
        for kind, each in KINDS.items():
            each.write(home / kind / "run")
            sounds[kind] = each.read(home / kind / "run").replace(str(home / kind), "")
        for number in range(calls):
            chance = random.Random(f"{seed} {number}")
            kind = SHARES[number % len(SHARES)]
            place = home / f"call {number}"  # what is said once of a path is said of each
            folder = Path(shutil.copytree(home / kind / "run", place / "run"))
            for _ in range(chance.choice([1, 1, 2])):
                damage(folder, chance)
            end, said = judge(kind, folder, sounds[kind])
            counts[kind, end] += 1
            if end not in (WELL, REFUSED):
                report(f"call {number} of seed {seed}, {kind}: {end}\n{said}")
            shutil.rmtree(place)
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = fuzz(given.calls, given.seed, print)
    for (kind, end), count in sorted(found.items()):
        print(f"{kind:<20} {end:<15} {count:>6,}")
