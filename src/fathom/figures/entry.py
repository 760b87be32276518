"""Entries of the catalogue of figures."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any

from fathom.io.run_path import RunPath


@dataclass(frozen=True)
class Shown:
    """A figure's content, and the figure or table of a paper that it reproduces.

    Attributes
    ----------
    paper, number : str
        One of :data:`fathom.figures.papers.PRESETS`, and its figures, such as `Figs. 5, 16`; empty: in none.
    values : mapping of str to str
        Parts of the file's name that must have one value.
    made_by : str
        What draws it, if different from the rest of the entry.
    preset : str
        Configuration of `config/papers` that draws it, if not the paper's own.
    differs : str
        What our figure lacks or shows differently; empty: content, axes, panels and models are the paper's
        when the preset runs.
    """

    shows: str
    paper: str = ""
    number: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    made_by: str = ""
    preset: str = ""
    differs: str = ""


@dataclass(frozen=True)
class Figure:
    """A kind of figure: names of its files, its sources, its content, and where it appears.

    Attributes
    ----------
    pattern : str
        Name of its files in the folder `figures`, without their ending; names in braces are its parts.
    drawn_by : str
        Module of this room and its function that draws it: see :mod:`fathom.figures.drawing`.
    reads : mapping of str to RunPath
        Finished tables by name; what is in braces are parts, or follows from them.
    of : mapping of str to str
        Which list of the run each part is of (:class:`fathom.planning.run_figures.RunFigures`). A part that
        is not here takes all its `values`, and one job draws them. The empty name: a list that must not
        be empty.
    caption : str
        Plain text, an empty line between paragraphs; parts of the file's name are in braces.
    made_by : str
        What draws it from the demo's models, as in docs/figures.md.
    shown : tuple of Shown
        Rows of docs/figures.md.
    settings : tuple of str
        Fields of :class:`fathom.figures.drawing.FigureSettings` that affect it.
    values : mapping of str to mapping of str to str
        Parts that have only some values, and what each is called.
    reads_each : RunPath, optional
        A finished table of each benchmark of the domain, references among them; its name is the variant.
    each : str
        List of the run with domains: `reads_each` is then a finished table of each of them; its name is
        the number of the domain in the list.
    unreferenced : str
        How it changes on a domain without a reference, if a paper's figure has one.
    """

    name: str
    title: str
    pattern: str
    drawn_by: str
    reads: Mapping[str, RunPath]
    of: Mapping[str, str]
    target: str
    section: str
    caption: str
    made_by: str
    shown: tuple[Shown, ...]
    settings: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    reads_each: RunPath | None = None
    each: str = ""
    unreferenced: str = ""

    @property
    def source(self) -> str:
        """Full name of the module that draws it."""
        return f"fathom.figures.{self.drawn_by.partition('.')[0]}"

    def find_function(self) -> Callable[..., Any]:
        """Return the function that draws it, see :mod:`fathom.figures.drawing`."""
        found: Callable[..., Any] = getattr(import_module(self.source), self.drawn_by.partition(".")[2])
        return found

    @property
    def rule(self) -> str:
        """Name of the rule that draws it."""
        return f"plot_{self.name.replace('-', '_')}"

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts of the name of its files."""
        return tuple(re.findall(r"{(\w+)}", self.pattern))

    @property
    def asked(self) -> tuple[str, ...]:
        """Parts that the run decides: the wildcards of its rule."""
        named = {name for names in self.of for name in names.split()}
        return tuple(name for name in self.parts if name in named)

    def vary(self) -> Iterator[dict[str, str]]:
        """Yield the parts of each figure that one job draws, without those that the run decides."""
        own = [name for name in self.parts if name not in self.asked]
        for values in product(*(self.values[name] for name in own)):
            yield dict(zip(own, values, strict=True))

    def name_job(self) -> str:
        """Return the name of a job's log, without its ending."""
        return "/".join(
            [self.rule, *([".".join(f"{{{name}}}" for name in self.asked)] if self.asked else [])]
        )

    def name_files(self) -> list[str]:
        """Return the names of all files that one job draws, in the order of :meth:`vary`."""
        own = {name: f"{{{name}}}" for name in self.parts}
        return [self.pattern.format_map(own | values) for values in self.vary()]

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
