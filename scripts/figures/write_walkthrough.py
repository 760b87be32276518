"""Write what docs/walkthrough.md shows of a finished run anew: tables between its marks, and pictures.

The run must have its figures by layer, its coverage and its rankings: `make walkthrough`.
"""

import argparse
from pathlib import Path

from fathom.figures.walkthrough import Walk, fill_page
from fathom.figures.walkthrough_pictures import save_pictures
from fathom.io.files import require_file, write_text
from fathom.jobs.program import log, run_program


def main(arguments: argparse.Namespace) -> None:
    """Fill the page; save its pictures in a folder beside it that has its name."""
    walk = Walk(arguments.run, arguments.domain, arguments.models)
    page = arguments.page
    write_text(page, fill_page(require_file(page).read_text(encoding="utf-8"), walk, str(page)))
    pictures = save_pictures(walk, page.with_suffix(""))
    log.info("%s shows %r, with %s pictures", page, walk.keyword, len(pictures))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a finished run, results/RUN")
    parser.add_argument("page", type=Path, help="page to fill (Markdown)")
    parser.add_argument("--domain", required=True, help="domain with a benchmark")
    parser.add_argument("--models", nargs="+", required=True, help="a base, and models adapted from it")
    run_program(parser, main)
