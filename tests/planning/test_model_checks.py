"""Models that the configuration names are looked up before any job starts."""

from pathlib import Path

import pytest
from tests.refusals import refuses
from tests.tables import write_models

from fathom.config.whole import read_config
from fathom.planning.model_checks import check_models, find_served

ROOT = Path(__file__).resolve().parents[2]
REGISTRY = ROOT / "config" / "models.tsv"


def make_config(**changes):
    values = {"domains": {"law": {"categories": ["law"]}}, "pairs": {"tokenizer": "gpt2"}} | changes
    return read_config(values, "my.yaml")


@pytest.mark.parametrize(
    ("changes", "messages"),
    [({"models": {"score": ["gpt2", "gtp2"]}},
      ["models.score.1: unknown model 'gtp2'; did you mean gpt2?"]),
     ({"models": {"train": {"mini": {"domain": "law"}}, "adapt": [{"base": "mm", "paths": [["law"]]}]}},
      ["models.adapt.0.base: unknown model 'mm'"]),
     ({"models": {"train": {"mini": {"domain": "law"}}, "score": ["mini+lwa"],
                  "adapt": [{"base": "minu", "paths": [["law"]]}]}},
      ["models.score.0: unknown model 'mini+lwa'; did you mean minu+law?",
       "models.adapt.0.base: unknown model 'minu'; did you mean mini?"]),
     ({"models": {"score": ["yi-6"]}}, ["models.score.0: several models fit 'yi-6': Yi-6B or Yi-6B-Chat"]),
     ({"pairs": {"tokenizer": "zz"}}, ["pairs.tokenizer: unknown model 'zz'; known: ", "more"]),
     ({"models": {"score": ["gpt2@chat"]}}, ["models.score.0: 'gpt2' is not a chat model"])],
)  # fmt: skip
def test_an_unknown_model_is_named_with_its_key_its_file_and_the_nearest_name(changes, messages):
    with refuses("my.yaml: ", *messages, "Hint: ", "models.train"):
        check_models(make_config(**changes), REGISTRY, "my.yaml")


def test_what_is_followed_is_in_the_table_and_has_seen_known_tokens():
    follow = {"olmo": ["OLMo-2-1124-7B-step150", "OLMo-2-1124-7B-step151"], "gpt2": ["gpt2", "Qwen2-7B"]}
    with refuses(
        "models.follow.olmo.1: unknown model 'OLMo-2-1124-7B-step151'; did you mean OLMo-2-1124",
        "models.follow.gpt2.0 = 'gpt2': its row lacks the tokens that it has seen; fill in column",
    ) as caught:
        check_models(make_config(models={"follow": follow}), REGISTRY, "my.yaml")
    assert "step150'" not in str(caught.value) and "Qwen2" not in str(caught.value)


def test_what_needs_weights_refuses_a_model_behind_a_server(tmp_path):
    row = {"name": "far", "source": "http://host/v1#x", "kind": "chat", "original": "gpt2"}
    registry = write_models(tmp_path / "m.tsv", row, {"name": "gpt2", "source": "gpt2"})
    config = make_config(models={"score": ["far", "gpt2", "far@chat"]})
    check_models(config, registry, "my.yaml")
    assert find_served(config, registry) == {"far", "far@chat"}
    models = {"score": ["far"], "adapt": [{"base": "far", "paths": [["law"]]}]}
    with refuses("models.adapt.0.base = 'far': it is behind a server", "weights"):
        check_models(make_config(models=models), registry, "my.yaml")
    with refuses("layers.models = 'far': it is behind a server"):
        changes = {"models": {"score": ["far"]}, "layers": {"models": ["far"]}}
        check_models(make_config(**changes), registry, "my.yaml")


def test_models_that_are_made_here_need_no_table():
    models = {"train": {"mini": {"domain": "law"}}, "adapt": [{"base": "mini", "paths": [["law"]]}]}
    check_models(make_config(pairs={"tokenizer": "mini"}, models=models), Path("missing.tsv"), "my.yaml")
    with refuses("missing.tsv"):
        check_models(make_config(models=models), Path("missing.tsv"), "my.yaml")


def test_an_optional_model_must_be_one_of_the_section():
    models = {"score": ["gpt2"], "optional": ["gpt2-large"]}
    with refuses("my.yaml: models.optional = 'gpt2-large'", "models.score"):
        check_models(make_config(models=models), REGISTRY, "my.yaml")
    followed = {"follow": {"sizes": ["OLMo-2-1124-7B-step150", "Qwen2-7B"]}, "optional": ["Qwen2-7B"]}
    check_models(make_config(models=followed), REGISTRY, "my.yaml")


VICUNA = "vicuna-13b-v1.5"


@pytest.mark.parametrize(
    "models",
    [{"score": ["gpt2", VICUNA]}, {"score": [f"{VICUNA}@chat"]}, {"follow": {"both": ["Qwen2-7B", VICUNA]}},
     {"adapt": [{"base": VICUNA, "paths": [["law"]]}]}, {"only": [VICUNA], "optional": [VICUNA]}],
)  # fmt: skip
def test_pickled_weights_that_a_run_needs_stop_it_before_its_first_job(models):
    with refuses(str(REGISTRY), f"pickled weights of {VICUNA}", f"models.optional: [{VICUNA}]"):
        check_models(make_config(models={"score": [VICUNA], **models}), REGISTRY, "my.yaml")


def test_pickled_weights_that_a_run_goes_without_are_no_fault():
    check_models(make_config(models={"score": [VICUNA], "optional": [VICUNA]}), REGISTRY, "my.yaml")
    check_models(make_config(models={"score": [VICUNA], "only": ["gpt2"]}), REGISTRY, "my.yaml")
