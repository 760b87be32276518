"""What cannot be scored until it is settled."""

import pytest

from fathom.config.whole import read_config
from fathom.errors import InputError

MODELS = {"train": {name: {"domain": "near"} for name in ("a", "b")}}
TRAINED = {"base": "a", "paths": [["near"]]}


def read(**values):
    domains = {"near": {"categories": ["near"]}}
    settings = {"scoring": {"until": "settled"}, "models": MODELS, "pairs": {"tokenizer": "a"}}
    return read_config({"domains": domains, **settings, **values}, "my.yaml")


def test_adapted_models_have_no_targets_to_compare():
    adapted = MODELS | {"adapt": [TRAINED]}
    assert read(models=adapted, scoring={}).compared_models == {"a+near": "a"}
    assert read(models=adapted).compared_models == {}


@pytest.mark.parametrize(
    ("values", "message"),
    [({"models": {"train": {"a": {"domain": "near"}}}}, "one model has nothing to be compared with"),
     ({"models": MODELS | {"adapt": [TRAINED | {"steps": 9, "seeds": 2}]}}, "are followed need all pairs"),
     ({"targets": {"against": {"a": "b"}}}, "leave out targets.against"),
     ({"models": MODELS | {"on_disk": 1}}, "leave out models.on_disk")],
)  # fmt: skip
def test_what_needs_all_pairs_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        read(**values)


@pytest.mark.parametrize("settled", [{"block": 0}, {"error": 0}, {"compare": "some"}, {"compare": 0}])
def test_settings_without_meaning_are_refused(settled):
    with pytest.raises(InputError):
        read(settled=settled)
