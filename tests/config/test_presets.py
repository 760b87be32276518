"""The papers' configurations do what they say."""

from pathlib import Path

import pytest

from fathom.config.whole import Config, read_config
from fathom.config.yaml_files import read_values
from fathom.models.registry import read_registry
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


def test_six_models_are_compared_with_their_chat_variants_and_eight_base_models_with_each_other():
    registry = read_registry(PAPERS.parent / "models.tsv")
    for name in ("raw-corpora", "raw-corpora-comparison"):
        scored = read_preset(name).models.score
        chat = [each for each in scored if registry[each].kind == "chat"]
        base = [each for each in scored if each not in chat]
        assert len(base) == 8 and len(chat) == 6
        assert {registry[each].base_of for each in chat} == set(base) - {"gpt2-medium", "gpt2-xl"}


@pytest.mark.parametrize("name", ["raw-corpora", "beyond-benchmarks"])
def test_adapted_models_stand_by_nearness_as_in_the_papers(name):
    config = read_preset(name)
    models = ["gpt2-xl", *(end for end, base in config.models.path_ends.items() if base == "gpt2-xl")]
    paths = ["+cs.AI", "+cs.CL", "+culture+cs.AI", "+materials+cs.AI", "", "+culture", "+materials"]
    assert config.claims.order_by_nearness(models, "cs.AI") == [f"gpt2-xl{path}" for path in paths]
    assert config.claims.variants == []  # nothing else follows from what is near
