"""Export of a benchmark as a task of lm-evaluation-harness (0.4): YAML, data and a loader [EvalHarness].

The harness scores what this project calls `log_probability`, the sum over the target's tokens. The target
carries its leading space, so the task joins prompt and target without a delimiter.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from fathom.benchmark.inspect_task import write_inspect_task
from fathom.io.files import hash_file, write_atomically, write_json_lines, write_text

EXPORTED = ("pair_id", "keyword", "prompt", "target")
VERSION = 1.0
"""Version of the task's format; a hash in the task identifies the pairs."""

_TASK = """\
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
        text = _TASK.format(
            title=f"{' '.join(title.split()) or domain}: completion benchmark, variant {variant}",
            folder=folder.name,
            task=task,
            version=VERSION,
            digest=hash_file(temporary / "pairs.jsonl"),
        )
        write_text(temporary / f"{task}.yaml", text)


def _select(pairs: pl.DataFrame) -> Iterable[dict[str, str]]:
    return pairs.select(EXPORTED).iter_rows(named=True)
