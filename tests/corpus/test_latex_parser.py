import gzip

import orjson
import pylatexenc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pylatexenc.latex2text import LatexNodes2Text

from fathom.corpus import latex_parser as module
from fathom.corpus.latex_parser import parse_latex
from fathom.corpus.records import iterate_paragraphs

_SIGNS = "{}[]()<>$&~^_%#`'-!?=*,.:;|\"@+/ \n\té\\"
_PIECES = [
    r"\frac", r"\sqrt", r"\emph", r"\alpha", r"\verb", r"\item", r"\'e", r"\&", r"\[", r"\]", r"\(", r"\)",
    r"\\", r"\newcommand", r"\footnote[3]", r"\unknown", r"\left(", r"\section*{x}", r"\begin{equation}",
    r"\end{equation}", r"\begin{itemize}[x]", r"\end{itemize}", r"\begin{verbatim}", r"\end{verbatim}", r"$$",
    r"``", r"''", r"--", r"---", r"?`", r"word", r"a1", r"x_i", r"Größe", r"10.5",
]  # fmt: skip
_WORDS = ["two words", "a, b; c", "(see x)", "\n\n", "  "]


def _convert(text: str, ours: bool) -> str:
    """Return what the converter makes of a text, or the name of its error."""
    converter = LatexNodes2Text()
    try:
        if ours:
            return converter.nodelist_to_text(parse_latex(text))
        return converter.latex_to_text(text)
    except Exception as error:  # noqa: BLE001 -- whatever it is, both must raise it
        return type(error).__name__


@given(st.lists(st.sampled_from([*_SIGNS, *_PIECES, *_WORDS]), max_size=25).map("".join))
def test_text_is_that_of_pylatexenc(text):
    assert _convert(text, ours=True) == _convert(text, ours=False)


def test_real_papers_come_out_as_from_pylatexenc(shared):
    with gzip.open(shared / "arxiv" / "redpajama" / "arxiv_002.jsonl.gz") as stream:
        texts = [orjson.loads(line)["text"] for _, line in zip(range(6), stream, strict=False)]
    paragraphs = [part for text in texts for part in iterate_paragraphs(text) if "\\" in part][:400]
    assert len(paragraphs) > 100
    differing = [part for part in paragraphs if _convert(part, ours=True) != _convert(part, ours=False)]
    assert differing == []


def test_the_installed_parser_is_the_one_this_was_held_against():
    assert pylatexenc.__version__ == module.KNOWN_VERSION


def test_another_version_parses_in_its_own_way(monkeypatch):
    monkeypatch.setattr(module, "PlainRunParser", None)
    with pytest.raises(TypeError):
        parse_latex("a word")
    monkeypatch.setattr(pylatexenc, "__version__", "2.12")
    assert _convert(r"so \emph{two words}", ours=True) == "so two words"
