"""Score a model on prompt-target pairs: rank and probability of every target.

Writes a row for each pair (parquet) and a report (JSON), beside the pairs or to --output. Prints knowledge
in bits, the trimmed and the geometric mean rank, with intervals if pairs have keywords. Prompts shared by
several files of pairs are read once. A stopped run resumes where it stopped.

Name a model behind a server by address and name: http://localhost:8000/v1#NAME. Its key, if needed, is read
only from FATHOM_SERVER_KEY.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.errors import InputError

if TYPE_CHECKING:
    from fathom.config.scoring import Scoring
    from fathom.models.loading import Pointer
    from fathom.models.open_model import OpenModel
    from fathom.models.served import ServedModel

_SETTINGS = ("attention", "batch_tokens", "device", "dtype")
_SERVED = ("in_flight", "per_second", "timeout", "retries", "top_k")

EXAMPLES = (
    "fathom score gpt2 pairs.jsonl",
    "fathom score path/to/model pairs.jsonl --dtype bfloat16 --output scores.parquet",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom score`."""
    parser = verbs.add_verb(into, "score", __doc__, run, EXAMPLES)
    parser.add_argument(
        "model",
        help="a model's folder, a GGUF file, a pointer (model.json), a name in config/models.tsv or a "
        "prefix of one, an id on the hub with an optional @REVISION, or ADDRESS#NAME",
    )
    parser.add_argument("pairs", type=Path, nargs="+", help=".parquet or .jsonl with prompt and target")
    parser.add_argument(
        "--output",
        type=Path,
        nargs="+",
        help="file of scores for each file of pairs; PAIRS.MODEL.parquet if absent",
    )
    parser.add_argument(
        "--report", type=Path, nargs="+", help="report for each file of pairs; beside the scores if absent"
    )
    parser.add_argument("--base", help="the model that a LoRA adapter is applied to, named like MODEL")
    add_scoring_options(parser)
    group = add_server_options(parser)
    group.add_argument(
        "--tokenizer",
        help="its tokenizer, a folder or an id on the hub, to send token ids; default: send text",
    )
    group.add_argument(
        "--top-k", type=int, help="most likely tokens to ask for if the server gives no ranks; 20"
    )
    group.add_argument("--dry-run", action="store_true", help="print what would be sent, and score nothing")


def add_server_options(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Add the options for models behind a server, and return their group."""
    group = parser.add_argument_group("models behind a server")
    group.add_argument("--in-flight", type=int, help="concurrent requests; 4")
    group.add_argument("--per-second", type=float, help="most requests per second; default: no limit")
    group.add_argument("--timeout", type=float, help="seconds to wait for each part of an answer; 60")
    group.add_argument("--retries", type=int, help="retries if a server is busy; 6")
    return group


def add_tokenizer_option(group: argparse._ArgumentGroup) -> None:
    """Add the option for the tokenizer of models behind a server."""
    group.add_argument(
        "--tokenizer", help="its tokenizer, a folder or an id on the hub; the model's name there if absent"
    )


def add_scoring_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for scoring pairs."""
    add_model_options(parser)
    parser.add_argument("--chat-template", action="store_true", help="score inside the model's chat template")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for loading and running models."""
    parser.add_argument("--dtype", help="number format: float32 (reference, the default), bfloat16, float16")
    parser.add_argument(
        "--device", help="auto (a GPU if there is one, the default), cpu, cuda, cuda:N or mps"
    )
    parser.add_argument("--attention", help="auto (the default), eager, sdpa or flash_attention_2")
    parser.add_argument("--batch-tokens", type=int, help="tokens in a batch; 1024, on a GPU 16384")
    parser.add_argument(
        "--threads", type=verbs.count_from_one, default=1, help="threads of torch; 1 is the reference"
    )
    parser.add_argument(
        "--gpus", type=verbs.count_from_one, default=1, help="visible GPUs that share the work"
    )


def read_scoring(arguments: argparse.Namespace) -> "Scoring":
    """Return the settings that these options give."""
    from fathom.config.scoring import Scoring
    from fathom.config.section import check_values

    given = {name: getattr(arguments, name) for name in _SETTINGS if getattr(arguments, name) is not None}
    return check_values(given, Scoring, "--dtype, --device, --attention, --batch-tokens")


def run(arguments: argparse.Namespace) -> None:
    """Score the model on all files of pairs; print a line for each."""
    from fathom.io.files import require_file
    from fathom.jobs.program import require_extra
    from fathom.models.served import ServedModel
    from fathom.scoring.pair_files import read_pairs
    from fathom.scoring.rank_files import name_beside, name_files, score_files
    from fathom.scoring.served_ranks import describe_plan
    from fathom.statistics.summaries import describe_ranks

    require_extra("models", "fathom score")  # behind a server, too: lemmas decide which targets are rivals
    benchmarks = [read_pairs(require_file(path)) for path in arguments.pairs]  # before a model is fetched
    if arguments.output:
        name_files(arguments.pairs, arguments.output, arguments.report)
    model = _open(arguments)
    if isinstance(model, ServedModel) and arguments.dry_run:
        print(json.dumps(describe_plan(model, benchmarks), indent=2))
        return
    outputs = arguments.output or [name_beside(path, model.pointer.name) for path in arguments.pairs]
    files = name_files(arguments.pairs, outputs, arguments.report)
    found = score_files(model, files)
    for file, scores, pairs in zip(files, found, benchmarks, strict=True):
        print(f"{file.pairs}: {describe_ranks(scores, pairs)}; scores in {file.scores}")


def open_here(pointer: "Pointer", settings: "Scoring", arguments: argparse.Namespace) -> "OpenModel":
    """Return a model that these options open here; nothing is loaded yet."""
    from dataclasses import replace

    from fathom.models.open_model import OpenModel

    chat_template = getattr(arguments, "chat_template", False) or pointer.chat_template
    pointer = replace(pointer, chat_template=chat_template)
    return OpenModel(pointer, settings, arguments.threads, arguments.gpus)


def _open(arguments: argparse.Namespace) -> "OpenModel":

    from fathom.models.fetching import find_pointer

    settings, given = read_scoring(arguments), list_given(arguments)
    if not _is_served(arguments.model):
        if given or arguments.tokenizer or arguments.dry_run:
            raise InputError(
                "these options are for a model behind a server",
                ", ".join(f"--{name.replace('_', '-')}" for name in (*given, "tokenizer", "dry_run")),
                "name it as http://ADDRESS/v1#NAME",
            )
        return open_here(find_pointer(arguments.model, arguments.base), settings, arguments)
    return open_served(arguments.model, arguments.tokenizer, given, arguments.chat_template)


def find_models(names: Sequence[str], arguments: argparse.Namespace) -> "dict[str, Callable[[], OpenModel]]":
    """Return a function that opens each model, here or behind a server, by short name.

    Raise `InputError` if a model cannot be found or two have one name; nothing is loaded yet.
    """
    from functools import partial

    from fathom.models.fetching import find_pointer
    from fathom.models.registry import is_address, parse_address
    from fathom.models.served import ServedModel

    settings, given = read_scoring(arguments), list_given(arguments)
    found: dict[str, Callable[[], OpenModel]] = {}
    served_names = [name for name in names if _is_served(name)]
    if (given or arguments.tokenizer) and not served_names:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in (*given, "tokenizer"))
        raise InputError("these options are for a model behind a server", options, "http://ADDRESS/v1#NAME")
    for name in names:
        if name in served_names:
            own = parse_address(name).name if is_address(name) else None  # a row names its own tokenizer
            tokenizer = arguments.tokenizer or own
            chat_template = getattr(arguments, "chat_template", False)
            served = open_served(name, tokenizer, {**given, "top_k": 2}, chat_template)
            pointer = served.pointer
            model: Callable[[], OpenModel] = partial(ServedModel, pointer, served.served)
        else:
            pointer = find_pointer(name)
            model = partial(open_here, pointer, settings, arguments)
        short = pointer.name.rpartition("/")[2]
        if short in found:
            raise InputError(f"two models are called {short!r}", name, "name each model once")
        found[short] = model
    return found


def list_given(arguments: argparse.Namespace) -> dict[str, float]:
    """Return the server options that are given."""
    return {name: getattr(arguments, name) for name in _SERVED if getattr(arguments, name, None) is not None}


def _is_served(name: str) -> bool:
    from fathom.models.fetching import find_served_row
    from fathom.models.registry import is_address

    return is_address(name) or find_served_row(name) is not None


def open_served(
    name: str, tokenizer: str | None, given: "Mapping[str, float]", chat_template: bool = False
) -> "ServedModel":
    """Return the model behind a server, with the tokenizer that the options or its row name, if any."""
    from dataclasses import replace

    from fathom.config.section import check_values
    from fathom.config.served import Served
    from fathom.models.fetching import find_served_row, find_tokenizer, locate_model
    from fathom.models.registry import CHAT, hide_secrets, split_chat
    from fathom.models.served import ServedModel, point_to_server

    served = check_values(dict(given), Served, ", ".join(f"--{each.replace('_', '-')}" for each in _SERVED))
    row, table = find_served_row(name) or (None, "")
    folder, add_bos = find_tokenizer(tokenizer) if tokenizer else (None, None)
    if row is None:
        plain, chat = split_chat(name)
        chat_template = chat_template or chat
        if chat_template and folder is None:
            raise InputError("a chat template is part of a tokenizer", hide_secrets(name), "give --tokenizer")
        pointer = point_to_server(plain, folder, served)
        called = f"{pointer.name}{CHAT}" if chat else pointer.name
        pointer = replace(pointer, name=called, add_bos=add_bos or pointer.add_bos)
    else:
        folder = folder or locate_model(row, table, tokenizer_only=True)[0]
        pointer = point_to_server(row.source, folder, served)
        add_bos = row.add_bos or pointer.add_bos
        pointer = replace(pointer, name=row.name, kind=row.kind, add_bos=add_bos)
        chat_template = chat_template or row.chat_template
    return ServedModel(replace(pointer, chat_template=chat_template), served)
