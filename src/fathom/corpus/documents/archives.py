"""Zip archives, such as DOCX and EPUB, with bounds on what they unpack to."""

import io
import zipfile
import zlib
from typing import Any

from fathom.errors import InputError

_MOST_FILES = 20_000
_BROKEN = (KeyError, ValueError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, OSError)
"""Errors that reading a damaged member raises."""
UNREADABLE = "parts that cannot be read"
"""Why parts of an archive are left out."""


def open_archive(data: bytes, limit: int) -> zipfile.ZipFile:
    """Open an archive that declares at most `limit` unpacked bytes; else raise `InputError`."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        encrypted = data.startswith(b"\xd0\xcf\x11\xe0")
        what = "this document needs a password" if encrypted else f"not a zip archive: {error}"
        raise InputError(what) from error
    members = archive.infolist()
    if any(member.flag_bits & 1 for member in members):
        raise InputError("this document needs a password")
    # reading a member stops at the size that it declares
    if len(members) > _MOST_FILES or sum(member.file_size for member in members) > limit:
        raise InputError(f"it unpacks to over {limit / 1e6:,.0f} MB: a zip bomb, or too large a document")
    return archive


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return the bytes of a member; raise `InputError` if it is missing or broken."""
    try:
        return archive.read(name)
    except _BROKEN as error:
        raise InputError(f"its member {name} cannot be read: {error}") from error


def parse_xml(data: bytes, mend: bool = False) -> Any:
    """Return the root of XML, else raise `InputError`; entities are not expanded, nothing is fetched.

    With `mend`, malformed parts are skipped if a root remains.
    """
    from lxml import etree

    # the size is bounded where the archive is opened
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True, recover=mend
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise InputError(f"its XML cannot be read: {error}") from error
    if root is None:
        raise InputError("its XML cannot be read: it has no element")
    return root
