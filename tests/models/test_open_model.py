"""A model is loaded once for all that is measured of it, and nothing is measured twice."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.refusals import refuses

from fathom.config.scoring import Perplexity, Scoring
from fathom.models import open_model as measurements
from fathom.models.loading import Pointer
from fathom.models.open_model import Measurement, OpenModel, measure_all


class Job:
    """A model's job as Snakemake runs it: outputs are deleted first, and after a failure.

    Attributes
    ----------
    loads : list of str
        Setting of the device, each time that the model was loaded.
    measured : list of str
        Inputs of what was measured.
    broken : str
        The measurement that fails.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.loads, self.measured, self.broken = folder, list[str](), list[str](), ""
        (folder / "model").mkdir()
        for name in ("config.json", "model.safetensors"):
            (folder / "model" / name).write_text("{}")
        monkeypatch.setattr(measurements, "load_copies", self._load)

    def _load(self, pointer: Pointer, settings: Scoring, gpus: int) -> tuple[list[Any], Any]:
        self.loads.append(settings.device)
        return ["model"], "tokenizer"

    def run(self, *domains: str, settings: Any = None, device: str = "cpu", gpus: int = 1) -> list[str]:
        """Measure some domains, whose names are their inputs; return what was measured anew."""
        before = len(self.measured)
        model = OpenModel(Pointer("m", self.folder / "model"), Scoring(device=device), gpus=gpus)
        planned = [self._plan(domain, settings) for domain in domains]
        for each in planned:
            each.outputs[0].unlink(missing_ok=True)
        try:
            measure_all(model, planned, self.folder / "finished")
        except RuntimeError:
            for each in planned:
                each.outputs[0].unlink(missing_ok=True)
            raise
        assert [each.outputs[0].read_text() for each in planned] == [f"model {name}" for name in domains]
        return self.measured[before:]

    def _plan(self, domain: str, settings: Any) -> Measurement:
        def measure(model: OpenModel, outputs: Sequence[Path], resume: Any) -> None:
            if domain == self.broken:
                raise RuntimeError
            outputs[0].write_text(f"{model.model} {domain}")
            self.measured.append(domain)

        source = self.folder / f"{domain}.in"
        if not source.exists():
            source.write_text(domain)
        return Measurement(domain, __file__, [source], [self.folder / f"{domain}.out"], settings, measure)


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    return Job(tmp_path, monkeypatch)


def test_one_load_serves_all_and_one_more_domain_measures_that_alone(job, caplog):
    assert job.run("a", "b") == ["a", "b"]
    assert job.loads == ["cpu"]
    with caplog.at_level(logging.INFO, "fathom"):
        assert job.run("a", "new", "b") == ["new"]
    assert "m: a was finished before" in caplog.text
    assert len(job.loads) == 2
    assert job.run("b", "a") == []
    assert len(job.loads) == 2  # nothing to measure, nothing to load


def test_an_interrupted_job_goes_on_where_it_was(job):
    job.broken = "c"
    with pytest.raises(RuntimeError):
        job.run("a", "b", "c", "d")
    assert not list(job.folder.glob("*.out"))
    job.broken = ""
    assert job.run("a", "b", "c", "d") == ["c", "d"]


def test_what_an_input_setting_or_weight_changes_is_measured_again(job):
    job.run("a", "b", settings=Perplexity())
    (job.folder / "a.in").write_text("changed")
    assert job.run("a", "b", settings=Perplexity()) == ["a"]
    assert job.run("a", "b", settings=Perplexity(stride=1)) == ["a", "b"]
    (job.folder / "model" / "model.safetensors").write_text("trained again")
    assert job.run("a", "b", settings=Perplexity(stride=1)) == ["a", "b"]


def test_bad_input_is_named_before_anything_is_loaded(job):
    with refuses("1 or more"):
        job.run("a", gpus=-1)
    planned = job._plan("a", None)
    (job.folder / "a.in").unlink()
    for folder, message in (("model", "a.in: there is no such file"), ("none", "no such folder")):
        model = OpenModel(Pointer("m", job.folder / folder), Scoring(device="cpu"))
        with refuses(message):
            measure_all(model, [planned], job.folder)
        (job.folder / "a.in").touch()
    assert job.loads == []
