"""Continual pretraining: names of its models, what is followed, and what is refused."""

import pytest

from fathom.config.models import StageTraining
from fathom.config.whole import read_config
from fathom.errors import InputError

STUDY = {"base": "a", "evaluation_domain": "near", "steps": 100, "order": ["far", "other"]}
MANY = [f"field-{number:03d}-of-a-long-name" for number in range(165)]


def read(study, **models):
    domains = {name: {"categories": [name]} for name in ("near", "far")}
    domains |= {name: {"categories": [name], "benchmark": False} for name in MANY}
    values = {"domains": domains,
              "pairs": {"tokenizer": "a"},
              "models": {"train": {"a": {"domain": "far"}}, "texts": {"other": {"files": ["other.txt"]}},
                         "continual": {"study": study}, **models}}  # fmt: skip
    return read_config(values, "my.yaml")


def test_each_stage_is_a_model_that_starts_from_the_one_before():
    models = read({**STUDY, "seeds": 2, "checkpoints": 50}).models
    found = [(name, each.parent, each.domain, each.settings.seed) for name, each in models.adapted.items()]
    assert found == [("a+study@stage1", "a", "far", 0),
                     ("a+study@stage2", "a+study@stage1", "other", 0),
                     ("a+study@stage1@seed1", "a", "far", 1),
                     ("a+study@stage2@seed1", "a+study@stage1@seed1", "other", 1)]  # fmt: skip
    assert models.checkpoints["a+study@stage2@seed1@step50"] == ("a+study@stage2@seed1", 50)
    assert models.bases == ["a"] and models.scored == models.every == ["a"]
    points = models.tracks["a+study"]
    assert [(point.stage, point.domain, point.step) for point in points if point.seed == "0"] == [
        (0, "", 0), (1, "far", 50), (1, "far", 100), (2, "other", 150), (2, "other", 200)]  # fmt: skip
    assert {point.model for point in points} - {"a"} == set(models.followed)


def test_a_stage_is_trained_as_the_study_says():
    study = {**STUDY, "batch": 4, "lora": {"rank": 2}, "learning_rate": 1e-4, "checkpointing": "always"}
    settings = read(study).models.adapted["a+study@stage1"].settings
    assert (settings.batch, settings.lora.rank, settings.checkpointing) == (4, 2, "always")
    shared = {*StageTraining.model_fields} - {"seed", "seeds"}
    assert all(
        getattr(settings, name) == getattr(read(study).models.continual["study"], name) for name in shared
    )


def test_names_of_models_stay_short_however_many_stages_there_are():
    models = read({**STUDY, "order": MANY}).models
    assert len(models.adapted) == 165 and len(models.tracks["a+study"]) == 166
    assert max(map(len, models.adapted)) < 30


def test_without_an_order_nothing_is_trained_but_domains_are_compared():
    config = read({**STUDY, "order": []})
    assert config.models.adapted == config.models.tracks == config.models.studies == {}
    assert config.list_compared("study") == ["far", *MANY, "other"]
    some = read({**STUDY, "candidates": ["far", "near"], "order": ["other", "far"]})
    assert some.list_compared("study") == ["far", "near", "other"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"order": ["far", "other", "far"]}, "order: 'far' is named twice"),
     ({"candidates": ["far", "far"]}, "candidates: 'far' is named twice"),
     ({"order": ["fur"]}, r"models.continual.study.order: unknown domain 'fur'; did you mean far\?"),
     ({"candidates": ["fur"]}, "models.continual.study.candidates: unknown domain 'fur'"),
     ({"evaluation_domain": "other"},
      "models.continual.study.evaluation_domain: unknown domain with a benchmark 'other'"),
     ({"count": 1}, "greater than or equal to 2"),
     ({"checkpoints": 200}, "a stage has only steps = 100"),
     ({"candidates": "every"}, "models.continual.study.candidates")],
)  # fmt: skip
def test_what_cannot_be_trained_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        read({**STUDY, **change})


def test_a_study_has_a_name_of_its_own():
    values = {"domains": {"near": {"categories": ["near"]}}, "pairs": {"tokenizer": "a"}}
    models = {"train": {"a": {"domain": "near"}},
              "continual": {"near": {"base": "a", "evaluation_domain": "near"}}}  # fmt: skip
    with pytest.raises(InputError, match=r"models.continual.near: a domain has this name; rename the study"):
        read_config({**values, "models": models}, "my.yaml")
