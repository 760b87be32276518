"""Print a script that completes verbs and options in a shell, such as bash, zsh or fish.

For bash, as one user: run the first example and start a new shell.
"""

import argparse

from fathom.commands import verbs

_SHELLS = ("bash", "zsh", "fish", "tcsh", "powershell")
EXAMPLES = (
    "fathom completion bash > ~/.local/share/bash-completion/completions/fathom",
    "fathom completion fish > ~/.config/fish/completions/fathom.fish",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom completion`."""
    parser = verbs.add_verb(into, "completion", __doc__, run, EXAMPLES)
    parser.add_argument("shell", choices=_SHELLS, help="which shell")


def run(arguments: argparse.Namespace) -> None:
    """Print the script of the shell."""
    import shtab

    from fathom.commands.main import make_parser

    parser = make_parser()
    _shorten(parser)
    print(shtab.complete(parser, arguments.shell))


def _shorten(parser: argparse.ArgumentParser) -> None:
    """Cut the descriptions of all verbs below a parser to their first sentence, as a shell shows one line."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                verb.description = verbs.cut_help(" ".join((verb.description or "").split("\n\n")[0].split()))
                _shorten(verb)
