"""Renew the table of a finished run in the README, between its marks, and its picture."""

import re
from pathlib import Path
from typing import Annotated

from fathom.errors import InputError
from fathom.figures.rank_table import describe_run
from fathom.figures.walkthrough import shrink
from fathom.io.files import require_file, write_text
from fathom.jobs.program import log
from fathom.jobs.signature import run

WIDTH, PIXELS = 100, 1500
"""Characters of the table, and pixels of the picture, across."""
_BLOCK = re.compile(r"(?<=<!-- run: ranks -->\n\n```\n).*?(?=```\n)", re.DOTALL)


def main(
    *,
    results: Annotated[Path, "folder of a finished run with one domain, results/RUN"],
    page: Annotated[Path, "page to fill (Markdown)"],
    picture: Annotated[Path, "picture to write (PNG)"],
) -> None:
    """Fill the page; save the models by knowledge."""
    known, *others = describe_run(results, WIDTH)
    # other commands may have drawn other domains into the same folder
    figure = require_file(results / "figures" / f"{known.split()[0]}.knowledge.png")
    origins = [block for block in others if block.lstrip().startswith("Trained by this run")]
    table = "\n".join([known, *origins])
    text, count = _BLOCK.subn(lambda _: f"{table}\n", require_file(page).read_text(encoding="utf-8"))
    if count != 1:
        raise InputError("no table to renew", str(page), "it follows <!-- run: ranks -->")
    write_text(page, text)
    shrink(figure, picture, PIXELS)
    log.info("%s and %s show %s", page, picture, results)


if __name__ == "__main__":
    run(main)
