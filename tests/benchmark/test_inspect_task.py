"""The exported task in Inspect: what counts as written, for pairs and for questions."""

import pytest

from fathom.benchmark.exported_tasks import FILE, write_inspect_task
from fathom.io.files import write_json_lines

inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install .[inspect]")

PAIRS = [
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
    write_json_lines(tmp_path / "pairs.jsonl", PAIRS)
    write_inspect_task(tmp_path, "fathom_cs.AI_tf", "pairs.jsonl")
    log, values = ask(WRITTEN)
    assert values == ["C", "I", "C", "C", "I"], "whole words, whatever their case, the prompt repeated or not"
    assert log.eval.task == "fathom_cs.AI_tf"
    assert [sample.id for sample in log.samples] == [row["pair_id"] for row in PAIRS]
    metrics = log.results.scores[0].metrics
    assert metrics["accuracy"].value == pytest.approx(0.6) and metrics["stderr"].value > 0


def test_questions_count_by_letter_or_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # Inspect takes no absolute path
    write_json_lines(tmp_path / "asked.jsonl", QUESTIONS)
    write_inspect_task(tmp_path, "fathom_set", "asked.jsonl")
    log, values = ask(["b) it is", "no", "Ada Lovelace, I think"], file="asked.jsonl")
    assert values == ["C", "I", "C"] and log.eval.task == "asked"
    assert [sample.metadata["cluster"] for sample in log.samples] == ["q", "q", "r"]
