"""A program's options are the signature of its function."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from tests.refusals import refuses

from fathom.config.section import Section
from fathom.io import paths
from fathom.jobs.signature import Previous, Tables, Threads, make_parser, read_options


class Settings(Section):
    """Settings of the program below."""

    rounds: int = 5


def main(
    *,
    scores: Annotated[Tables, paths.SCORES, "tables"],
    files: Annotated[list[Path], "files"] = (),
    names: Annotated[list[list[str]], "pairs of names"] = (),
    limit: Annotated[float | None, "limit"] = None,
    quick: Annotated[bool, "quick"] = False,
    order: Annotated[Literal["up", "down"], "order"] = "up",
    output: Annotated[Path, "table to write"],
    previous: Previous = None,
    threads: Threads = 1,
    settings: Settings,
) -> None:
    """Do nothing."""


def read(*arguments: str) -> dict[str, Any]:
    parser = make_parser(main)
    return read_options(main, parser.parse_args([*arguments, "--output", "o.csv"]))


def test_values_have_the_types_of_the_signature(monkeypatch):
    monkeypatch.setenv("FATHOM_PREVIOUS", "earlier")
    found = read(
        "--scores", "results/r/law/scores/tf/gpt2.parquet", "art/tf/m=x.parquet", "--files", "a", "b",
        "--names", '[["a", "b"]]', "--limit", "0.5", "--quick", "--settings", '{"rounds": 2}',
    )  # fmt: skip
    assert found == {
        "scores": [("law", "tf", "gpt2", "results/r/law/scores/tf/gpt2.parquet"),
                   ("art", "tf", "m", "x.parquet")],
        "files": [Path("a"), Path("b")], "names": [["a", "b"]], "limit": 0.5, "quick": True, "order": "up",
        "output": Path("o.csv"), "previous": Path("earlier"), "threads": 1, "settings": Settings(rounds=2),
    }  # fmt: skip


def test_what_is_left_out_has_its_default(monkeypatch):
    monkeypatch.delenv("FATHOM_PREVIOUS", raising=False)
    found = read("--scores", "a/b/c=d")
    assert (found["files"], found["limit"], found["quick"]) == ((), None, False)
    assert (found["previous"], found["settings"]) == (None, Settings())


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["--scores", "gpt2.parquet"], ["--scores gpt2.parquet", "DOMAIN/VARIANT/MODEL"]),
     (["--scores", "a/b/c=d", "--settings", '{"round": 1}'], ["--settings", "rounds"]),
     (["--scores", "a/b/c=d", "--names", "[x"], ["--names", "JSON"])],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_one_message(arguments, named):
    with refuses(*named):
        read(*arguments)


@pytest.mark.parametrize(
    ("arguments", "named"), [([], "--scores"), (["--scores", "a/b/c=d", "--order", "left"], "--order")]
)
def test_a_missing_option_or_an_unknown_choice_ends_the_program(arguments, named, capsys):
    with pytest.raises(SystemExit):
        read(*arguments)
    assert named in capsys.readouterr().err
