"""Export of pairs and questions as a task of Inspect, beside the same of lm-evaluation-harness [Inspect].

Inspect lets models write: how often do they write the target, or the right answer? So it reaches models whose
interfaces give no probabilities.
"""

from pathlib import Path

from fathom.io.files import write_text

FILE = "inspect_task.py"
"""Name of the file."""

_TASK = '''\
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
    write_text(folder / FILE, _TASK.format(name=name, file=file))
