"""Plain text: paragraphs, underlined and numbered headings, pages with headers and footers."""

import re
from collections import Counter
from collections.abc import Iterator

from fathom.corpus.documents.decoding import decode_text
from fathom.corpus.documents.sections import FileContent, Outline, count_characters
from fathom.corpus.left_out import CODE, REPEATED, TERMS

_BLANK = re.compile(r"\n[^\S\n]*\n")
_UNDERLINE = re.compile(r"([=\-~^*+#\"])\1{2,}\s*")
_NUMBERED = re.compile(r"(?P<number>\d{1,2}(?:\.\d{1,2}){0,4})\.?\s{1,4}(?P<title>[A-Z]\S.{0,77})")
_LEADER = re.compile(r"\.{4,}|(?:\s\.){4,}")
_DIGITS = re.compile(r"\d+")
_FENCED = re.compile(
    r"^[^\S\n]*(?P<fence>`{3})[^\n`]*\n.{0,20000}?^[^\S\n]*(?P=fence)[^\S\n]*$", re.MULTILINE | re.DOTALL
)
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_LONGEST_WORD = 60  # a line of a gene sequence may be one word of a million letters
_FIRST_WORD = re.compile(r"^[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_MARK = r"(?:[-*+o•·‣▪]|\(?[0-9a-z]{1,2}[.)])\s"
_BULLET = re.compile(rf"^\s*{_MARK}+(?=\S)")
_TAG = re.compile(rf"\s*(?!{_MARK})\S+(?: \S+){{0,5}}\s{{2,}}(?=[^\sa-z])")
"""A term on the line of its definition, as in manual pages."""
_OPENS_CODE, _CLOSES_CODE = re.compile(r"(?:^|\s+)>$"), re.compile(r"^<")
_PROSE_SHARE = 0.78
_SHORT = 0.75
"""Most of the width of a definition that a term above it fills."""
_TERM_LINES = 20
"""Lines from the first of a term to its definition, at most: looking on would take long in a long text."""
_REPEATS = 3
"""Pages on which a line near the edge must recur to be a header or footer."""


def read_plain(data: bytes) -> FileContent:
    """Read plain text in any encoding into sections."""
    outline = Outline()
    text = decode_text(data)
    outline.characters += count_characters(text)
    add_plain_text(text, outline)
    return outline.end()


def add_plain_text(text: str, outline: Outline) -> None:
    """Add the headings and paragraphs of plain text to an outline; code, tables and leaders are left out."""
    text = text.expandtabs().replace("\N{HYPHEN}", "-")
    text, fenced = _FENCED.subn("\n", _drop_running_lines(text, outline))
    outline.left_out[CODE] += fenced
    words = count_words(text)
    for block in _BLANK.split(text):
        for lines, is_code in _split_listings([each.rstrip() for each in block.split("\n") if each.strip()]):
            if is_code:
                outline.left_out[CODE] += 1
            else:
                _add_lines(lines, words, outline)


def _split_listings(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    """Yield runs of lines, and whether each is code: indented below a line that ends in a colon.

    In Vim's manuals a lone `>` at the end of a line begins code, and `<` ends it.
    """
    start = place = 0
    while place + 1 < len(lines):
        head = lines[place]
        opens = _OPENS_CODE.search(head)
        item = _BULLET.match(head)
        depth = item.end() if item else _measure_indent(head)
        place += 1
        if (opens or head.endswith(":")) and _measure_indent(lines[place]) > depth:
            end = next(
                (n for n in range(place, len(lines)) if _measure_indent(lines[n]) <= depth), len(lines)
            )
            last = head[: opens.start()] if opens else head
            yield lines[start : place - 1] + ([last] if last else []), False
            deep = lines[place:end]
            yield deep, bool(opens) or reads_as_code(" ".join(each.strip() for each in deep))
            if opens and end < len(lines):
                lines[end] = _CLOSES_CODE.sub(" ", lines[end]).rstrip()
            start = place = end
    if start < len(lines):
        yield [*lines[start:-1], _OPENS_CODE.sub("", lines[-1])], False


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _add_lines(lines: list[str], words: Counter[str], outline: Outline) -> None:
    """Add the heading and the paragraphs of lines; the mark that ends code may leave an empty one."""
    lines = [line for line in lines if line]
    while lines:
        taken, heading = _take_heading(lines)
        if heading:
            outline.add_heading(heading[0], heading[1])
        elif taken := _count_term(lines):
            outline.left_out[TERMS] += 1
        else:
            if width := _measure_tag(*lines[:2]):
                lines[0] = " " * width + lines[0][width:]
                outline.left_out[TERMS] += 1
            taken = _take_paragraph(lines)
            if is_prose(lines[:taken]) and not reads_as_code(
                " ".join(each.strip() for each in lines[:taken])
            ):
                outline.add_paragraph(join_lines([_BULLET.sub("", each) for each in lines[:taken]], words))
            else:
                outline.left_out[CODE] += 1
        lines = lines[taken:]


def _take_paragraph(lines: list[str]) -> int:
    """Return the number of lines of the first paragraph; each item of a list is a paragraph."""
    for number in range(1, len(lines)):
        if _BULLET.match(lines[number]) or (
            number + 1 < len(lines) and _UNDERLINE.fullmatch(lines[number + 1])
        ):
            return number
        is_back = _measure_indent(lines[number]) < _measure_indent(lines[number - 1])
        if is_back and (_count_term(lines, number) or _measure_tag(*lines[number : number + 2])):
            return number
    return len(lines)


def _count_term(lines: list[str], start: int = 0) -> int:
    """Return the number of lines of a term above its definition, which is indented; 0 if there is none.

    A term leaves room for the definition's first words, which would stand there if it were the same sentence;
    a definition with a small first letter, such as `means that ...`, continues the term.
    """
    if _BULLET.match(lines[start]):
        return 0
    depth = _measure_indent(lines[start])
    near = range(start, min(start + _TERM_LINES, len(lines)))
    below = next((n for n in near if _measure_indent(lines[n]) != depth), start)
    first = lines[below]
    if _measure_indent(first) <= depth or first.lstrip()[0].islower() or _BULLET.match(first):
        return 0
    if _measure_tag(lines[below - 1], first):
        return 0
    end = next((n for n in range(below, len(lines)) if _measure_indent(lines[n]) <= depth), len(lines))
    room = _SHORT * max(map(len, lines[below:end]))
    is_short = all(len(each) < room and each[-1] not in ".,;:!?" for each in lines[start:below])
    return below - start if is_short else 0


def _measure_tag(line: str, following: str = "") -> int:
    """Return the width of a term on a line, 0 if the next one does not begin below the text behind it."""
    tag = _TAG.match(line)
    return tag.end() if tag and _measure_indent(following) == tag.end() else 0


def _take_heading(lines: list[str]) -> tuple[int, tuple[int, str] | None]:
    """Return the number of lines of a heading, its level and words; 0 lines if there is none."""
    first = lines[0]
    if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1].strip()) and len(first) <= 80:
        return 2, (2 if lines[1].strip()[0] in "-~^" else 1, first.strip())
    if len(lines) > 1:
        is_above = lines[1][0] == " " and "  " not in first and not _BULLET.match(first)
        return (1, (1, first)) if is_above and _is_in_capitals(first) else (0, None)
    numbered = _NUMBERED.fullmatch(first.strip())
    if numbered and first[0] != " " and first[-1] not in ".;,":
        return 1, (1 + numbered["number"].count("."), first.strip())
    if _is_in_capitals(first):
        return 1, (1, first.strip())
    return 0, None


def _is_in_capitals(line: str) -> bool:
    return line[0] != " " and line.isupper() and len(line) <= 60 and line[-1] not in ".;,"


def is_prose(lines: list[str]) -> bool:
    """Say whether lines are prose: mostly letters, single blanks, no leaders to page numbers."""
    text = " ".join(line.strip() for line in lines)
    if _LEADER.search(text):
        return False
    letters = sum(1 for character in text if character.isalpha() or character == " ")
    # columns of a table have gaps in most lines
    gaps = sum("   " in line.strip() for line in lines)
    return letters >= _PROSE_SHARE * len(text) and gaps * 2 <= len(lines)


def count_words(text: str) -> Counter[str]:
    """Return how often each word occurs in a text, in lower case, with inner hyphens."""
    return Counter(_WORD.findall(text.lower()))


def join_lines(lines: list[str], words: Counter[str]) -> str:
    """Join lines, and words broken at line ends.

    The hyphen is dropped unless the text has the word more often with a hyphen than without.
    """
    pieces: list[str] = []
    for line in (each.strip() for each in lines):
        end = "".join(pieces[-3:])[-_LONGEST_WORD - 1 :]
        broken = _LAST_WORD.search(end[:-1]) if end.endswith("-") else None
        following = _FIRST_WORD.match(line[:_LONGEST_WORD])
        if broken and following and following[0][0].islower():
            first, second = broken[0].lower(), following[0].lower()
            keep = words[f"{first}-{second}"] > words[first + second]
            pieces[-1] = pieces[-1] if keep else pieces[-1][:-1]
            pieces.append(line)
        elif line:
            pieces += [" ", line] if pieces else [line]
    return "".join(pieces)


def _drop_running_lines(text: str, outline: Outline) -> str:
    """Return text without the headers and footers of its pages, which end at form feeds."""
    if "\f" not in text:
        return text
    pages = [page.split("\n") for page in text.split("\f")]
    keys: Counter[str] = Counter()
    edges: list[list[int]] = []
    for page in pages:
        filled = [number for number, line in enumerate(page) if line.strip()]
        edge = sorted({*filled[:2], *filled[-2:]})
        edges.append(edge)
        keys.update({key_of_line(page[number]) for number in edge})
    for page, edge in zip(pages, edges, strict=True):
        for number in edge:
            if keys[key_of_line(page[number])] >= _REPEATS:
                page[number] = ""
                outline.left_out[REPEATED] += 1
    # a paragraph may continue on the next page
    return "\n".join("\n".join(_trim(page)) for page in pages)


def _trim(page: list[str]) -> list[str]:
    """Return the lines of a page without empty ones at its ends, but for one where a paragraph ends."""
    filled = [number for number, line in enumerate(page) if line.strip()]
    if not filled:
        return []
    lines = page[filled[0] : filled[-1] + 1]
    return [*lines, ""] if lines[-1].rstrip()[-1] in ".!?:" else lines


def key_of_line(line: str) -> str:
    """Return a line with all numbers replaced, so that headers and footers of all pages are equal."""
    return _DIGITS.sub("#", " ".join(line.split()))


_SIGN = re.compile(
    r"[\w>\])]\s?\(\)|\w\([^()]*[,=\"'][^()]*\)|\);|\w\.\w+\(|[=!<>+\-*/|&:]=|->|=>|<-|::|&&|"
    r"\|\||\+\+|(?<=\s)=(?=\s)|[{}]|"
    r"(?<=\s)--?[A-Za-z][\w-]*|\$\w|</?\w+[^<>]*>|\"\w+\"\s*:|;(?=\s*$)|\w=\w|"
    r"(?:^|\s)(?:\$|>>>|\.\.\.|#include|In \[\d+\]:|[A-Z]:\\>?|[\w.-]+@[\w.-]+:\S*[$#]|"
    r"def|elif|endif|return|void)(?=\s)"
)
_PROMPT = re.compile(r"(?:\$|>>>|In \[\d+\]:|[A-Z]:\\[^>\s]*>|[\w.-]+@[\w.-]+:\S*[$#])\s*\S")
_CODE = re.compile(
    r"Traceback \(most recent call last\)|SELECT\s.+\sFROM\s|INSERT INTO\s|CREATE (?:TABLE|VIEW|INDEX)\s|"
    r"---\s\S+\s\+\+\+\s|@@ -\d|</?\w[^<>]*>.*</?\w[^<>]*>$|.*\+[-=]{3,}\+"
)
"""Beginnings of a traceback, a query, a diff or markup, and tables drawn with characters."""
_PLAIN_WORD = re.compile(r"(?<![\w.$-])[^\W\d_]{2,}(?![\w(=$-]|\.\w)|[\u3040-\u9fff]")
_FEWEST, _SHARE, _SHARE_IN_SENTENCE = 3, 0.3, 1.0


def reads_as_code(text: str) -> bool:
    """Say whether a paragraph on one line is code: it begins with a prompt, or has as many signs as words.

    A sentence that names functions and options has more words than signs.
    """
    ends = text[-1:] in {".", "!", "?"}
    if (_PROMPT.match(text) or _CODE.match(text)) and not ends:
        return True
    signs = len(_SIGN.findall(text))
    share = _SHARE_IN_SENTENCE if ends else _SHARE
    return signs >= _FEWEST and signs > share * len(_PLAIN_WORD.findall(text))


def measure_signs(text: str) -> float:
    """Return signs of code for each word of a text: up to 0.11 in manuals, 0.16 in makefiles."""
    return len(_SIGN.findall(text)) / max(1, len(_WORD.findall(text)))
