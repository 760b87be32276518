"""Export of a benchmark as tasks of lm-evaluation-harness (0.4) and of Inspect [EvalHarness] [Inspect].

The harness scores what this project calls `log_probability`, the sum over the target's tokens. The target
carries its leading space, so the task joins prompt and target without a delimiter. Inspect lets models
write and counts how often they write the target or the right answer, so it also works for models whose
interfaces give no probabilities.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from fathom.io.files import hash_file, write_atomically, write_json_lines, write_text

EXPORTED = ("pair_id", "keyword", "prompt", "target")
VERSION = 1.0
"""Version of the task's format; a hash in the task identifies the pairs."""

_HARNESS_TASK = """\
# {title}
# lm_eval --model hf --model_args pretrained=MODEL --include_path {folder} --tasks {task}
task: {task}
tag: fathom
custom_dataset: !function load_pairs.load_pairs
test_split: test
output_type: loglikelihood
doc_to_text: prompt
doc_to_target: target
target_delimiter: ""
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: perplexity
    aggregation: perplexity
    higher_is_better: false
metadata:
  version: {version}
  pairs_sha256: {digest}
"""

_LOADER = '''\
"""Loads the pairs that lie beside this file, wherever the harness is started."""

import json
from pathlib import Path

import datasets


def load_pairs(**_):
    lines = Path(__file__).with_name("pairs.jsonl").read_text(encoding="utf-8").split("\\n")
    rows = [json.loads(line) for line in lines if line]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
'''


def name_task(domain: str, variant: str) -> str:
    """Return the name under which the harness knows the task."""
    return f"fathom_{domain}_{variant}"


def export_task(pairs: pl.DataFrame, domain: str, variant: str, title: str, folder: Path | str) -> None:
    """Write a benchmark's folder for the harness's `--include_path`; an existing one is replaced."""
    folder = Path(folder)
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        write_json_lines(temporary / "pairs.jsonl", _select(pairs))
        write_text(temporary / "load_pairs.py", _LOADER)
        task = name_task(domain, variant)
        write_inspect_task(temporary, task, "pairs.jsonl")
        text = _HARNESS_TASK.format(
            title=f"{' '.join(title.split()) or domain}: completion benchmark, variant {variant}",
            folder=folder.name,
            task=task,
            version=VERSION,
            digest=hash_file(temporary / "pairs.jsonl"),
        )
        write_text(temporary / f"{task}.yaml", text)


def _select(pairs: pl.DataFrame) -> Iterable[dict[str, str]]:
    return pairs.select(EXPORTED).iter_rows(named=True)


FILE = "inspect_task.py"
"""Name of the file."""

_INSPECT_TASK = '''\
"""A task of Inspect over the lines of a file beside it.

inspect eval FOLDER/inspect_task.py --model MODEL -T file={file}
"""

import json
import re
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer, stderr
from inspect_ai.solver import generate

CONTINUE = "Continue the text with the words that come next. Write nothing else.\\n\\n"
NAMES = {{"pairs.jsonl": "{name}"}}


def make_sample(number, row):
    if "target" in row:
        asked, wanted = CONTINUE + row["prompt"], row["target"].strip()
        name, group = row["pair_id"], row["keyword"]
    else:
        wanted = row["options"][row["gold"]] if "options" in row else row["answer"]
        asked, name, group = row["prompt"], f"{{row['question_id']}}-{{number}}", row["question_id"]
    return Sample(input=asked, target=wanted, id=name, metadata={{"prompt": row["prompt"], "cluster": group}})


@scorer(metrics=[accuracy(), stderr(cluster="cluster")])
def begins_with_target():
    async def score(state, target):
        written = state.output.completion.strip().removeprefix(state.metadata["prompt"]).lstrip()
        found = re.match(re.escape(target.text) + r"(?!\\w)", written, re.IGNORECASE)
        return Score(value=CORRECT if found else INCORRECT, answer=written)

    return score


@task
def fathom(file="{file}"):
    lines = Path(__file__).with_name(file).read_text(encoding="utf-8").split("\\n")
    samples = [make_sample(number, json.loads(line)) for number, line in enumerate(lines) if line]
    return Task(
        dataset=MemoryDataset(samples, name=file),
        solver=generate(),
        scorer=begins_with_target(),
        config=GenerateConfig(max_tokens=32),
        name=NAMES.get(file, Path(file).stem),
    )
'''


def write_inspect_task(folder: Path, name: str, file: str) -> None:
    """Write the task file into a folder of JSON lines."""
    write_text(folder / FILE, _INSPECT_TASK.format(name=name, file=file))
