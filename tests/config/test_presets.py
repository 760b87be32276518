"""The papers' configurations do what they say."""

from pathlib import Path

import pytest

from fathom.config.whole import Config, read_config
from fathom.config.yaml_files import read_values
from fathom.planning.durations import CHARACTERS

PAPERS = Path(__file__).resolve().parents[2] / "config" / "papers"


def read_preset(name: str) -> Config:
    """Read a configuration of a paper."""
    return read_config({"dump": "d", **read_values(PAPERS / f"{name}.yaml")}, name)


@pytest.mark.parametrize(
    "name", ["raw-corpora", "beyond-benchmarks", "beyond-benchmarks-layers", "beyond-benchmarks-continual"]
)
def test_text_is_enough_for_the_steps_of_a_training(name):
    models = read_preset(name).models
    budgets = {each.steps * each.batch * each.sequence for _, _, each in models.adapted.values()}
    assert models.max_characters >= max(budgets) * CHARACTERS


@pytest.mark.parametrize("name", ["raw-corpora", "beyond-benchmarks"])
def test_the_base_is_held_against_six_adapted_models_and_one_path_is_only_followed(name):
    models = read_preset(name).models
    ends = [end for end, base in models.path_ends.items() if base == "gpt2-xl"]
    assert len(ends) == 6 and "gpt2-xl+cs.AI+materials" not in models.scored
    assert [point.model for point in models.tracks["gpt2-xl+cs.AI+materials"]][-5:] == [
        "gpt2-xl+cs.AI",
        *(f"gpt2-xl+cs.AI+materials@step{step}" for step in (500, 1000, 1500)),
        "gpt2-xl+cs.AI+materials",
    ]
