r"""The author's side of LaTeX: comments, disabled text, code, and macros.

Works on the source as text, as sources may be incomplete or broken. Nothing is run or included; what is not
understood is left to :mod:`fathom.corpus.latex_documents`, which marks it as a gap.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from fathom.corpus import latex_names as names

BLOCK = "\x01"
"""Stands for displayed code."""
_ROUNDS, _MOST_GROWTH = 10, 4
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_BLANKS = re.compile(r"[^\S\n]*(?:\n[^\S\n]*(?=\S))?")
_OPTION = re.compile(r"\[((?:[^\[\]{}]|\{[^{}]{0,300}\}|\[[^\[\]]{0,300}\]){0,600})\]")
_TOKEN = re.compile(r"\\(?:[A-Za-z@]+|.)|[^\s\\{}]")
_REST_OF_LINE = re.compile(r"[^\S\n]*\n")
COMMAND = re.compile(r"\\(?:([A-Za-z@]+)\*?|.)", re.DOTALL)
"""A command of letters, which is its first group; or an escaped sign, without one."""


def match_braces(text: str) -> dict[int, int]:
    """Return the place of the closing brace of each opening one; those without a partner are left out."""
    pairs, stack = {}, []
    for match in _BRACE.finditer(text):
        sign = match.group()
        if sign == "{":
            stack.append(match.start())
        elif sign == "}" and stack:
            pairs[stack.pop()] = match.start()
    return pairs


@dataclass(frozen=True)
class Source:
    """A piece of LaTeX with its braces matched."""

    text: str
    braces: Mapping[int, int]

    @classmethod
    def of(cls, text: str) -> "Source":
        """Match the braces of a text."""
        return cls(text, match_braces(text))

    def take_group(self, place: int) -> tuple[str, int] | None:
        """Return the content of the braces that open here or after spaces, and the end; None without."""
        blanks = _BLANKS.match(self.text, place)
        start = blanks.end() if blanks else place
        end = self.braces.get(start)
        return None if end is None else (self.text[start + 1 : end], end + 1)

    def take_groups(self, place: int, most: int) -> tuple[list[str], int]:
        """Return the groups that follow, options skipped, and their end."""
        groups: list[str] = []
        while len(groups) < most:
            place = self.skip_options(place)
            found = self.take_group(place)
            if found is None:
                break
            groups.append(found[0])
            place = found[1]
        return groups, place

    def take_option(self, place: int) -> tuple[str, int] | None:
        """Return the content of the brackets that open at `place` or after spaces, and the end."""
        blanks = _BLANKS.match(self.text, place)
        found = _OPTION.match(self.text, blanks.end() if blanks else place)
        return None if found is None else (found[1], found.end())

    def skip_options(self, place: int) -> int:
        """Return the end of the options that follow, up to three; `place` if there are none."""
        for _ in range(3):
            found = self.take_option(place)
            if found is None:
                return place
            place = found[1]
        return place

    def take_argument(self, place: int) -> tuple[str, int] | None:
        """Return a macro's argument, which is a group or a single token, and its end."""
        found = self.take_group(place)
        if found is None:
            blanks = _BLANKS.match(self.text, place)
            token = _TOKEN.match(self.text, blanks.end() if blanks else place)
            found = None if token is None else (token.group(), token.end())
        return found


def replace_where(
    text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], tuple[str, int]]
) -> str:
    """Replace matches from left to right; `replace` also says where the replaced text ends.

    A line that becomes empty is removed with its end, which would make a blank line.
    """
    pieces, place = [], 0
    for match in pattern.finditer(text):
        if match.start() < place:
            continue
        new, end = replace(match)
        pieces += [text[place : match.start()], new]
        place = end if new else _skip_empty_line(text, match.start(), end)
    return "".join([*pieces, text[place:]])


def _skip_empty_line(text: str, start: int, end: int) -> int:
    rest = _REST_OF_LINE.match(text, end)
    alone = rest is not None and not text[text.rfind("\n", 0, start) + 1 : start].strip()
    return rest.end() if rest and alone else end


# --- code and comments

_SPECIAL = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{each: f"\\{each}" for each in "{}$%&#_"},
})  # fmt: skip
_LITERAL = (
    r"\\(?P<escaped>[\\%{}$&#_])"
    r"|\\(?P<verb>verb|Verb|lstinline|mintinline|spverb|cprotect\\verb)(?![A-Za-z])\*?(?:\[[^\]\n]{0,200}\])?"
    r"(?P<language>(?<=mintinline)\s?\{[^{}\n]{0,60}\}|(?<=\])\{[^{}\n]{0,60}\}(?=[^\w\s]))?"
    r"(?:(?P<sign>[^\w\s*{\[\\])(?P<verbatim>[^\n]{0,500}?)(?P=sign)|\{(?P<braced>[^{}\n]{0,500})\})"
    r"|\\mint(?![A-Za-z])(?:\[[^\]\n]{0,200}\])?\{[^{}\n]{0,60}\}(?P<mint>[^\w\s]|\{)(?P<minted>[^\n]{0,500}?)(?:(?P=mint)|\})"
    r"|\\(?P<address>url|nolinkurl|path|href)\s{0,9}\{(?P<target>(?:[^{}\n]|\{[^{}\n]{0,300}\}){0,2000})\}"
    r"|\\begin\s{0,9}\{(?P<environment>[^{}\n]{1,60})\}"
)
_COMMENT = r"|(?P<comment>%[^\n]*(?:\n[^\S\n]*(?!\s))?)"
_WHOLE_LINES = r"|(?P<comment>(?m:^)[^\S\n]*%[^\n]*\n|%[^\S\n]*\n[^\S\n]*(?!\s))"


def escape(text: str) -> str:
    """Return LaTeX that sets a text verbatim."""
    return text.translate(_SPECIAL)


def drop_code(text: str, comments: bool) -> str:
    r"""Remove comments and displayed code; keep inline code verbatim.

    Without `comments`, a `%` begins one only at the start or end of a line, as in text whose comments were
    removed before.
    """
    own = frozenset(
        name
        for found in names.CODE_DEFINITIONS.finditer(text)
        for name in (found["name"], found["own"], found["language"] and f"{found['language']}code")
        if name
    ) | _find_own_code(text)
    text = _unfold_short_inline(text)
    ends = Ends(text)
    pattern = re.compile(_LITERAL + (_COMMENT if comments else _WHOLE_LINES))

    def replace(match: re.Match[str]) -> tuple[str, int]:
        if match["environment"] is not None:
            name = match["environment"].strip()
            end = ends.find(name, match.end()) if name == "comment" or names.is_code(name, own) else None
            return (match.group(), match.end()) if end is None else (
                "" if name == "comment" else BLOCK, end[1]
            )  # fmt: skip
        if match["mint"]:
            return BLOCK, match.end()
        if match["verb"]:
            code = match["verbatim"] if match["sign"] else match["braced"]
            return "{" + escape(code) + "}", match.end()
        if match["address"]:
            kept = "" if match["address"] == "href" else "{" + escape(match["target"]) + "}"
            return kept, match.end()
        return ("" if match["comment"] else match.group()), match.end()

    return replace_where(text, pattern, replace)


def _find_own_code(text: str) -> frozenset[str]:
    """Return the environments that an author defined to begin with code."""
    found = re.finditer(
        r"\\(?:(?:re)?newenvironment|(?:New|Renew|Provide|Declare)DocumentEnvironment)\s*\*?\{(?P<name>[^{}]{1,60})\}\s*"
        r"(?:(?:\[[^\]]{0,99}\]|\{(?:[A-Za-z+!\s]|\{[^{}]{0,30}\}){0,20}\})\s*){0,2}"
        r"\{(?P<begin>[^%]{0,400})",
        text,
    )  # fmt: skip
    opens = re.compile(
        r"\\begin\s*\{(?P<inner>[^{}]{1,60})\}|\\(?P<old>verbatim|Verbatim|VerbatimEnvironment|alltt|lstset|"
        r"minted|comment)(?![A-Za-z])"
    )
    own = set()
    for each in found:
        begin = "{" + each["begin"]
        begin = begin[: match_braces(begin).get(0, len(begin))]
        first = opens.search(begin)
        # a whole environment in typewriter letters, not a word of it
        typewriter = re.search(r"\\(?:ttfamily|tt)(?![A-Za-z])", re.sub(r"(?!^)\{[^{}]*\}", "", begin))
        if typewriter or (first and (first["old"] or names.is_code(first["inner"]))):
            own.add(each["name"])
    return frozenset(own)


def _unfold_short_inline(text: str) -> str:
    r"""Write code between the author's own signs, such as `|code|`, as `\verb|code|`."""
    signs = sorted({found["sign"] for found in names.SHORT_INLINE.finditer(text)})
    text = names.SHORT_INLINE.sub("", text)
    for sign in signs:
        inline = re.compile(
            rf"(?<![\\\w]){re.escape(sign)}([^\n{re.escape(sign)}]{{1,200}}){re.escape(sign)}"
        )
        text = inline.sub(lambda found: "{" + escape(found[1]) + "}", text)
    return text


class Ends:
    """Where environments end."""

    def __init__(self, text: str) -> None:
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for match in re.finditer(r"\\end\s{0,9}\{([^{}\n]{1,60})\}", text):
            self._places[match[1].strip()].append((match.start(), match.end()))

    def find(self, name: str, place: int) -> tuple[int, int] | None:
        r"""Return where the first `\end` of an environment after a place begins and ends."""
        places = self._places.get(name, [])
        number = bisect_left(places, (place, 0))
        return places[number] if number < len(places) else None


# --- conditionals

_TEST = (
    r"ifx|ifnum|ifdim|ifodd|ifmmode|ifvmode|ifhmode|ifinner|ifcase|ifcat|ifvoid|ifdefined|ifcsname|ifpdf|ifxetex|"
    r"ifluatex|if"
)
_BRANCH = re.compile(r"\\(?P<name>newif\s*\\if[A-Za-z@]+|if[A-Za-z@]*|else|fi|or)(?![A-Za-z@])")


def drop_false_branches(text: str) -> str:
    r"""Remove what `\iffalse`, `\if0` and the author's own switches leave out; keep both sides elsewhere."""
    if "\\fi" not in text:
        return text
    own = {f"if{name}": False for name in re.findall(r"\\newif\s*\\if([A-Za-z@]+)", text)}
    for name in own:
        last = re.findall(rf"\\{re.escape(name[2:])}(true|false)(?![A-Za-z@])", text)
        own[name] = bool(last) and last[-1] == "true"
    known: dict[str, bool | None] = {"iffalse": False, "iftrue": True, **own}
    pieces: list[str] = []
    stack: list[tuple[bool | None, bool]] = []  # the test's value, and whether text around it is kept
    place, kept = 0, True
    for match in _BRANCH.finditer(text):
        name, end = match["name"], match.end()
        if name.startswith("newif") or (name.startswith("if") and not _is_test(name, known, text, end)):
            continue
        pieces += [text[place : match.start()]] if kept and place < match.start() else []
        place = end
        if name == "fi":
            kept = stack.pop()[1] if stack else True
            rest = _REST_OF_LINE.match(text, end)
            before = pieces[-1].rstrip(" \t") if pieces else "\n"
            place = rest.end() if rest and before.endswith("\n") else end
        elif name in {"else", "or"}:
            kept = kept if not stack else stack[-1][1] and stack[-1][0] is not True
        else:
            value, place = _read_test(name, known, text, end)
            stack.append((value, kept))
            kept = kept and value is not False
    if not stack:
        return "".join([*pieces, text[place:]]) if kept else "".join(pieces)
    # a switch that is never closed: LaTeX would fail, so nothing is left out
    return _BRANCH.sub("", text)


def _is_test(name: str, known: Mapping[str, bool | None], text: str, end: int) -> bool:
    r"""Say whether a command begins a test that `\fi` ends."""
    return name in known or (re.fullmatch(_TEST, name) is not None and text[end : end + 1] != "{")


def _read_test(name: str, known: Mapping[str, bool | None], text: str, end: int) -> tuple[bool | None, int]:
    """Return a test's value, None if unknown, and where its branch begins."""
    if name in known:
        return known[name], end
    rest = re.compile(
        r"\s*(?P<one>0\s?[1-9]|1\s?1|[0-9])(?=\D)" if name == "if" else
        r"\s*\\?[A-Za-z@]+\s*\\?[A-Za-z@]+" if name in {"ifx", "ifcat"} else r"[^\n\\{}]{0,40}"
    ).match(text, end)  # fmt: skip
    if rest is None:
        return None, end
    if name == "if":
        return (rest["one"].replace(" ", "") == "11"), rest.end()
    return None, rest.end()


# --- macros


@dataclass(frozen=True)
class Macro:
    """An author's macro: the default of each argument, and the body.

    None marks a required argument, :data:`_STAR` one that is a star or nothing.
    """

    defaults: tuple[str | None, ...]
    body: str


_DEFINITION = re.compile(
    r"\\(?P<new>(?:re|provide)?newcommand|(?:re|provide)command|DeclareRobustCommand|newrobustcmd|renewrobustcmd|"
    r"DeclareMathOperator|newmathcommand|(?:re)?newcommandx)\*?\s*(?:\{\s*\\(?P<a>[A-Za-z@]+|[^\s{}])\s*\}|\\(?P<b>[A-Za-z@]+|[^\s{}]))"
    r"|(?:\\(?:long|global|protected|outer)\s*)*\\[egx]?def\s*\\(?P<old>[A-Za-z@]+|[^\s{}])(?P<pattern>[^{}\n]{0,60})(?=\{)"
    r"|\\let\s*\\(?P<alias>[A-Za-z@]+)\s*=?\s*\\(?P<of>[A-Za-z@]+)"
    r"|\\(?:New|Renew|Provide|Declare)(?:Expandable)?DocumentCommand\s*(?:\{\s*\\(?P<c>[A-Za-z@]+)\s*\}|\\(?P<d>[A-Za-z@]+))"
    r"\s*\{(?P<spec>(?:[^{}]|\{[^{}]{0,60}\}){0,60})\}"
    r"|\\(?P<environment>(?:re|provide)?newenvironment|(?:New|Renew)DocumentEnvironment|newtcolorbox|newmdenv|"
    r"DefineVerbatimEnvironment|lstnewenvironment|newtcblisting|newminted|newtheorem|newif\s*\\[A-Za-z@]+)\*?"
)
_LOW_LEVEL = re.compile(
    r"\\(?:csname|expandafter|futurelet|catcode|@ifnextchar|@ifstar|ifnum|ifx|if(?![A-Za-z])|the(?![A-Za-z])|"
    r"romannumeral|string|write|openout|read)|##"
)
_RESERVED = frozenset(
    ["begin", "end", "item", "footnote", "caption", "par", "label", "ref", "cite", "section", "emph",
     "documentclass", "usepackage", *names.HEADINGS]
) | names.NO_WORDS | names.NO_WORDS_WITH_ARGUMENTS.keys()  # fmt: skip
"""Commands whose redefinition is the layout's."""


def expand_macros(text: str) -> str:
    """Expand an author's macros, and remove their definitions.

    A macro that programs, grows without end, or is not defined in the text stays.
    """
    macros: dict[str, Macro] = {}
    text = _take_definitions(text, macros)
    limit = _MOST_GROWTH * len(text) + 100_000
    for _ in range(_ROUNDS):
        expanded = replace_where(text, COMMAND, partial(_expand, source=Source.of(text), macros=macros))
        if expanded == text or len(expanded) > limit:
            break
        text = expanded
    return text


def _take_definitions(text: str, macros: dict[str, Macro]) -> str:
    """Return a text without the definitions in it; put those that can be expanded into `macros`."""
    source = Source.of(text)

    def replace(match: re.Match[str]) -> tuple[str, int]:
        name, macro, end = _read_definition(match, source)
        if name and macro is not None and name not in _RESERVED and not _LOW_LEVEL.search(macro.body):
            macros[name] = macro
        elif name and name not in _RESERVED:
            macros.pop(name, None)
        return "", end

    return replace_where(text, _DEFINITION, replace)


def _read_definition(match: re.Match[str], source: Source) -> tuple[str, Macro | None, int]:
    """Return name, macro and end of a definition; no macro if its kind is not expanded."""
    place = match.end()
    if match["environment"]:
        _, end = source.take_groups(place, 4)
        return "", None, source.skip_options(end)
    if match["alias"]:
        same = match["alias"] == match["of"]
        return match["alias"], None if same else Macro((), f"\\{match['of']}"), place
    name = match["a"] or match["b"] or match["old"] or match["c"] or match["d"]
    defaults: tuple[str | None, ...] | None
    if match["new"]:
        defaults, place = _read_arguments(source, place)
    elif match["old"]:
        pattern = match["pattern"].strip()
        simple = re.fullmatch(r"(?:#\d)*", pattern) is not None
        defaults = (None,) * pattern.count("#") if simple else None
    else:
        defaults = _read_specification(match["spec"])
    body = source.take_argument(place)
    if body is None:
        return name, None, place
    content = f"\\mathrm{{{body[0]}}}" if match["new"] == "DeclareMathOperator" else body[0]
    return name, Macro(defaults, content) if defaults is not None and len(defaults) < 10 else None, body[1]


def _read_arguments(source: Source, place: int) -> tuple[tuple[str | None, ...], int]:
    r"""Return the arguments that `[2][r]` or, of `\newcommandx`, `[2][1=r]` define, and the end."""
    count = source.take_option(place)
    if count is None or not count[0].strip().isdigit():
        return (), place
    defaults: list[str | None] = [None] * min(int(count[0]), 10)
    first = source.take_option(count[1])
    if first is None:
        return tuple(defaults), count[1]
    numbered = re.findall(r"(?:^|,)\s*([1-9])\s*=\s*([^,]*)", first[0])
    for number, value in numbered or [("1", first[0])]:
        if int(number) <= len(defaults):
            defaults[int(number) - 1] = value
    return tuple(defaults), first[1]


_STAR, _NO_VALUE = "\\BooleanFalse", "-NoValue-"
_KIND = re.compile(r"[+!>\s]*(?:(?P<kind>[moOs])\s*(?:\{(?P<default>[^{}]*)\})?)")
_CHOICE = re.compile(r"\\If(?P<test>NoValue|Value|Boolean|Blank)(?P<branches>TF|T|F)(?![A-Za-z])")


def _read_specification(text: str) -> tuple[str | None, ...] | None:
    """Return the arguments that a specification of xparse defines; None if it has others than usual ones."""
    defaults: list[str | None] = []
    place = 0
    while text[place:].strip():
        found = _KIND.match(text, place)
        if found is None:
            return None
        kinds = {"m": None, "o": _NO_VALUE, "O": found["default"] or "", "s": _STAR}
        defaults.append(kinds[found["kind"]])
        place = found.end()
    return tuple(defaults)


def _choose_branches(text: str) -> str:
    """Return the body of a macro in which tests of its arguments are decided."""
    if "\\If" not in text:
        return text
    source = Source.of(text)

    def replace(match: re.Match[str]) -> tuple[str, int]:
        groups, end = source.take_groups(match.end(), 1 + len(match["branches"]))
        if len(groups) < 1 + len(match["branches"]):
            return match.group(), match.end()
        value = groups[0].strip()
        holds = {
            "NoValue": value == _NO_VALUE, "Value": value != _NO_VALUE, "Blank": not value,
            "Boolean": value == "\\BooleanTrue",
        }[match["test"]]  # fmt: skip
        branches = dict(zip(match["branches"], groups[1:], strict=True))
        return branches.get("T" if holds else "F", ""), end

    return replace_where(text, _CHOICE, replace)


def _expand(match: re.Match[str], source: Source, macros: Mapping[str, Macro]) -> tuple[str, int]:
    """Return the expansion of a macro with its arguments, and their end; itself if not a macro."""
    macro = macros.get(match[1] or match.group()[1:])
    if macro is None:
        return match.group(), match.end()
    place = match.end(1) if match[1] else match.end()
    values: list[str] = []
    for default in macro.defaults:
        if default == _STAR:
            starred = source.text.startswith("*", place)
            found: tuple[str, int] | None = ("\\BooleanTrue" if starred else _STAR, place + starred)
        elif default is not None:
            found = source.take_option(place) or (default, place)
        else:
            found = source.take_argument(place)
        if found is None:
            return match.group(), match.end()
        values.append(found[0])
        place = found[1]
    body = re.sub(r"#(\d)", lambda number: _get(values, int(number[1]), number, macro.body), macro.body)
    body = _choose_branches(body)
    # an empty group only ends the command's name
    place += 2 if not macro.defaults and source.text.startswith("{}", place) else 0
    letters = body[-1:].isalpha() and source.text[place : place + 1].isalpha()
    glued = letters and re.search(r"\\[A-Za-z@]+$", body) is not None
    return body + (" " if glued else ""), place


def _get(values: list[str], number: int, match: re.Match[str], body: str) -> str:
    """Return an argument, apart from a command that ends right before it."""
    value = values[number - 1] if 0 < number <= len(values) else ""
    after_command = re.search(r"\\[A-Za-z@]+$", body[max(0, match.start() - 40) : match.start()]) is not None
    return f" {value}" if after_command and value[:1].isalpha() else value
