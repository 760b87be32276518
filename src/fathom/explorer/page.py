"""One file that opens anywhere: template, style, libraries, programs and data of a run's page."""

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.explorer.data import PageData, collect_data, dump_script
from fathom.explorer.item_data import collect_items
from fathom.explorer.reader import read_run
from fathom.explorer.run import WHATEVER, Named
from fathom.io.files import hash_file, read_json, write_text

if TYPE_CHECKING:
    import polars as pl

_HERE = Path(__file__).parent
ASSETS, VENDOR = _HERE / "assets", _HERE / "vendor"
PROGRAMS = (
    "core.js", "charts.js", "analysis-charts.js", "tables.js", "pairs.js", "answer.js", "sections.js",
    "analyses.js", "questions.js", "items.js", "page.js",
)  # fmt: skip
"""Programs of the page, in the order in which they run."""


def write_page(run: Path, output: Path, settings: Summary, named: Named = WHATEVER) -> int:
    """Write the page of a run.

    Parameters
    ----------
    named : Named, optional
        What the configuration of the run names; other models and benchmarks are not shown.

    Raises
    ------
    InputError
        If the folder is not that of a run, or a table in it is damaged.
    """
    return _write(render_page(collect_data(read_run(run, settings, named), settings)), output)


def write_item_page(
    name: str, logs: "pl.DataFrame", notes: Sequence[str], output: Path, settings: Summary
) -> int:
    """Write the page of logs of other programs; return its bytes."""
    return _write(render_page(collect_items(name, logs, notes, settings)), output)


def _write(text: str, output: Path) -> int:
    write_text(output, text)
    return len(text.encode("utf-8"))


def render_page(data: PageData) -> str:
    """Return the page as HTML; equal data give an equal page."""
    scripts = [*read_libraries(".js"), *((ASSETS / name).read_text(encoding="utf-8") for name in PROGRAMS)]
    style = "\n".join([*read_libraries(".css"), (ASSETS / "page.css").read_text(encoding="utf-8")])
    policy = [
        "default-src 'none'",
        f"script-src {' '.join(map(_hash_script, scripts))}",
        "style-src 'unsafe-inline'",  # libraries set styles of elements; styles cannot fetch anything
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    # large blocks stand after the programs, which show the answer before these are read
    blocks = [
        f'<script type="text/plain" id="{name}">{block}</script>' for name, block in data.blocks.items()
    ]
    parts = {
        "policy": html.escape("; ".join(policy)),
        "title": html.escape(f"Fathom: {data.overview['run']}"),
        "answer": html.escape(data.answer),
        "style": style,
        "licences": html.escape((VENDOR / "licences.txt").read_text(encoding="utf-8")),
        "overview": f'<script type="application/json" id="overview">{dump_script(data.overview)}</script>',
        "data": "\n".join(blocks),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    return fill_template("page.html", parts)


def fill_template(name: str, parts: Mapping[str, str]) -> str:
    """Return a template of `assets` with its places, `%%name%%`, filled with HTML."""
    # split once, so that no data is taken for a place of the template
    pieces = (ASSETS / name).read_text(encoding="utf-8").split("%%")
    return "".join(parts[piece] if place % 2 else piece for place, piece in enumerate(pieces))


def render_plain(name: str, title: str, parts: Mapping[str, str], seconds: int = 0) -> str:
    """Return a page that runs no program, as HTML: a template of `assets` with its style.

    Parameters
    ----------
    title : str
        As text; the parts are HTML.
    seconds : int, optional
        After so many the browser reads it again; without them it has the style of the page of a run.
    """
    more = '<meta name="color-scheme" content="light dark">\n' if seconds else ""
    more += f'<meta http-equiv="refresh" content="{seconds}">\n' if seconds else ""
    styles = [f"{name}.css"] if seconds else ["page.css", f"{name}.css"]
    shared = {
        "more": more,
        "title": html.escape(f"Fathom: {title}"),
        "style": "\n".join((ASSETS / each).read_text(encoding="utf-8") for each in styles),
        "main": fill_template(f"{name}.html", parts),
    }
    return fill_template("frame.html", shared)


def read_libraries(ending: str) -> list[str]:
    """Return the libraries with one ending, in the order in which they load.

    Raises
    ------
    InputError
        If a file is not the one that vendor.json names.
    """
    found = []
    for entry in read_json(VENDOR / "vendor.json"):
        path = VENDOR / entry["file"]
        if path.suffix != ending:
            continue
        if hash_file(path) != entry["sha256"]:
            raise InputError("this library was changed", str(path), "install fathom again")
        lines = path.read_text(encoding="utf-8").split("\n")
        # a browser's developer tools would fetch the map
        found.append("\n".join(line for line in lines if not line.startswith("//# sourceMappingURL=")))
    return found


def _hash_script(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
