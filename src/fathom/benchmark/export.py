"""A benchmark as a task of EleutherAI's lm-evaluation-harness (0.4): a folder of YAML, data and a loader.

The harness scores what this project calls `log_probability`: the sum over the target's tokens. Its blank
belongs to the target, so nothing stands between prompt and target.
"""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from fathom.io.files import hash_file, write_atomically, write_json_lines, write_text

EXPORTED = ("pair_id", "keyword", "prompt", "target")
VERSION = 1.0
"""Of the task's form; the pairs have a hash beside it."""

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
    """Return the task's name in the harness."""
    return f"fathom_{domain}_{variant}"


def export_task(pairs: pl.DataFrame, domain: str, variant: str, title: str, folder: Path | str) -> None:
    """Write a benchmark's task folder, all of it or nothing.

    Parameters
    ----------
    pairs : DataFrame
        Under the contract PAIRS.
    domain, variant : str
        Which benchmark it is.
    title : str
        Name of the domain in text.
    folder : Path or str
        What to give the harness as `--include_path`; an older one is replaced.
    """
    folder = Path(folder)
    with write_atomically(folder) as temporary:
        temporary.mkdir()
        write_json_lines(temporary / "pairs.jsonl", _select(pairs))
        write_text(temporary / "load_pairs.py", _LOADER)
        task = name_task(domain, variant)
        text = _TASK.format(
            title=f"{' '.join(title.split()) or domain}: completion benchmark, variant {variant}",
            folder=folder.name,
            task=task,
            version=VERSION,
            digest=hash_file(temporary / "pairs.jsonl"),
        )
        write_text(temporary / f"{task}.yaml", text)


def _select(pairs: pl.DataFrame) -> Iterable[dict[str, str]]:
    """Return the rows that the harness needs."""
    return pairs.select(EXPORTED).iter_rows(named=True)
