"""Write the page of a run: the answer, and every pair behind it, in one file that needs no network.

Reads the finished tables of a run; the page lists missing ones.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.explorer.page import write_page
from fathom.explorer.reader import list_read
from fathom.explorer.run import Named
from fathom.jobs.file_contents import write_contents
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    folder: Annotated[Path, "folder of the run"],
    page: Annotated[Path, "the page to write (HTML)"],
    contents: Annotated[Path, "record of the files that it is made from (JSON)"],
    models: Annotated[list[str], "models of the run; default: all with a table"] = (),
    benchmarks: Annotated[list[str], "its benchmarks, DOMAIN/VARIANT; default: all with pairs"] = (),
    left_out: Annotated[list[str], "optional models left out of the run"] = (),
    titles: Annotated[dict[str, str] | None, "what each domain is called; as it is written if empty"] = None,
    settings: Summary,
) -> None:
    """Read the run, write the page and the record."""
    named = Named(models, benchmarks, left_out, titles or {})
    contents.unlink(missing_ok=True)  # that of an earlier page
    log.info("%s: %.1f MB", page, write_page(folder, page, settings, named) / 1e6)
    write_contents(contents, folder, list_read(folder, named))


if __name__ == "__main__":
    run(main)
