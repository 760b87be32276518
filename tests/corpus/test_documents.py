"""Every format becomes sections of prose; what is broken, locked or hostile costs one message."""

import gzip
import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests.documents import make_docx, make_epub, make_pdf, make_zip, put
from tests.fuzzing import write_documents
from tests.refusals import refuses

from fathom.corpus.characters import CODE_MARK
from fathom.corpus.documents.formats import FORMATS
from fathom.corpus.documents.reading import read_document
from fathom.corpus.documents.reading_process import ReadingProcess
from fathom.corpus.headings import clean_heading
from fathom.corpus.left_out import LINKS, TERMS

_FIRST = "A write-ahead log holds every change before the tables do."
_SECOND = "A checkpoint brings the tables up to date with the log."


def _read(folder: Path, name: str, data: bytes | str, max_mb: int = 5):
    return read_document(put(folder, name, data), max_mb)


_HTML = f"""<html><head><title>A manual</title><script>var a = "not a sentence at all";</script></head><body>
<div class="navbar"><a href="x">Next page of this manual</a></div>
<h1>Storage</h1><p>{_FIRST}</p><h2 id="checkpoints">1.2. Checkpoints<a class="headerlink" href="#c">¶</a></h2>
<p>{_SECOND.replace("tables", "<b>tables</b>")}</p><pre>int main(void) is no sentence of prose</pre>
<ul><li><a href="a">another page to go to</a></li></ul><table><tr><td>Name of a column</td></tr></table>
<footer>Copyright of all the authors</footer></body></html>"""
_MARKDOWN = f"""---\ntitle: A manual\n---\n# Storage\n\n{_FIRST}\n\n## Checkpoints\n\n{_SECOND}

```\nint main(void) is no sentence\n```\n\n| a table | of data |\n|---|---|\n| is no | prose here |\n"""
_RST = f"""Storage\n=======\n\n{_FIRST}\n\n.. code-block:: c\n\n   int main is no sentence of prose\n
.. _cp:\n\nCheckpoints\n-----------\n\n{_SECOND}\n"""
_PLAIN = f"""Storage\n=======\n\n{_FIRST}\n\nCheckpoints\n-----------\n\nA check-\npoint {_SECOND[13:]}\n
    if (a[0] == b->c) {{ return f(&x); }}\n"""
_LATEX = r"""\documentclass{article}\title{A manual}\begin{document}\section{Storage} A write-ahead log
holds \emph{every} change before the tables do.% a comment
\begin{equation}a = b\end{equation}
\subsection{Checkpoints}\label{cp}A checkpoint brings the tables up to date with the log~\cite{x}.
\begin{thebibliography}{9}\bibitem{x} Somebody wrote a book once.\end{thebibliography}\end{document}"""
_PDF = make_pdf(
    [
        [(72, 760, 9, "A manual of all"), (72, 700, 18, "1. Storage"), (300, 30, 9, "1"),
         (72, 670, 10, "A write-ahead log holds every"), (72, 658, 10, "change before the tables do.")],
        [(72, 760, 9, "A manual of all"), (72, 700, 18, "2. Checkpoints"), (300, 30, 9, "2"),
         (72, 670, 10, "A checkpoint brings the ta-"), (72, 658, 10, "bles up to date with the log.")],
        [(72, 760, 9, "A manual of all"), (300, 30, 9, "3")],
    ],
    [("Storage", 0), ("Checkpoints", 1)],
)  # fmt: skip
_DOCX = make_docx([("Heading1", "Storage"), ("", _FIRST), ("Heading2", "Checkpoints"), ("", _SECOND)])
_PAGE = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{}</h1><p>{}</p></body></html>"
_EPUB = make_epub([_PAGE.format("Storage", _FIRST), _PAGE.format("Checkpoints", _SECOND)])
_FILES = {
    "a.html": _HTML, "a.md": _MARKDOWN, "a.rst": _RST, "a.txt": _PLAIN, "a.tex": _LATEX, "a.pdf": _PDF,
    "a.docx": _DOCX, "a.epub": _EPUB,
}  # fmt: skip


@pytest.mark.parametrize("name", _FILES)
@pytest.mark.parametrize("packed", [False, True], ids=["", "gz"])
def test_every_format_has_the_same_two_sections(tmp_path, name, packed):
    data = _FILES[name] if isinstance(_FILES[name], bytes) else _FILES[name].encode()
    content = _read(tmp_path, name + ".gz" * packed, gzip.compress(data) if packed else data)
    assert [section.headings[-1] for section in content.sections] == ["Storage", "Checkpoints"]
    assert [section.text for section in content.sections] == [_FIRST, _SECOND]
    assert len({section.anchor for section in content.sections}) == 2


def test_entries_of_an_index_of_pages_are_no_prose(tmp_path):
    page = f"""<h1>Pages</h1><ul><li><a href="a.html#b">a.html#b</a> &rarr; {{log}} {{checkpoint}}</li>
    <li>{_FIRST}</li><li><a href="https://a.b/c">https://a.b/c</a> says what a checkpoint is.</li></ul>"""
    content = _read(tmp_path, "a.html", page)
    (section,) = content.sections
    assert "{checkpoint}" not in section.text
    assert _FIRST in section.text and "https://a.b/c says what" in section.text
    assert content.left_out[LINKS] == 1


def test_a_row_of_links_after_a_label_is_no_prose(tmp_path):
    """`See also: beams, ties.` ends like a sentence, in the manuals that texinfo writes."""
    beams, ties = (f'<a href="#{name}">{name.title()} of notes</a>' for name in ("beams", "ties"))
    page = f"""<h1>Notes</h1><p>Notes: beams are in {beams} and ties in {ties}.</p><p>{ties}.</p>
    <p>Notation Reference: {beams}, {ties} and {beams}.</p>"""
    content = _read(tmp_path, "a.html", page)
    (section,) = content.sections
    assert section.text == ("Notes: beams are in Beams of notes and ties in Ties of notes.\n\nTies of notes.")
    assert content.left_out[LINKS] == 1


def test_there_is_a_document_of_every_format(tmp_path):
    write_documents(tmp_path / "broken")  # what is broken on purpose elsewhere
    for names in (_FILES, (tmp_path / "broken").iterdir()):
        assert {Path(name).suffix for name in names} | {".htm", ".xhtml", ".markdown", ".text"} == set(
            FORMATS
        )


def test_the_page_on_corpora_names_every_format():
    page = (Path(__file__).parents[2] / "docs" / "corpus.md").read_text()
    assert [ending for ending in FORMATS if f"`{ending}`" not in page] == []


def test_a_pdf_without_outline_is_divided_at_large_lines_or_pages(tmp_path):
    pages = [
        [(72, 700, 18, "Storage"), (72, 600, 10, _FIRST)],
        [(72, 700, 18, "Checkpoints"), (72, 600, 10, _SECOND)],
    ]
    content = _read(tmp_path, "a.pdf", make_pdf(pages))
    assert [section.headings for section in content.sections] == [("Storage",), ("Checkpoints",)]
    content = _read(tmp_path, "b.pdf", make_pdf([page[1:] for page in pages]))
    assert [section.anchor for section in content.sections] == ["page=1", "page=2"]
    assert content.pages == 2


def test_words_broken_at_line_ends_keep_the_hyphens_that_the_text_has_elsewhere(tmp_path):
    text = "We use a write-ahead log here.\n\nThe write-\nahead log holds all trans-\nactions of the day.\n"
    (section,) = _read(tmp_path, "a.txt", text).sections
    assert section.text.endswith("The write-ahead log holds all transactions of the day.")
    text = "\n".join(["It is a very long and in-", "ter-", "nation-", "al word, and so is re-", "Elected."])
    assert _read(tmp_path, "b.txt", text).sections[0].text == (
        "It is a very long and international word, and so is re- Elected."
    )


def test_a_sequence_of_a_million_letters_costs_seconds(tmp_path):
    path = put(tmp_path, "genome.txt", "\n".join(["acgt" * 500] * 500))
    with ReadingProcess(5, seconds=20) as process:
        assert len(process.read(path).sections[0].text) == 500 * 2001 - 1


@pytest.mark.parametrize(
    ("heading", "clean"),
    [("3.2. Checkpoints ¶", "Checkpoints"), ("A.1 Storage", "Storage"), ("4.Source files", "Source files"),
     ("64-bit systems", "64-bit systems"), ("A tutorial", "A tutorial"), ("7", "7")],
)  # fmt: skip
def test_headings_lose_their_numbers(heading, clean):
    assert clean_heading(heading) == clean


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("locked.pdf", make_pdf([[(72, 700, 10, _FIRST)]], locked=True), "password"),
        ("broken.pdf", b"%PDF-1.4 and then nothing of use", "broken"),
        ("scan.pdf", make_pdf([[], []]), "scan"),
        ("no.docx", b"this is not a zip archive", "zip"),
        ("other.docx", make_zip({"a.txt": "text"}), "word/document.xml"),
        ("bomb.docx", make_docx([("", _FIRST)], **{"word/media/a.bin": bytes(50_000_000)}), "unpacks"),
        ("bomb.epub", make_zip({"META-INF/container.xml": bytes(50_000_000)}), "unpacks"),
        ("bomb.txt.gz", gzip.compress(bytes(50_000_000)), "5 MB"),
        ("large.txt", b"a " * 3_000_000, "5 MB"),
        ("torn.txt.gz", gzip.compress(os.urandom(1000))[:-20], "compression"),
        ("empty.html", b"", "empty"),
        ("zeros.txt", b"\0\1\2\3" * 99, "zero bytes"),
        ("none.md", "```\nonly code\n```\n", "no prose"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, data, says):
    with refuses(name, says):
        _read(tmp_path, name, data)


def test_nothing_is_fetched_run_or_expanded(tmp_path):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    put(tmp_path, "secret.txt", "the secret of the house")
    address = f"http://127.0.0.1:{server.server_port}"
    entities = (
        f'<!DOCTYPE html [<!ENTITY a "{"lol " * 99}"><!ENTITY b "{"&a;" * 99}"><!ENTITY c "{"&b;" * 99}">'
        f'<!ENTITY s SYSTEM "file://{tmp_path}/secret.txt"><!ENTITY t SYSTEM "{address}/t">]>'
    )
    page = (
        f'{entities}<html><head><base href="{address}/"><link rel="stylesheet" href="a.css"></head><body>'
        f'<p>{_FIRST} &c; &s; &t;</p><img src="{address}/a.png"><script src="{address}/a.js"></script>'
        f'<iframe src="{address}/b.html"></iframe></body></html>'
    )
    book = make_epub([page])
    for name, data in {"a.html": page, "a.xhtml": f'<?xml version="1.0"?>{page}', "a.epub": book}.items():
        text = "".join(section.text for section in _read(tmp_path, name, data).sections)
        assert text.startswith(_FIRST), name
        assert "secret" not in text and "lol" not in text and len(text) < 200
    server.shutdown()
    assert asked == []


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [("utf-8", ""), ("latin-1", ""), ("cp1252", "windows-1252"), ("utf-16", ""), ("utf-8-sig", "")],
)
def test_encodings_are_found(tmp_path, encoding, declared):
    sentence = "Schrödinger and Poincaré wrote about the naïve café of the rue de l'Hôpital in Besançon."
    page = f"<html><head><meta charset='{declared}'></head><body><p>{sentence}</p></body></html>"
    (section,) = _read(tmp_path, "a.html", page.encode(encoding)).sections
    assert section.text == sentence


def test_a_reader_that_dies_or_hangs_costs_one_file(tmp_path):
    nested = put(tmp_path, "deep.html", "<svg>" * 100_000 + f"<p>{_FIRST}</p>")
    good = put(tmp_path, os.fsdecode(b"odd \n\xff.txt"), _FIRST)
    slow = put(tmp_path, "slow.html", f"<p>{_FIRST}</p>" * 400_000)
    page = put(tmp_path, "a.html", _HTML)
    with ReadingProcess(50, seconds=60) as process:
        assert process.read(page) == read_document(page, 50)
        assert process.read(good).sections[0].text == _FIRST
        with refuses("deep.html"):
            process.read(nested)
        process._process.process.kill()  # as the kernel does when memory runs out
        with refuses("odd", "exit code"):
            process.read(good)
        assert process.read(good).sections[0].text == _FIRST
    with ReadingProcess(50, seconds=0) as process, refuses("slow.html", "processor time"):
        process.read(slow)


def test_terms_and_names_of_restructured_text_are_no_part_of_sentences(tmp_path):
    text = (
        "Options\n<<<<<<<\n\n:Author: The pump group of all\n\n:option:`KEEP`\n"
        "  It is kept at rest until the settings_ are read.\n\n"
        "``pumps.valves.Valve.open``\n\nUse :genex:`$<OPEN:valve>` in ``a_`` and coils_, not ``b__``. ::\n\n"
        "- .. class:: of all the coils\n"
    )
    (section,) = _read(tmp_path, "a.rst", text).sections
    plain = section.text.replace(CODE_MARK, "")
    assert section.headings == ("Options",)
    assert plain.split("\n\n") == [
        "It is kept at rest until the settings are read.",
        "Use $<OPEN:valve> in a_ and coils, not b__.",
    ]


def test_a_text_file_of_restructured_text_is_read_as_such(tmp_path):
    text = (
        f"Pumps\n=====\n\n.. note::\n\n   {_FIRST}\n\nSee :ref:`valves` and :ref:`the coil<coils>` there.\n"
    )
    (section,) = _read(tmp_path, "a.txt", text).sections
    assert section.text.split("\n\n") == [_FIRST, "See valves and the coil there."]


def test_text_on_the_line_of_an_admonition_is_read(tmp_path):
    begun = _FIRST.replace(" holds", "\n   holds")
    text = f"Pumps\n=====\n\n.. note:: {begun}\n\n* An item of a list:\n\n  .. tip:: {_SECOND}\n"
    (section,) = _read(tmp_path, "a.rst", text).sections
    assert section.text.split("\n\n") == [_FIRST, "An item of a list:", _SECOND]


def test_the_title_of_an_admonition_is_no_text(tmp_path):
    text = f"Pumps\n=====\n\n.. admonition:: What all the crew has to know\n\n   {_FIRST}\n"
    (section,) = _read(tmp_path, "a.rst", text).sections
    assert section.text == _FIRST


@pytest.mark.parametrize(
    "text",
    [
        "{first}\nType this command: >\n    set nocompatible and all of the rest\n<{second}\n",
        "{first}\nType this command: >\n    set nocompatible\n<\n{second}\n",
        "{first}\nType this command:\n    $ pump --start all of them\n    $ pump --stop\n{second}\n",
        "{first} Type this command:\n\n```\nlift all of the water\n\nthen stop\n```\n\n{second}\n",
        "{first} Type this command:\n\n$ pump all of the water and stop\n\n{second}\n",
        "{first} Type this command:\n\nint main(void)\n{{\n  return pump;\n}}\n\n{second}\n",
    ],
)
def test_code_inside_a_paragraph_of_plain_text_is_left_out(tmp_path, text):
    (section,) = _read(tmp_path, "a.txt", text.format(first=_FIRST, second=_SECOND)).sections
    assert section.text.split("\n\n") == [f"{_FIRST} Type this command:", _SECOND]


def test_a_page_of_a_manual_has_headings_and_its_terms_are_no_part_of_sentences(tmp_path):
    text = """COOLER(1)                  Coolers of the House                  COOLER(1)

DESCRIPTION
       A cooler moves energy, and its plates are kept thin so that it per\N{HYPHEN}
       forms well.

   Rooms
       It cools all of the rooms.

OPTIONS
       -a, --all of the rooms
              Rooms that are shut are cooled as well as those that are
              open.
       -c PLATES
       --count PLATES
              So many plates are used.

       -q     Nothing is said about the rooms that are cooled, or about
              those that are not.
"""
    content = _read(tmp_path, "cooler.txt", text)
    assert [(each.headings, each.text.split("\n\n")) for each in content.sections] == [
        (("DESCRIPTION",), ["A cooler moves energy, and its plates are kept thin so that it performs well.",
                            "It cools all of the rooms."]),
        (("OPTIONS",), ["Rooms that are shut are cooled as well as those that are open.",
                        "So many plates are used.",
                        "Nothing is said about the rooms that are cooled, or about those that are not."]),
    ]  # fmt: skip
    assert content.left_out[TERMS] == 4


@pytest.mark.parametrize("first", ["* JSON", "1. JSON AND XML", "THE ROOMS OF THE HOUSE,"])
def test_a_line_in_capitals_that_is_an_item_or_goes_on_is_no_heading(tmp_path, first):
    text = f"{first}\n  which are cooled, are all the rooms of it.\n"
    (section,) = _read(tmp_path, "a.txt", text).sections
    words = first.split(" ", 1)[1] if first[0] in "*1" else first
    assert (section.headings, section.text) == ((), f"{words} which are cooled, are all the rooms of it.")


def test_terms_on_the_lines_of_their_definitions_may_follow_one_another(tmp_path):
    text = """-q     Nothing is said about the rooms that are cooled, or about
       those that are not.
-v     All is said about the rooms that are cooled, or about
       those that are not.
"""
    content = _read(tmp_path, "cooler.txt", text)
    assert content.sections[0].text.split("\n\n") == [
        f"{each} is said about the rooms that are cooled, or about those that are not."
        for each in ("Nothing", "All")
    ]
    assert content.left_out == {TERMS: 2}


def test_lines_that_are_indented_below_the_first_go_on(tmp_path):
    lines = ["The first line of this note is the longest of all,", "   and the others are", "   below it."]
    (section,) = _read(tmp_path, "a.txt", "\n".join(lines)).sections
    assert section.text == "The first line of this note is the longest of all, and the others are below it."


def test_underlines_of_headings_are_no_fences(tmp_path):
    text = f"One pump\n~~~~~~~~\n\n{_FIRST}\n\nTwo more\n~~~~~~~~\n\n{_SECOND}\n"
    first, second = _read(tmp_path, "a.txt", text).sections
    assert (first.text, second.text) == (_FIRST, _SECOND)


def test_an_indented_line_after_a_colon_stays_prose(tmp_path):
    text = f"- A pump has these:\n  {_FIRST}\n- Another pump has\n  none of them.\n"
    (section,) = _read(tmp_path, "a.txt", text).sections
    assert section.text.split("\n\n") == [f"A pump has these: {_FIRST}", "Another pump has none of them."]


@pytest.mark.parametrize(("text", "reason"), [
    ("Release: 1.3.24 | Release Date: March 30, 2021", "page furniture"),
    ("Keywords: heat, plates, salt and the sea.", "page furniture"),
    ("Definition at line 139 of file vicinity.h.", "page furniture"),
    ("Referenced by append_to_vicinity(), and build().", "page furniture"),
    ("Inheritance diagram for plates::Cooler:", "page furniture"),
    ("[<code>06e8120928</code>] - tools: remove the escape of a plate (A Person) #9781", "revisions"),
    ("#1249: Fix the number of a plate.", "revisions"),
    ("PR #1249: Fix the number of a plate", "revisions"),
    ("Fix the number of a plate (PR #1249, Issue #1248).", "revisions"),
    ("Plates of all kinds have numbers #1249 (A Person)", "revisions"),
    ("Source Code: lib/plates.js", "page furniture"),
    ("xml - interfaces of coolers and of their plates.", "entries of lists"),
])  # fmt: skip
def test_fields_and_entries_of_lists_of_changes_are_no_prose(tmp_path, text, reason):
    path = tmp_path / "a.html"
    path.write_text(f"<html><body><h1>Storage</h1><p>{_FIRST}</p><p>{text}</p></body></html>")
    content = read_document(path, 10)
    assert [each.text for each in content.sections] == [_FIRST]
    assert content.left_out[reason] == 1


def test_a_remark_in_brackets_after_a_number_is_no_change(tmp_path):
    text = "Of all the coolers this was ranked #1 (before those of other houses)."
    assert _read(tmp_path, "a.md", text).sections[0].text == text


@pytest.mark.parametrize("typed", [
    "`rate` &lt;number&gt; | &lt;string&gt;", "`rate` {number|string[]}", "Returns: {number}", "{number}",
])  # fmt: skip
def test_names_with_their_types_are_no_part_of_what_they_mean(tmp_path, typed):
    path = tmp_path / "a.md"
    path.write_text(f"- {typed} The rate of a pump.\n")
    assert read_document(path, 10).sections[0].text == "The rate of a pump."


def test_notices_and_links_to_more_are_no_prose(tmp_path):
    notices = (
        "<p>© Copyright 2007-2021, the authors of this.</p><p>Created using <a href='x'>Sphinx</a> 3.5.</p>"
    )
    page = f"<html><body><h1>Storage</h1><p>{_FIRST} <a href='y'>Read more</a></p>{notices}</body></html>"
    (section,) = _read(tmp_path, "a.html", page).sections
    assert section.text == _FIRST
