"""Score a model on prompt-target pairs: rank and probability of every target.

Writes one row for each pair (parquet) and a report (JSON), beside the pairs unless --output names another
place, and prints the trimmed and the geometric mean rank, with intervals where pairs have keywords. What
several files of pairs share is read once. A stopped run resumes where it stopped.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs

if TYPE_CHECKING:
    from fathom.commands.verbs import Verbs
    from fathom.config.scoring import Scoring

_SETTINGS = ("attention", "batch_tokens", "device", "dtype")


def add_verb(into: "Verbs") -> None:
    """Add `fathom score`."""
    parser = verbs.add_verb(into, "score", __doc__, run)
    parser.add_argument("model", help="a model's folder, a pointer to it (model.json), or an id on the hub")
    parser.add_argument(
        "pairs",
        type=Path,
        nargs="+",
        help=".parquet or .jsonl with prompt and target",
    )
    parser.add_argument(
        "--output", type=Path, nargs="+", help="scores, one for each file; PAIRS.MODEL.parquet if absent"
    )
    parser.add_argument(
        "--report", type=Path, nargs="+", help="reports, one for each file; beside the scores if absent"
    )
    parser.add_argument("--base", help="of a LoRA adapter: the model that it is applied to, named like MODEL")
    add_scoring_options(parser)


def add_scoring_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how pairs are scored."""
    parser.add_argument("--dtype", help="number format: float32 (reference, the default), bfloat16, float16")
    parser.add_argument("--device", help="auto (a GPU if there is one, the default), cpu, cuda or cuda:N")
    parser.add_argument("--attention", help="auto (the default), eager, sdpa or flash_attention_2")
    parser.add_argument("--batch-tokens", type=int, help="tokens in a batch; 1024, on a GPU 16384")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch; 1 is the reference")
    parser.add_argument("--gpus", type=int, default=1, help="how many of the visible GPUs share the work")
    parser.add_argument("--chat-template", action="store_true", help="score inside the model's chat template")


def read_scoring(arguments: argparse.Namespace) -> "Scoring":
    """Return the settings that these options give."""
    from fathom.config.scoring import Scoring
    from fathom.config.section import check_values

    given = {name: getattr(arguments, name) for name in _SETTINGS if getattr(arguments, name) is not None}
    return check_values(given, Scoring, "--dtype, --device, --attention, --batch-tokens")


def run(arguments: argparse.Namespace) -> None:
    """Score the model on all files of pairs; print a line for each."""
    from dataclasses import replace

    from fathom.io.files import require_file
    from fathom.models.fetching import find_pointer
    from fathom.scoring.pair_files import read_pairs
    from fathom.scoring.rank_files import name_beside, name_files, score_files
    from fathom.statistics.rank_sentences import describe_ranks

    settings = read_scoring(arguments)
    for path in arguments.pairs:  # before a model is fetched
        require_file(path)
    pointer = find_pointer(arguments.model, arguments.base)
    if arguments.chat_template:
        pointer = replace(pointer, chat_template=True)
    outputs = arguments.output or [name_beside(path, pointer.name) for path in arguments.pairs]
    files = name_files(arguments.pairs, outputs, arguments.report)
    found = score_files(pointer, files, settings, arguments.threads, arguments.gpus)
    for file, scores in zip(files, found, strict=True):
        print(f"{file.pairs}: {describe_ranks(scores, read_pairs(file.pairs))}; scores in {file.scores}")
