"""Renew the parts of docs/walkthrough.md from a finished run: tables between its marks, and pictures.

The run must have its figures by layer, its coverage and its rankings: `make walkthrough`.
"""

from pathlib import Path
from typing import Annotated

from fathom.figures.walkthrough import Walk, fill_page, save_pictures
from fathom.io.files import require_file, write_text
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    results: Annotated[Path, "folder of a finished run, results/RUN"],
    page: Annotated[Path, "page to fill (Markdown)"],
    domain: Annotated[str, "domain with a benchmark"],
    models: Annotated[list[str], "a base, and models adapted from it"],
) -> None:
    """Fill the page; save its pictures in a folder beside it that has its name."""
    walk = Walk(results, domain, models)
    write_text(page, fill_page(require_file(page).read_text(encoding="utf-8"), walk, str(page)))
    pictures = save_pictures(walk, page.with_suffix(""))
    log.info("%s shows %r, with %s pictures", page, walk.keyword, len(pictures))


if __name__ == "__main__":
    run(main)
