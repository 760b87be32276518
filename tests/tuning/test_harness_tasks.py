"""Tasks of lm-evaluation-harness: the same scores as the harness gives, on tasks of one's own."""

import json
from pathlib import Path

import polars as pl
import pytest
import torch
from tests.refusals import refuses
from tests.tuning.conftest import WORDS, make_model, make_sentence

from fathom.config.tuning import Limits, Lora
from fathom.tuning.examples import limit_examples
from fathom.tuning.harness import evaluate_generation, load_task, make_examples
from fathom.tuning.task_scores import Encoder, compute_score, evaluate_examples

lm_eval = pytest.importorskip("lm_eval", reason="the harness is not installed: pip install .[harness]")

_HEAD = """\
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{train: {folder}/train.jsonl, test: {folder}/test.jsonl}}}}
training_split: train
test_split: test
doc_to_text: "{{{{question}}}} Answer:"
"""
_MEAN = "aggregation: mean, higher_is_better: true"
QUESTIONS = f"""{_HEAD}output_type: multiple_choice
doc_to_choice: "{{{{{{{{options}}}}}}}}"
doc_to_target: gold
metric_list:
"""
CHOICE = f"{QUESTIONS}  - {{{{metric: acc, {_MEAN}}}}}\n  - {{{{metric: acc_norm, {_MEAN}}}}}\n"
MCC = f"{QUESTIONS}  - {{{{metric: mcc}}}}\n"
GENERATED = f"""{_HEAD}output_type: generate_until
doc_to_target: "{{{{{{{{options[gold]}}}}}}}}"
generation_kwargs: {{{{until: ["\\n"], max_gen_toks: 3, do_sample: false}}}}
metric_list:
  - {{{{metric: exact_match, {_MEAN}, ignore_case: true}}}}
filter_list:
  - name: first_word
    filter:
      - {{{{function: regex, regex_pattern: "([a-z]+)"}}}}
      - {{{{function: take_first}}}}
  - name: as_it_is
    filter:
      - {{{{function: take_first}}}}
"""
GREEDY = f"""{_HEAD}output_type: loglikelihood
doc_to_target: " {{{{{{{{continuation}}}}}}}}"
metric_list:
  - {{{{metric: acc, {_MEAN}}}}}
"""
SHARED = CHOICE.replace("test_split: test", "validation_split: test\ntest_split: test")


@pytest.fixture
def write_task(tmp_path, monkeypatch):
    """Return a function that writes a task of its own and gives the path of its YAML file."""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))

    def write(text: str, name: str, train: int = 30) -> str:
        folder = tmp_path / name
        folder.mkdir()
        for split, count in (("train", train), ("test", 24)):
            rows = [
                {
                    "question": make_sentence(number, 4),
                    "options": [WORDS[(number + place * 3) % len(WORDS)] for place in range(3)],
                    "gold": number % 3,
                    "continuation": WORDS[number % len(WORDS)],
                }
                for number in range(count)
            ]
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"{split}.jsonl").write_text(lines)
        (folder / "task.yaml").write_text(text.format(name=name, folder=folder))
        return str(folder / "task.yaml")

    return write


def evaluate_by_harness(model, tokenizer, path: str, name: str) -> dict:
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(Path(path).parent), include_defaults=False)
    reader = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=1)
    return lm_eval.simple_evaluate(model=reader, tasks=[name], task_manager=manager, bootstrap_iters=0)[
        "results"
    ][name]


@pytest.mark.parametrize("shape", ["gpt2", "llama"])
def test_questions_have_the_accuracy_of_the_harness(write_task, tokenizer, shape):
    path, model = write_task(CHOICE, "own_choice"), make_model(shape)
    task = load_task(path)
    encoder = Encoder(model, tokenizer, Lora(dtype="float32"))
    theirs = evaluate_by_harness(model, tokenizer, path, "own_choice")
    for metric in ("acc", "acc_norm"):
        examples, _ = limit_examples(make_examples(task, metric), Limits())
        test = examples.filter(pl.col("split") == "test")
        assert len(test) == 24
        outcomes = evaluate_examples(model, test, encoder, metric, 300)
        assert compute_score(outcomes, metric, 0.2) == pytest.approx(theirs[f"{metric},none"])


def test_the_correlation_is_that_of_the_harness(write_task, tokenizer):
    path, model = write_task(MCC, "own_mcc"), make_model("llama")
    test = make_examples(load_task(path), "mcc").filter(pl.col("split") == "test")
    outcomes = evaluate_examples(model, test, Encoder(model, tokenizer, Lora(dtype="float32")), "mcc", 300)
    theirs = evaluate_by_harness(model, tokenizer, path, "own_mcc")["mcc,none"]
    assert theirs not in (0.0, 1.0)
    assert compute_score(outcomes, "mcc", 0.2) == pytest.approx(theirs)


def test_a_continuation_counts_where_greedy_decoding_gives_it(write_task, tokenizer):
    """A lone option is always the most likely one: the choice says nothing."""
    path, model = write_task(GREEDY, "own_greedy"), make_model("gpt2")
    # whatever the question, this model goes on with one token; every other example asks for it
    token, place = min(
        (token, place) for token, place in tokenizer.get_vocab().items() if token[0] == "Ġ" != token
    )
    with torch.no_grad():
        model.transformer.ln_f.weight.zero_()
        model.transformer.ln_f.bias.copy_(100 * model.transformer.wte.weight[place])
    lines = Path(path).with_name("test.jsonl").read_text().splitlines()
    rows = [json.loads(line) | {"continuation": token[1:]} if number % 2 else json.loads(line)
            for number, line in enumerate(lines)]  # fmt: skip
    Path(path).with_name("test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    test = make_examples(load_task(path), "acc").filter(pl.col("split") == "test")
    outcomes = evaluate_examples(model, test, Encoder(model, tokenizer, Lora(dtype="float32")), "acc", 300)
    theirs = evaluate_by_harness(model, tokenizer, path, "own_greedy")["acc,none"]
    assert 0.4 < theirs < 0.6
    assert compute_score(outcomes, "acc", 0.2) == pytest.approx(theirs)
    with refuses("loglikelihood", "acc_norm"):
        make_examples(load_task(path), "acc_norm")


def test_no_epoch_is_chosen_on_test_questions(write_task, tokenizer):
    """One part for validation and test: a share of the training part validates."""
    path, model = write_task(SHARED, "own_shared"), make_model("gpt2")
    made = make_examples(load_task(path), "acc")
    assert sorted(set(made["split"])) == ["test", "train"]
    examples, _ = limit_examples(made, Limits())
    valid, test = (examples.filter(pl.col("split") == split) for split in ("valid", "test"))
    assert (len(valid) > 0, len(test)) == (True, 24)
    assert all(name.startswith("train-") for name in valid["example_id"])
    outcomes = evaluate_examples(model, test, Encoder(model, tokenizer, Lora(dtype="float32")), "acc", 300)
    theirs = evaluate_by_harness(model, tokenizer, path, "own_shared")["acc,none"]
    assert compute_score(outcomes, "acc", 0.2) == pytest.approx(theirs)


def test_answers_have_the_matches_of_the_harness(write_task, tokenizer):
    path, model = write_task(GENERATED, "own_generated"), make_model("gpt2")
    task = load_task(path)
    examples, _ = limit_examples(make_examples(task, "exact_match"), Limits())
    test = examples.filter(pl.col("split") == "test")
    encoder = Encoder(model, tokenizer, Lora(dtype="float32"))
    theirs = evaluate_by_harness(model, tokenizer, path, "own_generated")
    for name in ("first_word", "as_it_is"):
        outcomes = evaluate_generation(model, encoder, task, test, name)
        assert compute_score(outcomes, "exact_match", 0.2) == theirs[f"exact_match,{name}"]
    first = evaluate_generation(model, encoder, task, test)
    assert first.equals(evaluate_generation(model, encoder, task, test, "first_word"))
    with refuses("'mystery'", "first_word, as_it_is"):
        evaluate_generation(model, encoder, task, test, "mystery")


def test_what_training_shows_is_the_right_answer(write_task):
    for text, name, metric in ((CHOICE, "a", "acc"), (GENERATED, "b", "exact_match")):
        examples = make_examples(load_task(write_task(text, name)), metric)
        row = examples.filter(pl.col("example_id") == "train-4").row(0, named=True)
        assert row["targets"][row["gold"]] == f" {WORDS[(4 + 3) % len(WORDS)]}"
        assert row["prompts"][row["gold"]] == f"{make_sentence(4, 4)} Answer:"


def test_tasks_that_cannot_be_read_or_scored_are_refused(write_task, tmp_path, monkeypatch):
    import lm_eval.tasks

    true = lm_eval.tasks.TaskManager
    # to read the index of the harness's own tasks takes ten seconds
    monkeypatch.setattr(
        lm_eval.tasks,
        "TaskManager",
        lambda include_path, include_defaults: true(include_path=include_path, include_defaults=False),
    )
    with refuses("'no_such_task'"):
        load_task("no_such_task")
    with refuses("no such task file", "none.yaml"):
        load_task(str(tmp_path / "none.yaml"))
    with refuses("'broken'", "data"):
        load_task(write_task(CHOICE.replace("train.jsonl", "gone.jsonl"), "broken"))
    circular = CHOICE.replace("training_split: train", "training_split: test")
    for text, name, metric, named in (
        (CHOICE.replace("training_split: train\n", ""), "untrained", "acc", ["'untrained'", "training data"]),
        (circular, "own_circular", "acc", ["trains on 'test'"]),
        (CHOICE, "own", "exact_match", ["multiple_choice", "exact_match"]),
    ):
        path = write_task(text, name)
        with refuses(*named):
            make_examples(load_task(path), metric)
