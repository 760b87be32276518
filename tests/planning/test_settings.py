"""A program gets as settings what its results depend on, and nothing else: the rest re-runs nothing."""

import json

import pytest

from fathom.config.whole import read_config
from fathom.planning.settings import EMBEDDING_KEYS, Settings

VALUES = {"domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"], "benchmark": False}},
          "pairs": {"tokenizer": "tiny"},
          "models": {"train": {"tiny": {"domain": "far"}}, "adapt": [{"base": "tiny", "paths": [["near"]]}]},
          "train_before_test": {"tasks": {"choice": {"kind": "choice", "domain": "near"}}}}  # fmt: skip


def settings(**changes):
    return Settings(read_config(VALUES | changes, "test"))


def test_one_section_is_bare_and_several_have_names_in_one_order():
    assert json.loads(settings().of("matches"))["min_cosine"] > 0
    assert set(json.loads(settings().of("matches", "embedding"))) == {"matches", "embedding"}
    assert settings().of("keywords", "embedding") == settings().of("embedding", "keywords")


# changed sections, those that still get the same settings, and those that do not
NEAR, FAR = VALUES["domains"].values()
TASKS = VALUES["train_before_test"]
SCIENCE = {"tasks": {"choice": TASKS["tasks"]["choice"] | {"category": "science"}}}


@pytest.mark.parametrize(
    ("changes", "same", "other"),
    [({"domains": {"near": NEAR | {"title": "Near"}, "far": {"categories": ["far"]}}}, "selection", ""),
     ({"domains": {"near": {"categories": ["near", "more"]}, "far": FAR}}, "", "selection"),
     ({"corpus": {"splits_by": "id", "grouping": {"min_words": 9, "max_documents": 5}}},
      "selection", "sketch groups"),
     ({"corpus": {"grouping": {"max_share": 0.5}}}, "sketch", ""),
     ({"embedding": {"device": "cuda", "precision": "bfloat16"}}, "card", "embedding"),
     ({"embedding": {"batch_tokens": 64}}, "", "card"),
     ({"embedding": {"revision": None}}, "embedding card coverage", ""),
     ({"embedding": {"revision": "abc"}}, "", "embedding card coverage"),
     ({"coverage": {"benchmarks": True, "expand": ["near"]}}, "coverage card", ""),
     ({"coverage": {"others": {"near": {"MMLU": {"file": "q.csv"}}}}}, "coverage correlations card", ""),
     ({"coverage": {"length": 1}}, "", "coverage"),
     ({"models": VALUES["models"] | {"score": ["gpt2"]}}, "card", ""),
     ({"models": {"train": {"tiny": {"domain": "far", "steps": 5}}}}, "tokenizer:tiny", "training:tiny"),
     ({"references": {"near": {"a": "a.csv", "b": "b.csv"}}, "lead_reference": "b"}, "card", ""),
     ({"examples": {"keywords": {"near": ["policy"]}}}, "card", "examples"),
     ({"layers": {"models": ["tiny"]}}, "layers:scoring card", ""),
     ({"train_before_test": TASKS | {"models": ["tiny"]}}, "card", ""),
     ({"layers": {"k": 7}}, "", "layers"),
     ({"train_before_test": SCIENCE}, "task:choice tuning:choice", ""),
     ({"train_before_test": TASKS | {"limits": {"train": 9}}}, "tuning:choice", "task:choice")],
)  # fmt: skip
def test_what_a_program_does_not_depend_on_changes_none_of_its_settings(changes, same, other):
    def find(settings, name):
        if name == "embedding":
            return settings.of(embedding=EMBEDDING_KEYS)
        method, _, argument = name.partition(":")
        arguments = filter(None, [argument])
        if found := getattr(settings, f"of_{method}", None):
            return found(*arguments)
        return settings.of(method, *arguments)

    for names, expected in ((same, True), (other, False)):
        for name in names.split():
            assert (find(settings(**changes), name) == find(settings(), name)) is expected, name


def test_a_map_of_others_depends_on_the_benchmarks_of_its_domain():
    both = {name: {"benchmark": True, "categories": [name]} for name in ("near", "far")}
    one = {"near": {"MMLU": {"file": "q.csv"}}}
    found, wider = (settings(domains=both, coverage={"others": others}).of_others("near")
                    for others in (one, one | {"far": {"ARC": {"file": "a.csv"}}}))  # fmt: skip
    assert found == wider and "q.csv" in found


def test_categories_of_references_are_named_by_variant():
    changes = {"references": {"near": {"a": "a.csv", "b": "b.csv"}}, "lead_reference": "b",
               "examples": {"categories": {"near": {"a": ["x"], "b": ["y"], "none": ["z"]}}}}  # fmt: skip
    named = json.loads(settings(**changes).of_examples())["categories"]
    assert named == {"near": {"reference-a": ["x"], "reference": ["y"]}}


def test_settings_hold_what_they_are_for():
    limited, there = settings(sentences={"limit": 5000}), settings(embedding={"device": "cuda"})
    assert there.of("embedding", "keywords") == settings().of("embedding", "keywords")
    # runs from before there was this key stay as they are
    found = settings().of(embedding=EMBEDDING_KEYS), settings().of("embedding"), settings().of_coverage()
    assert "revision" not in "".join(found)
    assert limited.of("sentences") == settings().of("sentences")
    assert json.loads(limited.of(sentences={"limit"})) == {"limit": 5000}
    assert json.loads(limited.of_card())["sentences"]["limit"] == 5000
    assert json.loads(settings(corpus={"grouping": {"min_words": 9}}).of_sketch()) == {"min_words": 9}
    assert "adapt-train" in settings().of_card()
    assert set(json.loads(settings().of("layers", "scoring"))) == {"layers", "scoring"}
    tuning = json.loads(settings(summary={"trim": 0.1}).of_tuning("choice"))
    assert tuning["summary"] == {"trim": 0.1}, "tuning trims as summaries do"


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


def test_what_is_followed_has_the_tokens_that_it_has_seen_and_its_revision():
    adapt = [{"base": "tiny", "paths": [["near"]], "checkpoints": 50}]
    models = VALUES["models"] | {"adapt": adapt, "follow": {"others": ["x", "y"]}}
    others = {"x": {"tokens": 10, "revision": "step1"}, "y": {"tokens": 20, "revision": "step2"}}
    found = json.loads(settings(models=models).of_following(others))
    read = [(point["tokens"], point["revision"]) for point in found["tracks"]["others"]]
    assert read == [(10, "step1"), (20, "step2")]
    assert [point["step"] for point in found["tracks"]["tiny+near"]] == [0, 50, 100, 150]
    assert found["summary"]["rounds"] == 1000


def test_another_adapted_model_changes_nothing_for_this_one():
    adapt = [{"base": "tiny", "paths": [["near"], ["near", "far"]], "score": False}]
    wider = settings(models=VALUES["models"] | {"adapt": adapt})
    assert wider.of_adaptation("tiny+near") == settings().of_adaptation("tiny+near")
    assert wider.of_adaptation("tiny+near+far") != wider.of_adaptation("tiny+near")


def test_an_adaptation_without_frozen_blocks_has_the_settings_that_it_had():
    frozen = {"base": "tiny", "paths": [["near"]], "frozen": [1]}
    models = VALUES["models"] | {"adapt": [frozen]}
    assert "frozen" not in json.loads(settings().of_adaptation("tiny+near"))
    assert json.loads(settings(models=models).of_adaptation("tiny+near"))["frozen"] == [1]
