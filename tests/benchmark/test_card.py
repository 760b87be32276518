import html
import json
import re
from pathlib import Path

import polars as pl
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_program
from tests.refusals import refuses
from tests.tables import fill_table, write_delimited

from fathom.benchmark.benchmark_files import PACKAGES, drop_folders, find_versions, make_manifest
from fathom.benchmark.card import Description, choose_examples, escape_markdown, write_card
from fathom.config.whole import Config
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_file, read_json, write_json
from fathom.io.tables import read_table, write_table

CONFIG = Config.model_validate(
    {"domains": {"graphs": {"categories": ["cs.AI"]}}, "pairs": {"tokenizer": "gpt2", "per_keyword": 3}}
)


def make_pairs(counts: dict[str, int], prompt: str = "A prompt of words that ends with a") -> pl.DataFrame:
    rows = [(keyword, number) for keyword, count in counts.items() for number in range(count)]
    return fill_table(
        PAIRS, pair_id=[f"{keyword}-{number}" for keyword, number in rows], keyword=[row[0] for row in rows],
        variant="tf", prompt=[f"{prompt} {number}" for _, number in rows], target=" graph",
        doc_id=[f"d{number}" for _, number in rows], target_in_prompt=[number == 0 for _, number in rows],
    )  # fmt: skip


def describe(pairs: pl.DataFrame, /, **reports) -> str:
    manifest = make_manifest({}, CONFIG, "graphs", "tf", {}, reports)
    return write_card(pairs, Description("graphs", "Graphs: all | of <them>", "tf", 5, 17, manifest))


def test_the_front_matter_is_what_the_hub_reads():
    values = yaml.safe_load(describe(make_pairs({"a": 3})).split("---\n")[1])
    assert values["license"] == "other" and values["task_categories"] == ["text-generation"]
    assert values["size_categories"] == ["n<1K"]
    assert values["configs"][0]["data_files"] == [{"split": "test", "path": "pairs.parquet"}]
    assert values["pretty_name"].startswith("Graphs: all | of <them>")
    assert yaml.safe_load(describe(make_pairs({"a": 1000})).split("---\n")[1])["size_categories"] == [
        "1K<n<10K"
    ]


def test_what_a_limit_leaves_out_is_counted():
    draw = {
        "limit": 900, "documents": 90, "sentences": 899, "left_out": {"documents": 910, "sentences": 9_101},
    }  # fmt: skip
    card = describe(make_pairs({"a": 3}), draw=draw)
    assert "90 documents with 899 sentences (`sentences.limit`: 900)" in card
    assert "Not looked at: 910 documents with 9,101 sentences." in card
    assert "| draw | left out: sentences | 9,101 |" in card
    assert "sentences.limit" not in describe(make_pairs({"a": 3}))


def test_pairs_in_training_text_are_counted():
    overlap = {"pairs": 3, "in_training_text": 1, "last_words_there": 2}
    card = describe(make_pairs({"a": 3}), overlap=overlap)
    assert "1 pairs occur word for word in text that models of this run are trained on, 2 by the last" in card
    assert "| overlap | in training text | 1 |" in card
    assert "word for word" not in describe(make_pairs({"a": 3}))


def test_pairs_that_stand_under_another_keyword_are_counted():
    pairs = make_pairs({"a": 3, "b": 1})
    assert "50.0% of the pairs stand under another keyword, too" in describe(pairs)
    assert "under another keyword" not in describe(pairs.filter(keyword="a"))


def test_coverage_is_described_where_it_was_measured():
    found = {
        "coverage": 0.328, "coverage_at_random": 0.41, "points": 5000, "correlation": -0.07,
        "redundancy_of_pairs": 0.0014, "bandwidth": 5.0, "length": 15.0, "embedding": "mini",
    }  # fmt: skip
    card = describe(make_pairs({"a": 3}), coverage=found)
    assert "## Coverage\n\nThe pairs are at least as dense as the domain at 32.8% of 5,000 sentences" in card
    assert "at random would be so at 41.0%. Both densities correlate by -0.07. 0.14% of any two" in card
    unknown = describe(
        make_pairs({"a": 3}), coverage=found | {"correlation": None, "redundancy_of_pairs": None}
    )
    assert (
        "would be so at 41.0%. Gaussian kernel, bandwidth 5 on embeddings of length 15 (`mini`)." in unknown
    )
    assert "## Coverage" not in describe(make_pairs({"a": 3}))


def test_keywords_under_the_quota_are_listed():
    card = describe(make_pairs({"alpha": 3, "beta": 2, "gamma": 1}))
    assert "2 of 5 keywords have fewer than 3 pairs, and 2 have none" in card
    assert "beta (2), gamma (1)." in card and "alpha (3)" not in card
    assert "In 50.0% of the pairs" in card


def test_every_field_is_described():
    card = describe(make_pairs({"alpha": 1}))
    assert all(f"| `{column.name}` |" in card for column in PAIRS)


def test_numbers_of_reports_are_shown():
    card = describe(make_pairs({"a": 1}), pairs={"sentences": 12345, "left_out": {"no_term": 7, "x": 0}})
    assert "| pairs | sentences | 12,345 |" in card and "left out: no term | 7 |" in card


@pytest.mark.parametrize(
    ("counts", "distinct"), [({"a": 30, "b": 30}, 2), (dict.fromkeys("abcdefghijkl", 2), 10)]
)
def test_examples_come_from_as_many_keywords_as_possible(counts, distinct):
    rows = make_pairs(counts).to_dicts()
    chosen = choose_examples(rows)
    assert len(chosen) == 10 and len({row["keyword"] for row in chosen}) == distinct
    assert choose_examples(rows[::-1]) == chosen


def test_text_of_the_corpus_cannot_break_the_card():
    hostile = "<script>x</script> a | b `c` [d](https://e.org) ![f](g) **h** $i$\n\n# j"
    card = describe(make_pairs({"a|b": 1}, prompt=hostile))
    assert "<script>" not in card and "\n# j" not in card and "](https" not in card
    (line,) = [line for line in card.splitlines() if "script" in line]
    assert len(re.findall(r"(?<!\\)\|", line)) == 4


@given(st.text(max_size=40))
def test_escaped_text_reads_as_before(text):
    escaped = escape_markdown(text)
    assert not re.search(r"(?<!\\)[|`*_<>\[\]]", escaped.replace("\\\\", ""))
    assert html.unescape(re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", escaped)) == " ".join(text.split())


def test_the_script_gives_the_same_bytes_in_any_folder(tmp_path):
    contents = set()
    for name in ("one", "two"):
        folder = tmp_path / name
        pairs = make_pairs({"alpha": 2})
        write_table(folder / "pairs.parquet", pairs, PAIRS)
        (folder / "pairs.jsonl").write_text("{}\n")
        write_delimited(folder / "keywords.tsv", ["keyword"], [["alpha"]])
        write_delimited(folder / "vocabulary.tsv", ["keyword", "term"], [["alpha", " graph"]])
        write_json(folder / "join.json", {"inputs": [{"file": str(folder / "shard.gz"), "sha256": "00"}]})
        config = CONFIG.model_dump_json(by_alias=True).replace("all-MiniLM-L6-v2", str(folder / "encoder"))
        run_program(
            "describe_benchmark", "--pairs", folder / "pairs.parquet", "--keywords", folder / "keywords.tsv",
            "--vocabulary", folder / "vocabulary.tsv", "--join-report", folder / "join.json",
            "--pairs-report", folder / "join.json", "--keywords-report", folder / "join.json",
            "--sentences-report", folder / "join.json", "--domain", "graphs", "--title", "Graphs",
            "--variant", "tf", "--settings", config,
            "--manifest", folder / "manifest.json", "--card", folder / "README.md",
            "--croissant", folder / "croissant.json",
        )  # fmt: skip
        names = ("manifest.json", "README.md", "croissant.json")
        contents.add(tuple((folder / name).read_bytes() for name in names))
    assert len(contents) == 1
    ((manifest, card, croissant),) = contents
    assert str(tmp_path).encode() not in manifest + card + croissant
    assert json.loads(croissant)["name"] == "Graphs: completion benchmark (tf)"
    assert json.loads(manifest)["inputs"] == [{"file": "shard.gz", "sha256": "00"}]
    assert json.loads(manifest)["parameters"]["embedding"]["model"] == "encoder"


def test_the_folder_loads_as_a_data_set(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_OFFLINE", True)
    pairs = make_pairs({"alpha": 2})
    write_table(tmp_path / "benchmark/pairs.parquet", pairs, PAIRS)
    (tmp_path / "benchmark/pairs.jsonl").write_text('{"other": 1}\n')
    (tmp_path / "benchmark/README.md").write_text(describe(pairs))
    loaded = datasets.load_dataset(str(tmp_path / "benchmark"), split="test", cache_dir=str(tmp_path / "c"))
    assert loaded.to_list() == pairs.to_dicts()


ROWS = [
    {"category": "Graphs: {x}", "prompt": "The <tree> of a", "target": " graph"},
    {"category": "Graphs: {x}", "prompt": "A walk along its", "target": " edges"},
]


def test_the_pairs_are_loaded_through_the_metadata(tmp_path, caplog):
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    (tmp_path / "entries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        run_program("import_reference", "--entries", tmp_path / "entries.jsonl", "--title", "Graphs",
                    "--folder", folder)  # fmt: skip
    written = [(folder / "croissant.json").read_bytes() for folder in folders]
    assert written[0] == written[1]
    dataset = croissant.Dataset(str(folders[0] / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    assert "not standard" not in caplog.text
    assert {
        each["@id"]: each["sha256"] for each in read_json(folders[0] / "croissant.json")["distribution"]
    } == {name: hash_file(folders[0] / name) for name in ("pairs.parquet", "pairs.jsonl")}
    loaded = [
        {name.removeprefix("pairs/"): value.decode() if isinstance(value, bytes) else value
         for name, value in record.items()}
        for record in dataset.records("pairs")
    ]  # fmt: skip
    pairs = read_table(folders[0] / "pairs.parquet", PAIRS)
    shown = pairs.drop("cosine", "association", strict=False)
    assert [{name: row[name] for name in shown.columns} for row in loaded] == shown.to_dicts()
    assert set(loaded[0]) == set(pairs.columns)


VALUES = {
    "domains": {"graphs": {"categories": ["cs.AI"]}, "other": {"categories": ["cs.CL"], "benchmark": False}},
    "pairs": {"tokenizer": "gpt2"},
}


def make(files: dict[str, Path] | None = None, **changes) -> dict:
    config = Config.model_validate({**VALUES, **changes})
    return make_manifest(
        files or {}, config, "graphs", "tfidf", {"inputs": [{"file": "a", "sha256": "b"}]}, {}
    )


def test_files_are_hashed_under_their_names(tmp_path):
    path = tmp_path / "anything"
    path.write_text("content")
    assert make({"pairs.jsonl": path})["files"] == {"pairs.jsonl": hash_file(path)}


def test_a_missing_file_is_an_error(tmp_path):
    with refuses("no such file"):
        make({"pairs.jsonl": tmp_path / "none"})


def test_only_what_a_benchmark_depends_on_is_in():
    assert make(scoring={"batch_tokens": 7}, run="other", dump="/data/arxiv") == make()
    assert make(pairs={"tokenizer": "gpt2", "seed": 1}) != make()
    assert make(vocabulary={"min_cosine": 0.2}) != make()
    assert make()["parameters"]["domain"]["categories"] == ["cs.AI"]
    assert make(sentences={"limit": 900})["parameters"]["sentences"]["limit"] == 900
    assert "limit" not in make()["parameters"]["sentences"]  # as in manifests from before there was one


def test_versions_are_public_ones_of_installed_packages():
    found = find_versions()
    assert set(found) <= {"fathom", *PACKAGES} and {"fathom", "polars"} <= set(found)
    assert not any("+" in version for version in found.values())


def test_local_paths_become_file_names():
    value = {"a": ["/x/y/z.gz", "~/m", "org/model"], "b": {"c": ("../d/e", 1, None)}, "text": "and/or"}
    assert drop_folders(value) == {
        "a": ["z.gz", "m", "org/model"], "b": {"c": ["e", 1, None]}, "text": "and/or",
    }  # fmt: skip
