import string
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.corpus import latex
from fathom.corpus.characters import TYPOGRAPHIC, spell_plainly
from fathom.corpus.latex import clean_sentence, convert_latex, is_latex

_PLAIN = st.text(st.sampled_from(string.ascii_letters + string.digits + " .,;:!?'`\"-_^#<>[]()@/|+*=éα’\t\n"))


@pytest.mark.parametrize(("raw", "clean"), [
    (r"The DBN is proposed by \citet{hinton}, it builds", "The DBN is proposed by , it builds"),
    (r"see \citep[see][p.~3]{a,b} and \cite {c}.", "see and ."),
    (r"\Citeauthor*{x} and \parencite{y} and \textcite[3]{z} agree", "and and agree"),
    (r"as shown [\cite=resnet], [\citep=a1] too", "as shown , too"),
    ("teleportation {{cite:33261c49-022d}} has", "teleportation has"),
    (r"cut off \cite{one, two", "cut off"),
    (r"a bare \cite is gone", "a bare is gone"),
    (r"\label{sec:x}\index{a!b}We start", "We start"),
    (r"in \ref{a}, \cref{b,c}, \Cref{d} and [\ref=e]", "in <ref>, <ref>, <ref> and <ref>"),
    (r"\textbf{Bold} and \emph{slanted} words", "Bold and slanted words"),
    (r"a~b and 5\% of $x_i^2$", "a b and 5% of x_i^2"),
    ("50% of it and 20 % of that", "50% of it and 20 % of that"),
    ("\\emph{so}%\n they say", "so they say"),
    ("tabs\tand\nlines\u00a0collapse", "tabs and lines collapse"),
    (r"\refl is no reference", "is no reference"),
    (r"as of \today it is \maketitle open", "as of <ref>it is open"),
])  # fmt: skip
def test_sentences_come_out_clean(raw, clean):
    assert clean_sentence(raw) == clean


OTHER_CHARACTERS = ["naïve Bayes", r"the angle $\alpha$", "a -- b", "it’s", "``quoted''"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [*((raw, "dropped_characters") for raw in OTHER_CHARACTERS), (r" \cite{a} ", "dropped_empty")],
)
def test_a_sentence_with_other_characters_or_of_a_citation_alone_is_dropped(raw, reason):
    counts: Counter[str] = Counter()
    assert clean_sentence(raw, counts) is None
    assert counts == {reason: 1}


@pytest.mark.parametrize(("raw", "reason"), [
    (r"the root \sqrt", "latex_failed"),
    (r"so \verb", "latex_failed"),
    ("deep " + "{" * 3000, "latex_failed"),
    (r"half is \frac{1}", "latex_bad_result"),
    (r"\emph{x}" + " word" * 5000, "latex_too_long"),
])  # fmt: skip
def test_what_the_converter_cannot_do_stays_and_is_counted(raw, reason):
    counts: Counter[str] = Counter()
    assert convert_latex(raw, counts) == raw
    assert counts == {reason: 1}


def test_converter_that_hangs_is_stopped(monkeypatch):
    def spin(text: str) -> str:
        end = time.process_time() + 20
        while time.process_time() < end:
            pass
        return "never"

    monkeypatch.setattr(latex, "_run_converter", spin)
    monkeypatch.setattr(latex, "TIME_LIMIT", 0.1)
    counts: Counter[str] = Counter()
    began = time.process_time()
    assert convert_latex(r"\emph{x}", counts) == r"\emph{x}"
    assert time.process_time() - began < 2
    assert counts == {"latex_too_slow": 1}


@given(_PLAIN)
def test_converter_changes_nothing_in_text_that_skips_it(text):
    if not latex._LATEX.search(text):
        assert latex._run_converter(text) == text


@given(st.text())
def test_clean_sentences_are_plain_and_stay_themselves(text):
    clean = clean_sentence(text)
    if clean is not None:
        assert set(clean) <= set(string.ascii_letters + string.digits + string.punctuation + " ")
        assert clean == clean.strip()
        assert "  " not in clean


@pytest.mark.parametrize("piece", [r"\cite[", r"\cite{", "{{cite:", r"[\cite=", r"\cref{a}", "{", "%"])
def test_long_broken_input_does_not_take_long(piece):
    began = time.process_time()
    convert_latex(piece * 40_000, Counter())
    assert time.process_time() - began < 10


@pytest.mark.parametrize(("raw", "clean"), [
    ("It’s “so” – or ‘not’…", "It's \"so\" - or 'not'..."),
    ("a word—a dash", "a word - a dash"),
    ("ofﬁce ef­fort here", "office effort here"),
    ("Schrödinger and Poincaré", "Schrödinger and Poincaré"),
    ("The pump\x00 of\x07 the\x1b pl\x7fant", "The pump of the plant"),
    ("It\x92s \x93so\x94 \x96 5 \x80 for \x8aimon\x81, na\xefve", "It's \"so\" - 5 € for Šimon, naïve"),
    ("the angle $\\alpha$ -- or ``so''", "the angle α - or \"so\""),
])  # fmt: skip
def test_typographic_characters_become_ascii_and_accents_stay(raw, clean):
    assert clean_sentence(raw, characters="text") == clean
    assert clean_sentence(raw, characters="ascii") is None


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("the word мир means peace", "dropped_script"),
        ("∀ x ∃ y → z", "dropped_symbols"),
        ("<ref>=1 <ref> by 1 <ref>", "dropped_symbols"),
        ("(20)", "dropped_symbols"),
        ("f o r ( int i = 0 ; i < n ; )", "dropped_symbols"),
    ],
)
def test_other_scripts_and_many_symbols_are_left_out_by_reason(raw, reason):
    counts: Counter[str] = Counter()
    assert clean_sentence(raw, counts, characters="text") is None
    assert counts == {reason: 1}


@pytest.mark.parametrize(
    "plain", ["Run git --clean now", "it && that", "Pass $1 and ${HOME}", r"Use \copy x to y", "50% ~ 3 cm"]
)
def test_plain_text_is_not_converted(plain):
    assert clean_sentence(plain, latex=False, characters="text") == plain


@pytest.mark.parametrize("character", sorted(TYPOGRAPHIC))
def test_the_table_gives_ascii(character):
    assert TYPOGRAPHIC[character].isascii()
    assert spell_plainly(f"a{character}b").isascii()


@pytest.mark.parametrize(("text", "latex"), [
    (r"We study the angle $\alpha_i$ of a graph.", True),
    (r"See \cite{x} and \emph{this}.", True),
    (r"See \href{https://example.org/a}{the handbook of plates}, or \url {b}.", True),
    (r"The crew lists \item one of them.", True),
    (r"The archive is C:\items\url, and \itemize is no command.", False),
    ("Costs of $5 and $10 a piece, or $PATH_A and $PATH_B.", False),
    (r"psql has \copy, \dt and \timing; C has \n and \t; run git --clean && make $1.", False),
    (r"The command \emph{x} is LaTeX. " + "This manual goes on in plain words. " * 300, False),
    ("No sign of anything.", False),
])  # fmt: skip
def test_latex_is_told_from_plain_text(text, latex):
    assert is_latex(text) is latex
