"""Claims in the configuration: which models they are checked on, and what is refused."""

import pytest

from fathom.config.claims import Claims, list_conditions
from fathom.config.models import Models
from fathom.config.whole import read_config
from fathom.errors import InputError


def make_models(**adapt):
    training = {"base": "b", "steps": 10, "seeds": [0, 7]} | adapt
    return Models.model_validate(
        {"train": {"b": {"architecture": "gpt2", "domain": "other", "steps": 10}},
         "adapt": [training, {"base": "b", "paths": [["d"]], "text": "terms-only", "seeds": 2, "steps": 10}]},
    )  # fmt: skip


def test_models_that_were_adapted_alike_are_one_condition_and_beginnings_are_their_own():
    (found,) = list_conditions(make_models(paths=[["d"], ["d", "far"], ["near"]], checkpoints=5)).values()
    assert [(each.path, each.is_end, each.models) for each in found] == [
        ([], True, ["b"]),
        (["d"], False, ["b+d@step5", "b+d@seed7@step5"]),
        (["d"], True, ["b+d", "b+d@seed7"]),
        (["d", "far"], False, ["b+d+far@step5", "b+d+far@seed7@step5"]),
        (["d", "far"], True, ["b+d+far", "b+d+far@seed7"]),
        (["near"], False, ["b+near@step5", "b+near@seed7@step5"]),
        (["near"], True, ["b+near", "b+near@seed7"]),
    ]


def test_without_seeds_or_checkpoints_there_is_nothing_to_check():
    assert list_conditions(make_models(paths=[["d"]], seeds=1)) == {}
    assert Claims().variants == []
    assert Claims(unused=0.2, clozes=5).variants == ["unused", "clozes"]


def test_adapted_models_are_ordered_by_nearness_and_equally_near_ones_stay_as_they_are():
    claims = Claims(near={"d": ["near"]})
    ordered = ["b+d", "b+d@seed7", "b+near", "b+y+near", "b+x+d", "b", "b+d+x", "b+near+y", "b+y", "b+x"]
    shuffled = ["b", "b+y", "b+d+x", "b+near", "b+y+near", "b+d", "b+x", "b+near+y", "b+x+d", "b+d@seed7"]
    assert claims.order_by_nearness(shuffled, "d") == ordered
    # nothing is near to another domain: the base, then the others as they are
    assert claims.order_by_nearness(["b+x", "b", "b+d"], "other") == ["b", "b+x", "b+d"]


VALUES = {"corpus": {"source": "docstrings", "packages": ["numpy"]},
          "domains": {"d": {"categories": ["numpy.*"]},
                      "near": {"categories": ["numpy.a.*"], "benchmark": False},
                      "far": {"categories": ["numpy.b.*"], "benchmark": False}},
          "pairs": {"tokenizer": "b"},
          "models": {"train": {"b": {"architecture": "gpt2", "domain": "far", "steps": 10}},
                     "adapt": [{"base": "b", "paths": [["d"]], "steps": 10, "seeds": 3}]},
          "claims": {"unused": 0.3, "clozes": 10, "near": {"d": ["near"]}}}  # fmt: skip


NO_VALIDATION = {"benchmark": 0.6, "adapt-train": 0.4, "adapt-valid": 0.0, "adapt-test": 0.0}


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"claims": {"near": {"far": ["near"]}}}, "claims.near: unknown domain with a benchmark 'far'"),
     ({"claims": {"near": {"d": ["nera"]}}}, "claims.near.d: unknown domain 'nera'"),
     ({"claims": {"near": {"d": ["d"]}}}, "claims.near.d: "),
     ({"claims": {"unused": 1.0}}, "claims.unused"),
     ({"models": {"train": VALUES["models"]["train"]}},
      "no entry of models.adapt has several seeds or checkpoints"),
     ({"corpus": VALUES["corpus"] | {"splits": NO_VALIDATION}},
      "claims.clozes: corpus.splits.adapt-valid is 0")],
)  # fmt: skip
def test_claims_that_cannot_be_checked_are_refused(changed, message):
    assert read_config(VALUES, "test").claims.unused == 0.3
    with pytest.raises(InputError, match=message):
        read_config(VALUES | changed, "test")
