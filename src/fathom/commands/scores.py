"""Gather logs of other programs in a folder of scores that `rankings` reads: models by tasks.

A condition is how models were prepared, such as `direct_eval` or `train_before_test`; each has the same
models and tasks. See docs/logs.md.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.commands import verbs

if TYPE_CHECKING:
    from fathom.commands.verbs import Verbs


EXAMPLES = (
    "fathom scores direct=logs/first --output scores",
    "fathom scores direct_eval=logs/first train_before_test=logs/second --metric score --output both",
)


def add_verb(into: "Verbs") -> None:
    """Add `fathom scores`."""
    parser = verbs.add_verb(into, "scores", __doc__, run, EXAMPLES)
    parser.add_argument(
        "logs", nargs="+", metavar="CONDITION=LOG", help="a log or a folder of logs of a condition"
    )
    parser.add_argument("--metric", nargs="+", default=[], help="which counts, where a task has several")
    parser.add_argument("--output", type=Path, required=True, help="folder to write; there is none yet")


def run(arguments: argparse.Namespace) -> None:
    """Read the logs, write the folder, print how to rank it."""
    from fathom.errors import InputError
    from fathom.logs.items import read_logs
    from fathom.ranking.logged_scores import write_score_folder

    if arguments.output.exists():
        raise InputError("this is there already", f"--output {arguments.output}", "give a new folder")
    paths: dict[str, list[Path]] = {}
    for word in arguments.logs:
        name, equals, path = word.partition("=")
        if not equals or not name.isidentifier() or not path:
            hint = "such as direct_eval=logs/direct"
            raise InputError(f"{word!r} is no condition with its logs", "CONDITION=LOG", hint)
        paths.setdefault(name, []).append(Path(path))
    write_score_folder(
        {name: read_logs(some).items for name, some in paths.items()}, arguments.output, arguments.metric
    )
    print(f"{arguments.output}\nfathom run -c2 rankings --config scores={arguments.output} run=NAME")
