"""Rules pass inputs, outputs and parameters to programs by name."""

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.rules import Rule

from fathom.planning.options import (
    Programs,
    find_options,
    find_program,
    find_sections,
    folder_of,
    grow,
    lengthen,
    named_inputs,
    one_of,
    pass_options,
)

PROGRAM = """
def main(*, scores: list, domain: str, pairs: list = (), quick: bool = False, titles: dict = None,
         table: str, threads: int = 1, settings) -> None: ...
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "words" / "count_words.py"
    path.parent.mkdir()
    path.write_text(PROGRAM)
    return path


def dump(*sections: str) -> str:
    return "+".join(sections)


class Files(dict):
    """Files as Snakemake hands them to a function: by name and by attribute."""

    __getattr__ = dict.__getitem__


def test_options_have_the_names_of_the_rule(program: Path) -> None:
    files = Files(scores=["a b", "c"], pairs=[], weights=["w"])
    find = pass_options(
        program, quick=True, titles={"law": "It's law"}, settings=lambda input: input.scores[0]
    )
    words = find(Files(domain="law"), input=files, output=Files(table="t.csv", report="r"))
    assert words == (
        "--scores 'a b' c --domain law --quick --titles '{\"law\": \"It'\"'\"'s law\"}' --table t.csv"
        " --settings 'a b'"
    )


def test_a_job_runs_again_where_its_options_or_its_code_change(program: Path) -> None:
    # Snakemake remembers no param that it takes for derived from a job's files
    def list_remembered(params: dict) -> list[str]:
        return sorted(name for name, value in params.items() if not Rule._is_deriving_function(value))

    programs = Programs(program.parents[1], dump)
    assert list_remembered(programs.call("count_words", settings="{}")) == ["code", "options"]
    assert list_remembered(programs.fetch("count_words", settings="{}")) == ["options"]


def test_a_moved_clone_has_the_same_code_and_a_changed_expression_another(program: Path, tmp_path: Path):
    def hash_in(folder: str, text: str) -> str:
        path = tmp_path / folder / "words" / program.name
        path.parent.mkdir(parents=True)
        path.write_text(text)
        return Programs(path.parents[1], dump).call("count_words")["code"](None)

    first = hash_in("a", PROGRAM)
    assert hash_in("b", f'"""Count."""\n# words\n{PROGRAM}') == first
    assert hash_in("c", PROGRAM.replace("threads: int = 1", "threads: int = 2")) != first


def test_a_program_is_found_by_its_name(program: Path) -> None:
    assert find_program(program.parents[1], "count_words") == program


@pytest.mark.parametrize(("given", "named"), [({"settings": "{}"}, "table"), ({"set": 1}, "set")])
def test_a_missing_or_unknown_option_ends_the_planning(program: Path, given: dict, named: str) -> None:
    files = Files(scores=["a"])
    with pytest.raises(ValueError, match=named) as caught:
        pass_options(program, **given)(Files(domain="law"), input=files, output=Files())
    assert "count_words.py" in str(caught.value)


def test_required_options_are_those_without_a_default(program: Path) -> None:
    required = find_options(program)
    assert [name for name, needed in required.items() if needed] == ["scores", "domain", "table", "settings"]
    assert "threads" not in required


def test_a_wildcard_matches_exactly_its_names():
    pattern = re.compile(one_of(["cs.AI", "gpt2+near"]))
    assert [bool(pattern.fullmatch(name)) for name in ("cs.AI", "csXAI", "gpt2+near", "")] == [1, 0, 1, 0]
    assert not re.search(one_of([]), "anything")


def test_a_resource_doubles_with_each_attempt():
    assert [grow(1000)(None, attempt) for attempt in (1, 2, 3)] == [1000, 2000, 4000]


@pytest.mark.parametrize(
    ("most", "wanted"), [(0, [480, 960, 1920]), (1440, [480, 960, 1440]), (240, [240, 240, 240])]
)
def test_time_doubles_up_to_what_a_cluster_gives(most, wanted):
    assert [lengthen(480, most=most)(None, attempt) for attempt in (1, 2, 3)] == wanted


def test_memory_follows_the_size_of_the_inputs_that_are_there(tmp_path: Path) -> None:
    large, missing = tmp_path / "large.parquet", tmp_path / "missing.parquet"
    large.write_bytes(bytes(3 << 20))
    amount = grow(1000, 2.5)
    assert amount(None, [missing], 1) == 1000
    assert [amount(None, [missing, str(large)], attempt) for attempt in (1, 2)] == [1008, 2016]


def test_a_folder_of_files_and_named_inputs_are_params() -> None:
    files = SimpleNamespace(tables=["a/x.csv", "a/y.csv"])
    assert folder_of("tables")({}, SimpleNamespace(), files) == Path("a")
    assert folder_of("page")({}, SimpleNamespace(page="b/index.html"), files) == Path("b")
    assert named_inputs(["near", "far"])({"near": "n.csv", "far": []}) == {"near": "n.csv"}


@pytest.mark.parametrize(
    ("before", "annotation", "sections"),
    [
        ("from fathom.config.scoring import Summary", "Summary", "summary"),
        (
            "from fathom.config.benchmark import Pairs",
            "Pairs",
            "pairs",
        ),  # None without domains
        ("from fathom.config.ranking import RankingSettings", "RankingSettings", "ranking+summary"),
        ("class Own:\n    keywords: int\n    embedding: int", "Own", "keywords+embedding"),
    ],
)
def test_settings_that_a_rule_does_not_give_are_those_that_the_program_names(
    program: Path, before: str, annotation: str, sections: str
) -> None:
    program.write_text(f"{before}\ndef main(*, settings: {annotation}) -> None: ...\n")
    assert find_sections(program) == tuple(sections.split("+"))
    programs, empty = Programs(program.parents[1], dump), {"input": Files(), "output": Files()}
    assert programs.call("count_words")["options"](Files(), **empty) == f"--settings {sections}"
    assert programs.call("count_words", settings="mine")["options"](Files(), **empty) == "--settings mine"


@pytest.mark.parametrize(
    ("before", "annotation"),
    [("from fathom.config.models import Training", "Training"), ("class Own:\n    task: int", "Own"),
     ("", "str")],
)  # fmt: skip
def test_settings_that_are_no_sections_have_to_be_given(program: Path, before: str, annotation: str) -> None:
    program.write_text(f"{before}\ndef main(*, settings: {annotation}) -> None: ...\n")
    params = Programs(program.parents[1], dump).call("count_words")
    with pytest.raises(ValueError, match=r"count_words.py needs settings"):
        params["options"](Files(), input=Files(), output=Files())


class Stored(str):
    """An input in a storage, as Snakemake has it: its size is None before it is there."""

    is_storage, bytes = True, None

    async def exists_in_storage(self):
        return self.bytes is not None

    async def size(self):
        return self.bytes


def test_memory_follows_the_size_of_inputs_in_a_storage_of_which_no_copy_is_here():
    made, missing = Stored("made.parquet"), Stored("missing.parquet")
    made.bytes = 3 << 20
    assert grow(1000, 2.5)(None, [made, missing], 1, async_run=asyncio.run) == 1008


def test_memory_is_left_open_while_a_storage_cannot_be_asked():
    async def plan():
        return grow(1000, 2.5)(None, [Stored("made.parquet")], 1, async_run=asyncio.run)

    with pytest.raises(FileNotFoundError) as raised:
        asyncio.run(plan())
    assert raised.value.filename == "made.parquet"
