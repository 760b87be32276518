"""A run's results as records of Every Eval Ever, the shared schema of evaluation results [EveryEvalEver].

One record for each model and domain, and a line for each pair beside it. A pair's score is its rank; it is
correct if every token of the target is the model's first guess.
"""

import hashlib
import math
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fathom.benchmark.benchmark_files import read_manifest
from fathom.config.model_names import ModelName
from fathom.config.section import refuse_unknown
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import Row, read_rows
from fathom.io.files import require_file
from fathom.io.names import place_inside
from fathom.io.run_path import RunPath
from fathom.io.tables import read_table
from fathom.models.registry import ModelRow
from fathom.statistics.left_out import Key
from fathom.statistics.metrics import METRICS, RANK
from fathom.statistics.summaries import read_scores

SCHEMA_VERSION = "0.3.0"


class Record(NamedTuple):
    """A record and its place.

    `path`: `data/{benchmark}/{developer}/{model}/{uuid}.json`, as the shared store has it. `samples`: a line
    for each pair.
    """

    path: str
    content: Mapping[str, Any]
    samples: Sequence[Mapping[str, Any]]

    @property
    def samples_path(self) -> str:
        """Path of the lines."""
        return self.path.removesuffix(".json") + "_samples.jsonl"


class Source(NamedTuple):
    """Source of records: a run's folder, its name, when it was read, Fathom's version.

    `local` are the models of the registry that are folders here, and have no id on the hub.
    """

    folder: Path
    run: str
    retrieved: int
    version: str
    local: frozenset[str] = frozenset()

    def find(self, template: RunPath, **fields: str) -> Path:
        """Return where a file of the run lies, given what tables say of it."""
        return place_inside(self.folder, template.of(**fields).below)


def make_records(
    source: Source, registry: Mapping[str, ModelRow], with_pairs: bool = True
) -> Iterator[Record]:
    """Yield a record for each domain and model of a run's summary, in the order of the summary.

    Raise `InputError` if the run has no summary, or a table is missing or damaged.
    """
    summary = place_inside(source.folder, paths.SUMMARY.below)
    rows = read_rows(summary, SUMMARY)
    if not rows:
        raise InputError("no model has been scored", str(summary))
    unknown = next((row["metric"] for row in rows if row["metric"] not in METRICS), None)
    if unknown is not None:
        raise refuse_unknown("metric", unknown, METRICS, str(summary))
    places: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        places.setdefault((row["domain"], row["model"]), []).append(row)
    entries = {model: registry.get(ModelName.parse(model).plain) for _, model in places}
    ids = {model: _name_model(source, model, entry) for model, entry in entries.items()}
    used = Counter(ids.values())
    for (domain, model), some in places.items():
        identity = f"fathom_{source.run}_{domain}/{ids[model]}/{source.retrieved}"
        # several have one id: revisions of a repository, or a model with and without its chat template
        identity += f"/{model}" if used[ids[model]] > 1 else ""
        variants = list(dict.fromkeys(row["variant"] for row in some if row["metric"] == RANK.name))
        samples = [
            sample
            for variant in (variants if with_pairs else ())
            for sample in _list_samples(source, (domain, variant, model), identity, ids[model])
        ]
        described = _describe_model(model, ids[model], entries[model])
        results = [_make_result(source, domain, identity, row) for row in some]
        yield _make_record(source, identity, described, entries[model] is not None, results, samples)


def _make_record(
    source: Source,
    identity: str,
    model: Mapping[str, Any],
    is_listed: bool,
    results: Sequence[Mapping[str, Any]],
    samples: Sequence[Mapping[str, Any]],
) -> Record:
    # a random number by the letter of the schema; made of the content, so that the same run gives the same
    number = uuid.UUID(bytes=hashlib.sha256(identity.encode()).digest()[:16], version=4)
    folder = "/".join([identity.partition("/")[0], model["id"]])
    record = Record(f"data/{folder}/{number}.json", {}, samples)
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "retrieved_timestamp": str(source.retrieved),
        "source_metadata": {
            "source_name": f"Fathom run {source.run}",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "third_party" if is_listed else "first_party",
        },
        "eval_library": {"name": "fathom", "version": source.version},
        "model_info": model,
        "evaluation_results": results,
    }
    if samples:
        content["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": record.samples_path,
            "hash_algorithm": "sha256",
            "total_rows": len(samples),
        }
    return record._replace(content=content)


def _name_model(source: Source, model: str, entry: ModelRow | None) -> str:
    """Return a model's id on the hub; for one that is not there, the run's name and its own."""
    published = entry and entry.source.count("/") == 1 and ModelName.parse(model).plain not in source.local
    return entry.source if entry and published else f"{source.run}/{model}"


def _describe_model(model: str, model_id: str, entry: ModelRow | None) -> dict[str, Any]:
    details = {
        "deployment_type": "self_deployed",
        "model_availability": "open_weights" if entry else "unknown",
    }
    if entry and entry.revision:
        details["revision"] = entry.revision
    if ModelName.parse(model).chat:
        details["chat_template"] = "true"
    return {
        "name": model,
        "id": model_id,
        "developer": model_id.split("/", 1)[0],
        "inference_engine": {"name": "transformers"},
        "additional_details": details,
    }


def _make_result(source: Source, domain: str, identity: str, row: Row) -> dict[str, Any]:
    metric, aggregate = row["metric"], row["aggregate"]
    name = f"{domain}.{row['variant']}"
    details: dict[str, Any] = {"score": row["value"]}
    if not math.isnan(row["ci_low"] + row["ci_high"]):
        details["uncertainty"] = {
            "confidence_interval": {
                "lower": row["ci_low"],
                "upper": row["ci_high"],
                "method": f"bootstrap over {row['clusters'] or 'keywords or documents'}",
            },
            "num_samples": row["pairs"],
        }
    return {
        "evaluation_result_id": f"{identity}#{name}/{metric}/{aggregate}",
        "evaluation_name": name,
        "source_data": {
            "dataset_name": f"{source.run}: {domain}, {row['variant']}",
            "source_type": "other",
            "additional_details": _find_hashes(source, domain, row["variant"]),
        },
        "metric_config": {
            "metric_id": f"fathom.{metric}.{aggregate}",
            "metric_name": f"{aggregate.replace('_', ' ')} of {metric.replace('_', ' ')}",
            "metric_kind": metric,
            "metric_unit": METRICS[metric].unit,
            "lower_is_better": METRICS[metric].low_is_best,
            "score_type": "continuous",
            "min_score": "-Infinity" if math.isinf(METRICS[metric].least) else METRICS[metric].least,
            "max_score": "Infinity" if math.isinf(METRICS[metric].most) else METRICS[metric].most,
        },
        "score_details": details,
    }


def _find_hashes(source: Source, domain: str, variant: str) -> dict[str, str]:
    path = source.find(paths.MANIFEST, domain=domain, variant=variant)
    known = read_manifest(path).get("files", {}).get("pairs.parquet") if path.is_file() else None
    return {"pairs_sha256": known} if known else {}


def _list_samples(source: Source, key: Key, identity: str, model_id: str) -> Iterator[dict[str, Any]]:
    domain, variant, model = key
    scores = require_file(
        source.find(paths.SCORES, domain=domain, variant=variant, model=model),
        "summary.csv has this model: score it again, or leave out single pairs with --without-pairs",
    )
    file = source.find(paths.PAIRS, domain=domain, variant=variant)
    read = read_scores([(*key, str(scores))], [(domain, variant, str(file))], SCORES.names[2:])
    pairs = read_table(file, PAIRS)
    overlap = source.find(paths.OVERLAP, domain=domain, variant=variant)
    known = set(read_table(overlap, OVERLAP).filter("ending")["pair_id"]) if overlap.is_file() else ()
    joined = pairs.join(read[key].drop("keyword", "doc_id"), on="pair_id", how="inner", maintain_order="left")
    for row in joined.iter_rows(named=True):
        sample = _make_sample(row, f"{domain}.{variant}", identity, model_id)
        sample["metadata"]["in_training_text"] = str(row["pair_id"] in known).lower()
        yield sample


def _make_sample(row: Mapping[str, Any], name: str, identity: str, model_id: str) -> dict[str, Any]:
    prompt, target = row["prompt"], row["target"]
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": identity,
        "evaluation_result_id": f"{identity}#{name}/rank/trimmed_mean",
        "model_id": model_id,
        "evaluation_name": name,
        "sample_id": row["pair_id"],
        "sample_hash": hashlib.sha256((prompt + target).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": prompt, "reference": [target]},
        # nothing is generated: the target's tokens are scored after the prompt
        "output": {"raw": []},
        "messages": None,
        "answer_attribution": [],
        "evaluation": {"score": row["rank"], "is_correct": row["rank"] == 1},
        "metadata": {
            "keyword": row["keyword"],
            "document": row["doc_id"],
            "probability": f"{row['probability']:.6g}",
            "log_probability": f"{row['log_probability']:.6g}",
        },
    }
