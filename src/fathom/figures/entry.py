"""What an entry of the catalogue of figures is made of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

PAPERS = ("RawCorpora", "BeyondBenchmarks", "CompComp", "TrainBeforeTest")
"""The papers whose figures are drawn."""


@dataclass(frozen=True)
class Shown:
    """What a figure shows, and which figure or table of a paper that is.

    Attributes
    ----------
    shows : str
        What is seen.
    paper, number : str
        One of PAPERS, and its figures, such as `Figs. 4, 8`; empty: in no paper.
    values : mapping of str to str
        Parts of the file's name that must have one value.
    made_by : str
        What draws it, where that differs from the rest of the entry.
    """

    shows: str
    paper: str = ""
    number: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    made_by: str = ""


@dataclass(frozen=True)
class Figure:
    """A kind of figure: how its files are called, what it shows, where it stands.

    Attributes
    ----------
    name : str
    title : str
        What it is called on the page.
    pattern : str
        Name of its files in the folder `figures`, without their ending; names in braces are its parts.
    section : str
        Section of the page.
    caption : str
        Plain text, an empty line between paragraphs; parts of the file's name are in braces.
    made_by : str
        Targets that draw it, as in docs/figures.md.
    shown : tuple of Shown
        Rows of docs/figures.md.
    values : mapping of str to mapping of str to str
        Parts that have only some values, and what each is called.
    """

    name: str
    title: str
    pattern: str
    section: str
    caption: str
    made_by: str
    shown: tuple[Shown, ...]
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the name of its files."""
        return tuple(re.findall(r"{(\w+)}", self.pattern))

    def match(self, stem: str) -> dict[str, str] | None:
        """Return the parts of a file's name, without its ending; None if it is another kind of figure."""
        pattern = re.escape(self.pattern).replace(r"\{", "{").replace(r"\}", "}")
        for part in self.parts:
            known = "|".join(map(re.escape, self.values.get(part, ()))) or ".+"
            pattern = pattern.replace(f"{{{part}}}", f"(?P<{part}>{known})")
        found = re.fullmatch(pattern, stem)
        return found.groupdict() if found else None

    def describe(self, parts: Mapping[str, str]) -> str:
        """Return the caption of one figure, each paragraph on one line."""
        paragraphs = self.caption.strip().split("\n\n")
        return "\n\n".join(" ".join(each.split()) for each in paragraphs).format_map(parts)

    def entitle(self, parts: Mapping[str, str]) -> str:
        """Return the title of one figure: its kind, then what it is of."""
        of = [self.values.get(name, {}).get(value, value) for name, value in parts.items()]
        return f"{self.title}: {' · '.join(of)}" if of else self.title
