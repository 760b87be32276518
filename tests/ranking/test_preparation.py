"""Agreement after shorter preparations, from reports of tunings."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import kendalltau
from tests.programs import find_program
from tests.tables import read_delimited

from fathom.config.scoring import Summary
from fathom.config.tuning import Lora, Preparation, Task, TrainBeforeTest
from fathom.io.contracts.ranking import PREPARATION
from fathom.io.files import write_json
from fathom.ranking.benchmark_agreement import PreparationSettings, compare_preparations

MODELS, TASKS = 12, 4
PREPARATIONS = [{"examples": 10}, {"examples": 100}, {"epochs": 1}]
NOISE = {"direct": 1.0, "10-examples": 0.5, "100-examples": 0.15, "1-epochs": 0.4, "whole": 0.1}


def make_settings() -> PreparationSettings:
    section = TrainBeforeTest(
        tasks={f"t{place}": Task(kind="choice", domain="x") for place in range(TASKS)},
        lora=Lora(epochs=5),
        preparations=PREPARATIONS,
    )
    return PreparationSettings(train_before_test=section, summary=Summary(rounds=50))


def make_reports() -> dict[tuple[str, str, str], dict[str, float]]:
    """Return reports in which a model's score is its quality and the noise of its preparation."""
    random = np.random.default_rng(11)
    noise = random.normal(size=(MODELS, TASKS)).tolist()
    return {
        (name, f"m{model}", f"t{task}"): {"direct": model / MODELS + NOISE["direct"] * noise[model][task],
                                          "chosen": model / MODELS + NOISE[name] * noise[model][task]}
        for name in NOISE
        if name != "direct"
        for model in range(MODELS)
        for task in range(TASKS)
    }  # fmt: skip


def test_more_preparation_gives_more_agreement():
    reports = make_reports()
    rows = {row[0]: dict(zip(PREPARATION.names, row, strict=True))
            for row in compare_preparations(reports, make_settings())}  # fmt: skip
    assert list(rows) == ["direct", "10-examples", "100-examples", "1-epochs", "whole"]
    assert [(row["examples"], row["epochs"]) for row in rows.values()] == [
        (0, 0), (10, 5), (100, 5), ("", 1), ("", 5)]  # fmt: skip
    means = {name: float(row["mean_tau"]) for name, row in rows.items()}
    assert means["direct"] < means["10-examples"] < means["100-examples"] <= means["whole"]
    scores = np.array(
        [[reports["whole", f"m{m}", f"t{t}"]["chosen"] for t in range(TASKS)] for m in range(MODELS)]
    )
    expected = [kendalltau(scores[:, a], scores[:, b]).statistic for a in range(TASKS) for b in range(a)]
    assert means["whole"] == pytest.approx(np.mean(expected), rel=1e-5)
    assert float(rows["10-examples"]["change"]) == pytest.approx(
        means["10-examples"] - means["direct"], abs=1e-5
    )
    assert float(rows["10-examples"]["missing"]) == pytest.approx(
        means["whole"] - means["10-examples"], abs=1e-5
    )
    assert {float(rows["whole"][key]) for key in ("missing", "missing_low", "missing_high")} == {0.0}


def test_the_program_reads_the_reports_of_tunings(tmp_path):
    command = [sys.executable, find_program("compare_preparations"), "--table", tmp_path / "p.csv",
               "--reports"]  # fmt: skip
    for number, (places, report) in enumerate(make_reports().items()):
        write_json(tmp_path / f"{number}.json", report)
        command.append(f"{'/'.join(places)}={tmp_path / str(number)}.json")
    command += ["--settings", make_settings().model_dump_json()]
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    assert len(read_delimited(tmp_path / "p.csv", ",")) == 5


def test_preparations_have_names_of_their_own():
    assert Preparation(examples=10, epochs=2).name == "10-examples-2-epochs"
    for wrong, message in (([{}], "each needs examples or epochs"),
                           ([{"epochs": 1}] * 2, "1-epochs is listed twice")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            TrainBeforeTest.model_validate(json.loads(json.dumps({"preparations": wrong})))
