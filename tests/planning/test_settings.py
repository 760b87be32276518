"""A program gets as settings what its results depend on, and nothing else: the rest re-runs nothing."""

import json

from fathom.config.whole import read_config
from fathom.planning.settings import Settings

VALUES = {"domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"], "benchmark": False}},
          "pairs": {"tokenizer": "tiny"},
          "models": {"train": {"tiny": {"domain": "far"}}, "adapt": [{"base": "tiny", "paths": [["near"]]}]},
          "train_before_test": {"tasks": {"choice": {"kind": "choice", "domain": "near"}}}}  # fmt: skip


def settings(**changes):
    return Settings(read_config(VALUES | changes, "test"))


def test_one_section_is_bare_and_several_have_names():
    assert json.loads(settings().of("matches"))["min_cosine"] > 0
    assert set(json.loads(settings().of("matches", "embedding"))) == {"matches", "embedding"}


def test_equal_settings_are_equal_text():
    assert settings().of("keywords", "embedding") == settings().of("embedding", "keywords")


def test_titles_and_files_decide_nothing_about_documents():
    titled = {"near": {"categories": ["near"], "title": "Near"}, "far": {"categories": ["far"]}}
    assert settings(domains=titled).of_selection() == settings().of_selection()
    other = {"near": {"categories": ["near", "more"]}, "far": {"categories": ["far"]}}
    assert settings(domains=other).of_selection() != settings().of_selection()


def test_what_groups_documents_decides_nothing_about_reading_them():
    other = settings(corpus={"splits_by": "id", "grouping": {"min_words": 9, "max_documents": 5}})
    assert other.of_selection() == settings().of_selection()
    assert json.loads(other.of_sketch()) == {"min_words": 9}
    assert other.of_groups() != settings().of_groups()
    wide = settings(corpus={"grouping": {"max_share": 0.5}})
    assert wide.of_sketch() == settings().of_sketch()


def test_where_sentences_are_embedded_changes_no_other_step():
    there = settings(embedding={"device": "cuda", "precision": "bfloat16"})
    assert there.of("embedding", "keywords") == settings().of("embedding", "keywords")
    assert there.of_card() == settings().of_card()
    assert there.of_embedding() != settings().of_embedding()
    assert settings(embedding={"batch_tokens": 64}).of_card() != settings().of_card()


def test_a_limit_of_sentences_concerns_the_draw_and_the_card():
    limited = settings(sentences={"limit": 5000})
    assert limited.of("sentences") == settings().of("sentences")
    assert json.loads(limited.of_draw()) == {"limit": 5000}
    assert json.loads(limited.of_card())["sentences"]["limit"] == 5000


def test_what_coverage_is_measured_of_re_measures_nothing():
    more = settings(coverage={"benchmarks": True, "expand": ["near"]})
    assert more.of_coverage() == settings().of_coverage() and more.of_card() == settings().of_card()
    assert settings(coverage={"length": 1}).of_coverage() != settings().of_coverage()


def test_the_card_records_nothing_of_models():
    more = VALUES["models"] | {"score": ["gpt2"]}
    assert settings(models=more).of_card() == settings().of_card()
    assert "adapt-train" in settings().of_card()


def test_checkpoints_and_seeds_concern_only_their_own_models():
    plain = settings().of_adaptation("tiny+near")
    assert "seeds" not in plain and "checkpoints" not in plain
    adapt = [{"base": "tiny", "paths": [["near"]], "seeds": 2}]
    seeds = settings(models=VALUES["models"] | {"adapt": adapt})
    assert seeds.of_adaptation("tiny+near") == plain
    assert json.loads(seeds.of_adaptation("tiny+near@seed1")) == json.loads(plain) | {"seed": 1}
    adapt = [{"base": "tiny", "paths": [["near"]], "checkpoints": 50}]
    steps = settings(models=VALUES["models"] | {"adapt": adapt})
    assert json.loads(steps.of_adaptation("tiny+near")) == json.loads(plain) | {"checkpoints": 50}


def test_what_is_followed_has_the_tokens_that_it_has_seen():
    adapt = [{"base": "tiny", "paths": [["near"]], "checkpoints": 50}]
    models = VALUES["models"] | {"adapt": adapt, "follow": {"others": ["x", "y"]}}
    found = json.loads(settings(models=models).of_following({"x": 10, "y": 20}))
    assert [point["tokens"] for point in found["tracks"]["others"]] == [10, 20]
    assert [point["step"] for point in found["tracks"]["tiny+near"]] == [0, 50, 100, 150]
    assert found["summary"]["rounds"] == 1000


def test_another_adapted_model_changes_nothing_for_this_one():
    adapt = [{"base": "tiny", "paths": [["near"], ["near", "far"]], "score": False}]
    wider = settings(models=VALUES["models"] | {"adapt": adapt})
    assert wider.of_adaptation("tiny+near") == settings().of_adaptation("tiny+near")
    assert wider.of_adaptation("tiny+near+far") != wider.of_adaptation("tiny+near")


def test_a_tokenizer_does_not_depend_on_training_steps():
    longer = settings(models={"train": {"tiny": {"domain": "far", "steps": 5}}})
    assert longer.of_tokenizer("tiny") == settings().of_tokenizer("tiny")
    assert longer.of_training("tiny") != settings().of_training("tiny")


def test_layers_do_not_depend_on_which_models_are_compared():
    assert settings(layers={"models": ["tiny"]}).of_layers("scoring") == settings().of_layers("scoring")
    assert settings(layers={"k": 7}).of_layers() != settings().of_layers()
    assert set(json.loads(settings().of_layers("scoring"))) == {"layers", "scoring"}


def test_a_category_changes_neither_examples_nor_tuning():
    tasks = {"tasks": {"choice": {"kind": "choice", "domain": "near", "category": "science"}}}
    named = settings(train_before_test=tasks)
    assert named.of_task("choice") == settings().of_task("choice")
    assert named.of_tuning("choice") == settings().of_tuning("choice")
    limited = settings(train_before_test=VALUES["train_before_test"] | {"limits": {"train": 9}})
    assert limited.of_task("choice") != settings().of_task("choice")
    assert limited.of_tuning("choice") == settings().of_tuning("choice")


def test_tuning_trims_as_summaries_do():
    less = settings(summary={"trim": 0.1})
    assert json.loads(less.of_tuning("choice"))["summary"] == {"trim": 0.1}
