"""The files that questions are made from, including people's questions and pairs of benchmarks."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import polars as pl

from fathom.config.questions import CREATE, OPEN
from fathom.corpus.records import clean_line
from fathom.errors import InputError
from fathom.io.delimited import fold_name, require_distinct, scan_csv
from fathom.io.files import hash_text, read_plain_text
from fathom.io.json_text import parse_object
from fathom.io.names import show_count
from fathom.jobs.signature import Tables
from fathom.questions.posing import name_question

if TYPE_CHECKING:
    from fathom.questions.question_rounds import Material


_HINT = "an entry needs question and answer"
Statements = Annotated[Path, "statements (N-Triples)"]
Entities = Annotated[Path, "entities (parquet)"]
Chunks = Annotated[Path, "texts of records (parquet)"]
Embeddings = Annotated[Path, "embeddings of these texts (.npy)"]
Templates = Annotated[list[Path], "files of templates (YAML)"]
Users = Annotated[list[Path], "files of open questions (JSON lines)"]


def read_user_questions(path: Path) -> list[dict[str, Any]]:
    """Return questions by people, from `.csv` with a header or `.jsonl`.

    Raise `InputError` if the file has another ending or no entries, or an entry is broken, empty or repeated.
    """
    readers = {".csv": _scan_csv, ".jsonl": _scan_json_lines}
    if path.suffix not in readers:
        raise InputError(f"a file of questions ends in .csv or .jsonl, not in {path.suffix!r}", str(path))
    rows: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for line, values in readers[path.suffix](path):
        where = f"{path}, line {line}"
        fields = [values.get(name) for name in ("question", "answer")]
        texts = [clean_line(field) for field in fields if isinstance(field, str)]
        if len(texts) < 2 or not all(texts):
            raise InputError("the question or its answer is missing or empty", where, _HINT)
        if texts[0].casefold() in seen:
            raise InputError(f"the same question as in line {seen[texts[0].casefold()]}", where, "remove one")
        seen[texts[0].casefold()] = line
        rows.append(make_open(path.name, texts[0], texts[1], f"{path.name}, line {line}"))
    if not rows:
        raise InputError("there are no questions", str(path), _HINT)
    return rows


def make_open_from_pairs(pairs: pl.DataFrame, benchmark: str) -> list[dict[str, Any]]:
    """Return the pairs of a benchmark, DOMAIN/VARIANT, as open questions."""
    found = pairs.select("pair_id", "prompt", "target").sort("pair_id").iter_rows()
    return [make_open(benchmark, prompt, target.strip(), f"pair {name}") for name, prompt, target in found]


def make_open(template: str, question: str, answer: str, source: str) -> dict[str, Any]:
    """Return an open question: a row of QUESTIONS without round and chunks."""
    row: dict[str, Any] = {
        "template": template,
        "level": CREATE,
        "form": OPEN,
        "question": question,
        "options": [],
        "right": [],
        "answer": answer,
        "sources": [source],
        "query": "",
        "bindings": [],
        "asked": "",
        "option_iris": [],
    }
    row["question_id"] = name_question(row)
    return row


def _scan_csv(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    header: list[str] | None = None
    for line, fields in scan_csv(read_plain_text(path)):
        if isinstance(fields, str):
            raise InputError(fields, f"{path}, line {line}", "check its quotes")
        if header is None:
            header = [fold_name(name) for name in fields]
            require_distinct(header, f"{path}, line {line}")
            if not {"question", "answer"} <= set(header):
                raise InputError(f"the header is {', '.join(header)}", f"{path}, line {line}", _HINT)
        elif [fold_name(field) for field in fields] == header:
            raise InputError("repeated header", f"{path}, line {line}", "remove this line")
        elif len(fields) == len(header):
            yield line, dict(zip(header, fields, strict=True))
        elif fields:
            fault = f"{show_count(len(fields), 'field')} where the header has {len(header)}"
            raise InputError(fault, f"{path}, line {line}", "check for a missing or an extra comma or quote")


def _scan_json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for number, line in enumerate(read_plain_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            values = parse_object(line.encode())
        except ValueError as error:
            raise InputError(str(error), f"{path}, line {number}", _HINT) from error
        yield number, values


class MaterialFiles(NamedTuple):
    """The files that questions are asked from; pairs may join as open questions."""

    statements: Path
    entities: Path
    chunks: Path
    embeddings: Path
    templates: list[Path]
    users: list[Path]
    pairs: Tables

    def list_paths(self) -> list[Path]:
        """Return all files, in a fixed order."""
        named = [self.statements, self.entities, self.chunks, self.embeddings]
        return [*named, *self.templates, *self.users, *(Path(path) for *_, path in self.pairs)]

    def read(self) -> "Material":
        """Read records, templates and open questions; raise `InputError` if one of the files is wrong."""
        from fathom.benchmark.matches import load_embeddings
        from fathom.io.contracts.benchmark import PAIRS
        from fathom.io.contracts.questions import CHUNKS, ENTITIES
        from fathom.io.tables import read_table
        from fathom.questions.graph import OntologyGraph, read_templates
        from fathom.questions.question_rounds import Material

        return Material(
            read_table(self.chunks, CHUNKS, ["iri"])["iri"].to_list(),
            load_embeddings(self.embeddings)[:],
            read_table(self.entities, ENTITIES),
            OntologyGraph(self.statements),
            read_templates(self.templates),
            [row for path in self.users for row in read_user_questions(path)],
            [
                row
                for domain, variant, path in self.pairs
                for row in make_open_from_pairs(read_table(path, PAIRS), f"{domain}/{variant}")
            ],
        )


def draw_chunks(entities: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return the texts of the first records (ENTITIES) in the order of a hash, under CHUNKS."""
    records = entities.filter(pl.col("text") != "").select("iri", "text")
    hashes = [hash_text("chunk", iri) for iri in records["iri"]]
    found: pl.DataFrame = records[np.argsort(hashes, kind="stable")[:count].tolist()]
    return found
