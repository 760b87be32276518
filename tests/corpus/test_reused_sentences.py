"""Sentences of an earlier run are taken over where content, code and settings are the same."""

from pathlib import Path

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.config.benchmark import Sentences
from fathom.corpus.previous import find_previous_slices, require_index
from fathom.corpus.reused_sentences import describe_splitting, find_known, report_splits
from fathom.corpus.sentences import load_splitter, number_rows, split_documents
from fathom.io.contracts.corpus import INDEX, SENTENCE_COUNTS, SENTENCES
from fathom.io.files import hash_text, write_json
from fathom.io.tables import make_empty_table, write_table

SETTINGS = Sentences(max_characters=200)


def _document(doc_id: str, text: str, part: str = "p", title: str = "On it") -> dict[str, object]:
    return {
        "doc_id": doc_id, "part": part, "title": title, "abstract": "It is.", "date": "", "domains": ["d"],
        "split": "benchmark", "text": text, "text_hash": hash_text(text), "characters": len(text),
    }  # fmt: skip


def _index(documents: list[dict[str, object]]) -> pl.DataFrame:
    schema = make_empty_table(INDEX).schema
    rows = [{name: document[name] for name in schema} for document in documents]
    return pl.DataFrame(rows, schema=schema).sort("doc_id")


@pytest.fixture
def method() -> dict[str, object]:
    return describe_splitting(SETTINGS, load_splitter("rules"))


@pytest.fixture
def previous(tmp_path: Path, method: dict[str, object]) -> Path:
    """Write an earlier run of two parts."""
    return _write_run(tmp_path, method, {"p": ["a", "b"], "q": ["c"]})


def _write_run(run: Path, method: dict[str, object], slices: dict[str, list[str]]) -> Path:
    """Write an earlier run, its documents split in these slices."""
    corpus = run / "corpus"
    documents = [_document("a", "One here. Two here.", "p"), _document("b", "One here. Naïve three.", "p"),
                 _document("c", "Four is here.", "q")]  # fmt: skip
    write_table(corpus / "index.parquet", _index(documents), INDEX)
    for name, doc_ids in slices.items():
        table, sentence_counts = split_documents([d for d in documents if d["doc_id"] in doc_ids], SETTINGS)
        write_table(corpus / "sentences" / f"{name}.parquet", table, SENTENCES)
        write_table(corpus / "sentence_counts" / f"{name}.parquet", sentence_counts, SENTENCE_COUNTS)
        report = report_splits(table, sentence_counts, load_splitter("rules"), method, 0)
        write_json(corpus / "sentences" / f"{name}.json", report)
    return run


def test_documents_of_equal_content_are_found_in_whatever_part(previous, method):
    documents = [_document("c", "Four is here.", "new"), _document("a", "One here. Two here.", "new"),
                 _document("b", "Another text.", "new"), _document("z", "One here.", "new")]  # fmt: skip
    known = find_known(previous, _index(documents), method)
    assert known.sentence_counts["doc_id"].to_list() == ["a", "c"]
    new = [document for document in documents if document["doc_id"] in "bz"]
    table, sentence_counts = split_documents(new, SETTINGS)
    merged = number_rows(pl.concat([known.sentences, table.drop("row")]))
    whole = split_documents(documents, SETTINGS)
    assert merged.equals(whole[0])
    assert pl.concat([known.sentence_counts, sentence_counts]).sort("doc_id").equals(whole[1])


@pytest.mark.parametrize("changes", [{"title": "On that"}, {"text": "One here. Two there."}])
def test_another_title_or_text_is_another_document(previous, method, changes):
    document = _document("a", "One here. Two here.") | changes
    document["text_hash"] = hash_text(str(document["text"]))
    assert find_known(previous, _index([document]), method).sentence_counts.is_empty()


def test_other_settings_and_code_are_another_method(previous, method, monkeypatch):
    index = _index([_document("a", "One here. Two here.")])
    assert len(find_known(previous, index, method).sentence_counts) == 1
    other = describe_splitting(Sentences(max_characters=100), load_splitter("rules"))
    assert find_known(previous, index, other).sentence_counts.is_empty()
    assert find_known(previous, index, method | {"code": "0"}).sentence_counts.is_empty()
    (previous / "corpus" / "sentences" / "p.json").unlink()
    assert find_known(previous, index, method).sentence_counts.is_empty()
    assert find_known(None, index, method).sentence_counts.is_empty()


def test_a_table_that_lost_sentences_is_named(previous, method):
    path = previous / "corpus" / "sentences" / "p.parquet"
    write_table(path, pl.read_parquet(path).filter(pl.col("doc_id") != "a"), SENTENCES)
    with refuses("0 sentences", "3", path, "Hint"):
        find_known(previous, _index([_document("a", "One here. Two here.")]), method)


def test_documents_are_looked_up_by_part(previous, tmp_path):
    found = find_previous_slices(previous, pl.Series("doc_id", ["a", "c", "new"]))
    assert {part: ids.to_list() for part, ids in found.items()} == {"p": ["a"], "q": ["c"]}
    with refuses("earlier", "reuse"):
        require_index(tmp_path / "nothing")


def test_documents_of_an_earlier_slice_are_found(tmp_path, method):
    slices = {"p.1-of-3": ["a"], "p.2-of-3": [], "p.3-of-3": ["b"], "q": ["c"]}
    divided = _write_run(tmp_path / "divided", method, slices)
    found = find_previous_slices(divided, pl.Series("doc_id", ["a", "b", "c"]))
    assert {name: ids.to_list() for name, ids in found.items()} == {
        "p.1-of-3": ["a"],
        "p.3-of-3": ["b"],
        "q": ["c"],
    }
    whole = _write_run(tmp_path / "whole", method, {"p": ["a", "b"], "q": ["c"]})
    index = _index([_document("a", "One here. Two here."), _document("b", "One here. Naïve three.")])
    known = [find_known(each, index, method) for each in (divided, whole)]
    assert known[0].sentences.sort("doc_id").equals(known[1].sentences.sort("doc_id"))
    assert sorted(known[0].sentence_counts["doc_id"]) == ["a", "b"]


def test_files_of_another_division_repeat_no_document(tmp_path, method):
    slices = {"p": ["a", "b"], "p.1-of-2": ["a"], "p.2-of-2": ["b"], "q": ["c"]}
    divided_again = _write_run(tmp_path, method, slices)
    found = find_known(divided_again, _index([_document("a", "One here. Two here.")]), method)
    assert found.sentence_counts["doc_id"].to_list() == ["a"]
    assert len(found.sentences) == 3


def test_a_folder_with_another_splitter_is_another_method(shared):
    folder = str(shared / "spacy" / "en_ewt_senter_sm")
    found = describe_splitting(Sentences(splitter=folder), load_splitter(folder))
    assert len(found["splitter_files"]) == 64
