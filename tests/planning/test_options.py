"""Rules pass inputs, outputs and parameters to programs by name."""

import re
from pathlib import Path

import pytest
from snakemake.rules import Rule

from fathom.planning.options import find_options, grow, one_of, pass_options

PROGRAM = """
def main(*, scores: list, domain: str, pairs: list = (), quick: bool = False, titles: dict = None,
         table: str, threads: int = 1, settings) -> None: ...
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "count_words.py"
    path.write_text(PROGRAM)
    return str(path)


class Files(dict):
    """Files as Snakemake hands them to a function: by name and by attribute."""

    __getattr__ = dict.__getitem__


def test_options_have_the_names_of_the_rule(program: str) -> None:
    files = Files(code=[program], scores=["a b", "c"], pairs=[], weights=["w"])
    find = pass_options(quick=True, titles={"law": "It's law"}, settings=lambda input: input.scores[0])
    words = find(Files(domain="law"), input=files, output=Files(table="t.csv", report="r"))
    assert words == (
        "--scores 'a b' c --domain law --quick --titles '{\"law\": \"It'\"'\"'s law\"}' --table t.csv"
        " --settings 'a b'"
    )


def test_a_job_runs_again_where_its_options_change():
    # Snakemake remembers no param that it takes for derived from a job's files
    assert not Rule._is_deriving_function(pass_options(settings="{}"))


@pytest.mark.parametrize(("given", "named"), [({"settings": "{}"}, "table"), ({"set": 1}, "set")])
def test_a_missing_or_unknown_option_ends_the_planning(program: str, given: dict, named: str) -> None:
    files = Files(code=[program], scores=["a"])
    with pytest.raises(ValueError, match=named) as caught:
        pass_options(**given)(Files(domain="law"), input=files, output=Files())
    assert "count_words.py" in str(caught.value)


def test_required_options_are_those_without_a_default(program: str) -> None:
    required = find_options(Path(program))
    assert [name for name, needed in required.items() if needed] == ["scores", "domain", "table", "settings"]
    assert "threads" not in required


def test_a_wildcard_matches_exactly_its_names():
    pattern = re.compile(one_of(["cs.AI", "gpt2+near"]))
    assert [bool(pattern.fullmatch(name)) for name in ("cs.AI", "csXAI", "gpt2+near", "")] == [1, 0, 1, 0]
    assert not re.search(one_of([]), "anything")


def test_a_resource_doubles_with_each_attempt():
    assert [grow(1000)(None, attempt) for attempt in (1, 2, 3)] == [1000, 2000, 4000]


def test_memory_follows_the_size_of_the_inputs_that_are_there(tmp_path: Path) -> None:
    large, missing = tmp_path / "large.parquet", tmp_path / "missing.parquet"
    large.write_bytes(bytes(3 << 20))
    amount = grow(1000, 2.5)
    assert amount(None, [missing], 1) == 1000
    assert [amount(None, [missing, str(large)], attempt) for attempt in (1, 2)] == [1008, 2016]
