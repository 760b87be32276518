r"""LaTeX documents to headings and paragraphs of plain text.

What is not text inside a sentence leaves a mark, `<ref>`: a displayed formula, a reference, a citation read
as a word, an undefined macro. Prompts with the mark can be left out (`pairs.gap_in_prompt`).
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from fathom.corpus import latex_macros as macros
from fathom.corpus import latex_names as names
from fathom.corpus.characters import GAP
from fathom.corpus.headings import is_no_prose
from fathom.corpus.latex import CITATION, REFERENCE, try_to_convert

GAPS, _REFERENCES = "gaps", "references"
"""Names for counting marks, and paragraphs below headings such as References."""
_DEEPEST = 3
_WHOLE = re.compile(r"\\begin\s*\{document\}")
_END = re.compile(r"\\end\s*\{document\}|\\endinput(?![A-Za-z])")
_TITLE = re.compile(r"\\title\*?(?![A-Za-z])")
_STRUCTURE = re.compile(
    r"\\(?P<escaped>[\\%{}$&#_])"
    r"|\\begin\s{0,9}\{(?P<begin>[^{}\n]{1,60})\}|(?P<end>\\end\s{0,9}\{[^{}\n]{1,60}\})"
    r"|(?P<display>\\\[|\$\$)"
    rf"|\\(?P<heading>{'|'.join(names.HEADINGS)})\*?(?![A-Za-z])"
    r"|\\(?P<aside>footnote|footnotetext|sidenote|marginnote|endnote|caption|captionof|subcaption)"
    r"\*?(?![A-Za-z])"
    r"|(?P<short>\\b(?P<kind>e[aq]?[nqas]{0,3})(?![A-Za-z]))"
    r"|(?P<item>\\item(?![A-Za-z]))"
    rf"|(?P<break>\\par(?![A-Za-z])|\n[^\S\n]*\n\s*)|(?P<block>{macros.BLOCK})"
)
_CAPTION = re.compile(r"\\caption(?P<of>of)?\*?(?![A-Za-z])")
_MATH_END = re.compile(r"(?:\\(?:label|tag)\s*\{[^{}]*\}|\\(?:nonumber|notag|qquad|quad|[,;!\\ ])|[\s}&~])*$")
_LABEL = re.compile(r"\s*\\label\s*\{[^{}]*\}")
_UNARXIVE = re.compile(r"\{\{cite:|\bFORMULA\b|\\cite\{[0-9a-f]{12}\}")
_UNARXIVE_MARK = re.compile(r"\b(?:FORMULA|REF)\b")
"""Marks of unarXive for what it left out."""
_INTERRUPT = frozenset(
    ["tabular", "tabularx", "tabulary", "tabu", "tblr", "NiceTabular", "tikzpicture", "pgfpicture", "picture",
     "pspicture", "tabbing"]
)  # fmt: skip
"""Environments that are left out inline, unlike floats."""


class Heading(NamedTuple):
    """A heading; levels count from 1, the outermost."""

    level: int
    title: str


_STEPS = re.compile(r"(\\(?:begin\s*\{\w+\*?\}|[A-Za-z]+\*?))\s?<[\d+.][\w+.,|:@()-]{0,30}>")
"""Steps of a slide at which something is shown, such as `<2->`."""


def read_title(source: str) -> str:
    r"""Return the title of a source as LaTeX; empty without one."""
    found = _TITLE.search(source)
    if found is None:
        return ""
    groups, _ = macros.Source.of(source[found.start() : found.start() + 5000]).take_groups(
        len(found.group()), 1
    )
    return groups[0] if groups else ""


def read_pieces(text: str, counts: Counter[str], comments: bool | None = None) -> Iterator[Heading | str]:
    r"""Yield the headings and paragraphs of a source as plain text; footnotes and captions are paragraphs.

    Parameters
    ----------
    comments : bool, optional
        Whether a `%` begins a comment; by default only in a whole source, with `\documentclass`.
    """
    text = text.replace(macros.BLOCK, "").replace("\r\n", "\n").replace("\r", "\n")
    if comments is None:
        comments = "\\documentclass" in text or "\\documentstyle" in text
    text = macros.expand_macros(expand_terms(macros.drop_false_branches(macros.drop_code(text, comments))))
    if "\\begin{frame}" in text:
        text = _STEPS.sub(r"\1", text)
    if _UNARXIVE.search(text):
        text = _UNARXIVE_MARK.sub(GAP, text)
    begin, end = _WHOLE.search(text), _END.search(text)
    text = text[begin.end() if begin else 0 : end.start() if end else len(text)]
    for piece in _Structure(text).read():
        if isinstance(piece, Heading):
            title = " ".join(convert_paragraph(piece.title, counts))
            yield Heading(piece.level, title)
        else:
            for plain in convert_paragraph(piece, counts):
                if GAP in plain:
                    counts[GAPS] += plain.count(GAP)
                yield plain


def latex_to_prose(text: str, counts: Counter[str]) -> str:
    """Return a document's headings and paragraphs, each on one line, with blank lines between.

    Text below headings such as `References` is left out; see :func:`read_pieces` for the counts.
    """
    kept: list[str] = []
    outer = 0
    for piece in read_pieces(text, counts):
        if isinstance(piece, Heading):
            if outer and piece.level > outer:
                continue
            outer = piece.level if is_no_prose(piece.title) else 0
            kept += [piece.title] if piece.title and not outer else []
        elif outer:
            counts[_REFERENCES] += 1
        else:
            kept.append(piece)
    return "\n\n".join(kept)


class _Structure:
    def __init__(self, text: str, depth: int = 0) -> None:
        self._source, self._ends, self._depth = macros.Source.of(text), macros.Ends(text), depth
        self._paragraph: list[str] = []
        self._asides: list[str] = []
        self._out: list[Heading | str] = []

    def read(self) -> list[Heading | str]:
        """Return the pieces."""
        text, place = self._source.text, 0
        for match in _STRUCTURE.finditer(text):
            if match.start() < place or match["escaped"]:
                continue
            self._paragraph.append(text[place : match.start()])
            place = self._take(match)
        self._paragraph.append(text[place:])
        self._flush()
        return self._out

    def _take(self, match: re.Match[str]) -> int:
        """Take one structural command; return where the text continues."""
        kind, place = match.lastgroup, match.end()
        if match["begin"]:
            return self._take_environment(match["begin"].strip(), match)
        if match["heading"]:
            return self._take_heading(match["heading"], place)
        if match["aside"]:
            groups, end = self._source.take_groups(place, 2 if match["aside"] == "captionof" else 1)
            self._asides += groups[-1:]
            return end if groups else place
        if match["display"] or match["short"]:
            return self._take_display(match)
        if kind == "block":
            self._interrupt("", place)
            return place
        self._flush()
        return self._source.skip_options(place) if kind == "item" else place

    def _take_heading(self, name: str, place: int) -> int:
        groups, end = self._source.take_groups(place, 1)
        if not groups:
            return place
        self._flush()
        self._out.append(Heading(names.HEADINGS[name], groups[0]))
        label = _LABEL.match(self._source.text, end)
        return label.end() if label else end

    def _take_environment(self, name: str, match: re.Match[str]) -> int:
        bare = name.rstrip("*")
        left_out = bare in names.FLOATS or bare in names.LEFT_OUT
        end = self._ends.find(name, match.end()) if left_out or bare in names.DISPLAYS else None
        if end is not None:
            inside = self._source.text[match.end() : end[0]]
            if bare in names.DISPLAYS:
                self._interrupt(_read_end_mark(inside), end[1], formula=True)
            else:
                self._take_captions(inside)
                if bare in _INTERRUPT:
                    self._interrupt("", end[1])
            return end[1]
        self._flush()
        place = self._source.skip_options(match.end())
        return self._source.take_groups(place, names.ENVIRONMENT_ARGUMENTS.get(bare, 0))[1]

    def _take_captions(self, inside: str) -> None:
        if "\\caption" not in inside:
            return
        source = macros.Source.of(inside)
        for match in _CAPTION.finditer(inside):
            groups, _ = source.take_groups(match.end(), 2 if match["of"] else 1)
            self._asides += groups[-1:]

    def _take_display(self, match: re.Match[str]) -> int:
        r"""Take a formula between `\[` and `\]`, two dollar signs, or a usual short form of an equation."""
        text, start = self._source.text, match.end()
        close = {"\\[": "\\]", "$$": "$$"}.get(match.group(), f"\\e{match['kind']}")
        end = text.find(close, start, start + 10_000)
        if end < 0 or (match["short"] and text[end + len(close) : end + len(close) + 1].isalpha()):
            self._paragraph.append("" if match["display"] else match.group())
            return start
        place = end + len(close)
        self._interrupt(_read_end_mark(text[start:end]), place, formula=True)
        return place

    def _interrupt(self, mark: str, place: int, formula: bool = False) -> None:
        """Leave a gap if the sentence continues after what is left out, else end the paragraph."""
        rest = self._source.text[place : place + 300].lstrip(" \t")
        following = rest[1:].lstrip(" \t") if rest[:1] == "\n" else rest
        goes_on = following[:1].islower() or following[:1] in {",", ";", ".", "$", "("}
        if goes_on and mark == ".":
            mark = ""
        if formula or goes_on:
            self._paragraph.append(f" {GAP}{mark} ")
        if not goes_on and not (formula and mark):
            self._flush()

    def _flush(self) -> None:
        """End the paragraph; what stood beside it follows."""
        paragraph = "".join(self._paragraph).strip()
        asides, self._asides, self._paragraph = self._asides, [], []
        if paragraph:
            self._out.append(paragraph)
        for aside in asides:
            inner = _Structure(aside, self._depth + 1).read() if self._depth < _DEEPEST else [aside]
            self._out += [piece.title if isinstance(piece, Heading) else piece for piece in inner]


def _read_end_mark(formula: str) -> str:
    """Return the punctuation at the end of a formula, which is the sentence's."""
    bare = formula[-500:]
    end = _MATH_END.search(bare)
    last = bare[: end.start()][-1:] if end else ""
    return last if last in {".", ",", ";", ":"} else ""


_LENGTH = re.compile(
    r"\s*=?\s*[-+]?\s*(?:\d+(?:[.,]\d*)?|[.,]\d+)?\s*(?:(?:true)?(?:pt|pc|in|bp|cm|mm|dd|cc|sp|em|ex|fil+)(?![A-Za-z]))?"
    r"(?:\s*(?:plus|minus)\s*-?[\d.]+\s*[a-z]{2,5})*"
)
_TERM = re.compile(r"[Gg]ls[a-z]*|acr?[a-z]{0,6}")
_WITH_OPTION = frozenset(["footnotemark", "linebreak", "nolinebreak", "pagebreak", "nopagebreak"])
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
_PREFIXES = frozenset(
    [
        "deca", "hecto", "kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta", "deci", "centi",
        "milli", "micro", "nano", "pico", "femto", "atto", "zepto", "yocto", "kibi", "mebi", "gibi", "tebi",
    ]
)  # fmt: skip
_POWER_BEFORE = re.compile(r"\\(square|cubic)(?![a-z])\s*")
_POWER_AFTER = re.compile(r"\\(squared|cubed)(?![a-z])\s*")
_POWER = re.compile(r"\s*\\(?:tothe|raiseto)\s*\{([^{}]*)\}")
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
_IN_FORMULAS = {"begin", "end"}.union(
    names.WORDS, names.NO_WORDS, names.KEPT_ARGUMENT, names.NO_WORDS_WITH_ARGUMENTS
)


def convert_paragraph(text: str, counts: Counter[str]) -> list[str]:
    """Return LaTeX without structure as plain text on one line, piece by piece if it fails as a whole.

    `counts` has the sentences that cannot be converted and are left out, by reason.
    """
    prepared = _prepare(text)
    plain = try_to_convert(_balance(prepared), Counter())
    if plain is not None:
        return _tidy([plain])
    pieces = (try_to_convert(_balance(each), counts) for each in _SENTENCE_END.split(prepared))
    return _tidy([each for each in pieces if each is not None])


def _tidy(pieces: list[str]) -> list[str]:
    """Return pieces on one line each, without remains of citations; drop pieces without a word."""
    tidy = []
    for piece in pieces:
        line = _BEFORE_MARK.sub("", _EMPTY.sub("", " ".join(piece.split())))
        line = _LONE_GAP.sub("", _GAPS.sub(GAP, line))
        if _WORD.search(line.replace(GAP, "")):
            tidy.append(line)
    return tidy


def _prepare(text: str) -> str:
    if not any(sign in text for sign in ("\\", "{{", "$")):
        return text
    if "ite" in text:
        text = _REPEATED_CITATION.sub(r"\1", text)
        text = names.TEXTUAL_CITATION.sub(GAP, text)
        text = names.CITATION_BEFORE_VERB.sub(
            rf"\g<before>{GAP}", names.CITATION_IN_SENTENCE.sub(rf"\g<before>{GAP}", text)
        )
    text = _mend_dollars(REFERENCE.sub(GAP, text))
    text = _FORMULA.sub(_read_formula, text)
    text = _OWN_LINE.sub(_drop_own_line, text)
    for _ in range(3):  # an argument that is kept may have commands
        resolved = macros.replace_where(
            text, macros.COMMAND, partial(_resolve, source=macros.Source.of(text))
        )
        if resolved == text:
            break
        text = resolved
    return _PRIMITIVE.sub("", text)


def _read_formula(match: re.Match[str]) -> str:
    """Return a formula, or a gap for one whose text is not known."""
    formula = match["dollars"] or match["round"]
    for command in macros.COMMAND.finditer(formula):
        name = command[1]
        if name and name not in _IN_FORMULAS and name not in names.list_known_commands():
            return GAP
    if "\\begin" in formula:
        return GAP
    return f"${formula}$"


def _drop_own_line(match: re.Match[str]) -> str:
    """Return nothing for an unknown command on a line of its own: it is layout."""
    name = match.group().strip()[1:]
    return "\n" if name not in names.list_known_commands() and name not in names.WORDS else match.group()


def _resolve(match: re.Match[str], source: macros.Source) -> tuple[str, int]:
    name, place = match[1], match.end()
    if name in names.KEPT_ARGUMENT:
        return _keep_argument(name, source, place)
    if name in names.WORDS:
        return _say_word(names.WORDS[name], source.text, match.end(1))
    if name in _QUANTITIES:
        return _read_quantity(source, place)
    end = place if name is None else _find_end_of_layout(name, source, place)
    if end is not None:
        return (" " if name in names.SPACES else "" if name else match.group()), end
    if name in names.list_known_commands():
        return match.group(), place
    return _mark_unknown(name, source, place)


def _keep_argument(name: str, source: macros.Source, place: int) -> tuple[str, int]:
    most, kept = names.KEPT_ARGUMENT[name]
    groups, end = source.take_groups(place, most)
    if not groups:
        return "", place
    words = groups[min(kept, len(groups)) - 1] if kept else "".join(groups)
    if ":" in words and _TERM.fullmatch(name):  # a key whose term another file defines
        return GAP, end
    return f"{{{words}}}", end


def _find_end_of_layout(name: str, source: macros.Source, place: int) -> int | None:
    """Return the end of a command without words; None for other commands."""
    if name in _TAKES_LENGTH:
        length = _LENGTH.match(source.text, place)
        return length.end() if length else place
    if name in names.NO_WORDS or not name.strip("@"):
        return source.skip_options(place) if name in _WITH_OPTION else place
    if name in {"begin", "end"} or name in names.NO_WORDS_WITH_ARGUMENTS or name.startswith("index"):
        return source.take_groups(place, names.NO_WORDS_WITH_ARGUMENTS.get(name, 1))[1]
    return None


def _say_word(word: str, text: str, place: int) -> tuple[str, int]:
    """Return a word for a command, merging its full stop with the text's."""
    if text.startswith("{}", place):
        place += 2
    if word.endswith(".") and text.startswith("\\@", place):
        place += 2
    if word.endswith(".") and text.startswith(".", place):
        place += 1
    glued = text[place : place + 1].isalnum() and re.search(r"\\[A-Za-z]+$", word) is not None
    return word + (" " if glued else ""), place


def _read_quantity(source: macros.Source, place: int) -> tuple[str, int]:
    r"""Return a number with its unit, such as `\SI{5}{\kilo\metre}`."""
    groups, end = source.take_groups(place, 3)
    words = []
    for group in groups:
        named = re.sub(r"\\per(?![a-z])\s*", "/", group)
        named = re.sub(r"\\percent(?![a-z])", r"\\%", named)
        named = re.sub(
            r"\\(?:degree|degreeCelsius|celsius)(?![A-Za-z])", "°C" if "elsius" in group else "°", named
        )
        named = _POWER_AFTER.sub(r" \1", _POWER_BEFORE.sub(r"\1 ", named))
        named = _POWER.sub(r"^\1", named)
        named = re.sub(
            r"\\([A-Za-z]+)\s*", lambda unit: unit[1] + ("" if unit[1] in _PREFIXES else " "), named
        )
        words.append(" ".join(re.sub(r"\s*([/^])\s*", r"\1", named).split()))
    return (" ".join(words), end) if groups else (GAP, place)


def _mark_unknown(name: str, source: macros.Source, place: int) -> tuple[str, int]:
    """Return the text in the braces of an unknown command; a gap if it has none, or several, or cites."""
    if name == "tikz" and (drawing := _DRAWING.match(source.text, place)):
        return GAP, drawing.end()
    if name in names.PICTURES or "cite" in name:
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


_DRAWING = re.compile(r"\s*(?:\[[^\]]{0,300}\])?\s*\\[a-z]+[^;]{0,1000};")


def _balance(text: str) -> str:
    if "{" not in text and "}" not in text:
        return text
    pairs = macros.match_braces(text)
    matched = {*pairs, *pairs.values()}
    escaped = {match.start() + 1 for match in re.finditer(r"\\.", text, re.DOTALL)}
    return "".join(
        sign for place, sign in enumerate(text)
        if sign not in "{}" or place in matched or place in escaped
    )  # fmt: skip


def _mend_dollars(text: str) -> str:
    """Return LaTeX in which dollar signs come in pairs around formulas.

    If one is missing, all following prose would become formulas. A sign without a partner belongs to a
    price, or is dropped.
    """
    places = [match.start() for match in _DOLLAR.finditer(text) if match["sign"]]
    alone, number = [], 0
    while number < len(places):
        inside = text[places[number] + 1 : places[number + 1]] if number + 1 < len(places) else None
        if (
            inside is None
            or len(inside) > _LONGEST_FORMULA
            or _PROSE.search(_TEXT_IN_FORMULA.sub("", inside))
        ):
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


class _Term(NamedTuple):
    short: str
    long: str


_DEFINITION = re.compile(
    r"\\(?P<kind>newacronym|newabbreviation|acrodef|newacro|acro|(?:long)?newglossaryentry|DeclareAcronym)\*?(?![A-Za-z])"
)
_FIELD = re.compile(
    r"(?:^|[,\s])(?P<name>name|short|long|text)\s*=\s*(?:\{(?P<braced>(?:[^{}]|\{[^{}]*\})*)\}|(?P<bare>[^,{}]+))"
)
_USE = re.compile(r"\\(?P<use>[gG]ls|GLS|[aA]c)(?P<form>[a-z]*)\*?(?![A-Za-z])")
_LONG, _PLURAL = re.compile(r"long|^r?l(?:p|pl)?$"), re.compile(r"pl|p$|plural")


def expand_terms(text: str) -> str:
    """Replace keys by the terms that a source defines; unknown keys stay."""
    terms = _find_terms(text)
    if not terms:
        return text
    source = macros.Source.of(text)

    def replace(match: re.Match[str]) -> tuple[str, int]:
        key = source.take_group(source.skip_options(match.end()))
        term = terms.get(key[0].strip()) if key else None
        if key is None or term is None:
            return match.group(), match.end()
        words = term.long if _LONG.search(match["form"]) and term.long else term.short
        plural = "s" if _PLURAL.search(match["form"]) else ""
        return (words[:1].upper() + words[1:] if match["use"][0].isupper() else words) + plural, key[1]

    return macros.replace_where(text, _USE, replace)


def _find_terms(text: str) -> dict[str, _Term]:
    if not any(word in text for word in ("acro", "abbreviation", "glossaryentry", "Acronym")):
        return {}
    source = macros.Source.of(text)
    terms: dict[str, _Term] = {}
    for match in _DEFINITION.finditer(text):
        found = source.take_group(source.skip_options(match.end()))
        if found is None:
            continue
        key, end = found[0].strip(), found[1]
        option = source.take_option(end)
        groups, _ = source.take_groups(end, 2)
        if match["kind"] in {"newacronym", "newabbreviation"} and len(groups) == 2:
            terms[key] = _Term(*groups)
        elif match["kind"] in {"acrodef", "newacro", "acro"} and groups:
            terms[key] = _Term(option[0] if option else key, groups[0])
        elif groups:
            fields = {
                each["name"]: (each["braced"] or each["bare"] or "").strip()
                for each in _FIELD.finditer(groups[0])
            }
            short = fields.get("text") or fields.get("short") or fields.get("name")
            if short:
                terms[key] = _Term(short, fields.get("long", ""))
    return terms
