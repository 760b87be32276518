"""DOCX: prose by heading style, read by mammoth after what it would silently drop has become text."""

import io
import posixpath
import re
import zipfile
from typing import Any

from fathom.corpus.characters import GAP
from fathom.corpus.documents.archives import UNREADABLE, open_archive, parse_xml, read_member
from fathom.corpus.documents.html_formulas import spell_tex
from fathom.corpus.documents.html_pages import add_markup
from fathom.corpus.documents.sections import FileContent, Outline
from fathom.errors import InputError

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_OLE = "{urn:schemas-microsoft-com:office:office}OLEObject"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TEXT_BOX = f"{_W}txbxContent"
_PICTURES = {
    "{http://schemas.openxmlformats.org/drawingml/2006/main}blip": ("embed", "link"),
    "{urn:schemas-microsoft-com:vml}imagedata": ("id",),
}
"""Pictures, those of Word before 2007 last, with the attributes that name their files."""
_NOTES = ("footnote", "endnote", "comment")
_UNWRAPPED = [f"{_W}fldSimple", f"{_W}bdo", f"{_W}dir"]
_ON_A_LINE = {f"{_M}{name}" for name in ("oMath", "r", "t", "rPr", "sty", "nor")}
"""A formula of only these elements reads as a line of text."""
_FLOATS = re.compile(r"position\s*:\s*absolute")
_PACKAGE = "_rels/.rels"
_RELATION = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="{}"/></Relationships>'
)
_UNUSED = ("word/media/", "word/embeddings/", "word/fonts/", "docProps/")
_PARTS = ("footnotes", "endnotes", "comments", "numbering", "styles")
_STYLES = "\n".join(
    [
        *(f"p[style-name^='{name}'] => !" for name in ("toc ", "TOC ", "index ", "table of figures")),
        *(f"p[style-name='{name}'] => !" for name in ("TOC Heading", "Bibliography", "header", "footer")),
        *(
            f"p[style-name='{name}'] => pre:separator('\\n')"
            for name in (
                "HTML Preformatted",
                "Preformatted Text",
                "Code",
                "macro",
                "Plain Text Code",
                "Listing",
            )
        ),
        *(
            f"p[style-name^='{name}'] => pre:separator('\\n')"
            for name in ("Code ", "Source Code", "Program Code", "Program Listing")
        ),
        *(f"r[style-name='{name}'] => code" for name in ("HTML Code", "Verbatim Char", "Code Char")),
    ]
)
"""Tables of contents, bibliographies and code, by the names of Word's and pandoc's styles."""


def read_docx(data: bytes, limit: int) -> FileContent:
    """Read a DOCX into sections by its heading styles.

    Parameters
    ----------
    data : bytes
        The whole file.
    limit : int
        Most bytes that all members may unpack to.

    Raises
    ------
    InputError
        If it is not a DOCX, is encrypted, or unpacks to more.
    """
    import mammoth

    outline = Outline()
    prepared = _prepare(data, limit, outline)
    pictures = mammoth.images.img_element(lambda image: {})
    try:
        page = mammoth.convert_to_html(prepared, convert_image=pictures, style_map=_STYLES).value
    except Exception as error:
        # mammoth passes on errors of its parser and for missing members
        raise InputError(f"this DOCX cannot be read: {type(error).__name__}: {error}") from error
    add_markup(f"<html><body>{page}</body></html>", outline)
    return outline.end()


def _prepare(data: bytes, limit: int, outline: Outline) -> io.BytesIO:
    from lxml import etree

    prepared = io.BytesIO()
    with open_archive(data, limit) as archive, zipfile.ZipFile(prepared, "w") as target:
        names = archive.namelist()
        main = _find_main(archive, names)
        relations = _read_relations(archive, _find_relations(main))
        folder = posixpath.dirname(main)
        bodies = {f"{folder}/{name}.xml".lstrip("/") for name in _PARTS} | {
            posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            for kind in _PARTS
            for target in _list_targets(relations, f"/{kind}")
        }
        notes = _list_notes(archive, bodies)
        target.writestr(_PACKAGE, _RELATION.format(main))
        for name in dict.fromkeys(names):
            if name == _PACKAGE or name.startswith(_UNUSED):
                continue
            if name != main and name not in bodies:
                _copy(archive, name, target, outline)
                continue
            try:
                root = parse_xml(read_member(archive, name))
            except InputError:
                if name == main:
                    raise
                outline.left_out[UNREADABLE] += 1
                continue
            _drop_unseen(root, notes)
            own = _read_relations(archive, _find_relations(name))
            _make_text(root, {each.get("Id") or "" for each in own})
            target.writestr(
                name, etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)
            )
    prepared.seek(0)
    return prepared


def _copy(archive: zipfile.ZipFile, name: str, target: zipfile.ZipFile, outline: Outline) -> None:
    """Copy a member; count it if it cannot be read."""
    try:
        target.writestr(name, read_member(archive, name))
    except InputError:
        outline.left_out[UNREADABLE] += 1


def _find_main(archive: zipfile.ZipFile, names: list[str]) -> str:
    for target in _list_targets(_read_relations(archive, _PACKAGE), "/officeDocument"):
        name = posixpath.normpath(target).lstrip("/")
        if name in names:
            return name
    if "word/document.xml" not in names:
        raise InputError("this zip archive is not a DOCX: it names no main part and has no word/document.xml")
    return "word/document.xml"


def _read_relations(archive: zipfile.ZipFile, name: str) -> list[Any]:
    try:
        return [*parse_xml(read_member(archive, name)).iter("{*}Relationship")]
    except InputError:  # mammoth knows the usual places
        return []


def _list_targets(relations: list[Any], kind: str) -> list[str]:
    return [each.get("Target") or "" for each in relations if (each.get("Type") or "").endswith(kind)]


def _find_relations(name: str) -> str:
    return posixpath.join(posixpath.dirname(name), "_rels", f"{posixpath.basename(name)}.rels")


def _list_notes(archive: zipfile.ZipFile, parts: set[str]) -> set[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for name in sorted(parts & {*archive.namelist()}):
        try:
            root = parse_xml(read_member(archive, name))
        except InputError:  # counted where it is read
            continue
        for kind in _NOTES:
            found |= {(kind, each.get(f"{_W}id") or "") for each in root.iter(f"{_W}{kind}")}
    return {(kind, number) for kind, number in found if number}


def _drop_unseen(root: Any, notes: set[tuple[str, str]]) -> None:
    for kind in _NOTES:
        for each in [*root.iter(f"{_W}{kind}Reference", f"{_W}{kind}")]:
            if (kind, each.get(f"{_W}id") or "") not in notes:
                each.getparent().remove(each)
    for hidden in [*root.iterfind(f".//{_W}r/{_W}rPr/{_W}vanish")]:
        if hidden.get(f"{_W}val") not in {"0", "false", "off"}:
            run = hidden.getparent().getparent()
            run[:] = []


def _make_text(root: Any, relations: set[str]) -> None:
    """Turn formulas, fields and objects into text; drop references to missing relations."""
    _show_formulas(root)
    _show_pictures(root, relations)
    _show_objects(root)
    for field in [*root.iter(*_UNWRAPPED)]:
        _unwrap(field)
    for line_break in root.iter(f"{_W}cr", f"{_W}ptab"):
        line_break.tag = f"{_W}br" if line_break.tag == f"{_W}cr" else f"{_W}tab"
    for element in root.iter("*"):
        for attribute, value in [*element.items()]:
            if attribute.startswith(_RELATIONS) and value not in relations:
                del element.attrib[attribute]


def _show_formulas(root: Any) -> None:
    for choices in [*root.iter(f"{_ALTERNATIVES}AlternateContent")]:
        chosen = choices.find(f"{_ALTERNATIVES}Choice")
        if chosen is not None and chosen.find(f".//{_M}oMath") is not None:
            choices[:] = [*chosen]
            _unwrap(choices)
    for formula in [*root.iter(f"{_M}oMath")]:
        _replace(formula, _spell(formula))
    for display in [*root.iter(f"{_M}oMathPara")]:
        _unwrap(display)
    for code in [*root.iter(f"{_W}instrText")]:
        if (code.text or "").split()[:1] == ["EQ"]:
            _replace(code, GAP)


def _show_pictures(root: Any, relations: set[str]) -> None:
    """Relate pictures without a file to something: mammoth shows a mark for each, and no file is read."""
    for picture in [*root.iter(*_PICTURES)]:
        names = [f"{_RELATIONS}{name}" for name in _PICTURES[picture.tag]]
        if relations.isdisjoint(map(picture.get, names)):
            if relations:
                picture.set(names[0], min(relations))
            else:
                picture.getparent().remove(picture)


def _show_objects(root: Any) -> None:
    """Replace inline objects by a mark, and ruby annotations by their base text."""
    for item in [*root.iter(f"{_W}object", f"{_W}pict")]:
        if item.find(f".//{_OLE}") is not None:
            _replace(item, GAP)
    for drawing in [*root.iter(f"{_W}drawing", f"{_W}pict")]:
        if drawing.find(f".//{_TEXT_BOX}") is not None:  # mammoth reads it
            continue
        if any(drawing.find(f".//{each}") is not None for each in _PICTURES):
            drawing.tag = f"{_W}object"  # mammoth moves what a `pict` holds behind the paragraph
        elif _is_inside_text(drawing):
            _replace(drawing, GAP)
    for ruby in [*root.iter(f"{_W}ruby")]:
        base = ruby.find(f"{_W}rubyBase")
        _replace(ruby, "".join(base.itertext()) if base is not None else "")


def _spell(formula: Any) -> str:
    """Return a formula as a line of text if possible, else the mark of a gap."""
    inner = [each for each in formula.iter("*") if each.tag.startswith(_M)]
    if any(each.tag not in _ON_A_LINE for each in inner):
        return GAP
    text = "".join(each.text or "" for each in inner)
    return spell_tex(text) if text.strip() else ""


def _is_inside_text(drawing: Any) -> bool:
    run = next(drawing.iterancestors(f"{_W}r"), drawing)
    beside = [each for each in (run.getprevious(), run.getnext()) if each is not None]
    floats = any(
        str(each.tag).endswith("}anchor") or _FLOATS.search(each.get("style") or "") for each in drawing
    )
    return not floats and len(beside) == 2 and all("".join(each.itertext()).strip() for each in beside)


def _replace(element: Any, text: str) -> None:
    """Replace an element by text, which mammoth reads in a run and between runs."""
    from lxml import etree

    shown = etree.Element(f"{_W}t")
    shown.text, shown.tail = text, element.tail
    element.getparent().replace(element, shown)


def _unwrap(element: Any) -> None:
    parent = element.getparent()
    place = parent.index(element)
    parent[place : place + 1] = [each for each in element if not str(each.tag).endswith("Pr")]
