"""The language of sections: long ones are judged, short ones go with their file."""

import pytest
from tests.documents import GERMAN

from fathom.corpus.detection import find_other_language, find_other_languages, keep_english

ENGLISH = (
    "The memory of a machine is handed out by its kernel in pages, and what nobody has asked for in a long"
    " time is written to the disk, from where it is read again when somebody asks for it."
)
FRENCH = (
    "La gestion de la m\u00e9moire est une des t\u00e2ches les plus importantes, et le noyau s'en charge en"
    " plusieurs couches, dont chacune a ses propres r\u00e8gles et qui travaillent toutes ensemble pour elle."
)
SHORT = "Der Speicher ist voll."


@pytest.mark.parametrize(("texts", "found"), [
    ([GERMAN, ENGLISH, FRENCH], ["de", "", "fr"]),
    ([SHORT, GERMAN, ENGLISH, GERMAN], ["de", "de", "", "de"]),
    ([SHORT, GERMAN, ENGLISH], ["", "de", ""]),  # one of two is not most
    ([GERMAN, SHORT, GERMAN, FRENCH, ENGLISH], ["de", "", "de", "fr", ""]),  # nor are two of four
    ([ENGLISH, SHORT], ["", ""]),
    ([SHORT], [""]),
    ([SHORT] * 8, ["de"] * 8),  # all together are long enough
    ([], []),
])  # fmt: skip
def test_short_sections_go_with_most_of_their_file(texts, found):
    assert find_other_languages(texts) == found


def test_thirty_words_are_judged_and_fewer_are_not():
    words = GERMAN.replace(",", "").split()
    assert find_other_language(" ".join(words[:30])) == "de"
    assert find_other_language(" ".join(words[:29])) == ""


def test_a_doubtful_text_stays():
    mixed = [*FRENCH.split()[:17], *ENGLISH.split()[:20]]  # French with a probability of 0.8
    assert find_other_language(" ".join(mixed)) == ""
    assert find_other_language(" ".join([*FRENCH.split(), *ENGLISH.split()[:5]])) == "fr"


UNFINISHED = f"{ENGLISH}\n\nDer Speicher ist voll, und niemand hat ihn mehr gebraucht.\n\n{ENGLISH}"


def test_paragraphs_in_another_language_go_and_are_counted():
    assert keep_english(UNFINISHED) == (f"{ENGLISH}\n\n{ENGLISH}", 1)
    assert keep_english(f"{ENGLISH}\n\n\n{ENGLISH}") == (f"{ENGLISH}\n\n\n{ENGLISH}", 0)
    assert keep_english(f"{ENGLISH}\n\n{SHORT}") == (f"{ENGLISH}\n\n{SHORT}", 0)  # too short to be judged


@pytest.mark.parametrize("text", [
    "ulong Fl_addmul_pre(ulong a, ulong b, ulong c, ulong p, ulong pi) returns a+bc modulo p.",
    "for some mi modulo Di and we can define a character by \u03c7(Gj) = e(mj/Dj) for all j.",
    "\\subsection{The algebras {{formula:4ace74fb-3d24-4423}} and {{formula:fca70f2d-a0d2-42df}}}",
    "Homo sapiens and Pan troglodytes share most of the genes of Escherichia coli.",
])  # fmt: skip
def test_formulas_code_and_names_are_no_other_language(text):
    assert keep_english(text) == (text, 0)
