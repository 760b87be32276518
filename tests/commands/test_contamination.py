"""`fathom contamination`: pairs and a corpus in, what occurs there and ranks without it out."""

import json

import pytest
from tests.programs import run_command
from tests.refusals import refuses
from tests.scores import tabulate_scores
from tests.tables import read_delimited

from fathom.io.contracts.benchmark import CONTAMINATION
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import PAIR_PARTS
from fathom.io.files import read_json, write_json_lines
from fathom.io.tables import read_table, write_table

SENTENCES = [
    "the agent in each step learns a good policy from all that it has ever seen",
    "a kernel density estimate puts one small hill over every single point of the data",
    "court opinions of the eleventh circuit bind every district court that lies below it",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with pairs, texts with the first word for word and the second edited, and scores."""
    folder = tmp_path_factory.mktemp("contamination")
    rows = [
        {"pair_id": f"p{n}", "keyword": f"k{n}", "prompt": text.rpartition(" ")[0],
         "target": " " + text.rpartition(" ")[2]}
        for n, text in enumerate(SENTENCES)
    ]  # fmt: skip
    write_json_lines(folder / "pairs.jsonl", rows)
    edited = SENTENCES[1].replace("one small hill", "a hill")
    texts = [{"body": f"First: {SENTENCES[0]}!"}, {"body": ""}, {"body": f"Second: {edited}. The end."}]
    write_json_lines(folder / "texts.jsonl", texts)
    write_json_lines(
        folder / "others.jsonl", [{"prompt": "An unrelated question that nobody", "target": " asks"}]
    )
    (folder / "empty.jsonl").write_text('{"body": ""}\n')
    scores = tabulate_scores(["p0", "p1", "p2"], ["k0", "k1", "k2"], [2, 4, 900])
    for name in ("small.parquet", "tfidf/small.parquet"):
        write_table(folder / name, scores, SCORES)
    return folder


def look(folder, *arguments):
    return run_command("contamination", *arguments, folder=folder)


def test_copies_are_found_and_ranks_told_with_and_without_them(folder):
    done = look(folder, "pairs.jsonl", "texts.jsonl", "--column", "body", "--scores", "small.parquet")
    assert done.stdout.startswith("2 of 3 pairs occur in 2 texts: 1 exactly, 2 nearly; 0 are too short")
    table = read_table(folder / "pairs.contamination.parquet", CONTAMINATION)
    assert table["exact"].to_list() == [4, 0, 0]
    assert table["near"].to_list() == [1.0, pytest.approx(9 / 13), 0.0]
    assert table["source"].to_list() == ["texts.jsonl, row 1", "texts.jsonl, row 3", ""]
    report = read_json(folder / "pairs.contamination.json")
    assert (report["either"], report["empty_texts"]) == (2, 1)
    rows = read_delimited(folder / "pairs.contamination.csv", ",", PAIR_PARTS.names)
    found = {(row["aggregate"], row["part"]): (row["rank"], row["pairs"]) for row in rows}
    assert found["geometric_mean", "others"] == ("900", "1")
    assert found["geometric_mean", "found"] == ("2.82843", "2")
    assert found["trimmed_mean", "all"][1] == "3"


def test_another_benchmark_is_a_corpus_too(folder):
    done = look(folder, "pairs.jsonl", "others.jsonl", "pairs.jsonl", "--output", "own.parquet")
    assert done.stdout.startswith("3 of 3 pairs occur in 4 texts: 3 exactly, 3 nearly")
    assert json.loads((folder / "own.json").read_text())["texts"] == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("pairs.jsonl", "empty.jsonl", "--column", "body"), "empty.jsonl: the corpus holds no text"),
     (("pairs.jsonl", "texts.jsonl"), "texts.jsonl: unknown column 'text'"),
     (("pairs.jsonl", "nowhere.txt"), "nowhere.txt: there is no such file"),
     (("pairs.jsonl", "texts.jsonl", "--near", "0"), "--near 0.0: "),
     (("pairs.jsonl", "others.jsonl", "--scores", "small.parquet", "tfidf/small.parquet"),
      "--scores tfidf/small.parquet: another table of scores has the same name"),
     (("others.jsonl", "pairs.jsonl", "--scores", "small.parquet"),
      "--scores small.parquet: the scores belong to other pairs (3 are unknown)")],
)  # fmt: skip
def test_bad_input_is_named(folder, arguments, message):
    with refuses(message):
        look(folder, *arguments, "--output", "bad.parquet")
    assert not (folder / "bad.parquet").exists()
