"""A run goes without the optional models that it has not fetched, in every list that names them."""

from pathlib import Path

import pytest
from tests.refusals import refuses
from tests.tables import write_models

from fathom.config.whole import read_config
from fathom.io import paths
from fathom.models.registry import read_registry
from fathom.planning.model_checks import describe_absent, leave_out_unfetched


def make_config(**changes):
    values = {"domains": {"law": {"categories": ["law"]}}, "pairs": {"tokenizer": "gpt2"}} | changes
    return read_config(values, "my.yaml")


OPTIONAL = {
    "train": {"mini": {"domain": "law"}},
    "score": ["gpt2", "gpt2-medium"],
    "optional": ["gpt2"],
    "adapt": [{"base": "gpt2", "paths": [["law"]]}, {"base": "mini", "paths": [["law"]]}],
}


def test_an_optional_model_and_what_is_adapted_from_it_wait_until_it_was_fetched(tmp_path):
    whole = make_config(models=OPTIONAL)
    found, absent = leave_out_unfetched(whole, tmp_path, "my.yaml")
    assert absent == ["gpt2"]
    assert found.models.scored == ["mini", "mini+law", "gpt2-medium"]
    pointer = Path(paths.POINTER.of(model="gpt2").under(tmp_path))
    pointer.parent.mkdir(parents=True)
    pointer.touch()
    found, absent = leave_out_unfetched(whole, tmp_path, "my.yaml")
    assert absent == [] and {"gpt2", "gpt2+law"} <= set(found.models.scored)


def test_an_optional_model_that_is_asked_for_by_name_is_not_left_out(tmp_path):
    found, absent = leave_out_unfetched(
        make_config(models=OPTIONAL | {"only": ["gpt2+law", "mini"]}), tmp_path, "my.yaml"
    )
    assert absent == [] and found.models.scored == ["gpt2+law", "mini"]


NAMED = ["mini", "gpt2", "gpt2+law"]


def test_every_list_goes_without_it(tmp_path):
    models = OPTIONAL | {
        "follow": {"sizes": ["gpt2", "gpt2-medium", "gpt2-large"], "two": ["gpt2", "gpt2-xl"]},
        "continual": {"first": {"base": "gpt2", "evaluation_domain": "law", "order": ["law"]},
                      "second": {"base": "mini", "evaluation_domain": "law", "order": ["law"]}},
    }  # fmt: skip
    found, absent = leave_out_unfetched(
        make_config(
            models=models,
            coverage={"evaluation": {"models": NAMED, "shots": 2}, "bandwidth": 3.0},
            layers={"models": NAMED, "against": {"gpt2": "mini", "gpt2-medium": "mini"}, "k": 20},
            choices={"models": NAMED},
            train_before_test={"models": NAMED},
            targets={"against": {"mini": "gpt2", "gpt2-medium": "mini"}},
            ranking={"corpus_table": {"models": NAMED, "condition": "direct"}},
        ),
        tmp_path,
        "my.yaml",
    )
    assert absent == ["gpt2"]
    assert found.models.follow == {"sizes": ["gpt2-medium", "gpt2-large"]}
    assert list(found.models.continual) == ["second"]
    evaluation = found.coverage.evaluation
    assert (evaluation.models, evaluation.shots, found.coverage.bandwidth) == (["mini"], 2, 3.0)
    assert (found.layers.models, found.layers.k) == (["mini"], 20)
    assert found.layers.against == {"gpt2-medium": "mini"}
    assert found.choices.models == found.train_before_test.models == ["mini"]
    assert found.targets.against == {"gpt2-medium": "mini"}
    table = found.ranking.corpus_table
    assert (table.models, table.condition) == (["mini"], "direct")


def test_no_model_answers_where_only_absent_ones_would(tmp_path):
    whole = make_config(models=OPTIONAL, coverage={"evaluation": {"models": ["gpt2", "gpt2+law"]}})
    found, _ = leave_out_unfetched(whole, tmp_path, "my.yaml")
    assert found.coverage.evaluation.models == []


@pytest.mark.parametrize("key", ["layers", "choices", "train_before_test"])
def test_a_list_that_would_come_to_mean_all_models_is_refused(key, tmp_path):
    whole = make_config(models=OPTIONAL, **{key: {"models": ["gpt2+law"]}})
    with refuses(f"my.yaml: {key}.models names only", "gpt2+law", "models.optional"):
        leave_out_unfetched(whole, tmp_path, "my.yaml")


def test_a_key_that_needs_it_is_refused_with_the_reason(tmp_path):
    asked = {"tables": "t.yaml", "templates": "u.yaml", "writer": "gpt2"}
    whole = make_config(models=OPTIONAL, coverage={"questions": {"papers": asked}})
    with refuses("my.yaml: coverage.questions.papers.writer", "'gpt2'", "needs gpt2"):
        leave_out_unfetched(whole, tmp_path, "my.yaml")


def test_what_is_left_out_is_said_with_the_way_to_get_it(tmp_path):
    rows = [{"name": "far", "source": "org/far"}, {"name": "old", "source": "org/old", "weights": "pickled"}]
    entries = read_registry(write_models(tmp_path / "m.tsv", *rows))
    assert describe_absent([], entries) == ""
    said = describe_absent(["far", "old"], entries)
    assert "far, old;" in said and "fetch` fetches far;" in said and "weights of old are pickled" in said
