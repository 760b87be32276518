"""Names for people: what goes, what is said in words, that no two are the same; benchmarks and texts."""

import pytest

from fathom.config.short_names import label_variant, shorten_adapted, shorten_names
from fathom.config.whole import Config


@pytest.mark.parametrize(
    ("name", "short"),
    [("SmolLM2-135M-Instruct-Q4_1", "SmolLM2-135M-Instruct"), ("gemma-3-270m-Q4_K_M", "gemma-3-270m"),
     ("org/Model-7B-chat-GGUF", "Model-7B-chat"), ("toy-gpt2", "toy-gpt2"), ("Q4_1", "Q4_1"),
     ("glm-4-9b-chat-hf", "glm-4-9b-chat"),
     ("toy-gpt2+law", "toy-gpt2 adapted to law"), ("m+law+art", "m adapted to law, then art"),
     ("m+law.terms-exchanged@seed2", "m adapted to law with its terms exchanged (seed 2)"),
     ("m+law@step100", "m adapted to law (step 100)"), ("m@chat", "m (chat template)"),
     ("org/M-7B-Instruct-Q4_1@chat", "M-7B-Instruct (chat template)")],
)  # fmt: skip
def test_what_a_model_is_called(name, short):
    assert shorten_names([name]) == {name: short}


def test_below_its_base_a_model_is_called_by_what_it_was_adapted_to():
    names = ["m", "m+law", "m+law+art@seed2", "m+m", "other+law"]
    short = shorten_adapted(names, "m", {"law": "Law"})
    assert [short[name] for name in names] == [
        *("base", "to Law", "to Law, then art (seed 2)", "to m", "other adapted to Law")
    ]


def test_names_that_would_be_the_same_stay_longer():
    names = ["a/M-1B", "b/M-1B", "N-Q4_1", "N-Q8_0", "N-Instruct-Q4_1"]
    short = shorten_names(names)
    assert list(short) == names and len(set(short.values())) == len(names)
    assert (short["N-Q4_1"], short["N-Q8_0"]) == ("N-Q4_1", "N-Q8_0")


def test_a_benchmark_has_its_name_and_a_reference_the_configured_one():
    assert [label_variant(name) for name in ("tf", "tfidf", "reference", "other")] == [
        *("TF", "TF-IDF", "reference", "other")
    ]
    assert label_variant("reference", [("reference", " by\nClaude ")]) == "by Claude"


def test_every_text_that_models_are_trained_on_has_a_title():
    config = Config.model_validate(
        {
            "domains": {"law": {"categories": ["law"], "title": "Law"}, "art": {"categories": ["art"]}},
            "pairs": {"tokenizer": "gpt2"},
            "models": {
                "texts": {
                    "law": {"files": ["a.txt"], "title": "Jurisprudence"},
                    "art": {"files": ["b.txt"], "title": "Art"},
                    "sea": {"files": ["c.txt"], "title": "The sea"},
                    "sky": {"files": ["d.txt"]},
                }
            },
            "coverage": {"questions": {"staff": {"tables": "t.yaml", "templates": "q.yaml", "first": 2}}},
        }
    )
    assert config.titles == {
        "law": "Law",
        "art": "Art",
        "sea": "The sea",
        "sky": "sky",
        "staff.records": "records of staff",
        "staff.questions": "questions about staff",
    }


def test_titles_are_distinct_and_on_one_line():
    domains = {
        "law": {"categories": ["law"], "title": "Law"},
        "courts": {"categories": ["courts"], "title": " Law\n"},
        "art": {"categories": ["art"], "title": "Fine\nart"},
    }
    values = {"domains": domains, "pairs": {"tokenizer": "gpt2"}}
    assert Config.model_validate(values).titles == {
        "law": "Law (law)",
        "courts": "Law (courts)",
        "art": "Fine art",
    }
