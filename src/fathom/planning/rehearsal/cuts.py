"""What a rehearsal makes smaller: counts, never kinds."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from fathom.config.merging import merge
from fathom.config.model_names import ModelName
from fathom.models.registry import ModelRow
from fathom.planning.rehearsal.stand_ins import find_model_type

_FEW_MODELS, _FEW_SCORED, _FEW_OF_FAMILY, _FEW_DOMAINS = 12, 6, 3, 2
_STEP = re.compile(r"-step\d+.*$")
_TRAINING = {"steps": 4, "batch": 2, "sequence": 32}
_ABSTRACTS = 50
_OF_SET = {"first": 60, "rounds": 2, "chunks": 120, "written": 40}  # of a set of questions
_ANSWERS = {"per_threshold": 10, "max_tokens": 16, "shots": 2}  # of models that answer questions
_NUMBERS: Mapping[str, int] = {
    "keywords.count": 15, "pairs.per_keyword": 6, "perplexity.max_characters": 4000,
    "models.max_characters": 60_000, "layers.keywords": 4, "layers.pairs": 3, "layers.k": 10, "lens.steps": 2,
    "summary.rounds": 50, "choices.shuffles": 1, "train_before_test.limits.train": 8,
    "train_before_test.limits.valid": 4, "train_before_test.limits.test": 6,
    "train_before_test.lora.epochs": 1, "train_before_test.lora.batch": 2,
    "train_before_test.lora.max_tokens": 128,
}  # fmt: skip
"""Numbers that a rehearsal sets, by their key."""
_OF_CORPUS = ("keywords", "pairs", "perplexity")  # sections that each run with a corpus has
_ONLY_IF = ("layers", "lens", "choices", "train_before_test", "coverage", "ranking")  # sections of a target


def cut_configuration(
    values: Mapping[str, Any], entries: Mapping[str, ModelRow], kept: Collection[str] = ()
) -> dict[str, Any]:
    """Return a configuration with smaller numbers, and fewer of the same kind.

    Parameters
    ----------
    kept : collection of str
        Domains that stay: those that a user has references of.
    """
    overlay: dict[str, Any] = {}
    for key, number in _NUMBERS.items():
        section, *_ = key.split(".")
        needs_corpus = section in _OF_CORPUS and values.get("domains")
        if section in values or needs_corpus or section not in (*_OF_CORPUS, *_ONLY_IF):
            _lower(overlay, values, key, number)
    if (values.get("corpus") or {}).get("source") == "arxiv":
        _lower(overlay, values, "corpus.abstract_parts", 2)
    models = values.get("models") or {}
    made: dict[str, Any] = {}
    for key, cut in _CUTS.items():
        if models.get(key):
            made[key] = {name: cut(each) for name, each in models[key].items()}
    if models.get("adapt"):
        made["adapt"] = [{**each, **_cut_training(each)} for each in models["adapt"]]
    overlay["models"] = overlay.get("models", {}) | made
    _cut_questions(overlay, values)
    smaller = deepcopy(dict(values))
    merge(smaller, overlay)
    _cut_domains(smaller, kept)
    _cut_tuning(smaller, entries)
    _cut_scored(smaller, entries)
    return smaller


def keep_ends(names: Sequence[str]) -> list[str]:
    """Return the first and the last checkpoint of each stage of a training, and what is no checkpoint.

    Examples
    --------
    >>> keep_ends(["a-step1", "a-step2", "a-step3", "a-mixed1-step1", "a"])
    ['a-step1', 'a-step3', 'a-mixed1-step1', 'a']
    """
    stages: dict[str, list[str]] = {}
    for name in names:
        stages.setdefault(_STEP.sub("-step", name), []).append(name)
    kept = {each for stage in stages.values() for each in (stage[0], stage[-1])}
    return [name for name in names if name in kept]


def _lower(overlay: dict[str, Any], values: Mapping[str, Any], key: str, number: int) -> None:
    *sections, name = key.split(".")
    into, given = overlay, values
    for section in sections:
        into = into.setdefault(section, {})
        given = given.get(section) or {}
    own = given.get(name)
    into[name] = min(own, number) if isinstance(own, int) else number


def _cut_training(section: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: min(section.get(key) or number, number) for key, number in _TRAINING.items()}
    if section.get("checkpoints"):
        found["checkpoints"] = max(1, found["steps"] // 2)
    return found


def _cut_study(section: Mapping[str, Any]) -> dict[str, Any]:
    found = _cut_training(section) | {"abstracts": _ABSTRACTS}
    kept = _ends(section.get("order") or [])
    if kept:
        found |= {"order": kept, "candidates": kept}
    return found


_CUTS: Mapping[str, Callable[[Any], Any]] = {
    "train": _cut_training, "continual": _cut_study, "follow": keep_ends
}  # fmt: skip


def _ends(values: Sequence[Any]) -> list[Any]:
    return list(values) if len(values) <= 3 else [*values[:2], values[-1]]


def _cut_domains(values: dict[str, Any], kept: Collection[str]) -> None:
    """Keep the first domains with a benchmark, and those that another section names, in place."""
    domains, texts = values.get("domains") or {}, (values.get("perplexity") or {}).get("texts") or {}
    examples = values.get("examples") or {}
    own = [name for name, each in domains.items() if (each or {}).get("benchmark", True)]
    # what tables of examples show of a domain is no reason to keep it
    others = {key: each for key, each in values.items() if key not in ("domains", "perplexity", "examples")}
    named = {part for text in _list_texts(others) for part in text.split("+")}
    for name in own[_FEW_DOMAINS:]:
        if name not in named and name not in kept:
            del domains[name]
            for said in (texts, *examples.values()):
                said.pop(name, None)


def _list_texts(values: Any) -> Iterator[str]:
    if isinstance(values, str):
        yield values
    elif isinstance(values, Mapping):
        for key, each in values.items():
            yield str(key)
            yield from _list_texts(each)
    elif isinstance(values, Sequence):
        for each in values:
            yield from _list_texts(each)


def _cut_questions(overlay: dict[str, Any], values: Mapping[str, Any]) -> None:
    coverage = values.get("coverage") or {}
    sets = coverage.get("questions") or {}
    found: dict[str, Any] = {}
    if sets:
        found["questions"] = {
            name: {key: min(each.get(key, number), number) for key, number in _OF_SET.items()}
            for name, each in sets.items()
        }
    if "evaluation" in coverage:
        own = coverage["evaluation"]
        found["evaluation"] = {key: min(own.get(key, number), number) for key, number in _ANSWERS.items()}
    if "ablation" in coverage:
        found["ablation"] = {key: _ends(each) for key, each in coverage["ablation"].items()}
    if found:
        overlay["coverage"] = overlay.get("coverage", {}) | found


def _cut_tuning(values: dict[str, Any], entries: Mapping[str, ModelRow]) -> None:
    """Tune fewer models for fewer tasks, in place: some of each model type and category."""
    tasks = (values.get("train_before_test") or {}).get("tasks") or {}
    scored = (values.get("models") or {}).get("score") or []
    ranking = values.get("ranking") or {}
    if not tasks or len(scored) <= _FEW_MODELS:
        return
    known = ranking.get("benchmarks") or {}
    categories = {
        name: str((known.get(name) or {}).get("category", task["kind"])) for name, task in tasks.items()
    }
    metrics = {name: f"{task['kind']} {task.get('metric')}" for name, task in tasks.items()}
    named = [*(ranking.get("aligned") or []), *((ranking.get("corpus_table") or {}).get("corpora") or [])]
    first = _one_of_each(metrics, named)
    kept = _one_of_each(categories, first)
    values["train_before_test"]["tasks"] = {name: tasks[name] for name in kept}
    if known:
        ranking["benchmarks"] = {name: each for name, each in known.items() if name in kept}
    by_size = sorted(scored, key=lambda name: entries[name].parameters or 0)
    types = {name: find_model_type(entries[name].family) for name in by_size}
    one = ranking.get("one_family")
    members = (ranking.get("families") or {}).get(one) or [one]
    own = [name for name in by_size if entries[name].family in members][:_FEW_OF_FAMILY]
    chosen = _one_of_each(types, own)
    values["models"]["score"] = [name for name in scored if name in chosen]
    if "forecast" in ranking:
        ranking["forecast"] = [3, 4, 5]


def _cut_scored(values: dict[str, Any], entries: Mapping[str, ModelRow]) -> None:
    """Score one model of each model type, kind and form of weights, in place, and those named elsewhere."""
    models = values.get("models") or {}
    scored = models.get("score") or []
    if len(scored) <= _FEW_SCORED or (values.get("train_before_test") or {}).get("tasks"):
        return
    others = {**values, "models": {key: each for key, each in models.items() if key != "score"}}
    named = {part for text in _list_texts(others) for part in (text, *text.split("+"))}
    kinds = {name: _describe_kind(name, entries) for name in scored}
    models["score"] = _one_of_each(kinds, [name for name in scored if name in named])


def _describe_kind(name: str, entries: Mapping[str, ModelRow]) -> str:
    """Return what a model of the registry is: model type, kind, form of weights; else its own name."""
    entry = entries.get(ModelName.parse(name).plain)
    if entry is None or "+" in name:
        return name
    chat = ModelName.parse(name).plain != name
    return f"{find_model_type(entry.family)} {entry.kind} {entry.weights} {chat}"


def _one_of_each(kinds: Mapping[str, str], first: Sequence[str]) -> list[str]:
    """Return a name of each kind, and those that must be there; `kinds` has names in order."""
    kept, known = set(first), {kinds[name] for name in first}
    for name, kind in kinds.items():
        if kind not in known:
            known.add(kind)
            kept.add(name)
    return [name for name in kinds if name in kept]
