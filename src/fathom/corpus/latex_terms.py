r"""Terms and acronyms that an author defines once and names by a key, such as `\gls{cpu}`."""

import re
from typing import NamedTuple

from fathom.corpus.latex_macros import Source, replace_where


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
    """Put the terms that a source defines where it names their keys; keys of others stay."""
    terms = _find_terms(text)
    if not terms:
        return text
    source = Source.of(text)

    def replace(match: re.Match[str]) -> tuple[str, int]:
        key = source.take_group(source.skip_options(match.end()))
        term = terms.get(key[0].strip()) if key else None
        if key is None or term is None:
            return match.group(), match.end()
        words = term.long if _LONG.search(match["form"]) and term.long else term.short
        plural = "s" if _PLURAL.search(match["form"]) else ""
        return (words[:1].upper() + words[1:] if match["use"][0].isupper() else words) + plural, key[1]

    return replace_where(text, _USE, replace)


def _find_terms(text: str) -> dict[str, _Term]:
    """Return the terms that a source defines, by their keys."""
    if (
        "acro" not in text
        and "abbreviation" not in text
        and "glossaryentry" not in text
        and "Acronym" not in text
    ):
        return {}
    source = Source.of(text)
    terms: dict[str, _Term] = {}
    for match in _DEFINITION.finditer(text):
        key = source.take_group(source.skip_options(match.end()))
        if key is None:
            continue
        option = source.take_option(key[1])
        groups, _ = source.take_groups(key[1], 2)
        if match["kind"] in {"newacronym", "newabbreviation"} and len(groups) == 2:
            terms[key[0].strip()] = _Term(groups[0], groups[1])
        elif match["kind"] in {"acrodef", "newacro", "acro"} and groups:
            terms[key[0].strip()] = _Term(option[0] if option else key[0].strip(), groups[0])
        elif groups:
            fields = {
                each["name"]: (each["braced"] or each["bare"] or "").strip()
                for each in _FIELD.finditer(groups[0])
            }
            short = fields.get("text") or fields.get("short") or fields.get("name")
            if short:
                terms[key[0].strip()] = _Term(short, fields.get("long", ""))
    return terms
