"""DOCX and EPUB: formulas and fields stay in their sentences; a missing or broken part costs itself alone."""

import io
import zipfile

import pytest
from tests.documents import make_docx, make_epub, make_zip
from tests.refusals import refuses

from fathom.corpus.characters import GAP
from fathom.corpus.documents.archives import UNREADABLE
from fathom.corpus.documents.docx import read_docx
from fathom.corpus.documents.epub import read_epub
from fathom.corpus.documents.sections import FileContent
from fathom.corpus.left_out import LINKS

_LIMIT = 1_000_000
_FIRST = "A write-ahead log holds every change before the tables do."
_SECOND = "A checkpoint brings the tables up to date with the log."
_NAMES = " ".join(
    f'xmlns:{prefix}="{name}"'
    for prefix, name in {
        "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
        "o": "urn:schemas-microsoft-com:office:office",
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "d": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "p": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "v": "urn:schemas-microsoft-com:vml",
    }.items()
)


def _make_body(paragraph: str) -> str:
    return f'<?xml version="1.0"?><w:document {_NAMES}><w:body><w:p>{paragraph}</w:p></w:body></w:document>'


def _run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def _relate(kind: str, target: str) -> str:
    kind = f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}"
    relation = f'<Relationship Id="a" Type="{kind}" Target="{target}"/>'
    name = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{name}">{relation}</Relationships>'


def _read_docx(document: str, **others: bytes) -> FileContent:
    return read_docx(make_docx([], **{"word/document.xml": document.encode(), **others}), _LIMIT)


_ALTERNATIVE = "<mc:AlternateContent><mc:Choice/><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>"
_FRACTION = "<m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>"


@pytest.mark.parametrize(
    ("inner", "text", "gaps"),
    [
        ("<m:oMath><m:r><m:t>q=UA</m:t></m:r></m:oMath>", "q=UA", 0),
        (f"<m:oMath>{_FRACTION}</m:oMath>", GAP, 1),
        (f"<m:oMathPara><m:oMath>{_FRACTION}</m:oMath></m:oMathPara>", GAP, 1),
        ('<w:r><w:object><o:OLEObject ProgID="Equation.3"/></w:object></w:r>', GAP, 1),
        (f'<w:fldSimple w:instr="REF a">{_run("1.2")}</w:fldSimple>', "1.2", 0),
        (
            f"<mc:AlternateContent><mc:Choice><m:oMath>{_FRACTION}</m:oMath></mc:Choice><mc:Fallback/>"
            "</mc:AlternateContent>",
            GAP,
            1,
        ),
        (
            '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> EQ \\f(a;b) </w:instrText></w:r>'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
            GAP,
            1,
        ),
        ("<w:r><w:drawing><d:inline/></w:drawing></w:r>", GAP, 1),
        ('<w:r><w:pict><v:oval style="width:9pt"/></w:pict></w:r>', GAP, 1),
        (f"<w:r>{_ALTERNATIVE.format('<w:pict><v:oval/></w:pict>')}</w:r>", GAP, 1),
        (f'{_run("fast")}<w:r><w:pict><v:oval style="position:absolute"/></w:pict></w:r>', "fast", 0),
        (
            f"<w:r><w:ruby><w:rt>{_run('kan')}</w:rt><w:rubyBase>{_run('fast')}</w:rubyBase></w:ruby></w:r>",
            "fast",
            0,
        ),
        (f"<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>{_run('fast')}", "fast", 0),
        ('<w:r><w:rPr><w:vanish w:val="false"/></w:rPr><w:t>fast</w:t></w:r>', "fast", 0),
        ("<w:r><w:t>fast</w:t><w:cr/><w:t>and</w:t><w:ptab/><w:t>safe</w:t></w:r>", "fast and safe", 0),
        ("<m:oMath><m:r><w:rPr><w:i/></w:rPr><m:t>q</m:t></m:r></m:oMath>", "q", 0),
        (
            f"<mc:AlternateContent><mc:Choice>{_run('slow')}</mc:Choice><mc:Fallback>{_run('fast')}"
            "</mc:Fallback></mc:AlternateContent>",
            "fast",
            0,
        ),
        (f"{_run('fast')}<w:r><w:drawing><d:anchor/></w:drawing></w:r>", "fast", 0),
        (f'{_run("fast")}<w:r><w:footnoteReference w:id="7"/></w:r>', "fast", 0),
        (f'{_run("fast")}<w:r><w:commentReference w:id="7"/></w:r>', "fast", 0),
        (f'<w:bdo w:val="ltr">{_run("fast")}</w:bdo>', "fast", 0),
        (f'<w:hyperlink r:id="gone">{_run("fast")}</w:hyperlink>', "fast", 0),
    ],
)
def test_nothing_of_a_sentence_in_a_docx_goes_without_a_mark(inner, text, gaps):
    body = _make_body(f"{_run('The log of the database is ')}{inner}{_run(' in all of its tables.')}")
    content = _read_docx(body)
    assert content.sections[0].text == f"The log of the database is {text} in all of its tables."
    assert content.gaps == gaps


@pytest.mark.parametrize("target", ["word/document2.xml", "/word/document2.xml", "./word/document2.xml"])
def test_the_main_part_of_a_docx_is_where_its_package_says(target):
    relations = _relate("officeDocument", target)
    data = make_zip({"_rels/.rels": relations, "word/document2.xml": _make_body(_run(_FIRST))})
    assert read_docx(data, _LIMIT).sections[0].text == _FIRST


_PICTURE = (
    "<w:drawing><d:{frame}><a:graphic><a:graphicData><p:pic><p:blipFill><a:blip {relation}/>"
    "</p:blipFill></p:pic></a:graphicData></a:graphic></d:{frame}></w:drawing>"
)


_OLD_PICTURE = "<w:pict><v:shape style='width:9pt'><v:imagedata {relation}/></v:shape></w:pict>"


@pytest.mark.parametrize("picture", [
    *(_PICTURE.format(frame=frame, relation=relation) for frame in ("inline", "anchor")
      for relation in ('r:embed="a"', 'r:embed="gone"', 'r:link="gone"', "")),
    *(_OLD_PICTURE.format(relation=relation) for relation in ('r:id="a"', 'r:id="gone"', "")),
])  # fmt: skip
def test_a_picture_of_a_docx_leaves_a_mark_inside_a_sentence_though_its_file_is_missing(picture):
    inner = f"<w:r><w:t>The log is </w:t>{picture}<w:t> in its tables.</w:t></w:r></w:p><w:p>{_run(_FIRST)}"
    content = _read_docx(
        _make_body(f"{inner}<w:r>{picture}</w:r></w:p><w:p><w:r>{picture}</w:r></w:p><w:p>{_run(_SECOND)}"),
        **{"word/_rels/document.xml.rels": _relate("image", "media/a.png").encode()},
    )
    assert content.sections[0].text == f"The log is {GAP} in its tables.\n\n{_FIRST}\n\n{_SECOND}"
    assert content.gaps == 1


@pytest.mark.parametrize("picture", [
    _PICTURE.format(frame="inline", relation='r:embed="gone"'), _OLD_PICTURE.format(relation='r:id="gone"'),
])  # fmt: skip
def test_a_picture_of_a_docx_without_any_relations_leaves_a_mark(picture):
    content = _read_docx(_make_body(f"{_run('The log is ')}<w:r>{picture}</w:r>{_run(' in its tables.')}"))
    assert content.sections[0].text == f"The log is {GAP} in its tables." and content.gaps == 1


def test_a_drawing_between_sentences_of_a_docx_leaves_no_mark():
    drawing = "<w:r><w:drawing><d:inline/></w:drawing></w:r>"
    content = _read_docx(_make_body(f"{drawing}{_run(_FIRST)}</w:p><w:p>{_run(_SECOND)}{drawing}"))
    assert content.sections[0].text == f"{_FIRST}\n\n{_SECOND}" and content.gaps == 0


def test_a_row_of_links_of_a_docx_is_no_prose_and_a_link_without_a_target_is_text():
    def link(number: str, text: str) -> str:
        return f'<w:hyperlink r:id="{number}">{_run(text)}</w:hyperlink>'

    row = f"{_run('See also: ')}{link('a', 'Pumps of the plant')}{_run(', ')}{link('a', 'Its valves')}"
    text = f"{link('', _FIRST[:11])}{_run(_FIRST[11:])}"
    relations = _relate("hyperlink", "https://a.b/c").encode()
    content = _read_docx(_make_body(f"{text}</w:p><w:p>{row}"), **{"word/_rels/document.xml.rels": relations})
    assert content.sections[0].text == _FIRST
    assert content.left_out[LINKS] == 1


@pytest.mark.parametrize("part", ["footnotes.xml", "notes/all.xml"])
def test_notes_of_a_docx_follow_its_text_without_their_signs(part):
    inner = f"{_run('By the handbook the mean is ')}<m:oMath>{_FRACTION}</m:oMath>{_run(' of all days.')}"
    notes = f'<w:footnotes {_NAMES}><w:footnote w:id="7"><w:p>{inner}</w:p></w:footnote></w:footnotes>'
    sign = '<w:r><w:footnoteReference w:id="7"/></w:r>'
    relations = _relate("footnotes", part)
    content = _read_docx(
        _make_body(f"{_run(_FIRST[:-1])}{sign}{_run('.')}"),
        **{f"word/{part}": notes.encode(), "word/_rels/document.xml.rels": relations.encode()},
    )
    assert content.sections[0].text == f"{_FIRST}\n\nBy the handbook the mean is {GAP} of all days."
    assert content.gaps == 1


@pytest.mark.parametrize(
    ("note", "sign"), [("", ""), ('w:id=""', ""), ('w:id=""', 'w:id=""'), ('w:id="7"', "")]
)
def test_a_note_without_an_id_costs_itself_alone(note, sign):
    notes = f"<w:footnotes {_NAMES}><w:footnote {note}><w:p>{_run(_FIRST)}</w:p></w:footnote></w:footnotes>"
    content = _read_docx(
        _make_body(f"{_run(_FIRST[:-1])}<w:r><w:footnoteReference {sign}/></w:r>{_run('.')}"),
        **{"word/footnotes.xml": notes.encode()},
    )
    assert content.sections[0].text == _FIRST


def test_a_damaged_member_of_a_docx_is_left_out_and_counted():
    stream = io.BytesIO(make_docx([("", _FIRST)]))
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("word/settings.xml", "<settings/>")
    content = read_docx(stream.getvalue().replace(b"<settings/>", b"<sittings/>"), _LIMIT)
    assert content.sections[0].text == _FIRST
    assert content.left_out[UNREADABLE] == 1


def test_a_broken_part_of_a_docx_is_left_out_and_counted():
    content = _read_docx(
        _make_body(_run(_FIRST)), **{"word/footnotes.xml": b"<w:footnotes", "word/styles.xml": b"<"}
    )
    assert content.sections[0].text == _FIRST
    assert content.left_out[UNREADABLE] == 2
    with refuses("XML"):
        _read_docx("<w:document")


@pytest.mark.parametrize(
    "name",
    ["Preformatted Text", "Source Code", "Code Example", "Program Listing", "Listing", "HTML Preformatted"],
)
def test_a_style_of_a_docx_tells_that_a_paragraph_is_code(name):
    style = f'<w:style w:type="paragraph" w:styleId="s1"><w:name w:val="{name}"/></w:style>'
    styles = f'<?xml version="1.0"?><w:styles {_NAMES}>{style}</w:styles>'.encode()
    text = "return the heat of the kiln for each hour of the day"
    code = f'<w:p><w:pPr><w:pStyle w:val="s1"/></w:pPr>{_run(text)}</w:p><w:p>{_run(_SECOND)}</w:p>'
    document = _make_body(_run(_FIRST)).replace("</w:body>", f"{code}</w:body>")
    content = _read_docx(document, **{"word/styles.xml": styles})
    assert content.sections[0].text == f"{_FIRST}\n\n{_SECOND}"


_PAGE = "<html xmlns='http://www.w3.org/1999/xhtml'><body><h1>{}</h1><p>{}</p></body></html>"
_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="{}"/></rootfiles></container>'
)


def _make_book(hrefs: list[str], names: list[str], root: str = "OPS/book.opf") -> bytes:
    items = "".join(
        f'<item id="p{n}" href="{href}" media-type="application/xhtml+xml"/>' for n, href in enumerate(hrefs)
    )
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(hrefs)))
    package = f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest><spine>{spine}</spine></package>'
    texts = [_PAGE.format("Storage", _FIRST), _PAGE.format("Checkpoints", _SECOND)]
    pages = dict(zip(names, texts, strict=False))
    return make_zip({"META-INF/container.xml": _CONTAINER.format(root), "OPS/book.opf": package, **pages})


@pytest.mark.parametrize(
    ("href", "name"),
    [
        ("a.xhtml", "OPS/a.xhtml"),
        ("/OPS/a.xhtml", "OPS/a.xhtml"),
        ("/a.xhtml", "OPS/a.xhtml"),
        ("../Text/a.xhtml", "Text/a.xhtml"),
        ("Text/../a.xhtml#start", "OPS/a.xhtml"),
        ("a%20b.xhtml", "OPS/a b.xhtml"),
        ("a%20b.xhtml", "OPS/a%20b.xhtml"),
        ("Text\\a.xhtml", "OPS/Text/a.xhtml"),
        ("A.XHTML", "OPS/a.xhtml"),
        ("a.xhtml?x=1", "OPS/a.xhtml"),
    ],
)
@pytest.mark.parametrize("root", ["OPS/book.opf", "/OPS/book.opf", "gone.opf"])
def test_pages_of_an_epub_are_found(href, name, root):
    assert read_epub(_make_book([href], [name], root), _LIMIT).sections[0].text == _FIRST


def test_a_missing_page_of_an_epub_is_left_out_and_counted():
    content = read_epub(_make_book(["a.xhtml", "b.xhtml", "c.xhtml"], ["OPS/a.xhtml", "OPS/c.xhtml"]), _LIMIT)
    assert [section.text for section in content.sections] == [_FIRST, _SECOND]
    assert content.left_out[UNREADABLE] == 1
    with refuses("a.xhtml"):
        read_epub(_make_book(["a.xhtml"], []), _LIMIT)


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("application/xhtml+xml", "application/xml", 0),
        ("application/xhtml+xml", "text/plain", 0),
        ("application/xhtml+xml", "Application/XHTML+xml; charset=utf-8", 0),
        ("<manifest>", "<metadata><x>&nbsp; A & B</x></metadata><manifest>", 0),
        ("</spine>", '<itemref idref="gone"/></spine>', 1),
    ],
)
def test_a_package_that_others_would_refuse_is_read(old, new, lost):
    book = _make_book(["a.xhtml"], ["OPS/a.xhtml"])
    with zipfile.ZipFile(io.BytesIO(book)) as archive:
        members = {name: archive.read(name).decode() for name in archive.namelist()}
    members["OPS/book.opf"] = members["OPS/book.opf"].replace(old, new)
    content = read_epub(make_zip(members), _LIMIT)
    assert content.sections[0].text == _FIRST
    assert content.left_out[UNREADABLE] == lost


def test_a_package_without_pages_is_refused():
    with refuses("page"):
        read_epub(_make_book([], []), _LIMIT)


def test_an_empty_page_of_an_epub_costs_itself_alone():
    book = make_epub([_PAGE.format("Storage", _FIRST), "", _PAGE.format("Checkpoints", _SECOND)])
    assert len(read_epub(book, _LIMIT).sections) == 2


def _encrypt(count: int, algorithm: str) -> bytes:
    """Return a book of two pages, so many of which it says are encrypted."""
    book = io.BytesIO(make_epub([f"<html><body><p>{each}</p></body></html>" for each in (_FIRST, _SECOND)]))
    named = "".join(
        '<EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#">'
        f'<EncryptionMethod Algorithm="{algorithm}"/>'
        f'<CipherData><CipherReference URI="OPS/p{page}.xhtml"/></CipherData></EncryptedData>'
        for page in range(count)
    )
    with zipfile.ZipFile(book, "a") as archive:
        archive.writestr("META-INF/encryption.xml", f"<encryption>{named}</encryption>")
    return book.getvalue()


def test_pages_that_copy_protection_encrypts_are_not_read():
    algorithm = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
    content = read_epub(_encrypt(1, algorithm), _LIMIT)
    assert [each.text for each in content.sections] == [_SECOND]
    assert content.left_out[UNREADABLE] == 1
    with refuses("p0.xhtml", "encrypted"):
        read_epub(_encrypt(2, algorithm), _LIMIT)


def test_obfuscation_of_fonts_locks_no_book():
    content = read_epub(_encrypt(2, "http://www.idpf.org/2008/embedding"), _LIMIT)
    assert [each.text for each in content.sections] == [f"{_FIRST}\n\n{_SECOND}"]
