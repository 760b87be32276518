"""Documents of every format, built in code."""

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="word/document.xml"/></Relationships>'
)
_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
Entry = tuple[float, float, float, str] | tuple[float, float, float, str, int]
"""A line of a PDF: left, bottom, size, text, and the number of its font, 0 by default."""

GERMAN = (
    "Die Verwaltung von Speicher ist eine der wichtigsten Aufgaben eines Betriebssystems, und sie wird"
    " vom Kern des Systems in mehreren Schichten erledigt, von denen jede eigene Regeln hat und die alle"
    " zusammen arbeiten, wenn Seiten gebraucht werden."
)


def make_pdf(
    pages: Sequence[Sequence[Entry]],
    outline: Sequence[tuple[str, int]] = (),
    locked: bool = False,
    fonts: Sequence[str] = ("/BaseFont /Helvetica",),
) -> bytes:
    """Return a PDF with these lines on its pages, and an outline of titles and pages (from 0)."""
    first = 3 + len(fonts)
    objects = {3 + each: f"<< /Type /Font /Subtype /Type1 {font} >>" for each, font in enumerate(fonts)}
    named = " ".join(f"/F{each} {3 + each} 0 R" for each in range(len(fonts)))
    kids = []
    for number, lines in enumerate(pages):
        page = first + 2 * number
        text = "\n".join(
            f"BT /F{font[0] if font else 0} {size} Tf {left} {bottom} Td ({text}) Tj ET"
            for left, bottom, size, text, *font in lines
        )
        objects[page] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {page + 1} 0 R "
            f"/Resources << /Font << {named} >> >> >>"
        )
        objects[page + 1] = f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"
        kids.append(f"{page} 0 R")
    objects[2] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"
    top = max(objects) + 1
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {f'/Outlines {top} 0 R' if outline else ''} >>"
    if outline:
        last = top + len(outline)
        objects[top] = f"<< /Type /Outlines /First {top + 1} 0 R /Last {last} 0 R /Count {len(outline)} >>"
        for number, (title, page) in enumerate(outline):
            after = f"/Next {top + number + 2} 0 R" if number + 1 < len(outline) else ""
            place = f"/Dest [{first + 2 * page} 0 R /Fit]"
            objects[top + number + 1] = f"<< /Title ({title}) /Parent {top} 0 R {place} {after} >>"
    return _join_objects(objects, locked)


def _join_objects(objects: dict[int, str], locked: bool) -> bytes:
    data, places = b"%PDF-1.4\n", {}
    for number, body in sorted(objects.items()):
        places[number] = len(data)
        data += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{places[number]:010d} 00000 n \n".encode() for number in sorted(objects))
    key = "30" * 32
    lock = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >> /ID [<{key}> <{key}>]"
    return (
        data
        + (
            f"trailer << /Root 1 0 R /Size {len(objects) + 1} {lock if locked else ''} >>\n"
            f"startxref\n{start}\n%%EOF"
        ).encode()
    )


def make_docx(paragraphs: Sequence[tuple[str, str]], **others: bytes) -> bytes:
    """Return a DOCX of paragraphs, each with its style (such as Heading1, or empty) and text."""
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    document = f'<?xml version="1.0"?><w:document {_WORD}><w:body>{body}</w:body></w:document>'
    members = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _RELATIONS,
        "word/document.xml": document,
    }
    return make_zip(members | others)


def make_epub(pages: Sequence[str], title: str = "A book") -> bytes:
    """Return an EPUB of XHTML pages."""
    items = "".join(
        f'<item id="p{number}" href="p{number}.xhtml" media-type="application/xhtml+xml"/>'
        for number in range(len(pages))
    )
    spine = "".join(f'<itemref idref="p{number}"/>' for number in range(len(pages)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    )
    members = {f"OPS/p{number}.xhtml": page for number, page in enumerate(pages)}
    return make_zip({"META-INF/container.xml": container, "OPS/book.opf": package, **members})


def make_zip(members: dict[str, str | bytes]) -> bytes:
    """Return a zip archive."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def put(folder: Path, name: str, data: bytes | str) -> Path:
    """Write a file below a folder and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path
