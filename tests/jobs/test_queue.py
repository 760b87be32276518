"""Jobs that a killed run left in Slurm's queue."""

from pathlib import Path

import pytest
from tests.refusals import refuses

from fathom.errors import InputError
from fathom.jobs.resources import find_leftover_jobs, refuse_leftover_jobs

RUN, OTHER = "fathom_1ac20208-6597", "fathom_77aa0000-0000"


def line(
    number: int, folder: Path | str, state: str = "RUNNING", name: str = RUN, rule: str = "make_pairs"
) -> str:
    return f"{number}\t{state}\t{name}\trule_{rule}_wildcards_demo_near\t{folder}"


def install_squeue(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Put a program called squeue in front of the path."""
    folder.mkdir()
    program = folder / "squeue"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_only_jobs_of_this_folder_and_name_that_go_on_are_orphans(tmp_path):
    link = tmp_path / "link"
    (tmp_path / "here").mkdir()
    link.symlink_to(tmp_path / "here")
    queue = "\n".join(
        [line(1, tmp_path / "here"), line(2, link, "PENDING"), line(3, tmp_path / "elsewhere"),
         line(4, tmp_path / "here", "COMPLETING"), line(5, tmp_path / "here", name="fathomless_1"),
         line(6, tmp_path / "here", name="interactive"), "a line of something else"],
    )  # fmt: skip
    assert [number for number, _, _ in find_leftover_jobs(queue, tmp_path / "here")] == ["1", "2"]


def test_a_start_among_orphans_stops_and_says_how_to_cancel_them(tmp_path, monkeypatch):
    lines = [line(number, tmp_path, rule="score_model") for number in range(10, 17)]
    lines.append(line(20, tmp_path, "PENDING", OTHER))
    install_squeue(tmp_path / "bin", monkeypatch, "cat <<'END'\n" + "\n".join(lines) + "\nEND")
    with pytest.raises(InputError) as caught:
        refuse_leftover_jobs(tmp_path)
    named = ", ".join(f"{number} rule_score_model" for number in range(10, 15))
    assert str(caught.value) == (
        f"Slurm: 8 jobs of an earlier run in this folder have not ended ({named} and 3 more);"
        f" their work would be done twice\nHint: cancel them and start again: scancel --name={RUN},{OTHER}"
    )
    refuse_leftover_jobs(tmp_path / "bin")


def test_without_slurm_nothing_is_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    refuse_leftover_jobs(tmp_path)


def test_a_queue_that_does_not_answer_stops_only_a_run_that_uses_it(tmp_path, monkeypatch):
    install_squeue(tmp_path / "bin", monkeypatch, "echo Unable to contact slurm controller >&2; exit 1")
    refuse_leftover_jobs(tmp_path, submits=False)
    with refuses("Unable to contact slurm controller"):
        refuse_leftover_jobs(tmp_path)
