"""The prose of a docstring: numpydoc and reStructuredText without code, tables and markup."""

import re
from collections import Counter

from fathom.corpus.left_out import CODE, DIRECTIVES, FORMULAS

_UNDERLINE = re.compile(r"([=\-~^*+#\"`.])\1{2,}\s*")
_BORDER = re.compile(r"[=\-+|]{2,}[=\-+| ]*")
_DIRECTIVE = re.compile(r"(\.\.)\s+(?:([A-Za-z][\w:-]*?)\s*::)?(.*)")
_SIGNATURE = re.compile(r"[\w.]+\(.*\)(\s*->.*)?")
_BULLET = re.compile(r"^(?:[-*+•]|\(?[0-9a-z]{1,2}[.)])\s+(?=\S)")
_FIELD = re.compile(r"^:[a-z]+(?: [^:`]+:|:(?!`))\s*")  # :param x: but not :class:`x`
_WORD = re.compile(r"[A-Za-z]{2,}")
_ENDED_LITERAL, _LITERAL = re.compile(r"(?<=[.:!?]) ::$"), re.compile(r"\s*::$")

# directives whose body is prose, and those of them with a title on their line; all others are dropped
_TITLED_DIRECTIVES = {"admonition", "rubric"}
PROSE_DIRECTIVES = _TITLED_DIRECTIVES | {
    "note", "warning", "tip", "important", "caution", "hint", "attention", "danger", "error",
}  # fmt: skip
_CODE_DIRECTIVES = {
    "code", "code-block", "sourcecode", "literalinclude", "parsed-literal", "doctest", "testcode",
    "testoutput", "testsetup", "prompt", "ipython", "plot", "table", "csv-table", "list-table",
}  # fmt: skip
_REASONS = {"math": FORMULAS} | dict.fromkeys(_CODE_DIRECTIVES, CODE)
_ENTRY_SECTIONS = {
    "parameters", "other parameters", "returns", "yields", "receives", "raises", "warns", "attributes",
    "keyword arguments", "keyword args", "args",
}  # fmt: skip
_DROPPED_SECTIONS = {"see also", "references", "methods", "citations"}

_INLINE = (
    # :ref:`text <target>`; but in `LOCATION_<NAME>` the brackets stand for a name
    (re.compile(r":[\w:+-]+:`~?[!]?([^`<]*?)\s*(?<![$_])<[^`>]*>`"), r"\1"),
    (re.compile(r":[\w:+-]+:`~(?:[^`]*\.)?([^`.]+)`"), r"\1"),  # :class:`~a.b.C`
    (re.compile(r":[\w:+-]+:`!?\.?([^`]*)`"), r"\1"),  # :class:`C`
    (re.compile(r"(?<!`)`~(?:[^`]*\.)?([^`.]+)`(?!`)"), r"\1"),  # `~a.b.C`
    (re.compile(r"(?<!`)`\.(\w[^`]*)`(?!`)"), r"\1"),  # `.C`
    (re.compile(r"``([^`]*)``"), r"\1"),
    (re.compile(r"`([^`<]*?)\s*<[^`>]*>`_{0,2}"), r"\1"),  # `text <url>`_
    (re.compile(r"`([^`]*)`_{0,2}"), r"\1"),
    (re.compile(r"\s*\[[\w#*, -]{1,20}\]_"), ""),  # [1]_
    (re.compile(r"\*\*([^*\s](?:[^*]*[^*\s])?)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)\|(\w[\w .-]*)\|(?!\w)"), r"\1"),
    (re.compile(r" at 0x[0-9a-fA-F]+"), ""),  # an address in memory differs from run to run
    (re.compile(r"\\([ *`_|])"), r"\1"),
)


def docstring_to_text(docstring: str, left_out: Counter[str] | None = None) -> str:
    """Return the prose of a docstring: one paragraph per line, separated by empty lines.

    Dropped are code and doctests, tables, formulas, lists of methods, references, headings, signatures, the
    header lines of parameters, directives except notes and warnings, and paragraphs of under three words.
    `left_out` takes the number of blocks of code, tables and directives.
    """
    lines = docstring.expandtabs().splitlines()
    blocks = _split_paragraphs(lines, Counter() if left_out is None else left_out)
    paragraphs = (_clean_paragraph(block) for block in blocks)
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _split_paragraphs(lines: list[str], left_out: Counter[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    section = ""
    place = 0
    while place < len(lines):
        line = lines[place]
        bare = line.strip()
        following = lines[place + 1] if place + 1 < len(lines) else ""
        if not bare:
            found.append([])
        elif _UNDERLINE.fullmatch(following.strip()) and len(bare) <= 80 and not _UNDERLINE.fullmatch(bare):
            section = bare.lower().rstrip(":")
            found.append([])
            place += 1
        elif bare.startswith(">>>"):
            left_out[CODE] += 1
            place = _skip_paragraph(lines, place)
            found.append([])
        elif bare.startswith("..") and (match := _DIRECTIVE.fullmatch(bare)):
            found.append([])
            place = _pass_directive(lines, place, match, left_out)
        elif _BORDER.fullmatch(bare):
            left_out[CODE] += 1
            place = _skip_table(lines, place)
            found[-1] = []  # the header of a grid is above its border
            found.append([])
        elif section in _DROPPED_SECTIONS:
            pass
        elif section in _ENTRY_SECTIONS and _is_entry(line, following):
            found.append([])
        else:
            if _BULLET.match(bare) or _FIELD.match(bare):
                found.append([])
            found[-1].append(line)
            if bare.endswith("::"):  # the indented block that follows is literal
                end = _skip_indented(lines, place)
                left_out[CODE] += end > place
                place = end
                found.append([])
        place += 1
    return found


def _pass_directive(lines: list[str], place: int, directive: re.Match[str], left_out: Counter[str]) -> int:
    """Return the line after which the text goes on; text on the directive's own line becomes a line."""
    name = (directive[2] or "").lower()
    if name not in PROSE_DIRECTIVES:
        left_out[_REASONS.get(name, DIRECTIVES)] += 1
        return _skip_indented(lines, place)
    if name in _TITLED_DIRECTIVES or not directive[3].strip():
        return place
    lines[place] = " " * (_indent(lines[place]) + 3) + directive[3].strip()
    return place - 1


def _is_entry(line: str, following: str) -> bool:
    """Say whether a line of a section such as Parameters names a parameter rather than describing it."""
    if line[:1] == " ":
        return False
    return " : " in line or line.rstrip().endswith(" :") or (following[:1] == " " and bool(following.strip()))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _skip_paragraph(lines: list[str], place: int) -> int:
    while place + 1 < len(lines) and lines[place + 1].strip():
        place += 1
    return place


def _skip_indented(lines: list[str], place: int) -> int:
    """Return the last line of the block that is indented deeper than the line at `place`."""
    depth = _indent(lines[place])
    last = place
    for number in range(place + 1, len(lines)):
        if lines[number].strip():
            if _indent(lines[number]) <= depth:
                break
            last = number
    return last


def _skip_table(lines: list[str], place: int) -> int:
    """Return the last line of the table whose border is at `place`: its last border before an empty line."""
    end = _skip_paragraph(lines, place)
    # a simple table may have empty lines; it then continues to the next equal border
    border = lines[place].strip()
    for number in range(end + 1, min(len(lines), end + 60)):
        if lines[number].strip() == border and " " in border:
            end = number
    return end


def _clean_paragraph(lines: list[str]) -> str:
    """Return a paragraph on one line without markup, empty if it is not prose."""
    text = " ".join(line.strip() for line in lines)
    text = _FIELD.sub("", _BULLET.sub("", text, count=1), count=1)
    if _SIGNATURE.fullmatch(text) or text.startswith(".. "):  # a directive inside an item
        return ""
    for pattern, replacement in _INLINE:
        text = pattern.sub(replacement, text)
    text = _LITERAL.sub(":", _ENDED_LITERAL.sub("", " ".join(text.split())))
    return text if len(_WORD.findall(text)) >= 3 else ""
