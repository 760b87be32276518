"""A part divided into slices gives the matches, byte for byte, of the part as a whole."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fathom.benchmark.gathered_matches import gather_matches
from fathom.benchmark.matches import decide_matches, match_sentences
from fathom.config.benchmark import Sentences
from fathom.config.corpus import Domain, Selection
from fathom.corpus.document_slices import take_slice
from fathom.corpus.index import build_index, iterate_documents
from fathom.corpus.jsonlines import read_jsonlines
from fathom.corpus.sentences import load_splitter, split_documents
from fathom.io.contracts.benchmark import CANDIDATES, MATCHES
from fathom.io.files import hash_text, write_json_lines
from fathom.io.tables import read_table, write_table, write_table_in_batches

KEYWORDS = ["field theory", "random walk", "spin glass"]


def make_part(folder: Path) -> tuple[Path, pl.DataFrame]:
    """Write a part whose documents differ in length and repeat sentences and ids."""
    records = []
    for number in range(60):
        size = 1 + number % 7 * (20 if number == 30 else 1)
        own = [f"Sentence {number % 11} number {place} speaks of a field theory." for place in range(size)]
        text = " ".join([*own, "This sentence stands in every document of the corpus."])
        records.append(
            {"id": f"d{number * 37 % 50}", "title": f"T{number}", "abstract": "An abstract.", "text": text}
        )
    write_json_lines(folder / "a.jsonl", records)
    documents = folder / "a.jsonl.parquet"
    read_jsonlines(folder / "a.jsonl", Selection(domains={"all": Domain(categories=["*"])}), documents)
    build_index([documents], folder / "index.parquet")
    return documents, pl.read_parquet(folder / "index.parquet")


def embed(texts: list[str]) -> np.ndarray:
    vectors = np.stack([np.random.default_rng(int(hash_text(text)[:8], 16)).normal(size=3) for text in texts])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def make_matches(folder: Path, documents: Path, index: pl.DataFrame, count: int) -> tuple[bytes, dict]:
    """Split, embed and match the slices of a part; return the gathered table's bytes, and its report."""
    splitter, vectors = load_splitter("rules"), embed(KEYWORDS)
    paths = []
    for number in range(1, count + 1):
        rows = take_slice(documents, index, number, count)
        table, _ = split_documents(iterate_documents(documents, "a.jsonl", rows), Sentences(), splitter)
        distinct = table.unique("row").sort("row")["sentence"].to_list()
        embeddings = embed(distinct).astype(np.float32) if distinct else np.empty((0, 0), np.float32)
        paths.append(folder / f"{number}.parquet")
        write_table(paths[-1], match_sentences(table, embeddings, KEYWORDS, vectors, 0.5), CANDIDATES)
    of_keyword = dict(zip(KEYWORDS, vectors, strict=True))
    with write_table_in_batches(folder / "sentences.parquet", MATCHES) as writer:
        report = gather_matches(
            paths, KEYWORDS, lambda name, rows: decide_matches(rows, of_keyword[name], embed, 0.5),
            writer.write,
        )  # fmt: skip
    return (folder / "sentences.parquet").read_bytes(), report


@pytest.mark.parametrize("count", [2, 3, 10])
def test_slices_give_the_matches_of_the_whole_part(tmp_path, count):
    documents, index = make_part(tmp_path)
    whole = make_matches(tmp_path, documents, index, 1)
    assert make_matches(tmp_path, documents, index, count) == whole
    assert len(read_table(tmp_path / "sentences.parquet", MATCHES)) > 50


def test_every_document_is_in_one_slice_and_slices_are_alike_in_size(tmp_path):
    documents, index = make_part(tmp_path)
    slices = [take_slice(documents, index, number, 3) for number in (1, 2, 3)]
    assert pl.concat(slices).sort("doc_id").equals(index)
    sizes = [each["characters"].sum() for each in slices]
    assert max(sizes) < 1.5 * min(sizes)
    order = pl.read_parquet(documents)["doc_id"]
    places = {doc_id: place for place, doc_id in reversed(list(enumerate(order)))}
    ends = [(min(found), max(found)) for found in ([places[d] for d in each["doc_id"]] for each in slices)]
    assert ends[0][1] < ends[1][0] < ends[1][1] < ends[2][0]


def test_more_slices_than_documents_leave_some_empty(tmp_path):
    documents, index = make_part(tmp_path)
    few = index.head(2)
    assert sorted(len(take_slice(documents, few, number, 5)) for number in range(1, 6)) == [0, 0, 0, 1, 1]
    assert len(take_slice(documents, index.clear(), 1, 2)) == 0
