"""The exported task: its keys, its data, and its loader, which works from any folder."""

import importlib.util
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.programs import run_program

from fathom.benchmark.exported_tasks import EXPORTED
from fathom.benchmark.reference import ReferencePair, make_reference_pairs
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_file, read_json_lines
from fathom.io.tables import write_table


class _Loader(yaml.SafeLoader):
    """Knows the harness's tag for a function."""


_Loader.add_constructor("!function", lambda loader, node: f"function {node.value}")


@pytest.fixture
def pairs() -> pl.DataFrame:
    entries = [
        ReferencePair(1, "graphs", "The {{curly}} \u2028 ${brace} of a", " graph"),
        ReferencePair(2, "graphs", "A", " b"),
    ]
    return make_reference_pairs(entries)


@pytest.fixture
def task(tmp_path: Path, pairs: pl.DataFrame) -> Path:
    write_table(tmp_path / "pairs.parquet", pairs, PAIRS)
    arguments = ("--pairs", tmp_path / "pairs.parquet", "--domain", "cs.AI", "--variant", "tf",
                 "--title", "AI:\n{x} # y", "--task", tmp_path / "lm-eval")  # fmt: skip
    for _ in range(2):  # the second time over the first
        run_program("export_benchmark", *arguments)
    return tmp_path / "lm-eval"


def test_the_task_is_what_the_harness_reads(task):
    assert sorted(path.name for path in task.iterdir()) == [
        "fathom_cs.AI_tf.yaml", "inspect_task.py", "load_pairs.py", "pairs.jsonl",
    ]  # fmt: skip
    values = yaml.load((task / "fathom_cs.AI_tf.yaml").read_text(), _Loader)  # noqa: S506 -- a safe loader
    assert values["task"] == "fathom_cs.AI_tf" and values["output_type"] == "loglikelihood"
    keys = ("doc_to_text", "doc_to_target", "target_delimiter")
    assert [values[key] for key in keys] == ["prompt", "target", ""]
    assert [each["metric"] for each in values["metric_list"]] == ["acc", "perplexity"]
    assert values["custom_dataset"] == "function load_pairs.load_pairs"
    assert values["metadata"] == {"version": 1.0, "pairs_sha256": hash_file(task / "pairs.jsonl")}


def test_the_data_is_that_of_the_benchmark(task, pairs):
    rows = pairs.select(EXPORTED).to_dicts()
    assert read_json_lines(task / "pairs.jsonl") == rows
    pytest.importorskip("datasets")
    specification = importlib.util.spec_from_file_location("load_pairs", task / "load_pairs.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert module.load_pairs(version=1.0, pretrained="x")["test"].to_list() == rows
