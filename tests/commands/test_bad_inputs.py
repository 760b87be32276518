"""Bad inputs of all kinds that people give: one message that names file or key, and nothing half-written."""

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.documents import make_epub, make_pdf, make_zip
from tests.refusals import refuses

from fathom.config.corpus import Selection
from fathom.config.merging import merge
from fathom.config.whole import read_config
from fathom.corpus.documents.reading import read_document
from fathom.corpus.table_rows import read_table_documents
from fathom.logs.items import read_logs
from fathom.models.arriving import find_lack
from fathom.models.registry import read_registry
from fathom.planning.run_inputs import check_corpus, find_inputs
from fathom.scoring.pair_files import read_pairs

Content = bytes | str
TEXT = "The model is fitted to the data of the plant, and its errors are small. " * 3
SELECTION = Selection.model_validate(
    {"corpus": {"source": "table"}, "domains": {"all": {"categories": ["*"]}}}
)
HEADER = "name\tfamily\tsource\trevision\tkind\tbase_of\tparameters\ttokens\tdtype\n"
SAMPLES = "samples_sums_2026-11-25T03-37-49.471098.jsonl"
OWN = {"domains": {"own": {"categories": ["*"]}}, "pairs": {"tokenizer": "tiny"},
       "models": {"train": {"tiny": {"domain": "own"}}}}  # fmt: skip

CONFIGURATIONS: list[tuple[dict[str, Any], str]] = [
    ({"corpus": {"packages": ["sklern"]}}, "sklearn"),
    ({"corpus": {"packages": []}}, "corpus.packages"),
    ({"corpus": {"packages": "numpy"}}, "corpus.packages"),
    ({"corpus": {"source": "jsonl", "files": ["nothing"]}}, "nothing"),
    ({"corpus": {"source": "jsonl", "files": ["folder"]}}, ".jsonl"),
    ({"corpus": {"source": "folder", "files": ["folder"]}}, "no document"),
    ({"corpus": {"source": "folder", "files": ["folder", "folder"]}}, "listed twice"),
    ({"corpus": {"source": "dataset"}}, "dataset"),
    ({"corpus": {"source": "table", "files": []}}, "corpus.files"),
    ({"corpus": {"source": "webpages"}}, "corpus.source"),
    ({"corpus": {"since": "2020-13-01"}}, "corpus.since"),
    ({"corpus": {"since": "2021-01-01", "until": "2020-01-01"}}, "after until"),
    ({"corpus": {"splits": {"benchmark": 2}}}, "corpus.splits.benchmark"),
    ({"corpus": {"language": "fr"}}, "corpus.language"),
    ({"corpus": {"max_file_mb": "many"}}, "corpus.max_file_mb"),
    ({"corpus": {"colums": {"text": "a"}}}, "columns"),
    ({"domains": {"own": {"categories": []}}}, "domains.own.categories"),
    ({"domains": {"own": {"categories": ["nothing.*"]}}}, "domains.own.categories"),
    ({"domains": {"a/b": {"categories": ["*"]}}}, "a/b"),
    ({"domains": {"OWN": {"categories": ["*"]}}}, "differ only in case"),
    ({"run": "../x"}, "run"),
    ({"run": ""}, "run"),
    ({"run": 5}, "run"),
    ({"keywords": {"count": -1}}, "keywords.count"),
    ({"keywords": {"coun": 1}}, "did you mean count"),
    ({"keywords": []}, "keywords"),
    ({"matches": {"min_cosine": float("nan")}}, "matches.min_cosine"),
    ({"matches": {"min_cosine": "high"}}, "matches.min_cosine"),
    ({"pairs": {"max_tokens": 0}}, "pairs.max_tokens"),
    ({"pairs": {"tokenizer": ""}}, "pairs.tokenizer"),
    ({"models": {"train": {"tiny": {"domain": "nowhere"}}}}, "nowhere"),
    ({"models": {"adapt": [{"base": "tiny", "paths": [["nowhere"]]}]}}, "nowhere"),
    ({"models": {"score": "gpt2"}}, "models.score"),
    ({"embedding": {"device": "gpu"}}, "embedding.device"),
    ({"scoring": {"batch_tokens": True}}, "scoring.batch_tokens"),
    ({"summary": {"lead": "bit"}}, "summary.lead"),
    ({"previous": "nothing"}, "previous"),
    ({"scores": "nothing"}, "scores"),
    ({"perplexity": {"texts": {"own": {"files": ["nothing.txt"]}}}}, "nothing.txt"),
    ({"train_before_test": {"tasks": {"t": {"kind": "text", "file": "none.jsonl"}}}}, "none.jsonl"),
]


@pytest.mark.parametrize(("changes", "word"), CONFIGURATIONS)
def test_configurations(tmp_path, monkeypatch, changes, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    values = json.loads(json.dumps(OWN))
    merge(values, changes)
    with refuses(word):
        config = read_config(values, "own.yaml")
        check_corpus(config)
        find_inputs(config, "results/own")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def write_parquet(**columns: list[Any]) -> bytes:
    stream = io.BytesIO()
    pl.DataFrame(columns).write_parquet(stream)
    return stream.getvalue()


def read_any(path: Path) -> object:
    return read_document(path, 10)


def read_table(path: Path) -> object:
    return read_table_documents(path, SELECTION, path.with_name("out.parquet"))


def read_log(path: Path) -> object:
    return read_logs([path.parent])


Reader = Callable[[Path], object]
FILES: list[tuple[Reader, str, Content, str]] = [
    (read_any, "a.txt", "", "empty"),
    (read_any, "a.txt", "1 2 3 4", "no prose"),
    (read_any, "a.txt", b"a" * 10_000_001, "10 MB"),
    (read_any, "a.pdf", b"%PDF-1.4\n", "broken"),
    (read_any, "a.pdf", b"no pdf", "broken"),
    (read_any, "a.pdf", make_pdf([[(300, 30, 10, "1")]]), "no prose"),
    (read_any, "a.pdf", make_pdf([[(50, 700, 10, TEXT)]])[:300], "broken"),
    (read_any, "a.docx", b"PK", "zip"),
    (read_any, "a.docx", make_zip({"a": "b"}), "DOCX"),
    (read_any, "a.docx", make_zip({"word/document.xml": "<w"}), "XML"),
    (read_any, "a.epub", make_zip({"mimetype": "application/epub+zip"}), "container.xml"),
    (read_any, "a.epub", make_zip({"META-INF/container.xml": "<a/>"}), "no package"),
    (read_any, "a.epub", make_epub([]), "EPUB"),
    (read_any, "a.html", "<html></html>", "no prose"),
    (read_any, "a.html", b"\0\0\0", "zero bytes"),
    (read_any, "a.md.gz", gzip.compress(TEXT.encode(), mtime=0)[:-9], "compression"),
    (read_any, "a.md.gz", TEXT, "compression"),
    (read_any, "a.rst", ".. code::\n\n   x = 1\n", "no prose"),
    (read_any, "a.tex", "\\begin{document}\\end{document}", "no text"),
    (read_table, "a.csv", "", "no rows"),
    (read_table, "a.csv", "id,title\n1,x\n", "no column is called text"),
    (read_table, "a.csv", "text,text\na,b\n", "duplicate columns: text"),
    (read_table, "a.csv", 'text\n"a\n', "line 2"),
    (read_table, "a.csv", b"text\n\xff\xfe\n", "not UTF-8"),
    (read_table, "a.tsv", "text\tText\na\tb\n", "duplicate columns: text"),
    (read_table, "a.csv.gz", b"\x1f\x8b\x08", "line 1"),
    (read_table, "a.csv.zst", b"nothing", "line 1"),
    (read_table, "a.parquet", b"PAR1", "cannot be read"),
    (read_table, "a.parquet", write_parquet(text=[[1, 2]]), "lists"),
    (read_table, "a.parquet", write_parquet(text=[b"\xff"]), "bytes"),
    (read_table, "a.jsonl", "[1]\n", "not a JSON object"),
    (read_table, "a.jsonl", '{"text": 5}\n', "numbers"),
    (read_table, "a.jsonl", '{"text": {"a": 1}}\n', "objects"),
    (read_table, "a.jsonl", '{"text": "a", "text": "b"}\n', "duplicate keys: text"),
    (read_pairs, "a.jsonl", "", "no pairs"),
    (read_pairs, "a.jsonl", '{"prompt": "a"}\n', "line 1: no text in target"),
    (read_pairs, "a.jsonl", '{"prompt": null, "target": "b"}\n', "line 1: no text in prompt"),
    (read_pairs, "a.jsonl", '{"prompt": "a", "target": 5}\n', "line 1: no text in target"),
    (read_pairs, "a.jsonl", '{"prompt": "a", "target": "b", "target": "c"}\n', "duplicate keys: target"),
    (read_pairs, "a.jsonl", "nothing", "line 1: not valid JSON"),
    (read_pairs, "a.jsonl", b'{"prompt": "\xff", "target": "b"}\n', "line 1: not UTF-8"),
    (read_pairs, "a.parquet", b"PAR1PAR1", "parquet"),
    (read_pairs, "a.parquet", write_parquet(prompt=["a"]), "target"),
    (read_log, SAMPLES, "", "no scores"),
    (read_log, SAMPLES, '{"doc_id": 1}\n', "line 1: no metrics"),
    (read_log, "a.csv", "model,item\nx,1\n", "no log"),
    (read_log, "a.csv", "model,item,score\nx,1,high\n", "line 2"),
    (read_log, "a.eval", b"PK", "zip"),
    (read_log, "a.eval", make_zip({"header.json": "[]"}), "cannot be read"),
    (read_registry, "models.tsv", "", "empty"),
    (read_registry, "models.tsv", "name\n", "missing columns"),
    (read_registry, "models.tsv", HEADER + "a\tf\torg/a\t\tbass\t\t\t\tfloat32\n", "one of: base, chat"),
    (read_registry, "models.tsv", HEADER + "a\tf\torg/a\t\tbase\t\t7B\t\tfloat32\n", "column parameters"),
    (read_registry, "models.tsv", HEADER + "a\tf\t\t\tbase\t\t\t\tfloat32\n", "empty source"),
    (read_registry, "models.tsv", HEADER + "a\tf\torg/a\n", "3 fields"),
    (read_registry, "models.tsv", HEADER.encode() + b"\xe9", "line 2: not UTF-8"),
    (read_registry, "models.tsv", HEADER * 2, "line 2"),
]


@pytest.mark.parametrize(("read", "name", "content", "word"), FILES)
def test_files(tmp_path, read, name, content, word):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    where = path.parent if word == "no log" else path
    with refuses(where, word) if read is not read_table else refuses(name, word):
        read(path)
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("weights", "content", "lack"),
    [
        ("model.safetensors", b"", "not whole"),
        ("model.safetensors", b"\xff" * 8, "not whole"),
        ("model.safetensors", b"\x01" + b"\0" * 7 + b"{", "not whole"),
        ("model.safetensors", b"\x02" + b"\0" * 7 + b"[]", "not whole"),
        ("model.safetensors", b"\x02" + b"\0" * 7 + b"{}", "tokenizer"),
    ],
)
def test_weights_that_are_not_there_yet(tmp_path, weights, content, lack):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / weights).write_bytes(content)
    assert lack in find_lack(tmp_path)
