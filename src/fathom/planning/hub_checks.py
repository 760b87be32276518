"""Checks that the Hugging Face hub has what a run still fetches, and that keys of services are set."""

import os
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.models.hub import explain_failure
from fathom.models.packages import is_package
from fathom.models.registry import ModelRow, find_folder, is_address, read_registry
from fathom.planning.requests import SERVED

if TYPE_CHECKING:
    from huggingface_hub import HfApi

Jobs = Sequence[tuple[str, Mapping[str, str]]]
"""Rule and wildcards of the jobs of a plan."""

SECONDS = 5.0
"""Most seconds for all answers of the hub."""
_AT_ONCE = 8
_FETCHING = frozenset({"fetch_model", "fetch_weights", "fetch_tokenizer"})


class Repository(NamedTuple):
    """A repository of the hub that a run fetches.

    `identifier`, `revision`: id on the hub, and commit, branch or tag; empty: the newest. `where`: row or key
    that names it.
    """

    kind: Literal["model", "dataset"]
    identifier: str
    revision: str
    where: str
    is_optional: bool = False


class Answers(NamedTuple):
    """Answers of the hub and the environment."""

    obstacles: list[InputError]
    notes: list[str]


def check_fetched(config: Config, registry: Path, jobs: Jobs, endpoint: str | None = None) -> Answers:
    """Ask whether everything that the jobs of a plan fetch is available, before the first of them starts."""
    wanted = list_wanted(config, registry, jobs)
    obstacles, notes = ask_hub(wanted, endpoint, SECONDS) if wanted else ([], [])
    return Answers([*obstacles, *_find_missing_keys(config, jobs)], notes)


def list_wanted(config: Config, registry: Path, jobs: Jobs) -> list[Repository]:
    """Return the repositories of the hub that the jobs of a plan fetch; parameters as `check_fetched`."""
    names = dict.fromkeys(wildcards["model"] for rule, wildcards in jobs if rule in _FETCHING)
    entries = read_registry(registry) if names else {}
    found = [each for name in names for each in _list_models(config, entries, registry, name)]
    found += [each for rule, wildcards in jobs for each in _list_data_sets(config, rule, wildcards)]
    return list({(each.kind, each.identifier, each.revision): each for each in reversed(found)}.values())[
        ::-1
    ]


def _list_models(
    config: Config, entries: Mapping[str, ModelRow], registry: Path, name: str
) -> Iterator[Repository]:
    """Yield the repository of a model, and of the one that it adapts or has its tokenizer from."""
    parsed = ModelName.parse(name)
    asked = {ModelName.parse(each).base for each in config.models.only}
    is_optional = parsed.base in config.models.optional and parsed.base not in asked
    entry = entries.get(parsed.plain)
    others = (entry.adapter_of, entry.original if is_address(entry.source) else "") if entry else ()
    rows = (entry, *(entries.get(other) for other in others))
    yield from list_repositories([row for row in rows if row], registry, is_optional)


def list_repositories(
    entries: Iterable[ModelRow], registry: Path, is_optional: bool = False
) -> list[Repository]:
    """Return the repositories of the hub that rows of the table of models name."""
    return [
        # what follows the id is a GGUF file in it
        Repository(
            "model",
            "/".join(row.source.split("/")[:2]),
            row.revision,
            f"{registry}, row {row.name}",
            is_optional,
        )
        for row in entries
        if not is_address(row.source) and not is_package(row.source) and find_folder(row, registry) is None
    ]


def _list_data_sets(config: Config, rule: str, wildcards: Mapping[str, str]) -> Iterator[Repository]:
    if rule in ("fetch_texts", "fetch_held_out"):
        section, texts = (
            ("models", config.models.texts)
            if rule == "fetch_texts"
            else ("perplexity", config.perplexity.texts)
        )
        source = texts[wildcards["domain"]]
        if source.dataset and source.revision:
            where = f"{section}.texts.{wildcards['domain']}"
            yield Repository("dataset", source.dataset, source.revision, where)
    elif rule == "read_choices":
        chosen = config.choices.questions[wildcards["questions"]]
        if chosen.hub and chosen.revision:
            where = f"choices.questions.{wildcards['questions']}"
            yield Repository("dataset", chosen.hub, chosen.revision, where)
    elif rule == "read_dataset" and config.corpus.dataset and config.corpus.dataset.revision:
        dataset = config.corpus.dataset
        yield Repository("dataset", dataset.name, dataset.revision or "", "corpus.dataset")


def _find_missing_keys(config: Config, jobs: Jobs) -> Iterator[InputError]:
    for name in dict.fromkeys(wildcards["model"] for rule, wildcards in jobs if rule in SERVED):
        variable = config.models.speaking[name].key_variable
        if variable and not os.environ.get(variable, "").strip():
            hint = f"run `export {variable}=...` in this shell first"
            where = f"models.speaking.{name}.key_variable"
            yield InputError(f"{variable} is not set; it holds the key of {name}", where, hint)


def ask_hub(
    wanted: Sequence[Repository], endpoint: str | None = None, seconds: float = SECONDS
) -> tuple[list[InputError], list[str]]:
    """Ask the hub whether repositories exist and are open to this user; return obstacles and notes.

    Without a network or an answer in time, nothing is known, and a note says so. `seconds`: for all answers
    together.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return [], ["HF_HUB_OFFLINE is set: the hub was not asked for what the run fetches"]
    from huggingface_hub import HfApi

    ask = HfApi(endpoint=endpoint)
    answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
    waiting: queue.SimpleQueue[Repository] = queue.SimpleQueue()
    for each in wanted:
        waiting.put(each)
    for _ in range(
        min(_AT_ONCE, len(wanted))
    ):  # daemons, so that hanging threads do not keep the program from ending
        threading.Thread(target=_work, args=(ask, waiting, answers, seconds), daemon=True).start()
    end, known = time.monotonic() + seconds, dict[Repository, InputError | None]()
    for _ in wanted:
        try:
            answer = answers.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            break
        if answer.is_known:
            known[answer.wanted] = answer.error
    wrong = {each: known[each] for each in wanted if known.get(each)}
    obstacles = [error for each, error in wrong.items() if error and not each.is_optional]
    notes = [
        f"{error.where}: {error.what}; it is optional, so runs continue without it. {error.hint}"
        for each, error in wrong.items()
        if error and each.is_optional
    ]
    silent = [each.identifier for each in wanted if each not in known]
    if silent:
        whole = "" if known else "it cannot be reached, so "
        notes.append(
            f"the hub gave no answer: {whole}not known whether these are available: {', '.join(silent)}"
        )
    return obstacles, notes


class Answer(NamedTuple):
    """The hub's answer on a repository: none (`is_known`), available, or what is wrong."""

    wanted: Repository
    is_known: bool
    error: InputError | None = None


def _work(
    hub: "HfApi",
    waiting: "queue.SimpleQueue[Repository]",
    answers: "queue.SimpleQueue[Answer]",
    seconds: float,
) -> None:
    while True:
        try:
            wanted = waiting.get_nowait()
        except queue.Empty:
            return
        answers.put(_ask(hub, wanted, seconds))


def _ask(hub: "HfApi", wanted: Repository, seconds: float) -> Answer:
    from huggingface_hub import errors

    kind, identifier, revision, where, _ = wanted
    try:
        hub.auth_check(identifier, repo_type=kind)
        if revision:  # gated repositories are listed for everyone, so ask for access first
            hub.repo_info(identifier, repo_type=kind, revision=revision, timeout=seconds)
    except (errors.HFValidationError, errors.HTTPError, OSError) as error:
        response = getattr(error, "response", None) if isinstance(error, errors.HfHubHTTPError) else None
        refused = response is not None and response.status_code in (401, 403, 404)
        if not refused and not isinstance(error, errors.HFValidationError):
            return Answer(wanted, is_known=False)
        page = identifier if kind == "model" else f"datasets/{identifier}"
        problem, hint = explain_failure(error, page, revision)
        what = "model" if kind == "model" else "data set"
        return Answer(wanted, True, InputError(f"{what} {identifier} {problem}", where, hint))
    return Answer(wanted, is_known=True)
