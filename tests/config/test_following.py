"""What is followed: names of checkpoints and seeds, tracks of points, and what is refused."""

import pytest
from tests.refusals import refuses

from fathom.config.models import Adaptation
from fathom.config.whole import read_config

ENTRY = {"base": "a", "paths": [["near"], ["near", "far"]], "steps": 100, "checkpoints": 40, "seeds": 2}


def read(entries, **models):
    values = {"domains": {name: {"categories": [name]} for name in ("near", "far")},
              "pairs": {"tokenizer": "a"},
              "models": {"train": {"a": {"domain": "far"}}, "adapt": entries, **models}}  # fmt: skip
    return read_config(values, "my.yaml").models


def test_without_checkpoints_and_seeds_nothing_is_followed():
    models = read([{"base": "a", "paths": [["near"]]}])
    assert models.tracks == models.checkpoints == {} and models.followed == []
    assert models.scored == models.every == ["a", "a+near"]


def test_checkpoints_and_seeds_are_followed_and_not_summarised():
    models = read([ENTRY])
    assert models.scored == models.every == ["a", "a+near", "a+near+far"]
    assert models.checkpoints["a+near+far@seed1@step80"] == ("a+near+far@seed1", 80)
    assert len(models.checkpoints) == 8  # two of each stage and seed: the last step's model stays
    assert set(models.followed) == {*models.checkpoints, "a+near@seed1", "a+near+far@seed1"}
    parents = {name: each.parent for name, each in models.adapted.items()}
    assert parents == {"a+near": "a", "a+near@seed1": "a", "a+near+far": "a+near",
                       "a+near+far@seed1": "a+near@seed1"}  # fmt: skip
    assert {each.settings.seed for name, each in models.adapted.items() if "@" in name} == {1}


def test_a_track_goes_from_the_base_over_all_stages_once_for_each_seed():
    (track,) = read([ENTRY]).tracks.values()  # the path [near] is a beginning of the other one
    points = [(point.model, point.stage, point.step, point.tokens) for point in track if point.seed == "1"]
    size = 16 * 128
    assert points == [
        ("a", 0, 0, 0), ("a+near@seed1@step40", 1, 40, 40 * size), ("a+near@seed1@step80", 1, 80, 80 * size),
        ("a+near@seed1", 1, 100, 100 * size), ("a+near+far@seed1@step40", 2, 140, 140 * size),
        ("a+near+far@seed1@step80", 2, 180, 180 * size), ("a+near+far@seed1", 2, 200, 200 * size),
    ]  # fmt: skip
    assert [point.seed for point in track] == ["0"] * 7 + ["1"] * 7
    assert {point.domain for point in track if point.stage == 2} == {"far"}


def test_a_path_can_be_followed_only():
    near = {**ENTRY, "paths": [["near"]], "seeds": 1}
    models = read([near, {**near, "paths": [["near", "far"]], "score": False}])
    assert models.scored == ["a", "a+near"] and "a+near+far" in models.every
    assert models.path_ends == {"a+near": "a"}
    assert {"a+near+far", "a+near+far@step40"} <= set(models.followed)
    assert [point.model for point in models.tracks["a+near+far"]] == [
        "a", "a+near@step40", "a+near@step80", "a+near",
        "a+near+far@step40", "a+near+far@step80", "a+near+far",
    ]  # fmt: skip


def test_seeds_can_be_listed():
    models = read([{**ENTRY, "seeds": [7, 3]}])
    assert models.adapted["a+near"].settings.seed == 7
    assert models.adapted["a+near@seed3"].settings.seed == 3


def test_a_shared_prefix_is_trained_once_as_the_first_entry_says():
    first = {"base": "a", "paths": [["near"]], "steps": 60}
    models = read([first, {**ENTRY, "paths": [["near", "far"]], "seeds": 1}])
    (track,) = models.tracks.values()
    assert [point.step for point in track] == [0, 60, 100, 140, 160]


def test_models_of_the_registry_are_followed_by_lists():
    models = read([], score=["b"], follow={"first": ["b", "c"], "whole": ["c", "d"]})
    assert models.followed == ["c", "d"]
    assert [point.model for point in models.tracks["whole"]] == ["c", "d"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"checkpoints": 101}, "models.adapt.0: checkpoints = 101: a stage has only steps = 100"),
     ({"checkpoints": 0}, "models.adapt.0.checkpoints = 0: Input should be greater than or equal to 1"),
     ({"checkpoints": -5}, "models.adapt.0.checkpoints = -5: Input should be greater than or equal to 1"),
     ({"seeds": 0}, "models.adapt.0: seeds = 0: at least one is needed"),
     ({"seeds": []}, "models.adapt.0: seeds = []: at least one is needed"),
     ({"seeds": [1, 2, 1]}, "models.adapt.0: seeds = [1, 2, 1]: "),
     ({"seeds": [1, 2], "seed": 1}, "seed = 1: seeds = [1, 2] says which; remove one of the two"),
     ({"paths": [["near", "far", "near"]]}, "paths: near > far > near has 'near' twice"),
     ({"paths": [["near", "fra"]]}, "models.adapt.0.paths: unknown domain 'fra'; did you mean far?")],
)  # fmt: skip
def test_what_cannot_be_followed_is_refused_with_one_message(change, message):
    with refuses(message, "my.yaml") as caught:
        read([ENTRY | change])
    assert str(caught.value).count(";") <= 1


def test_a_list_that_cannot_be_followed_is_refused():
    with refuses("models.follow.x = ['b']: List should have at least 2 items"):
        read([], follow={"x": ["b"]})
    with refuses("x names 'b' twice"):
        read([], follow={"x": ["b", "c", "b"]})


def test_as_many_checkpoints_as_steps_allow():
    entry = Adaptation(base="a", paths=[["x"]], steps=100, checkpoints=100)
    assert entry.list_checkpoints() == [] and entry.is_followed
    assert Adaptation(base="a", paths=[["x"]], steps=100, checkpoints=50).list_checkpoints() == [50]


def test_a_training_is_measured_layer_by_layer_at_its_checkpoints():
    values = {"domains": {name: {"categories": [name]} for name in ("near", "far")},
              "pairs": {"tokenizer": "a"},
              "models": {"train": {"a": {"domain": "far"}}, "adapt": [ENTRY]},
              "layers": {"models": ["a+near+far@step80", "a+near+far@seed1"]}}  # fmt: skip
    config = read_config(values, "my.yaml")
    assert config.layer_references == [
        ("a+near+far@step80", "a"), ("a+near+far@step80", "a+near"),
        ("a+near+far@seed1", "a"), ("a+near+far@seed1", "a+near@seed1"), ("a+near", "a"),
        ("a+near@seed1", "a"),
    ]  # fmt: skip
    with refuses("layers.models", "a+near+far@step70"):
        read_config(values | {"layers": {"models": ["a+near+far@step70"]}}, "my.yaml")
