from collections import Counter

import pytest
from tests.documents import make_pdf
from tests.refusals import refuses

from fathom.corpus.characters import GAP, UNREADABLE_LETTER
from fathom.corpus.documents.pdf import read_pdf
from fathom.corpus.documents.pdf_fonts import Fonts, is_bold, sets_formulas
from fathom.corpus.documents.pdf_letters import forget_unnamed, to_text
from fathom.corpus.documents.reading import read_document
from fathom.corpus.latex import clean_sentence

LEFT = [
    "A cooler moves energy between two", "fluids without letting them mix, and",
    "its plates are kept thin so that", "little temperature is lost. Fouling",
    "covers the plates with a layer of", "scale over the months, and the drop",
    "of pressure grows until it is clean.",
]  # fmt: skip
RIGHT = [
    "The counterflow keeps the difference", "nearly constant along the plates,",
    "which is why it needs the smallest", "area of all. In a shell the baffles",
    "force the outer fluid to cross them", "many times before it reaches the",
    "outlet nozzle of the whole unit.",
]  # fmt: skip
FIRST, SECOND = " ".join(LEFT), " ".join(RIGHT)


def _read(lines: list[tuple[float, float, float, str]]) -> list[str]:
    return [text for section in read_pdf(make_pdf([lines])).sections for text in section.text.split("\n\n")]


def _rows(columns: list[tuple[float, list[str]]], top: float = 700) -> list[tuple[float, float, float, str]]:
    """Return the lines of columns, drawn row by row."""
    count = len(columns[0][1])
    return [(left, top - 12 * row, 10, texts[row]) for row in range(count) for left, texts in columns]


@pytest.mark.parametrize("right", [238, 250, 320])
def test_columns_drawn_row_by_row_are_read_one_after_the_other(right):
    assert _read(_rows([(50, LEFT), (right, RIGHT)])) == [FIRST, SECOND]


def test_a_line_across_both_columns_divides_the_page():
    across = "This line runs across both of the columns of this page and says what they have in common here."
    lines = [
        *_rows([(50, LEFT), (250, RIGHT)]),
        (50, 600, 10, across),
        *_rows([(50, LEFT), (250, RIGHT)], 570),
    ]
    text = " ".join(_read(lines))
    assert text == " ".join([FIRST, SECOND, across, FIRST, SECOND])


def test_three_columns():
    assert _read(_rows([(30, LEFT), (215, RIGHT), (400, LEFT)])) == [FIRST, SECOND, FIRST]


def test_lines_with_blanks_that_do_not_meet_are_no_columns():
    lines = [f"{one} {two}" for one, two in zip(LEFT, RIGHT, strict=True)]
    assert _read([(50, 700 - 12 * row, 10, line) for row, line in enumerate(lines)]) == [" ".join(lines)]


@pytest.mark.parametrize("pages", [["1"], ["1", "2", "3"], ["iv"], ["A Manual"] * 4])
def test_page_numbers_and_headers_alone_are_no_prose(tmp_path, pages):
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf([[(300, 30, 10, text)] for text in pages]))
    with refuses(path, "no prose"):
        read_document(path, 10)


def test_the_header_of_one_page_alone_stands_where_those_of_others_do():
    heads = ["Coolers of the house"] * 3 + ["Plates that are thin"]
    texts = [f"The {each} of a cooler is made of steel." for each in ("wall", "valve", "shell", "outlet")]
    pages = [[(300, 760, 10, head), (50, 700, 10, text)] for head, text in zip(heads, texts, strict=True)]
    pages.append([(50, 760, 10, "A page without a header"), (50, 748, 10, "has nothing but its text.")])
    texts.append("A page without a header has nothing but its text.")
    content = read_pdf(make_pdf(pages))
    assert [each.text for each in content.sections] == texts
    assert content.left_out == {"repeated": 4}


def test_titles_and_sentences_where_others_recur_are_no_headers():
    titles = ["Coolers of the house"] * 3 + ["Plates that are thin", "Valves that are shut"]
    texts = [
        f"The {each} of a cooler is made of steel." for each in ("wall", "valve", "shell", "pipe", "foot")
    ]
    slides = [[(50, 700, 20, title), (50, 640, 12, text)] for title, text in zip(titles, texts, strict=True)]
    content = read_pdf(make_pdf(slides))
    assert [(each.headings, each.text) for each in content.sections[1:]] == [
        ((title,), text) for title, text in zip(titles[3:], texts[3:], strict=True)
    ]
    alone = read_pdf(make_pdf([[(50, 400, 12, each)] for each in [texts[0]] * 3 + texts[1:]]))
    assert [each.text for each in alone.sections] == texts[1:]


def test_lists_of_references_after_a_label_are_no_prose_and_references_in_sentences_are():
    text = "The shell of Section 2.1 [Shells], page 7, holds a valve \\(page 9\\) and a plate."
    lists = [
        "Others: Section 2.9 [Old plates], page 503, [Bars], page 8, and Appendix A [Valves], page 14.",
        'Glossary: Section "slow cooler" in Words of Coolers, Section "pipe" in Words of Coolers.',
        "This cooler has: outer-plate \\(page 49\\), and valve \\(page 57\\).",
    ]
    lines = [f"{text} {lists[2]}", *lists]
    content = read_pdf(make_pdf([[(50, 700 - 40 * row, 10, line) for row, line in enumerate(lines)]]))
    assert [each.text for each in content.sections] == [text.replace("\\", "")]
    assert content.left_out["links"] == 4


@pytest.mark.parametrize("text", [
    "The rule of the house is this: all plates \\(page 49\\) are cleaned, and all valves are shut.",
    "There are two ways to do it: cooling \\(page 3\\) and heating \\(page 9\\) of the plates.",
    "It is told below: Section 2.9 [Old plates], page 503, says how plates are made.",
])  # fmt: skip
def test_references_after_a_colon_inside_a_sentence_stay(text):
    assert _read([(50, 700, 10, text)]) == [text.replace("\\", "")]


def test_numbers_at_the_right_are_no_column():
    rows = _rows([(50, LEFT), (400, [f"{each}.5 of 9" for each in range(7)])])
    assert _read(rows)[0].startswith(f"{LEFT[0]} 0.5 of 9 {LEFT[1]}")


@pytest.mark.parametrize(("line", "text"), [
    ("the e\0ect of it", "the e�ect of it"),
    ("the e\ufffdect", "the e�ect"),
    ("\ufb01rst e\uf001ect", "ﬁrst e�ect"),
    ("of \uf001rst", "of �rst"),
    ("the e\x0bect", "the e�ect"),
    ("\uf0b7 An item", "  An item"),
    ("\uf0b7An item", " An item"),
    ("\x95 An item", "  An item"),
    ("word\ufffe", "word\xad"),
    ("plain words", "plain words"),
])  # fmt: skip
def test_letters_without_a_name_make_a_word_unreadable_and_bullets_are_blanks(line, text):
    assert to_text([ord(each) for each in line]) == text


@pytest.mark.parametrize(("line", "text"), [
    ("Schr¨odinger and Erd˝os", "Schrödinger and Erdős"),
    ("septi`eme, na¨ıve, Fran¸cois", "septième, naïve, François"),
    ("´Etude by ˇCech", "Étude by Čech"),
    ("the mean ¯x of ˆy", "the mean ¯x of ˆy"),
    ("`word' of x^a", "`word' of x^a"),
    ("a¨1 b´ c", "a¨1 b´ c"),
])  # fmt: skip
def test_accents_before_their_letters_become_one_character_with_them(line, text):
    assert to_text([ord(each) for each in line]) == text


def test_a_sentence_with_an_unreadable_word_is_left_out_and_counted():
    # one glyph of the font has no name that says a letter
    encoding = b"/BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [65 /g123] >> >>"
    pdf = make_pdf([[(72, 700, 10, "The eAect of salt is small."), (72, 688, 10, "But the plates foul.")]])
    text = read_pdf(pdf.replace(b"/BaseFont /Helvetica >>", encoding)).sections[0].text
    assert text == f"The e{UNREADABLE_LETTER}ect of salt is small. But the plates foul."
    counts: Counter[str] = Counter()
    assert clean_sentence(text.split(". ")[0], counts, latex=False, characters="text") is None
    assert counts == {"dropped_unreadable": 1}


def test_a_font_without_any_names_is_believed_only_if_its_blanks_are_blanks():
    named, shifted = [ord(each) for each in "of the plates"], [ord(each) - 29 for each in "of the plates"]
    assert forget_unnamed(named, [True] * len(named)) == named
    assert set(forget_unnamed(shifted, [True] * len(shifted))) == {0xFFFD}
    assert forget_unnamed([0xFFFD], [False]) == [0xFFFD]


def test_paragraphs_of_letters_without_a_name_are_counted():
    encoding = " ".join(f"/g{each}" for each in range(65, 91))
    font = f"/BaseFont /Helvetica /Encoding << /Type /Encoding /Differences [65 {encoding}] >> >>".encode()
    lines = [(72, 700 - 12 * row, 10, "all of these are read by anyone and so on, " * 2) for row in range(9)]
    pdf = make_pdf([[*lines, (72, 500, 10, "WE SEE")]]).replace(b"/BaseFont /Helvetica >>", font)
    assert read_pdf(pdf).left_out["unreadable letters"] == 1


def test_capitals_of_the_size_of_the_text_and_signatures_are_no_part_of_a_sentence():
    lines = [
        "WEAR OF PLATES",
        "The plates are worn by salt",
        "and by sand.",
        "int open (int valve) [Function]",
    ]
    rows = _rows([(50, [*lines, "It opens the valve of a pump."])])
    assert _read(rows)[-2:] == ["The plates are worn by salt and by sand.", "It opens the valve of a pump."]


_EQUAL = "/BaseFont /Odd /FirstChar 32 /LastChar 126 /Widths [" + "600 " * 95 + "] "
_ODD = _EQUAL + "/FontDescriptor << /Type /FontDescriptor /FontName /Odd /Flags 32 /MissingWidth 600 >>"
FONTS = (
    "/BaseFont /Helvetica",
    "/BaseFont /NimbusMonL-Regu",
    _ODD,
    "/BaseFont /CMMI10",
    "/BaseFont /Helvetica-Bold",
    "/BaseFont /ZapfDingbats",
)
MONOSPACED, EQUAL, FORMULA, BOLD, SIGNS = 1, 2, 3, 4, 5


def _read_set(lines: list[tuple]) -> tuple[list[str], Counter[str]]:
    """Return paragraphs and what was left out of lines as left, text and font, twelve points apart."""
    page = [(left, 700 - 12 * row, 10, text, *font) for row, (left, text, *font) in enumerate(lines)]
    content = read_pdf(make_pdf([page], fonts=FONTS))
    return [text for each in content.sections for text in each.text.split("\n\n")], content.left_out


@pytest.mark.parametrize("font", [MONOSPACED, EQUAL])
def test_fonts_called_typewritten_or_with_letters_of_equal_width_are_code(font):
    listing = ["if silt is in the flow then", "    wait till it is filtered", "    measure it minutely"]
    lines = [
        *((50, text) for text in LEFT),
        *((50, text, font) for text in listing),
        *((50, text) for text in RIGHT),
    ]
    texts, left_out = _read_set(lines)
    assert texts == [FIRST, SECOND]
    assert left_out["code"] == len(listing)


def test_a_sentence_goes_on_over_a_line_that_begins_with_code():
    lines = [
        (50, "The valve is opened with a call, and the function of"),
        (50, "open_valve", MONOSPACED),
        (50, "returns when it is open."),
    ]
    assert _read_set([*((50, text) for text in LEFT), *lines])[0][-1].endswith(
        "the function of open_valve returns when it is open."
    )


def test_a_typescript_is_read_but_its_listings_are_not():
    listing = ["if (flow > 3) { open(&valve, 7); }", "else { shut(&valve); flow = 0; }"]
    texts, _ = _read_set([(50, text, MONOSPACED) for text in [*LEFT, *RIGHT, *LEFT, *listing]])
    assert texts[0].startswith(FIRST[:60])
    assert not any("valve, 7" in text for text in texts)


def test_text_is_no_heading_though_smaller_listings_are_most_of_the_page():
    listing = [
        (60, 640 - 9 * row, 8, f"pump = start\\({row}\\); valve.close\\(pump\\);", 1) for row in range(40)
    ]
    lines = [(50, 700, 18, "Storage"), (50, 670, 12, "A cooler moves the energy of a fluid."), *listing]
    content = read_pdf(make_pdf([lines], fonts=("/BaseFont /Helvetica", "/BaseFont /Courier")))
    assert [(each.headings, each.text) for each in content.sections] == [
        (("Storage",), "A cooler moves the energy of a fluid.")
    ]


def test_a_term_on_its_own_line_is_no_part_of_a_sentence_that_begins_with_a_sign():
    lines = [
        "Zero length of a plate",
        "\\(F\\) You gave a plate without any length to the",
        "cooler of the house.",
    ]
    text = [(50 + 20 * (row > 0), 700 - 12 * row, 10, line) for row, line in enumerate(lines)]
    assert _read(text) == ["(F) You gave a plate without any length to the cooler of the house."]


@pytest.mark.parametrize("word", [
    "\\(https://www.coolers.example/plans/of/houses/and/their/plates\\)",
    '"Heatexchangersandcoolersofhousesandplatesandvalvesandpipes"',
])  # fmt: skip
def test_a_sentence_goes_on_with_a_sign_if_the_word_does_not_fit_on_the_line_above(word):
    lines = [
        "The cooler moves all of the energy between two fluids of a house and",
        "its plans are found in the house and here at",
        f"{word} for all",
        "of those who build a cooler of their own in a house.",
    ]
    text = " ".join(lines).replace("\\", "")
    assert _read([(50, 700 - 12 * row, 10, line) for row, line in enumerate(lines)]) == [text]


def test_a_listing_is_no_typescript():
    listing = ["if (flow > 3) { open(&valve, 7); }", "else { shut(&valve); flow = 0; }"] * 3
    texts, left_out = _read_set([(50, text, MONOSPACED) for text in listing])
    assert texts == []
    assert left_out["code"] == len(listing)


def test_rows_of_a_table_are_left_out_and_definitions_are_not():
    rows = [("Brine", "1200"), ("Water", "1000"), ("Oil", "870"), ("Glycol", "1110")]
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    page += [
        (left, 600 - 12 * row, 10, cell)
        for row, cells in enumerate(rows)
        for left, cell in zip((60, 200), cells, strict=True)
    ]
    terms = [
        ("salt", "is what the sea leaves on plates that are never washed."),
        ("silt", "is what a river leaves in a tube when it flows slowly."),
        ("sand", "is what a river leaves in a tube when it flows quickly."),
    ]
    page += [(60, 520, 10, "These three are found in nearly all of the tubes and plates.")]
    page += [
        (left, 500 - 12 * row, 10, cell)
        for row, cells in enumerate(terms)
        for left, cell in zip((60, 120), cells, strict=True)
    ]
    content = read_pdf(make_pdf([page]))
    text = content.sections[0].text
    assert content.left_out["tables"] == len(rows)
    assert "870" not in text
    assert all(meaning in text for _, meaning in terms)


@pytest.mark.parametrize(("end", "below", "expected"), [
    (",", "where the area is that of all.", f"is given by {GAP}, where the area is that of all."),
    (".", "Its sign is that of the difference.", f"is given by {GAP}."),
    ("", "The next unit follows it closely here.", f"is given by {GAP}"),
])  # fmt: skip
def test_a_displayed_formula_inside_a_sentence_is_a_gap(end, below, expected):
    lines = [
        *((50, text) for text in LEFT),
        (50, "The heat that crosses a plate is given by"),
        (130, f"q = UA(t - s){end}", FORMULA),
        (50, below),
    ]
    texts, left_out = _read_set(lines)
    assert any(text.endswith(expected) for text in texts)
    assert left_out["formulas"] == 1


def test_a_line_cut_by_the_brackets_of_a_formula_is_one():
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    page += [(50, 600, 10, "The area"), (92, 601, 10, "A", 3), (101, 600, 10, "of a plate is small.")]
    assert (
        read_pdf(make_pdf([page], fonts=FONTS)).sections[0].text.endswith("The area A of a plate is small.")
    )


def test_labels_and_bold_headings_of_the_texts_size_are_no_sentences():
    lines = [
        (50, "Table of units"),
        *((50, text) for text in RIGHT),
        (50, "2.1 Wear of plates.", BOLD),
        *((50, text) for text in LEFT),
    ]
    texts, left_out = _read_set(lines)
    assert texts == [SECOND, FIRST]
    assert left_out["labels"] == 2


def test_a_section_number_at_the_start_of_a_line_is_no_bullet():
    lines = [
        (50, "The method that needs the fewest of all pumps is told in section"),
        (50, "4.11. A case of it is told here."),
    ]
    texts, _ = _read_set([*((50, text) for text in LEFT), *lines])
    assert "in section 4.11. A case" in texts[-1]


@pytest.mark.parametrize("signs", [[(50, "*"), (58, "F")], [(50, "*")]])
def test_signs_before_a_note_are_no_text(signs):
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    page += [(left, 500, 10, sign, SIGNS) for left, sign in signs] + [(80, 500, 10, f"Note: {SECOND}")]
    text = read_pdf(make_pdf([page], fonts=FONTS)).sections[0].text
    assert text.endswith(f"\n\nNote: {SECOND}")


def test_an_ellipsis_with_blanks_ends_no_sentence():
    assert _read_set([*((50, text) for text in LEFT), (50, "Tubes 1, 2, . . . , 9 are full of salt.")])[0][
        -1
    ].endswith("Tubes 1, 2, ... , 9 are full of salt.")


def test_a_signature_ends_with_its_bracket_though_that_is_typewritten():
    lines = [
        (50, "int open \\(int valve, [Function]"),
        (80, "int *pump, long rate\\)", MONOSPACED),
        (50, "It opens a valve."),
    ]
    assert _read_set([*((50, text) for text in LEFT), *lines])[0] == [FIRST, "It opens a valve."]


@pytest.mark.parametrize(("names", "is_so"), [
    (["CMBX10", "ABCDEF+CMB10", "NimbusRomNo9L-Medi", "Times-BoldItalic", "Lato-Black"], is_bold),
    (["CMMI7", "ABCDEF+CMSY10", "MSBM10", "CambriaMath", "STIXTwoMath-Regular", "Symbol"], sets_formulas),
    (["CMTT9", "DejaVuSansMono", "ABCDEF+Courier", "NimbusMonL-Bold", "Consolas"], Fonts().is_monospaced),
])  # fmt: skip
def test_names_of_fonts_say_what_they_are(names, is_so):
    assert all(map(is_so, names))
    assert not any(
        map(
            is_so, ["CMR10", "CMBR10", "Roboto-Medium", "Times-Roman", "PTSerif-Regular", "LMRoman10-Regular"]
        )
    )


def test_what_has_no_end_is_cut_or_an_entry_and_is_counted():
    texts, left_out = _read_set([
        *((50, text) for text in LEFT),
        (50, "The plates that were cleaned last, and all those that have been"),
        (50, "delivered with them, are in the list of plates by age and by size"),
    ])  # fmt: skip
    assert texts == [FIRST]
    assert left_out["cut sentences"] == 1


def _read_below(*lines: tuple) -> tuple[list[str], Counter[str]]:
    """Return what `_read_set` returns of lines with a blank line above them, without the paragraph above."""
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    page += [(left, 580 - 12 * row, 10, text, *font) for row, (left, text, *font) in enumerate(lines)]
    content = read_pdf(make_pdf([page], fonts=FONTS))
    texts = [text for each in content.sections for text in each.text.split("\n\n")]
    assert texts[0] == FIRST
    return texts[1:], content.left_out


def test_a_listing_inside_a_sentence_is_a_gap():
    texts, left_out = _read_below(
        (50, "Thus the connection"),
        (70, "pump -> valve:south", MONOSPACED),
        (50, "will attach to the lower side of the valve."),
        (50, "It is drawn by"),
        (70, "draw pump", MONOSPACED),
        (50, "A valve is drawn alone, too."),
    )
    assert texts == [
        f"Thus the connection {GAP} will attach to the lower side of the valve.",
        "A valve is drawn alone, too.",
    ]
    assert left_out["code"] == 2
    assert left_out["cut sentences"] == 1


@pytest.mark.parametrize("middle", [
    "and turns the wheel until it stops.",
    "of which there are two.",
])  # fmt: skip
def test_a_sentence_that_begins_in_its_middle_is_none(middle):
    lines = [(70, "draw pump", MONOSPACED), (50, f"{middle} Its plates are thin.")]
    texts, left_out = _read_below(*lines)
    assert texts == ["Its plates are thin."]
    assert left_out["cut sentences"] == 1


def test_the_name_of_a_program_may_begin_a_sentence():
    for sentence in ("pumpctl opens a valve.", "pumpctl isn’t a valve.", "pumpctl can open a valve."):
        assert _read_below((50, sentence.replace("’", "'")))[0] == [sentence]
    lines = [(50, "open_valve(3)", MONOSPACED), (50, "p3 is open, and the pump is shut.")]
    assert _read_below(*lines)[0] == ["p3 is open, and the pump is shut."]


@pytest.mark.parametrize("entry", [
    "* mlw: reformat the source of a pump.", "s51 - The simulator of a pump.",
    "--force opens a valve at once.", "5.1 The pumps of old.", "218 Expected a pump.",
    "mode(M): M is the mode of a pump.", "vertical=yes if true, the pump is above.",
    "Z The matrix of all pumps.", "(where all pumps are alike) and open.", "Syntax:",
    "conditionals and pumps are handled.",
    "{valve, pump} is the set of all.", "[Fou97] J. Fourier, The heat of plates.",
])  # fmt: skip
def test_entries_of_lists_are_no_sentences(entry):
    texts, left_out = _read_below((50, entry))
    assert texts == []
    assert left_out["cut sentences"] == 1


def test_an_abbreviation_ends_no_sentence_that_is_cut():
    texts, _ = _read_below(
        (50, "which is, e.g. Pump seven, open. Valves are shut, so that water, i.e. the flow, stops."),
        (50, "The list of all valves by age, e.g. those of"),
        (70, "draw pump", MONOSPACED),
    )
    assert texts == ["Valves are shut, so that water, i.e. the flow, stops."]


def test_a_term_before_its_sentence_is_no_part_of_it():
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    page += [(50, 600, 10, "PUMP_RATE", BOLD), (115, 600, 10, "The rate of a pump is set by its wheel.")]
    page += [(50, 550, 10, "ERR_PUMP", MONOSPACED), (115, 550, 10, "Pumps are broken.")]
    page += [(50, 580, 10, "Salt", BOLD), (72, 580, 10, "is what the sea leaves on plates.")]
    texts = read_pdf(make_pdf([page], fonts=FONTS)).sections[0].text.split("\n\n")
    assert texts == [
        FIRST,
        "The rate of a pump is set by its wheel.",
        "Pumps are broken.",
        "Salt is what the sea leaves on plates.",
    ]


def test_the_first_phrase_of_a_caption_is_left_out():
    texts, left_out = _read_below((50, "Figure 3: Wear of plates. The oldest plate has the most."))
    assert texts == ["The oldest plate has the most."]
    assert left_out["captions"] == 1
    assert _read_below((50, "Figure 3 shows how plates wear."))[0] == ["Figure 3 shows how plates wear."]


def test_the_number_of_a_footnote_is_no_part_of_it():
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    assert _read([*page, (50, 500, 7, "3Plates of tin are told here.")])[-1] == "Plates of tin are told here."
    assert _read([*page, (50, 500, 7, "4He is a gas of light atoms.")])[-1] == "4He is a gas of light atoms."


def test_references_that_the_outline_does_not_name_are_left_out():
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]
    page += [(50, 560, 14, "References"), (50, 540, 10, "Joseph Fourier. Theory of heat. Plates, 57, 2010.")]
    content = read_pdf(make_pdf([[(50, 740, 14, "Coolers"), *page]], outline=[("Coolers", 0)]))
    assert [each.text for each in content.sections] == [FIRST]
    assert content.left_out["references"] == 1


def test_leaders_cut_by_columns_are_no_ellipses():
    entries = [f"{each} Wear of plates of all kinds . . . . . . . {each}" for each in range(1, 8)]
    page = [(50, 700 - 12 * row, 10, text) for row, text in enumerate([*entries, "8 The pumps of old . . ."])]
    content = read_pdf(make_pdf([page, [(50, 700 - 12 * row, 10, text) for row, text in enumerate(LEFT)]]))
    assert "pumps" not in "".join(each.text for each in content.sections)
    assert content.left_out["leaders"] == len(entries) + 1


def test_listings_in_nameless_bitmap_fonts_are_code():
    # the letters of a bitmap font have no name, nor has the font; here they are drawn by nothing
    def make_font(widths: list[int]) -> str:
        names = " ".join(f"/a{each}" for each in range(32, 127))
        return (
            "/T3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 32 /LastChar 126 "
            f"/CharProcs << >> /Encoding << /Type /Encoding /Differences [32 {names}] >> "
            f"/Widths [{' '.join(map(str, widths))}]"
        )

    uneven = [200 if chr(each) in "fijltrI" else 500 for each in range(32, 127)]
    listing = ["if silt is in the flow then", "wait till it is filtered", "measure it minutely"]
    lines = [*LEFT, *listing, *RIGHT]
    page = [(50, 700 - 12 * row, 10, text, int(text in listing)) for row, text in enumerate(lines)]
    pdf = make_pdf([page], fonts=(make_font(uneven), make_font([500] * 95)))
    content = read_pdf(pdf.replace(b"/Subtype /Type1 /T3", b"/Subtype /Type3"))
    assert content.left_out["code"] == len(listing)
    assert "filtered" not in content.sections[0].text


def test_ligatures_of_nameless_fonts_are_those_of_tex():
    codes = [*map(ord, "of the plates it is e"), 27, *map(ord, "ective, the de"), 12, *map(ord, "nition")]
    assert to_text(forget_unnamed(codes, [True] * len(codes))).endswith("is eﬀective, the deﬁnition")
