"""`fathom.build`: what it takes, what it says, and what a run that fails leaves in the cell."""

from pathlib import Path

import pandas
import polars as pl
import pytest
from tests.refusals import refuses

import fathom
from fathom.planning.builds import Found, Source, run_workflow
from fathom.planning.notebook_builds import ScoredBuild

ROWS = {"body": ["The court hears the appeal.", None, "The clerk files it."], "topic": ["a", "b", "a"]}

SNAKEFILE = """
rule all:
    input: "good", "bad"
rule make_good:
    output: "good"
    shell: "touch {output}"
rule make_bad:
    input: "good"
    output: "bad"
    shell: "test -e fine && touch {output} || (echo the reason; false)"
"""


def test_frames_of_both_libraries_are_one_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = fathom.build(pl.DataFrame(ROWS))
    second = fathom.build(
        pandas.DataFrame(ROWS | {"body": [*ROWS["body"][:1], float("nan"), ROWS["body"][2]]})
    )
    assert first.source == second.source
    assert list(tmp_path.iterdir()) == [Path(tmp_path, first.source)]
    assert first.found.corpus["columns"] == {"text": "body", "categories": "topic"}
    assert "3 rows" in repr(first) and first.found.words == 9


def test_what_is_no_source_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refuses("no such file or folder", "nothere"):
        fathom.build("nothere")
    with refuses("not a source of texts: int"):
        fathom.build(3)
    with refuses("txt", "did you mean text"):
        fathom.build(pl.DataFrame(ROWS), txt="body")
    with refuses("smolm", "models.tsv"):
        fathom.build(pl.DataFrame(ROWS)).score("smolm")
    assert not list(tmp_path.glob("*.yaml"))


def test_a_run_that_fails_says_why_and_one_that_ends_its_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text("run: own\n")
    Path("Snakefile").write_text(SNAKEFILE)
    source = Source("own", Found({}, "files"), Path("Snakefile"), [])
    said: list[str] = []
    with refuses("own.yaml", "the run failed"):
        run_workflow(source, 1, said.append)
    assert any("steps" in line for line in said)
    assert "the reason" in said
    Path("fine").touch()
    said.clear()
    run_workflow(source, 1, said.append)
    assert said and all("done" in line for line in said)


def test_what_a_failed_job_said_is_the_last_message(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.yaml").write_text("run: own\n")
    told = "from fathom.planning.failures import say_at_the_end\n"
    Path("Snakefile").write_text(
        f'{told}{SNAKEFILE}\nonerror:\n    say_at_the_end("make_bad failed: no court [log: a.log]")\n'
    )
    source = Source("own", Found({}, "files"), Path("Snakefile"), [])
    said: list[str] = []
    with refuses("own.yaml", "make_bad failed: no court [log: a.log]", "resumes"):
        run_workflow(source, 1, said.append)
    assert not any("no court" in line for line in said)


def test_a_page_reaches_neither_the_notebook_nor_itself_out_of_its_frame(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<script>x = "</iframe>" && 1</script>')
    shown = ScoredBuild(page)._repr_html_()
    assert shown.count("</iframe>") == 1
    assert "allow-same-origin" not in shown
    with pytest.raises(FileNotFoundError):
        ScoredBuild(tmp_path / "no.html")._repr_html_()
