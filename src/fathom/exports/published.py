"""A run as it can be pushed to the Hugging Face hub: a data set of its benchmarks, and its page as a site."""

import shutil
from pathlib import Path
from typing import Any

from fathom.benchmark.benchmark_files import find_versions
from fathom.benchmark.card import escape_markdown
from fathom.config.yaml_files import dump_yaml
from fathom.errors import InputError
from fathom.exports.every_eval_ever import Source
from fathom.io import paths
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import write_text
from fathom.io.names import is_inside, place_inside
from fathom.io.tables import read_table
from fathom.jobs.program import log

DATASET, SITE = "dataset", "site"
"""Folders of what is pushed, each to a repository of its own."""
_OF_BENCHMARK = ("pairs.parquet", "manifest.json", "croissant.json", "README.md")
_RESULTS = (paths.SUMMARY, paths.COMPARISONS, paths.GROUPS)


def write_dataset(source: Source, folder: Path) -> int:
    """Write the data set of a run: its benchmarks, their cards, the results; return how many benchmarks.

    Raises
    ------
    InputError
        If the run has no benchmark, or a file of it leads out of the run.
    """
    configs, lines = [], []
    for found, path in paths.PAIRS.find_files(source.folder):
        place = f"{found['domain']}-{found['variant']}"
        target = place_inside(folder, place)
        target.mkdir(parents=True)
        for name in _OF_BENCHMARK:
            file = path.with_name(name)
            if file.is_file():
                _copy(file, target / name, source)
        configs.append(
            {"config_name": place, "data_files": [{"split": "test", "path": f"{place}/pairs.parquet"}]}
        )
        pairs = len(read_table(path, PAIRS, ["pair_id"]))
        card = f"[how it was made]({place}/README.md)" if (target / "README.md").is_file() else ""
        lines.append(f"| `{place}` | {pairs:,} | {card} |")
    if not configs:
        raise InputError(
            "the run has no benchmark", str(source.folder), "give the folder of a run: results/RUN"
        )
    (folder / "results").mkdir()
    for each in _RESULTS:
        file = Path(each.under(source.folder))
        if file.is_file():
            _copy(file, folder / "results" / each.below, source)
    write_text(folder / "README.md", _write_card(source, configs, lines))
    return len(configs)


def _copy(file: Path, target: Path, source: Source) -> None:
    """Copy a file of the run; refuse a link that leads out of it."""
    if not is_inside(source.folder, file):
        raise InputError("this link leads out of the run", str(file), "put the file itself there")
    shutil.copyfile(file, target)


def _write_card(source: Source, configs: list[dict[str, Any]], lines: list[str]) -> str:
    """Return the card of the data set, which names its benchmarks as configurations."""
    front = {
        "language": ["en"],
        "license": "other",
        "task_categories": ["text-generation"],
        "pretty_name": f"Fathom: {source.run}",
        "tags": ["benchmark", "completion", "domain-knowledge"],
        "configs": configs,
    }
    parts = [
        f"---\n{dump_yaml(front)}---",
        f"# Completion benchmarks of {escape_markdown(source.run)}",
        "Prompts that end before a term of a field, taken from running text. A language model is scored by"
        " what the prompt tells it of the term. No language model was used to make the pairs.",
        "| benchmark | pairs | |\n|---|--:|---|\n" + "\n".join(lines),
        "```python\nfrom datasets import load_dataset\n\n"
        f'pairs = load_dataset("OWNER/NAME", "{configs[0]["config_name"]}", split="test")\n```',
        "`results/` holds models' scores with intervals. Put nothing between prompt and target.",
        f"Made with Fathom {find_versions()['fathom']}. The sentences belong to the authors of the source"
        " documents (`doc_id`), under the licence of each. Look these up before you pass the pairs on.",
    ]
    return "\n\n".join(parts) + "\n"


def write_site_card(folder: Path, run: str) -> None:
    """Write the README.md that makes a folder with index.html a static site of the hub (a Space)."""
    front = {"title": f"Fathom: {run}", "sdk": "static", "app_file": "index.html", "pinned": False}
    write_text(folder / "README.md", f"---\n{dump_yaml(front)}---\n")


def push(folder: Path, identifier: str) -> list[str]:
    """Push data set and site of a folder to repositories of one id; return their addresses.

    A repository that is new is private: whether its text may be passed on, its owner knows.

    Raises
    ------
    InputError
        If the hub cannot be reached, or does not take them.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, HTTPError

    api, found = HfApi(), []
    for name, kind, more in ((DATASET, "dataset", {}), (SITE, "space", {"space_sdk": "static"})):
        try:
            made = api.create_repo(identifier, repo_type=kind, private=True, exist_ok=True, **more)
            api.upload_folder(
                repo_id=identifier,
                repo_type=kind,
                folder_path=folder / name,
                commit_message="Results of Fathom",
            )
        except (HFValidationError, HTTPError, OSError, ValueError) as error:
            text = (str(error).strip() or type(error).__name__).splitlines()[0]
            hint = "log in with a key that may write: hf auth login; what was written stays in the folder"
            raise InputError(f"the {kind} was not taken: {text}", f"--push {identifier}", hint) from error
        found.append(str(made))
        log.info("pushed %s to %s", name, made)
    return found
