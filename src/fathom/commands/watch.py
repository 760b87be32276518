"""Watch a training: score each checkpoint that appears in a folder, and name what is forgotten or learned.

Scores every complete checkpoint once (transformers, LoRA adapters of PEFT, other folders of safetensors
with their config.json), in the order of their steps. After each it prints a line of JSON and rewrites the
page, index.html. Compares each keyword's knowledge in bits with the first checkpoint, or --base; tests are
corrected over all looks: if nothing changes, at most 5 % of watches name any keyword. A stopped watch
resumes.

Exit codes: 3 with --fail-on forgetting as soon as a keyword is forgotten; 0 after --idle; 130 or 143 if
interrupted or terminated.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs
from fathom.commands.score import add_scoring_options, open_here, read_scoring
from fathom.errors import InputError
from fathom.jobs.program import log, require_extra

if TYPE_CHECKING:
    from fathom.studies.watching import Arrivals, Watch

FORGETTING = 3
"""Exit code if a keyword is forgotten."""

EXAMPLES = (
    "fathom watch checkpoints --pairs pairs.jsonl --idle 600",
    "fathom watch checkpoints --pairs pairs.jsonl --base gpt2 --fail-on forgetting --idle 600",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom watch`."""
    parser = verbs.add_verb(into, "watch", __doc__, run, EXAMPLES)
    parser.add_argument("folder", help="where the training writes its checkpoints; may not exist yet")
    parser.add_argument("--pairs", type=Path, required=True, help=".parquet or .jsonl with prompt and target")
    parser.add_argument("--output", type=Path, help="folder to write; FOLDER.watch if absent")
    parser.add_argument(
        "--base", help="model to compare with and to apply adapters to; default: the first checkpoint"
    )
    parser.add_argument(
        "--fail-on", choices=["forgetting"], help="end with exit code 3 once a keyword is forgotten"
    )
    parser.add_argument(
        "--by",
        choices=["bits", "log_probability"],
        help="test keywords by bits of knowledge (default if pairs have two keywords) or by the "
        "log-probability of their targets, which also depends on style",
    )
    parser.add_argument(
        "--idle", type=verbs.read_finite, help="end after this many seconds without a new checkpoint"
    )
    parser.add_argument(
        "--every", type=verbs.read_finite, default=10.0, help="seconds between checks of the folder; 10"
    )
    add_scoring_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Score checkpoints as they come until there is a reason to end."""
    from functools import partial

    from fathom.io.files import require_file
    from fathom.models.fetching import find_pointer
    from fathom.models.registry import hide_secrets, is_address
    from fathom.studies.watching import Arrivals, Watch

    require_extra("models", "fathom watch")
    if is_address(arguments.folder):
        raise InputError(
            "a server writes no checkpoints",
            hide_secrets(arguments.folder),
            "name the folder that the training writes; `fathom score` scores what a server has",
        )
    if arguments.every <= 0 or (arguments.idle is not None and arguments.idle < 0):
        raise InputError("--every must be positive, --idle not negative", "--every, --idle")
    settings = read_scoring(arguments)
    folder = Path(arguments.folder).absolute()
    output = arguments.output or folder.with_name(f"{folder.name}.watch")
    pairs = require_file(arguments.pairs)  # before a model is fetched
    base = find_pointer(arguments.base) if arguments.base else None
    name = f"base {base.name.rpartition('/')[2]}" if base else ""

    open_model = partial(open_here, settings=settings, arguments=arguments)
    watch = Watch(pairs, output.absolute(), name, open_model, arguments.by)
    if arguments.fail_on and not watch.plan.sentences.can_be_named.any():
        raise InputError("these pairs cannot tell keywords apart", "--fail-on", watch.plan.describe())
    log.info(
        "waiting for checkpoints in %s; comparing them with %s; %s",
        *(folder, watch.base or "the first one", watch.plan.describe()),
    )
    if base and not watch.rows:
        watch.look(name, base)
        _tell(watch)
    _follow(watch, Arrivals(folder, arguments.base), arguments)


def _follow(watch: "Watch", arrivals: "Arrivals", arguments: argparse.Namespace) -> None:
    from fathom.explorer.watch_page import write_watch_page

    if watch.rows:  # a stopped watch may have left a page older than its scores
        write_watch_page(watch)
    waited = 0.0
    while True:
        if arguments.fail_on and watch.forgotten:
            log.info("keywords are forgotten: %s", ", ".join(watch.forgotten))
            sys.exit(FORGETTING)
        found = arrivals.find_next(watch.scored)
        if found is not None and arrivals.score(watch, found):
            _tell(watch)
            waited = 0.0
        elif found is None:
            if arguments.idle is not None and waited >= arguments.idle and not arrivals.changing:
                _require_any(watch, arrivals)
                log.info("no new checkpoint for %g s: the watch ends; looks: %d", waited, len(watch.rows))
                return
            time.sleep(arguments.every)
            waited += arguments.every


def _require_any(watch: "Watch", arrivals: "Arrivals") -> None:
    if not watch.has_checkpoint and arrivals.passed:
        names = ", ".join(arrivals.passed)
        raise InputError("no checkpoint could be scored", names, "see the messages above")


def _tell(watch: "Watch") -> None:
    from fathom.explorer.watch_page import write_watch_page

    write_watch_page(watch)
    print(json.dumps(watch.rows[-1], ensure_ascii=False), flush=True)
