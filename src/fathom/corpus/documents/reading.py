"""One file of any format into sections."""

import gzip
import zlib
from collections.abc import Callable
from pathlib import Path

from fathom.corpus.documents.docx import read_docx
from fathom.corpus.documents.epub import read_epub
from fathom.corpus.documents.formats import find_format
from fathom.corpus.documents.html_pages import read_html
from fathom.corpus.documents.latex_files import read_latex
from fathom.corpus.documents.markdown import read_markdown
from fathom.corpus.documents.pdf import read_pdf
from fathom.corpus.documents.plain import read_plain
from fathom.corpus.documents.restructured import is_restructured, read_restructured
from fathom.corpus.documents.sections import FileContent
from fathom.errors import InputError


def read_text(data: bytes) -> FileContent:
    """Read plain text, or reStructuredText in a .txt, into sections."""
    return read_restructured(data) if is_restructured(data) else read_plain(data)


_READERS: dict[str, Callable[[bytes], FileContent]] = {
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".pdf": read_pdf,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".rst": read_restructured,
    ".txt": read_text,
    ".text": read_text,
    ".tex": read_latex,
}
_ARCHIVES: dict[str, Callable[[bytes, int], FileContent]] = {".docx": read_docx, ".epub": read_epub}


def read_document(path: Path, max_mb: int) -> FileContent:
    """Read a file into sections.

    Parameters
    ----------
    max_mb : int
        Most megabytes of the file, also unpacked.

    Raises
    ------
    InputError
        If it cannot be read, has no prose, or is larger; names the file.
    """
    ending, limit = find_format(path.name), max_mb * 1_000_000
    try:
        data = _read_bytes(path, limit)
        if not data:
            raise InputError("the file is empty")
        content = _ARCHIVES[ending](data, limit) if ending in _ARCHIVES else _READERS[ending](data)
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror or error}", str(path)) from error
    except RecursionError as error:
        raise InputError("it is nested too deeply", str(path)) from error
    except InputError as error:
        raise InputError(error.what, str(path), error.hint) from error
    if not content.sections:
        raise InputError("it has no prose", str(path))
    return content


def _read_bytes(path: Path, limit: int) -> bytes:
    """Return a file's bytes, unpacked if it ends in .gz, at most `limit`."""
    with path.open("rb") as stream:
        try:
            data = (
                gzip.GzipFile(fileobj=stream).read(limit + 1)
                if path.name.lower().endswith(".gz")
                else stream.read(limit + 1)
            )
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"its compression is broken: {error}") from error
    if len(data) > limit:
        raise InputError(
            f"it is larger than {limit / 1e6:,.0f} MB",
            hint="raise corpus.max_file_mb, or cut it into several files",
        )
    return data
