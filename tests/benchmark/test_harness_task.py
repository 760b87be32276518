"""The exported task: its keys, its data, and its loader, which works from any folder."""

import importlib.util
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.programs import run_program

from fathom.benchmark.exported_tasks import EXPORTED, FILE, write_inspect_task
from fathom.benchmark.reference import ReferencePair, make_reference_pairs
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_file, read_json_lines, write_json_lines
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


inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install .[inspect]")

INSPECT_PAIRS = [
    {"pair_id": f"p{number}", "keyword": f"k{number % 2}", "prompt": f"{number}: The agent learns a",
     "target": target}
    for number, target in enumerate((" policy", " policy", " policy", " C++", " policy"))
]  # fmt: skip
WRITTEN = ["Policy.", "4: nothing", "2: The agent learns a policy of", "C++ program", "policymaker"]
QUESTIONS = [
    {"question_id": "q", "prompt": "Which? A or B: ", "options": ["A", "B"], "gold": 1},
    {"question_id": "q", "prompt": "Is it? ", "options": ["yes", "no"], "gold": 0},
    {"question_id": "r", "prompt": "Who? ", "answer": "Ada Lovelace"},
]


def ask(written, **options):
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [ModelOutput.from_content("mockllm", text) for text in written]
    for output in outputs:
        output.usage = ModelUsage()  # else Inspect counts tokens, with a file from elsewhere
    (log,) = inspect_ai.eval(
        FILE, model=get_model("mockllm/model", custom_outputs=outputs), log_dir="logs",
        display="none", max_samples=1, task_args=options,
    )  # fmt: skip
    assert log.status == "success", log.error
    return log, [sample.scores["begins_with_target"].value for sample in log.samples]


def test_a_pair_counts_if_the_model_goes_on_with_its_target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # Inspect takes no absolute path
    write_json_lines(tmp_path / "pairs.jsonl", INSPECT_PAIRS)
    write_inspect_task(tmp_path, "fathom_cs.AI_tf", "pairs.jsonl")
    log, values = ask(WRITTEN)
    assert values == ["C", "I", "C", "C", "I"], "whole words, whatever their case, the prompt repeated or not"
    assert log.eval.task == "fathom_cs.AI_tf"
    assert [sample.id for sample in log.samples] == [row["pair_id"] for row in INSPECT_PAIRS]
    metrics = log.results.scores[0].metrics
    assert metrics["accuracy"].value == pytest.approx(0.6) and metrics["stderr"].value > 0


def test_questions_count_by_letter_or_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # Inspect takes no absolute path
    write_json_lines(tmp_path / "asked.jsonl", QUESTIONS)
    write_inspect_task(tmp_path, "fathom_set", "asked.jsonl")
    log, values = ask(["b) it is", "no", "Ada Lovelace, I think"], file="asked.jsonl")
    assert values == ["C", "I", "C"] and log.eval.task == "asked"
    assert [sample.metadata["cluster"] for sample in log.samples] == ["q", "q", "r"]
