"""A run for the Hugging Face hub: a data set of its benchmarks, its page as a site.

Its results go into model cards there, and into a table that `rankings` reads.
"""

import math
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from statistics import NormalDist
from typing import Any

from fathom.benchmark.benchmark_files import find_versions
from fathom.benchmark.card import escape_markdown
from fathom.config.benchmark import REFERENCE, VARIANTS
from fathom.config.yaml_files import dump_yaml
from fathom.errors import InputError
from fathom.exports.every_eval_ever import Source
from fathom.io import paths
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.ranking import SCORE_TABLE
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import Row, read_rows, write_rows
from fathom.io.files import read_object, write_json, write_text
from fathom.io.names import is_inside, place_inside
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.statistics.aggregates import LEADING
from fathom.statistics.metrics import BITS, RANK

DATASET, SITE = "dataset", "site"
"""Folders to push, each to its own repository."""
_OF_BENCHMARK = ("pairs.parquet", "manifest.json", "croissant.json", "README.md")
_RESULTS = (paths.SUMMARY, paths.COMPARISONS, paths.GROUPS)


def write_dataset(source: Source, folder: Path) -> int:
    """Write the data set of a run: its benchmarks, their cards, the results; return how many benchmarks.

    Raise `InputError` if the run has no benchmark, or a file of it leads out of the run.
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

    New repositories are private, as only the owner knows whether their text may be published.
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


_LICENCES = {"apache-2.0": "apache-2.0", "gemma terms of use": "gemma", "mit": "mit"}
"""Licences, in lower case, that the hub has an id for."""


def write_model_indexes(source: Source, folder: Path, confidence: float) -> int:
    """Write `{model}.yaml` for each model: the entry `model-index` of its card; return their number."""
    models = _group_by_model(_read_values(source))
    for model, rows in models.items():
        results = [
            {
                "task": {"type": "text-generation", "name": "Completion of domain text"},
                "dataset": {
                    "name": f"Fathom {source.run}: {domain}, {variant}",
                    "type": f"fathom-{source.run}-{domain}-{variant}",
                },
                "metrics": [
                    {
                        "type": row["metric"] if row["metric"] == BITS.name else f"{row['aggregate']}_rank",
                        "name": _describe(row, confidence),
                        "value": row["value"],
                    }
                    for row in rows
                    if (row["domain"], row["variant"]) == (domain, variant)
                ],
            }
            for domain, variant in _list_benchmarks(rows)
        ]
        entry = {**_find_licence(source, model), "model-index": [{"name": model, "results": results}]}
        write_text(place_inside(folder, f"{model}.yaml"), dump_yaml(entry))
    return len(models)


def _group_by_model(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["model"], []).append(row)
    return found


def write_eval_results(source: Source, folder: Path, confidence: float, dataset: str) -> int:
    """Write `{model}.yaml` for each model, for `.eval_results/` of its repository; return their number.

    `dataset`: id on the hub of the data set that has the run's benchmarks as tasks `{domain}-{variant}`.
    """
    models = _group_by_model(_select_lead(_read_values(source)))
    day = datetime.fromtimestamp(source.retrieved, UTC).date().isoformat()
    for model, rows in models.items():
        entries = [
            {
                "dataset": {"id": dataset, "task_id": f"{row['domain']}-{row['variant']}"},
                "value": row["value"],
                "date": day,
                "notes": _describe(row, confidence),
            }
            for row in rows
        ]
        write_text(place_inside(folder, f"{model}.yaml"), dump_yaml(entries))
    return len(models)


def write_score_table(source: Source, folder: Path, confidence: float) -> int:
    """Write `{run}.csv`, its standard errors and `metadata.json`, a folder for `rankings`; count benchmarks.

    The standard error is that of a normal distribution with the same interval, whose level is `confidence`;
    none without an interval, or where it has no width: of one keyword.
    """
    width = 2 * NormalDist().inv_cdf((1 + confidence) / 2)
    rows = _select_lead(_read_values(source))
    models = list(dict.fromkeys(row["model"] for row in rows))
    names = [f"{domain}.{variant}" for domain, variant in _list_benchmarks(rows)]
    values, errors = dict[tuple[str, str], float](), dict[tuple[str, str], float]()
    for row in rows:
        place = (row["model"], f"{row['domain']}.{row['variant']}")
        values[place] = row["value"]
        if row["ci_high"] > row["ci_low"]:
            errors[place] = (row["ci_high"] - row["ci_low"]) / width
    for ending, numbers in (("", values), ("_stderr", errors)):
        lines = [[model, *(numbers.get((model, name), math.nan) for name in names)] for model in models]
        write_rows(place_inside(folder, f"{source.run}{ending}.csv"), lines, SCORE_TABLE, ["model", *names])
    categories = {name: name.rpartition(".")[0] for name in names}
    metric = dict.fromkeys(names, rows[0]["metric"] if rows else RANK.name)
    write_json(folder / "metadata.json", {"metric": metric, "task_category": categories})
    return len(names)


def _find_licence(source: Source, model: str) -> dict[str, str]:
    pointer = place_inside(source.folder, paths.POINTER.of(model=model).below)
    known = read_object(pointer) if pointer.is_file() else {}
    if not known.get("licence"):
        return {}
    identifier = _LICENCES.get(str(known["licence"]).lower())
    if identifier:
        return {"license": identifier}
    named = {"license": "other", "license_name": str(known["licence"])}
    return named | ({"license_link": str(known["terms"])} if known.get("terms") else {})


def _read_values(source: Source) -> list[Row]:
    """Return the lines of the summary on bits and ranks that models are compared by, bits first."""
    compared = {(metric.name, each.name) for metric in (BITS, RANK) for each in metric.compared}
    rows = read_rows(place_inside(source.folder, paths.SUMMARY.below), SUMMARY)
    found = [row for row in rows if (row["metric"], row["aggregate"]) in compared]
    return sorted(found, key=lambda row: row["metric"] != BITS.name)


def _select_lead(rows: Iterable[Row]) -> list[Row]:
    """Return the lines of what leads: bits, or the papers' mean rank where there are none."""
    listed = list(rows)
    bits = [row for row in listed if row["metric"] == BITS.name]
    return bits or [row for row in listed if row["aggregate"] == LEADING.name]


def _list_benchmarks(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """Return domain and variant of each benchmark: domains in the order of the rows."""
    places = dict.fromkeys((row["domain"], row["variant"]) for row in rows)
    domains = list(dict.fromkeys(domain for domain, _ in places))
    variants = (*VARIANTS, REFERENCE)
    return sorted(places, key=lambda place: (domains.index(place[0]), variants.index(place[1])))


def _describe(row: Row, confidence: float) -> str:
    name = f"{row['aggregate'].replace('_', ' ')} of the target's rank, low is best"
    if row["metric"] == BITS.name:
        name = "bits that a prompt tells of its target, 0 is nothing, high is best"
    interval = f"{100 * confidence:.4g} % interval {row['ci_low']:.6g} to {row['ci_high']:.6g}"
    return f"{name} ({interval}, {row['pairs']} pairs)"
