"""EPUB: the pages of a book in order. A missing or broken page does not affect the others."""

import posixpath
import zipfile
from typing import Any
from urllib.parse import unquote

from fathom.corpus.documents.archives import UNREADABLE, open_archive, parse_xml, read_member
from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_pages import add_markup
from fathom.corpus.documents.sections import FileContent, Outline
from fathom.errors import InputError

_PAGES = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
_OTHERS = {"application/x-dtbncx+xml", "application/oebps-page-map+xml", "application/smil+xml"}
"""Tables of contents, pages and audio, whose file names may end like those of pages."""
_ENDINGS = (".xhtml", ".html", ".htm", ".xml")
_ENCRYPTION = "META-INF/encryption.xml"
_OF_FONTS = {"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"}
"""Methods that only obfuscate fonts."""


def read_epub(data: bytes, limit: int) -> FileContent:
    """Read an EPUB into sections; pages that cannot be read are counted.

    Parameters
    ----------
    data : bytes
        The whole file.
    limit : int
        Most bytes that all members may unpack to.

    Raises
    ------
    InputError
        If it is not an EPUB, is encrypted, unpacks to more, or has no readable page.
    """
    outline = Outline()
    with open_archive(data, limit) as archive:
        root = _find_package(archive)
        package = parse_xml(read_member(archive, root), mend=True)
        title = package.find(".//{http://purl.org/dc/elements/1.1/}title")
        problems: list[InputError] = []
        locked = _find_locked(archive)
        pages = _list_pages(package, archive, posixpath.dirname(root), outline)
        for name in pages:
            try:
                if name in locked:
                    raise InputError(f"this book has copy protection: {name} is encrypted")
                add_markup(decode_text(read_member(archive, name), markup=True), outline)
            except InputError as error:
                outline.left_out[UNREADABLE] += 1
                problems.append(error)
    if not pages:
        raise InputError("this EPUB names no readable page")
    if problems and len(problems) == len(pages):
        raise problems[0]
    return outline.end((title.text or "") if title is not None else "")


def _find_package(archive: zipfile.ZipFile) -> str:
    names = archive.namelist()
    only = [name for name in names if name.lower().endswith(".opf")]
    try:
        container = parse_xml(read_member(archive, "META-INF/container.xml"))
    except InputError:
        if len(only) != 1:
            raise
        return only[0]
    for each in container.iter("{*}rootfile"):
        name = _find_member(archive, each.get("full-path") or "", "")
        if name in names:
            return name
    if len(only) != 1:
        raise InputError("this EPUB names no package")
    return only[0]


def _find_locked(archive: zipfile.ZipFile) -> set[str]:
    """Return the names of the members that copy protection encrypts."""
    if _ENCRYPTION not in archive.namelist():
        return set()
    return {
        unquote(reference.get("URI") or "")
        for entry in parse_xml(read_member(archive, _ENCRYPTION), mend=True).iter("{*}EncryptedData")
        if _OF_FONTS.isdisjoint(each.get("Algorithm") for each in entry.iter("{*}EncryptionMethod"))
        for reference in entry.iter("{*}CipherReference")
    }


def _list_pages(package: Any, archive: zipfile.ZipFile, folder: str, outline: Outline) -> list[str]:
    """Return the names of an EPUB's pages in order, without tables of contents; count missing ones."""
    items = {each.get("id"): each for each in package.iter("{*}item")}
    references = [items.get(each.get("idref")) for each in package.iter("{*}itemref")]
    outline.left_out[UNREADABLE] += references.count(None)
    # without a spine, use the order of the manifest
    chosen = [each for each in references if each is not None] or [*items.values()]
    names = []
    for item in chosen:
        address = (item.get("href") or "").partition("#")[0]
        kind = (item.get("media-type") or "").lower().partition(";")[0].strip()
        is_page = kind in _PAGES or (
            kind not in _OTHERS and address.lower().partition("?")[0].endswith(_ENDINGS)
        )
        if is_page and "nav" not in (item.get("properties") or "").split():
            names.append(_find_member(archive, address, folder))
    return [*dict.fromkeys(names)]


def _find_member(archive: zipfile.ZipFile, address: str, folder: str) -> str:
    """Return the member that an address leads to, literally or as other readers understand it.

    The address is relative to the package or to the root of the archive; it may be URL-quoted, have
    backslashes, and differ in case.
    """
    names = archive.namelist()
    plain = address.replace("\\", "/")
    tries = [
        posixpath.normpath(posixpath.join("/", base, text.lstrip("/"))).lstrip("/")
        for base in ("" if plain.startswith("/") else folder, folder, "")
        for text in (unquote(plain), plain, unquote(plain.partition("?")[0]))
    ]
    known = set(names)
    lower = {name.lower(): name for name in reversed(names)}
    found = [name for name in tries if name in known] or [
        lower[name.lower()] for name in tries if name.lower() in lower
    ]
    return found[0] if found else tries[0]
