from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.config.model_names import CONTROLS, ModelName

_WORDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]*", fullmatch=True).filter(
    lambda word: not word.endswith(tuple(f".{each}" for each in CONTROLS))
)
_NUMBERS = st.none() | st.integers(min_value=0)
_PATHS = st.tuples(st.lists(_WORDS, min_size=1, max_size=3).map(tuple), st.sampled_from(("as-is", *CONTROLS)))


@given(_WORDS, st.just(((), "as-is")) | _PATHS, _NUMBERS, st.none() | st.integers(), _NUMBERS, st.booleans())
def test_a_name_is_read_as_it_was_made(base, adapted, stage, seed, step, chat):
    name = ModelName(base, *adapted, stage, seed, step, chat)
    assert ModelName.parse(str(name)) == name
    assert ModelName.parse(name.plain) == replace(name, chat=False)


@given(st.text() | st.text("ab.+@0-9tepsdgchmrn"))
def test_any_text_stays_as_it_is(text):
    assert str(ModelName.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [("Llama-3.1-8B", ModelName("Llama-3.1-8B")),
     ("gpt2+cs.AI+math@seed1@step50", ModelName("gpt2", ("cs.AI", "math"), seed=1, step=50)),
     ("gpt2+cs.AI.terms-only", ModelName("gpt2", ("cs.AI",), "terms-only")),
     ("a+b.terms-exchanged+c.terms-exchanged@seed-2", ModelName("a", ("b", "c"), "terms-exchanged", seed=-2)),
     ("a+b.terms-only+c", ModelName("a", ("b.terms-only", "c"))),
     ("a+near@stage3@seed0", ModelName("a", ("near",), stage=3, seed=0)),
     ("Qwen2-0.5B-Instruct@chat", ModelName("Qwen2-0.5B-Instruct", chat=True)),
     ("a@seed01", ModelName("a@seed01")),
     ("a@step5@seed1", ModelName("a@step5@seed1"))],
)  # fmt: skip
def test_parts_of_names(text, name):
    assert ModelName.parse(text) == name
