r"""LaTeX sources: sections by command, paragraphs converted to plain text. Nothing is included or run."""

import re
from collections import Counter

from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.sections import FileContent, Outline
from fathom.corpus.latex_documents import GAPS, Heading, convert_paragraph, read_pieces, read_title
from fathom.errors import InputError

_COMMAND = re.compile(r"\\[A-Za-z@]+|%.*|[\\{}$&~^_]")


def read_latex(data: bytes) -> FileContent:
    """Read a LaTeX source into sections; a source without `document` is read whole."""
    text = decode_text(data)
    outline = Outline()
    counts: Counter[str] = Counter()
    pieces = list(read_pieces(text, counts, comments=True))
    if not pieces:
        raise InputError("no text in this LaTeX source")
    for piece in pieces:
        if isinstance(piece, Heading):
            outline.add_heading(piece.level, piece.title)
        else:
            outline.add_paragraph(piece)
    counts.pop(GAPS, 0)  # already in the text
    outline.left_out.update(counts)
    outline.characters += sum(map(len, _COMMAND.sub("", text).split()))
    return outline.end(" ".join(convert_paragraph(read_title(text), counts)))
