"""The exported tasks in EleutherAI's lm-evaluation-harness: the same log-probabilities as here."""

import numpy as np
import pytest

from fathom.answering.answerer import ModelAnswerer
from fathom.config.questions import Evaluation
from fathom.config.scoring import Summary
from fathom.questions.answer_files import answer_questions
from fathom.questions.answer_scores import measure_answers, score_answers
from fathom.questions.asked_items import ask
from fathom.questions.harness_tasks import export_questions

lm_eval = pytest.importorskip("lm_eval", reason="the harness is not installed: pip install .[harness]")


class Recorder(ModelAnswerer):
    """Keeps what it finds, prompt by prompt."""

    def score(self, prompts, answers):
        found = super().score(prompts, answers)
        self.found = dict(zip([prompt.render(chat=False) for prompt in prompts], found, strict=True))
        return found


def test_the_harness_finds_the_same_log_probabilities_and_accuracy(plain, questions, tmp_path):
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    some = questions.filter(questions["form"] != "open").group_by("form", maintain_order=True).head(4)
    nearest = [f"A record about {name}.\n" for name in "abcdefghijkl"[: len(some)]]
    export_questions(some, nearest, "courses", tmp_path / "tasks")
    settings = Evaluation(promptings=["plain", "rag"])
    answerer = Recorder(plain)
    rows = list(zip(some.rows(named=True), nearest, strict=True))
    asked = [each for prompting in settings.promptings for each in ask(rows, [], prompting, settings)]
    answers = answer_questions(answerer, asked, settings)
    tasks = [path.stem for path in sorted((tmp_path / "tasks").glob("*.yaml"))]
    theirs = lm_eval.simple_evaluate(
        model=HFLM(pretrained=plain.model, tokenizer=plain.tokenizer, batch_size=4),
        tasks=tasks,
        task_manager=TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False),
        bootstrap_iters=0,
    )
    samples = [sample for task in tasks for sample in theirs["samples"][task]]
    assert len(samples) == len(answerer.found) == 2 * (4 + 4 + 4 * 8)
    for sample in samples:
        logs = [found[0] for found in sample["filtered_resps"]]
        assert np.abs(np.array(logs) - answerer.found[sample["doc"]["prompt"]]).max() < 1e-4
    for prompting in settings.promptings:
        measures = measure_answers(some, answers.filter(prompting=prompting))
        scores = score_answers(measures, Summary(rounds=10))
        for form, level in (("binary", "memorise"), ("multiple-choice", "understand")):
            told = theirs["results"][f"fathom_courses_{form}_{level}_{prompting}"]["acc,none"]
            assert scores[form, level, "", "accuracy"].resampled.value == pytest.approx(told)
