"""What gives a word away: other forms of it, in any spelling; and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.benchmark.wordlists import gives_away

# as found in prompts of real pairs, unless they test a rule
GIVEN = [
    ("Random graphs and other", "graph"), ("Nash equilibrium and", "equilibria"),
    ("Quantile regression", "quantile"), ("the vertices", "vertex"), ("two matrices", "matrix"),
    ("the graph-based way", "graph"), ("a multi-agent system", "multiagent"),
    ("RidgeClassifier.fit of", "ridge"), ("with fit_intercept set", "intercept"),
    ("the HTTPServer", "server"), ("Poincar\u00e9 maps", "Poincare"), ("normalize it", "normalized"),
    ("entangled states", "Disentanglement"), ("a theory of", "theoretical"), ("the analysis", "analytical"),
    ("breaks the symmetry", "symmetric"), ("the spectra", "spectral"), ("a stable orbit", "stability"),
    ("directionality of", "directed"), ("unstructured text", "structured"), ("a subgraph", "graph"),
    ("a nonlinear", "linear"), ("selector of", "selection"), ("cooperators", "cooperation"),
    ("is stored in", "storage"), ("the context", "contextual"), ("a synthesis of", "synthetic"),
]  # fmt: skip
KEPT = [
    ("We photograph", "graph"), ("A graph of", "node"), ("graph neural networks", "net"),
    ("the information", "form"), ("our research", "search"), ("a network", "work"),
    ("the community", "communication"), ("every particle", "particular"), ("the relation", "correlation"),
    ("a transfer", "transformer"), ("the police", "policy"), ("universities", "universe"),
    ("in state", "estate"), ("ChatGPT is a", "chatbot"), ("", "graph"), ("1234 _ -", "graph"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "word"), GIVEN)
def test_other_forms_of_a_word_give_it_away(text, word):
    assert gives_away(text, f" {word}")


@pytest.mark.parametrize(("text", "word"), KEPT)
def test_other_words_do_not(text, word):
    assert not gives_away(text, f" {word}")


@given(st.text(max_size=40), st.text(max_size=12))
def test_any_text_has_an_answer_and_a_word_gives_itself_away(text, word):
    assert gives_away(f"{text} graph {word}", "graph")
    assert gives_away(text, word) in (True, False)
