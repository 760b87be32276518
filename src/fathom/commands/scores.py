"""Turn logs of other programs into a folder of scores, models by tasks, that `rankings` reads.

A condition is a way of preparing models, such as `direct_eval` or `train_before_test`; all have the same
models and tasks. See docs/logs.md.
"""

import argparse
from pathlib import Path

from fathom.commands import verbs

EXAMPLES = (
    "fathom scores direct=logs/first --output scores",
    "fathom scores direct_eval=logs/first train_before_test=logs/second --metric score --output both",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom scores`."""
    parser = verbs.add_verb(into, "scores", __doc__, run, EXAMPLES)
    parser.add_argument(
        "logs", nargs="+", metavar="CONDITION=LOG", help="condition, and its log or folder of logs"
    )
    parser.add_argument("--metric", nargs="+", default=[], help="the metric to take if a task has several")
    parser.add_argument("--output", type=Path, required=True, help="folder to write; must not exist")


def run(arguments: argparse.Namespace) -> None:
    """Read the logs, write the folder, print the command that ranks it."""
    from fathom.errors import InputError
    from fathom.logs.items import read_logs
    from fathom.ranking.logged_scores import write_score_folder

    if arguments.output.exists():
        raise InputError("this folder exists already", f"--output {arguments.output}", "give a new folder")
    paths: dict[str, list[Path]] = {}
    for word in arguments.logs:
        name, equals, path = word.partition("=")
        if not equals or not name.isidentifier() or not path:
            hint = "such as direct_eval=logs/direct"
            raise InputError(f"{word!r} is not CONDITION=LOGS", "CONDITION=LOG", hint)
        paths.setdefault(name, []).append(Path(path))
    write_score_folder(
        {name: read_logs(some).items for name, some in paths.items()}, arguments.output, arguments.metric
    )
    print(f"{arguments.output}\nfathom run -c2 rankings --config scores={arguments.output} run=NAME")
