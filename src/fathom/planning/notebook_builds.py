"""From texts to a page in one line of a notebook: `fathom.build`."""

from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.corpus import Columns
from fathom.config.section import refuse_unknown
from fathom.errors import InputError
from fathom.io.files import hash_text, write_text
from fathom.planning.builds import Found, examine, look_at, run_workflow

HEIGHT = 720
"""Pixels of a page in a notebook: its first screen."""


class ScoredBuild:
    """A finished run; as the last value of a cell it shows its page."""

    def __init__(self, page: Path) -> None:
        self.page = page

    def __repr__(self) -> str:
        return f"ScoredBuild(page={str(self.page)!r})"

    def _repr_html_(self, height: int = HEIGHT) -> str:
        """Return the page in a separate frame without access to the notebook or the network."""
        page = escape(self.page.read_text(encoding="utf-8"))
        style = f"width: 100%; height: {height}px; border: 1px solid #ddd"
        title = escape(f"Page of {self.page.parent.name}")
        return f'<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'

    def show(self, height: int = HEIGHT) -> None:
        """Show the page below the cell: its first screen; scroll in it for the rest."""
        try:
            shown: Any = import_module("IPython.display")
        except ModuleNotFoundError as error:
            raise InputError("not in a notebook", "show()", f"open {self.page} in a browser") from error
        shown.display(shown.HTML(self._repr_html_(height)))


class Build:
    """An inspected source of texts; nothing is built before :meth:`score` names the models.

    A benchmark depends on the models, as their tokenizers count its tokens.

    Parameters
    ----------
    source : str
        A path, or `hub:NAME[:CONFIGURATION][@COMMIT]`.
    """

    def __init__(self, source: str, found: Found, run: str | None) -> None:
        self.source, self.found, self.run = source, found, run

    def __repr__(self) -> str:
        return "\n".join([f"Found in {self.source}:", *(f"  {line}" for line in self.found.describe())])

    def score(
        self, models: str | Sequence[str], *, cores: int = 2, say: Callable[[str], None] = print
    ) -> ScoredBuild:
        """Write the configuration, build the benchmark, score models on it, and write the page.

        Parameters
        ----------
        models : str or sequence of str
            As `fathom build` takes them, with commas or as a list: rows of `config/models.tsv` or their
            starts, such as `smollm2`; ids on the hub, folders, files, addresses. The first one's tokenizer
            makes the pairs.
        cores : int, default=2
            Cores to use.
        say : callable, default=print
            Gets each line on progress.

        Returns
        -------
        ScoredBuild
            Finished work is not repeated.

        Raises
        ------
        InputError
            If a model is unknown, the configuration was edited, or the run fails.
        """
        names = models.split(",") if isinstance(models, str) else list(models)
        source = examine(self.source, names, {}, self.run, self.found)
        there = source.write()
        say(f"Configuration: {source.configuration}{' (as it was)' if there else ''}")
        run_workflow(source, cores, say)
        return ScoredBuild(source.page)


def build(source: Any, *, run: str | None = None, **columns: str) -> Build:
    """Look at texts: the first half of `fathom build` in a notebook; `score` is the second.

    Parameters
    ----------
    source : Path, str or DataFrame
        A folder or file of documents, a table, `hub:OWNER/NAME`, or a data frame (polars or pandas), which is
        written to the working folder as JSON lines.
    run : str, optional
        Name of the run: `results/RUN` and `RUN.yaml`; by default the source's.
    **columns : str
        Columns of a table by what they hold: `id`, `title`, `abstract`, `text`, `categories`, `date`. Those
        with usual names are found.

    Raises
    ------
    InputError
        If the source does not exist, is empty or cannot be read, or there is no such kind of column.

    Examples
    --------
    >>> import fathom
    >>> opinions = fathom.build("opinions")
    >>> opinions
    Found in opinions:
      3 files, about 3 sections, about 33 words
      language of the sample: English

    Then `opinions.score("smollm2").show()` shows the page.
    """
    unknown = next((name for name in columns if name not in Columns.model_fields), None)
    if unknown:
        raise refuse_unknown("use of a column", unknown, Columns.model_fields, "build")
    place = str(source) if isinstance(source, str | Path) else _write_frame(source)
    return Build(place, look_at(place, columns), run)


def _write_frame(frame: Any) -> str:
    if not hasattr(frame, "columns"):
        what = f"not a source of texts: {type(frame).__name__}"
        raise InputError(what, "build", "give a folder, a table or a data frame")
    if not isinstance(frame, pl.DataFrame):  # a frame of pandas, where NaN stands for what is missing
        columns = {str(name): frame[name].astype(object) for name in frame.columns}
        frame = pl.DataFrame(
            {name: each.where(each.notna(), None).tolist() for name, each in columns.items()}
        )
    text = frame.write_ndjson()
    path = Path(f"frame-{hash_text(text)[:8]}.jsonl")
    if not path.exists():
        write_text(path, text)
    return str(path)
