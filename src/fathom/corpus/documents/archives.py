"""Documents that are zip archives, DOCX and EPUB, with bounds on what they unpack to."""

import io
import posixpath
import zipfile
import zlib
from typing import Any
from urllib.parse import unquote

from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.html_pages import add_markup, read_markup
from fathom.corpus.documents.sections import FileContent, Outline
from fathom.errors import InputError

_MOST_FILES = 20_000
_PAGES = {"application/xhtml+xml", "text/html"}


def read_docx(data: bytes, limit: int) -> FileContent:
    """Read a DOCX into sections by its heading styles.

    Parameters
    ----------
    data : bytes
        The whole file.
    limit : int
        Bytes that all its members together may unpack to.

    Raises
    ------
    InputError
        If it is none, is encrypted, or unpacks to more.
    """
    import mammoth

    with _open(data, limit) as archive:
        if "word/document.xml" not in archive.namelist():
            raise InputError("this zip archive is no DOCX: it has no word/document.xml")
    pictures = mammoth.images.img_element(lambda image: {})
    try:
        page = mammoth.convert_to_html(io.BytesIO(data), convert_image=pictures).value
    except Exception as error:
        # the library lets errors of its parser and of missing members through
        raise InputError(f"this DOCX cannot be read: {type(error).__name__}: {error}") from error
    return read_markup(f"<html><body>{page}</body></html>")


def read_epub(data: bytes, limit: int) -> FileContent:
    """Read an EPUB into sections, its pages in their order; see :func:`read_docx`."""
    with _open(data, limit) as archive:
        container = _parse(_read(archive, "META-INF/container.xml"))
        roots = [each.get("full-path") for each in container.iter("{*}rootfile")]
        if not roots or not roots[0]:
            raise InputError("this EPUB names no package")
        package = _parse(_read(archive, roots[0]))
        title = package.find(".//{http://purl.org/dc/elements/1.1/}title")
        outline = Outline()
        for name in _list_pages(package, posixpath.dirname(roots[0])):
            add_markup(decode_text(_read(archive, name), markup=True), outline)
    return outline.end((title.text or "") if title is not None else "")


def _list_pages(package: Any, folder: str) -> list[str]:
    """Return the names of an EPUB's pages in their order, without its tables of contents."""
    items = {each.get("id"): each for each in package.iter("{*}item")}
    names = []
    for reference in package.iter("{*}itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _PAGES or "nav" in (item.get("properties") or ""):
            continue
        names.append(posixpath.normpath(posixpath.join(folder, unquote(item.get("href") or ""))))
    return names


def _open(data: bytes, limit: int) -> zipfile.ZipFile:
    """Open an archive whose members, by its own word, unpack to at most `limit` bytes."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        encrypted = data.startswith(b"\xd0\xcf\x11\xe0")
        what = "this document needs a password" if encrypted else f"this is no zip archive: {error}"
        raise InputError(what) from error
    members = archive.infolist()
    if any(member.flag_bits & 1 for member in members):
        raise InputError("this document needs a password")
    # reading a member stops at the size that it declares
    if len(members) > _MOST_FILES or sum(member.file_size for member in members) > limit:
        raise InputError(
            f"it unpacks to more than {limit / 1e6:,.0f} MB: a zip bomb, or too large a document"
        )
    return archive


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a member."""
    try:
        return archive.read(name)
    except (KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise InputError(f"its member {name} cannot be read: {error}") from error


def _parse(data: bytes) -> Any:
    """Return the root of XML; entities are not expanded, nothing is fetched."""
    from lxml import etree

    try:
        return etree.fromstring(
            data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        )
    except etree.XMLSyntaxError as error:
        raise InputError(f"its table of contents cannot be read: {error}") from error
