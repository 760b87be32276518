"""Commands on pages exist: their options parse, their targets, files and configurations are there."""

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from tests.programs import run_program

import fathom
from fathom.commands import main as command
from fathom.config.merging import choose, merge
from fathom.config.whole import read_config

_ROOT = Path(__file__).resolve().parents[1]
_PAPERS = _ROOT / "docs" / "papers.md"
_NAMES = ("README.md", "CONTRIBUTING.md", "config/README.md", "workflow/profiles/slurm/README.md")
_PAGES = [*(_ROOT / name for name in _NAMES), *sorted((_ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`((?:\.venv/bin/)?(?:python scripts|snakemake|fathom) [^`]*?-[^`]*)`")
_ELSEWHERE = {"apptainer", "apt-get", "buildah", "cd", "conda", "cp", "dpkg", "export", "hf", "inspect",
              "kill", "lm_eval", "mkdir", "pip", "pre-commit", "uv", "wait"}  # fmt: skip
"""Programs that are not ours."""
_PLACEHOLDERS = {"my.yaml"}
"""Files of the reader's that a page speaks of without showing one."""


class Command(NamedTuple):
    page: Path
    words: list[str]


def _name(page: Path) -> str:
    return str(page.relative_to(_ROOT))


def _blocks(page: Path, *languages: str) -> list[str]:
    return [text for language, text in _BLOCK.findall(page.read_text()) if language in languages]


def _commands() -> Iterator[Command]:
    """Yield every command of the pages, without redirections, comments and what shows its output."""
    for page in _PAGES:
        lines = "\n".join(_blocks(page, "sh", "bash")).replace("\\\n", " ").splitlines()
        inline = [" ".join(text.split()) for text in _INLINE.findall(_BLOCK.sub("", page.read_text()))]
        for line in [*lines, *inline]:
            if words := shlex.split(re.split(r" (?:>|\||&) ", line)[0], comments=True):
                for part in " ".join(map(shlex.quote, words)).split(" '&&' "):
                    yield Command(page, shlex.split(part))


_COMMANDS = list(_commands())


def _select(*programs: str) -> list[Command]:
    """Return the commands that run one of some programs, without the program's own name."""
    found = [each for each in _COMMANDS if Path(each.words[0]).name in programs]
    return [Command(each.page, each.words[1:]) for each in found]


@cache
def _targets() -> set[str]:
    files = [_ROOT / "workflow" / "Snakefile", *(_ROOT / "workflow" / "rules").glob("*.smk")]
    return {name for file in files for name in re.findall(r"^ *rule (\w+):$", file.read_text(), re.MULTILINE)}


def _read_shown(page: Path, name: str) -> dict[str, Any]:
    """Return a configuration of the repository, or one that the page shows under this name."""
    if (_ROOT / name).is_file():
        return yaml.safe_load((_ROOT / name).read_text())
    _, found, rest = page.read_text().partition(f"`{name}`")
    assert found, f"{_name(page)} shows no {name}"
    block = re.search(r"^```yaml\n(.*?)^```", rest, re.DOTALL | re.MULTILINE)
    assert block, f"{_name(page)} shows no {name}"
    return yaml.safe_load(block[1])


def _check_configuration(page: Path, files: list[str], entries: list[str]) -> None:
    """Check that files and `--config` together are a valid configuration."""
    from snakemake.cli import parse_config

    known = [name for name in files if not name.startswith("results/")]  # made by the command before
    if set(known) & _PLACEHOLDERS:
        return
    values: dict[str, Any] = {}
    for name in known or ["config/config.yaml"]:
        merge(values, _read_shown(page, name))
    merge(values, parse_config([entry for entry in entries if "…" not in entry]))  # the reader's own lists
    if values.get("corpus", {}).get("source") == "arxiv":
        values.setdefault("dump", "FOLDER")
    shown = [name for name in known or ["config/config.yaml"] if (_ROOT / name).is_file()]
    read_config(choose(values, [str(_ROOT / name) for name in shown]), _name(page))


def test_every_command_is_one_of_ours_or_known():
    assert len(_COMMANDS) > 60
    ours = {"snakemake", "fathom", "make", "python", "bash"}
    assert {Path(each.words[0]).name for each in _COMMANDS} - ours - _ELSEWHERE == set()


def _make_shown(page: Path, folder: Path, entry: str) -> str:
    """Return an entry of `--config`; make the folder of references that it names, with the files listed."""
    key, _, name = entry.partition("=")
    if key != "references":
        return entry
    made = folder / page.stem / name
    made.mkdir(parents=True, exist_ok=True)
    for file in re.findall(rf"^{name}/(\S+)$", page.read_text() + _PAPERS.read_text(), re.MULTILINE):
        (made / file).touch()
    return f"{key}={made}"


def test_commands_of_snakemake_parse_and_name_what_exists(tmp_path):
    from snakemake.cli import get_argument_parser

    parser = get_argument_parser()
    commands = _select("snakemake")
    assert len(commands) > 20
    for page, words in commands:
        arguments = parser.parse_args(words)
        assert {each for each in arguments.targets if "/" not in each} <= _targets(), words
        for folder in arguments.profile or []:
            assert (_ROOT / folder).is_dir(), words
        if arguments.snakefile is None:
            files = [str(file) for file in arguments.configfile or []]
            entries = [_make_shown(page, tmp_path, entry) for entry in arguments.config or []]
            _check_configuration(page, files, entries)


def test_commands_of_fathom_parse_and_name_what_exists(monkeypatch, tmp_path):
    parsed = []
    monkeypatch.setattr(command, "run_logged", lambda run, arguments, name: parsed.append(arguments))
    commands = _select("fathom")
    assert len(commands) > 10
    for page, words in commands:
        if "--help" in words:
            continue
        command.main(words)
        if hasattr(parsed[-1], "configfile"):
            entries = [_make_shown(page, tmp_path, entry) for entry in parsed[-1].config]
            _check_configuration(page, parsed[-1].configfile, entries)
            assert {each for each in parsed[-1].targets if "/" not in each} <= _targets(), words


def _read_module(path: Path) -> str:
    """Return the text of a module under `perf` and of those of `perf` that it imports."""
    text = path.read_text()
    imported = re.findall(r"^from (perf\.[\w.]+) import", text, re.MULTILINE)
    return text + "".join((_ROOT / f"{name.replace('.', '/')}.py").read_text() for name in imported)


def test_commands_of_programs_have_the_options_that_pages_give_them():
    modules = [words[1:] for _, words in _select("python")
               if words[:1] == ["-m"] and words[1].startswith("perf.")]  # fmt: skip
    programs = [words for _, words in _select("python") if words[0].startswith("scripts/")]
    assert len(modules) > 5
    for name, *options in [*modules, *programs]:
        if "ROOM" in name:
            continue
        path = _ROOT / (name if name.endswith(".py") else name.replace(".", "/") + ".py")
        path = path if path.is_file() else path.with_suffix("") / "__main__.py"
        text = _read_module(path) if name.startswith("perf.") else run_program(path, "--help").stdout
        for option in (each for each in options if each.startswith("--")):
            assert option in text, f"{name} {option}"


def test_targets_of_make_and_scripts_exist():
    makefile = (_ROOT / "Makefile").read_text()
    for page, words in _select("make"):
        for target in (each for each in words if "=" not in each):
            assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"{_name(page)}: {target}"
    for page, (script, *_) in _select("bash"):
        assert (_ROOT / script).is_file(), f"{_name(page)}: {script}"


@pytest.mark.parametrize("page", [page for page in _PAGES if _blocks(page, "python")], ids=_name)
def test_python_on_pages_parses_and_uses_what_there_is(page):
    for block in _blocks(page, "python"):
        if "snakefile:" in block:  # Snakemake's own language
            continue
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "fathom":
                assert node.attr in fathom.__all__
