"""Short forms of models' names: what goes, what is said in words, and that no two are the same."""

import pytest

from fathom.config.short_names import shorten_adapted, shorten_names


@pytest.mark.parametrize(
    ("name", "short"),
    [("SmolLM2-135M-Instruct-Q4_1", "SmolLM2-135M"), ("gemma-3-270m-Q4_K_M", "gemma-3-270m"),
     ("org/Model-7B-chat-GGUF", "Model-7B"), ("toy-gpt2", "toy-gpt2"), ("Q4_1", "Q4_1"),
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
    names = ["a/M-1B", "b/M-1B", "N-Q4_1", "N-Q8_0", "N-Instruct-Q4_1", "P-1B", "P-1B-Instruct"]
    short = shorten_names(names)
    assert list(short) == names and len(set(short.values())) == len(names)
    assert (short["P-1B"], short["P-1B-Instruct"]) == ("P-1B", "P-1B-Instruct")
    assert (short["N-Q4_1"], short["N-Q8_0"]) == ("N-Q4_1", "N-Q8_0")
