"""Export of questions as tasks of lm-evaluation-harness (0.4): YAML, data and a loader [EvalHarness].

Two tasks for each form and level: `_plain` has the question alone, `_rag` the records next to it before it.
Few-shot prompts are the harness's `--num_fewshot`. Prompts are those of :mod:`fathom.questions.asked_items`:
options are chosen by the log-probability of their letter, and a multiple-answer question becomes one
yes-or-no question for each option.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl

from fathom.answering.prompts import make_prompt
from fathom.benchmark.exported_tasks import write_inspect_task
from fathom.config.questions import OPEN
from fathom.io.files import hash_file, write_atomically, write_json_lines, write_text
from fathom.questions.asked_items import make_items
from fathom.questions.posing import NO, YES

PROMPTS = ("plain", "rag")
"""What is in a prompt: the question alone, or records before it."""
VERSION = 1.0
"""Version of the tasks' format; a hash in each task identifies its questions."""

_TASK = """\
# lm_eval --model hf --model_args pretrained=MODEL --include_path {folder} --tasks {task}
task: {task}
tag: fathom_{name}
custom_dataset: !function load_questions.load_questions
dataset_kwargs:
  file: {file}
test_split: test
{reading}num_fewshot: 0
metric_list:
{metrics}metadata:
  version: {version}
  questions_sha256: {digest}
"""
_CHOICE = """\
output_type: multiple_choice
doc_to_text: prompt
doc_to_choice: options
doc_to_target: gold
"""
_OPEN = """\
output_type: generate_until
doc_to_text: prompt
doc_to_target: answer
generation_kwargs:
  until: ["\\n"]
  do_sample: false
  max_gen_toks: 128
"""
_METRIC = "  - metric: {}\n    aggregation: {}\n    higher_is_better: true\n"
_METRICS = {
    "binary": (("acc", "mean"),),
    "multiple-choice": (("acc", "mean"),),
    "multiple-answer": (("acc", "mean"), ("f1", "f1")),
    OPEN: (("bleu", "bleu"),),
}
_LOADER = '''\
"""Loads the questions that lie beside this file, wherever the harness is started."""

import json
from pathlib import Path

import datasets


def load_questions(file, **_):
    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").split("\\n")
    rows = [json.loads(line) for line in lines if line]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
'''


def export_questions(
    questions: pl.DataFrame, nearest: Sequence[str], name: str, folder: Path
) -> dict[str, int]:
    """Write the folder of tasks of a set of questions atomically; return the documents of each task.

    `nearest` is from :func:`fathom.questions.asked_items.retrieve_records`; an existing folder, for the
    harness's `--include_path`, is replaced.
    """
    counts = {}
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        write_text(temporary / "load_questions.py", _LOADER)
        parts = questions.with_columns(nearest=pl.Series(nearest, dtype=pl.String)).partition_by(
            "form", "level", as_dict=True
        )
        for ((form, level), some), prompting in product(sorted(parts.items()), PROMPTS):
            task = f"fathom_{name}_{form}_{level}_{prompting}"
            rows = [each for row in some.iter_rows(named=True) for each in make_documents(row, prompting)]
            write_json_lines(temporary / f"{task}.jsonl", rows)
            text = _TASK.format(
                folder=folder.name,
                task=task,
                name=name,
                file=f"{task}.jsonl",
                reading=_OPEN if form == OPEN else _CHOICE,
                metrics="".join(_METRIC.format(*metric) for metric in _METRICS[str(form)]),
                version=VERSION,
                digest=hash_file(temporary / f"{task}.jsonl"),
            )
            write_text(temporary / f"{task}.yaml", text)
            counts[task] = len(rows)
        write_inspect_task(temporary, f"fathom_{name}", f"{min(counts)}.jsonl")
    return counts


def make_documents(row: dict[str, Any], prompting: str) -> Iterator[dict[str, Any]]:
    """Yield the documents of a question: one, or one for each option of a multiple-answer question."""
    before = row["nearest"] if prompting == "rag" else ""
    for item in (each._replace(context=before) for each in make_items(row)):
        document = {"question_id": row["question_id"], "prompt": make_prompt(item).render(chat=False)}
        if row["form"] == OPEN:
            yield {**document, "answer": row["answer"]}
        elif item.options:
            yield {**document, "options": list(item.letters), "gold": item.right[0]}
        else:
            options = [YES, NO]
            yield {**document, "options": options, "gold": options.index(item.answer)}
