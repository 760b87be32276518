"""Normalisation: what a run of tokens can contain, and where it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.benchmark.normalise import split_into_runs


@pytest.mark.parametrize(("text", "runs"), [
    ("Large Language Models learn.", [["large", "language", "models", "learn"]]),
    ("deep learning, fine-tuned models", [["deep", "learning"], ["fine-tuned", "models"]]),
    ("networks (GNNs) learn", [["networks"], ["learn"]]),
    ("a (b [c {d}] e) f", [["a"], ["f"]]),
    ("open (never closed", [["open"], ["never", "closed"]]),
    ("1) first 2) second", [["1"], ["first", "2"], ["second"]]),
    ("the $k$-means method of $x_{i}$ kind", [["the"], ["method", "of"], ["kind"]]),
    ("costs $5 and $10 a day", [["costs"], ["5", "and"], ["10", "a", "day"]]),
    (r"where \(a+b\) and \[c\] hold", [["where"], ["and"], ["hold"]]),
    (r"\emph{very deep} nets \cite{key} and {\em flat}", [["very", "deep", "nets"], ["and", "flat"]]),
    (r"Erd\H{o}s-R\'enyi and Erdős-Rényi", [["erdos-renyi", "and", "erdos-renyi"]]),
    (r'Schr\"odinger, Poincar{\'e}', [["schrodinger"], ["poincare"]]),
    ("see https://a.b/c?d=e or me@x.org now", [["see"], ["or"], ["now"]]),
    ("a <b>bold</b> claim &amp; x < y", [["a"], ["bold"], ["claim"], ["x"], ["y"]]),
    ("we can't, don't, they're; it\u2019s Nash's", [["we", "can", "not"], ["do", "not"], ["they", "are"],
                                                ["it", "is", "nash"]]),
    ("players' moves 'quoted' text", [["players"], ["moves"], ["quoted"], ["text"]]),
    ("\u2018open\u2019, it\u02bcs non\u2010linear, non\u2011local, soft\u00adened",
     [["open"], ["it", "is", "non-linear"], ["non-local"], ["softened"]]),
    (r"so \begin{align*} a &= b \end{align*} holds $$c = d$$ again \emph{} here",
     [["so"], ["holds"], ["again", "here"]]),
    ("you've, she'd, I'm, it't, heaven'ly",
     [["you", "have"], ["she", "would"], ["i", "am"], ["it't"], ["heaven'ly"]]),
    ("tail\x00risk\x07index", [["tail", "risk", "index"]]),
    ("a\x80b c\u200bd e\ud800f g\ue000h i\u0378j", [[*"abcdefghij"]]),  # signs that no one sees
    ("enclo\u20ddsed \u0915\u093e\u092e", [["enclosed", "\u0915\u092e"]]),  # signs on letters
    ("scale--free and long\u2013range", [["scale"], ["free", "and", "long"], ["range"]]),
    ("fit_transform of model2", [["fit_transform", "of", "model2"]]),
    ("", []),
    ("... !!", []),
])  # fmt: skip
def test_examples(text, runs):
    assert split_into_runs(text) == runs


def test_contractions_are_written_in_full():
    short = (
        "cannot won't shan't ain't let's it's he's she's that's this's there's here's what's who's where's"
        " when's how's why's y'all ma'am o'clock"
    )
    long = (
        "can not will not shall not is not let us it is he is she is that is this is there is here is what is"
        " who is where is when is how is why is you all madam of the clock"
    )
    assert split_into_runs(short) == [long.split()]


@given(st.text(max_size=300))
def test_tokens_contain_word_characters_only(text):
    for run in split_into_runs(text):
        assert run
        for token in run:
            assert token
            assert all(sign.isalnum() or sign in "-'_" for sign in token)
            assert not token.startswith("-")
            assert not token.endswith("-")


@given(st.text(alphabet="abcnstdST'-_.,;()[]$\\ é\u2019{}<>", max_size=120))
def test_normalising_again_changes_nothing(text):
    runs = split_into_runs(text)
    assert split_into_runs(" . ".join(" ".join(run) for run in runs)) == runs


@given(st.lists(st.lists(st.text("abcdexyz", min_size=1, max_size=6), min_size=1, max_size=4), max_size=6),
       st.sampled_from([". ", ", ", "; ", ": ", "! ", " -- ", " / ", " (aside) ", " \u2014 "]))  # fmt: skip
def test_no_run_crosses_punctuation(runs, sign):
    assert split_into_runs(sign.join(" ".join(run) for run in runs)) == runs


@pytest.mark.parametrize(
    "text", ["(" * 100_000, "([{" * 30_000 + "}])" * 30_000, "$" * 100_000, "<a " * 30_000, "\\" * 100_000,
             "a-" * 50_000, "x'" * 50_000, "n't" * 30_000, "word " * 20_000, "\\begin{math}" * 8_000],
)  # fmt: skip
def test_long_and_unusual_text_is_accepted(text):
    assert isinstance(split_into_runs(text), list)
