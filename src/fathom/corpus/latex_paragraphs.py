"""Paragraphs of LaTeX to plain text, with a mark for what is no text."""

import re
from collections import Counter
from functools import partial

from fathom.corpus.characters import GAP
from fathom.corpus.latex import CITATION, REFERENCE, try_to_convert
from fathom.corpus.latex_macros import COMMAND, Source, match_braces, replace_where
from fathom.corpus.latex_names import (
    CITATION_BEFORE_VERB,
    CITATION_IN_SENTENCE,
    KEPT_ARGUMENT,
    NO_WORDS,
    NO_WORDS_WITH_ARGUMENTS,
    PICTURES,
    TEXTUAL_CITATION,
    WORDS,
    list_known_commands,
)  # fmt: skip

_LENGTH = re.compile(
    r"\s*=?\s*[-+]?\s*(?:\d+(?:[.,]\d*)?|[.,]\d+)?\s*(?:(?:true)?(?:pt|pc|in|bp|cm|mm|dd|cc|sp|em|ex|fil+)(?![A-Za-z]))?"
    r"(?:\s*(?:plus|minus)\s*-?[\d.]+\s*[a-z]{2,5})*"
)
_TAKES_LENGTH = frozenset(["vskip", "hskip", "kern", "looseness", "penalty"])
_PRIMITIVE = re.compile(
    r"\\(?:baselineskip|parskip|parindent|tabcolsep|itemsep|leftskip|rightskip|parsep|topsep)"
)
_NO_TEXT = re.compile(r"\s*(?:[-+]?[\d.]*\s*(?:pt|cm|mm|em|ex|in|\\[a-z]+)?|[\w+-]+[:_/=][\w:./=+-]*)\s*")
_REPEATED_CITATION = re.compile(rf"({CITATION.pattern})(?:\s*(?:,|;|and)?\s*(?:{CITATION.pattern}))+")
_FORMULA = re.compile(
    r"(?<!\\)\$(?P<dollars>(?:\\.|[^$\\]){1,2000})\$|\\\((?P<round>.{1,2000}?)\\\)", re.DOTALL
)
_OWN_LINE = re.compile(r"(?:^|\n)[^\S\n]*\\[A-Za-z@]+[^\S\n]*(?=\n|$)")
_QUANTITIES = frozenset(["SI", "qty", "unit", "si", "SIrange", "qtyrange", "ang", "numrange"])
_DOLLAR = re.compile(r"\\.|(?P<sign>\$)", re.DOTALL)
_TEXT_IN_FORMULA = re.compile(
    r"\\(?:text[a-z]*|mbox|hbox|operatorname|mathrm|tag|label)\*?\s*\{[^{}]*\}|\{\s*\\(?:rm|it|bf|sf|tt)\b[^{}]*\}"
)
_PROSE = re.compile(
    r"(?<![\\A-Za-z])[A-Za-z]?[a-z]{2,}(?:[\s,]+[a-z]{2,}){2,}(?![A-Za-z])|^\d[\d.,]*\s+[a-z]+\s+(?:[a-z]+\s+)*$"
)
_LONGEST_FORMULA = 2000
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\\])")
_BEFORE_MARK = re.compile(r"\s+(?=[.,;!?)\]](?:\s|$|[)\]]))")
_EMPTY = re.compile(r"\s*(?:\((?:\s|[,;.]|e\.g\.|i\.e\.|cf\.|[Ss]ee|also|and)*\)|\[[\s,;.]*\])")
_GAPS = re.compile(rf"{GAP}(?:\s*{GAP})+")
_LONE_GAP = re.compile(rf"(?<=[.!?])\s*{GAP}[.,;]?$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_IN_FORMULAS = (WORDS, NO_WORDS, KEPT_ARGUMENT, NO_WORDS_WITH_ARGUMENTS, {"begin", "end"})


def convert_paragraph(text: str, counts: Counter[str]) -> list[str]:
    """Return LaTeX without structure as plain text on one line; in pieces if not possible as a whole.

    `counts` has the sentences that cannot be converted and are left out, by reason.
    """
    prepared = _prepare(text)
    plain = try_to_convert(_balance(prepared), Counter())
    if plain is not None:
        return _tidy([plain])
    pieces = (try_to_convert(_balance(each), counts) for each in _SENTENCE_END.split(prepared))
    return _tidy([each for each in pieces if each is not None])


def _tidy(pieces: list[str]) -> list[str]:
    """Return pieces on one line each, without what citations leave; pieces without a word are dropped."""
    tidy = []
    for piece in pieces:
        line = _BEFORE_MARK.sub("", _EMPTY.sub("", " ".join(piece.split())))
        line = _LONE_GAP.sub("", _GAPS.sub(GAP, line))
        if _WORD.search(line.replace(GAP, "")):
            tidy.append(line)
    return tidy


def _prepare(text: str) -> str:
    """Return LaTeX with only commands that the converter knows."""
    if not any(sign in text for sign in ("\\", "{{", "$")):
        return text
    if "ite" in text:
        text = _REPEATED_CITATION.sub(r"\1", text)
        text = TEXTUAL_CITATION.sub(GAP, text)
        text = CITATION_BEFORE_VERB.sub(
            rf"\g<before>{GAP}", CITATION_IN_SENTENCE.sub(rf"\g<before>{GAP}", text)
        )
    text = _mend_dollars(REFERENCE.sub(GAP, text))
    text = _FORMULA.sub(_read_formula, text)
    text = _OWN_LINE.sub(_drop_own_line, text)
    for _ in range(3):  # an argument that is kept may have commands
        resolved = replace_where(text, COMMAND, partial(_resolve, source=Source.of(text)))
        if resolved == text:
            break
        text = resolved
    return _PRIMITIVE.sub("", text)


def _read_formula(match: re.Match[str]) -> str:
    """Return a formula, or a gap for one whose text is not known."""
    formula = match["dollars"] or match["round"]
    for command in COMMAND.finditer(formula):
        name = command[1]
        if name and not any(name in known for known in (list_known_commands(), *_IN_FORMULAS)):
            return GAP
    if "\\begin" in formula:
        return GAP
    return f"${formula}$"


def _drop_own_line(match: re.Match[str]) -> str:
    """Return nothing for an unknown command on a line of its own: it is layout."""
    name = match.group().strip()[1:]
    return "\n" if name not in list_known_commands() and name not in WORDS else match.group()


def _resolve(match: re.Match[str], source: Source) -> tuple[str, int]:
    """Return what a command leaves, and where its arguments end."""
    name, place = match[1], match.end()
    if name in KEPT_ARGUMENT:
        return _keep_argument(name, source, place)
    if name in WORDS:
        return _say_word(WORDS[name], source.text, match.end(1))
    if name in _QUANTITIES:
        return _read_quantity(source, place)
    end = place if name is None else _find_end_of_layout(name, source, place)
    if end is not None:
        return ("" if name else match.group()), end
    if name in list_known_commands():
        return match.group(), place
    return _mark_unknown(name, source, place)


def _keep_argument(name: str, source: Source, place: int) -> tuple[str, int]:
    """Return the words of a command that sets them in its way."""
    most, kept = KEPT_ARGUMENT[name]
    groups, end = source.take_groups(place, most)
    if not groups:
        return "", place
    words = groups[min(kept, len(groups)) - 1] if kept else "".join(groups)
    return f"{{{words}}}", end


def _find_end_of_layout(name: str, source: Source, place: int) -> int | None:
    """Return where a command without words ends; None if it is no such command."""
    if name in _TAKES_LENGTH:
        length = _LENGTH.match(source.text, place)
        return length.end() if length else place
    if name in NO_WORDS or not name.strip("@"):
        return place
    if name in {"begin", "end"} or name in NO_WORDS_WITH_ARGUMENTS or name.startswith("index"):
        return source.take_groups(place, NO_WORDS_WITH_ARGUMENTS.get(name, 1))[1]
    return None


def _say_word(word: str, text: str, place: int) -> tuple[str, int]:
    """Return a word for a command; its full stop and that of the text are one."""
    if text.startswith("{}", place):
        place += 2
    if word.endswith(".") and text.startswith("\\@", place):
        place += 2
    if word.endswith(".") and text.startswith(".", place):
        place += 1
    glued = text[place : place + 1].isalnum() and re.search(r"\\[A-Za-z]+$", word) is not None
    return word + (" " if glued else ""), place


def _read_quantity(source: Source, place: int) -> tuple[str, int]:
    r"""Return a number with its unit, such as `\SI{5}{\kilo\metre}`."""
    groups, end = source.take_groups(place, 3)
    words = []
    for group in groups:
        named = re.sub(r"\\per(?![a-z])\s*", "/", group)
        named = re.sub(r"\\percent(?![a-z])", r"\\%", named)
        named = re.sub(
            r"\\(?:degree|degreeCelsius|celsius)(?![a-z])", "°C" if "elsius" in group else "°", named
        )
        words.append(re.sub(r"\\([a-z]+)\s*", r"\1", named).strip())
    return (" ".join(words), end) if groups else (GAP, place)


def _mark_unknown(name: str, source: Source, place: int) -> tuple[str, int]:
    """Return the text in the braces of an unknown command; a gap if it has none, or several, or cites."""
    if name in PICTURES or "cite" in name:
        return GAP, source.take_groups(place, 1)[1]
    start = source.skip_options(place)
    direct = source.text[start : start + 1] == "{"
    groups, end = source.take_groups(place, 4) if direct else ([], place)
    filled = [group for group in groups if group.strip()]
    if not groups:
        return GAP, place
    if not filled or len(filled) > 1:
        return GAP, end
    if _NO_TEXT.fullmatch(filled[0]):
        return ("" if re.match(r"\s*[-+]?[\d.]+\s*[a-z\\]", filled[0]) else GAP), end
    return f"{{{filled[0]}}}", end


def _balance(text: str) -> str:
    if "{" not in text and "}" not in text:
        return text
    pairs = match_braces(text)
    matched = {*pairs, *pairs.values()}
    escaped = {match.start() + 1 for match in re.finditer(r"\\.", text, re.DOTALL)}
    return "".join(
        sign for place, sign in enumerate(text)
        if sign not in "{}" or place in matched or place in escaped
    )  # fmt: skip


def _mend_dollars(text: str) -> str:
    """Return LaTeX in which dollar signs come in pairs around formulas.

    Between two of them stands prose if one is missing, and all prose that follows would be formulas. A sign
    without a partner is a price's, or goes.
    """
    places = [match.start() for match in _DOLLAR.finditer(text) if match["sign"]]
    alone, number = [], 0
    while number < len(places):
        inside = text[places[number] + 1 : places[number + 1]] if number + 1 < len(places) else None
        if inside is None or len(inside) > _LONGEST_FORMULA or _reads_as_prose(inside):
            alone.append(places[number])
            number += 1
        else:
            number += 2
    pieces, start = [], 0
    for place in alone:
        price = text[place + 1 : place + 2].isdigit()
        pieces += [text[start:place], "\\$" if price else ""]
        start = place + 1
    return "".join([*pieces, text[start:]])


def _reads_as_prose(formula: str) -> bool:
    return _PROSE.search(_TEXT_IN_FORMULA.sub("", formula)) is not None
