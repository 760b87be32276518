"""Word lists: which phrases they exclude, and which files are refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.refusals import refuses

from fathom.benchmark.wordlists import LISTS, WordLists, gives_away, read_word_list, read_word_lists

FOLDER = Path(__file__).resolve().parents[2] / "config" / "wordlists"

TABLE_4 = (
    "machine learning", "reinforcement learning", "deep learning", "explainable ai", "graph neural",
    "transfer learning", "generative adversarial", "imitation learning", "causal inference",
    "continual learning", "complex network", "epidemic dynamics", "community detection", "opinion dynamics",
    "information diffusion", "scale-free network", "human mobility", "temporal networks",
    "evolutionary dynamics", "network science", "disease spread", "phylogenetic tree", "population dynamics",
    "natural selection", "mutation rate", "genetic diversity", "infectious disease", "fitness landscape",
    "fixation probability", "economic growth", "monetary policy", "income inequality", "labor market",
    "nash equilibrium", "climate change", "financial market", "international trade", "fiscal policy",
    "unemployment rate",
)  # fmt: skip


@pytest.fixture(scope="module")
def wordlists() -> WordLists:
    return read_word_lists(FOLDER)


@pytest.mark.parametrize("phrase", [
    *TABLE_4, "data mining", "public goods game", "nearest neighbors", "mean field",
    "large language models", "pose estimation", "question answering",
])  # fmt: skip
def test_terms_of_the_field_are_allowed(wordlists, phrase):
    assert wordlists.find_fault(phrase) is None


@pytest.mark.parametrize(("phrase", "fault"), [
    ("publicly available", "function"), ("analysis reveals", "academic"),
    ("specifically designed", "function"), ("significant improvements", "quantity"),
    ("ablation studies", "academic"), ("success rate", "academic"), ("benchmark datasets", "academic"),
    ("paper proposes", "academic"), ("experimental results", "academic"), ("real world", "academic"),
    ("large scale", "academic"), ("vice versa", "stopwords"), ("of the", "stopwords"),
    ("well-known fact", "function"), ("model2 training", "not alphabetic"),
    ("fit_transform method", "not alphabetic"), ("schrödinger equation", "not alphabetic"),
    ("twenty-five models", "quantity"), ("two-stroke engine", None),
])  # fmt: skip
def test_generic_phrases_are_excluded(wordlists, phrase, fault):
    assert wordlists.find_fault(phrase) == fault


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_sorted_and_disjoint(name):
    lines = [line for line in (FOLDER / f"{name}.txt").read_text().splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines))
    others = [read_word_list(FOLDER / f"{other}.txt") for other in LISTS if other != name]
    assert not any(read_word_list(FOLDER / f"{name}.txt") & other for other in others)


def test_lemma_word_sequence_and_kept_word(tmp_path):
    for name in LISTS:
        (tmp_path / f"{name}.txt").write_text("# comment\n\n")
    (tmp_path / "manuals.tsv").write_text("words\tshare\tper_million\nerror code\t0.3\t60\n")
    (tmp_path / "academic.txt").write_text("\ufeffmine\nstudy\n+mining\nblue sky\n", encoding="utf-8")
    lists = read_word_lists(tmp_path, tmp_path / "manuals.tsv")
    assert lists.manuals == {("error", "code"): (0.3, 60.0)}
    assert lists.find_fault("studies here") == "academic"  # its lemma is study
    assert lists.find_fault("mines here") == "academic"
    assert lists.find_fault("data mining") is None
    assert lists.find_fault("clear blue sky") == "academic"
    assert lists.find_fault("bluer skies") == "academic"
    assert lists.find_fault("blue skyline") is None
    assert read_word_list(tmp_path / "academic.txt") == {"mine", "study"}


@pytest.mark.parametrize(("content", "message"), [
    (b"good\nBad\n", "line 2: 'Bad' is not in lower case"),
    (b"good\n# x\n\xff\xfe\n", "line 3: the line is not UTF-8"),
    (b"one, two\n", "line 1: 'one, two' is not words separated"),
])  # fmt: skip
def test_wrong_lines_are_named(tmp_path, content, message):
    (tmp_path / "stopwords.txt").write_bytes(content)
    with refuses(message):
        read_word_list(tmp_path / "stopwords.txt")


def test_missing_list_is_named(tmp_path):
    with refuses("no such file", "stopwords.txt"):
        read_word_lists(tmp_path)


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
