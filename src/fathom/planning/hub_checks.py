"""Checks that the Hugging Face hub has what a run still fetches, and that keys of services are set."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing import TimeoutError
from multiprocessing.pool import ThreadPool
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
    unique = {(each.kind, each.identifier, each.revision): each for each in reversed(found)}
    return [*unique.values()][::-1]


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
    found = []
    for row in entries:
        if not (is_address(row.source) or is_package(row.source) or find_folder(row, registry)):
            identifier = "/".join(row.source.split("/")[:2])  # what follows is a GGUF file in it
            where = f"{registry}, row {row.name}"
            found.append(Repository("model", identifier, row.revision, where, is_optional))
    return found


def _list_data_sets(config: Config, rule: str, wildcards: Mapping[str, str]) -> Iterator[Repository]:
    found: tuple[str | None, str | None, str] = None, None, ""
    if rule in ("fetch_texts", "fetch_held_out"):
        name, section = wildcards["domain"], "models" if rule == "fetch_texts" else "perplexity"
        source = getattr(config, section).texts[name]
        found = source.dataset, source.revision, f"{section}.texts.{name}"
    elif rule == "read_choices":
        chosen = config.choices.questions[wildcards["questions"]]
        found = chosen.hub, chosen.revision, f"choices.questions.{wildcards['questions']}"
    elif rule == "read_dataset" and config.corpus.dataset:
        found = config.corpus.dataset.name, config.corpus.dataset.revision, "corpus.dataset"
    if found[0] and found[1]:
        yield Repository("dataset", found[0], found[1], found[2])


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

    Without a network or an answer in time, nothing is known, and a note says so.

    Parameters
    ----------
    seconds : float
        For all answers together.
    """
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return [], ["HF_HUB_OFFLINE is set: the hub was not asked for what the run fetches"]
    from huggingface_hub import HfApi

    ask = partial(_ask, HfApi(endpoint=endpoint), seconds=seconds)
    # its threads do not keep the program from ending if they hang
    answers = ThreadPool(min(_AT_ONCE, len(wanted)) or 1).imap_unordered(ask, wanted)
    end, known = time.monotonic() + seconds, dict[Repository, InputError | None]()
    with suppress(TimeoutError):
        for _ in wanted:
            answer = answers.next(max(0.0, end - time.monotonic()))
            if answer.is_known:
                known[answer.wanted] = answer.error
    wrong = {each: known[each] for each in wanted if known.get(each)}
    obstacles = [error for each, error in wrong.items() if error and not each.is_optional]
    notes = [
        f"{error.where}: {error.what}; it is optional, so runs continue without it. {error.hint}"
        for each, error in wrong.items()
        if error and each.is_optional
    ]
    silent = list(dict.fromkeys(each.identifier for each in wanted if each not in known))
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


def _ask(hub: "HfApi", wanted: Repository, seconds: float) -> Answer:
    from huggingface_hub import errors

    kind, identifier, revision, where, _ = wanted
    try:
        hub.auth_check(identifier, repo_type=kind)
        if revision:  # gated repositories are listed for everyone, so ask for access first
            hub.repo_info(identifier, repo_type=kind, revision=revision, timeout=seconds)
    except (errors.HTTPError, OSError, ValueError) as error:  # what a network's login page answers is no JSON
        response = getattr(error, "response", None) if isinstance(error, errors.HfHubHTTPError) else None
        refused = response is not None and response.status_code in (401, 403, 404)
        if not refused and not isinstance(error, errors.HFValidationError):
            return Answer(wanted, is_known=False)
        page = identifier if kind == "model" else f"datasets/{identifier}"
        problem, hint = explain_failure(error, page, revision)
        what = "model" if kind == "model" else "data set"
        return Answer(wanted, True, InputError(f"{what} {identifier} {problem}", where, hint))
    return Answer(wanted, is_known=True)
