"""Generate .zenodo.json, the archive's metadata of a release, from CITATION.cff.

Run it after every change there; tests/test_release.py fails if the file is stale.
"""

from pathlib import Path
from typing import Annotated

import yaml

from fathom.io.files import read_plain_text, write_json
from fathom.jobs.signature import run


def main(
    citation: Annotated[Path, "how to cite"] = Path("CITATION.cff"),
    output: Annotated[Path, "the metadata"] = Path(".zenodo.json"),
) -> None:
    """Write the metadata."""
    about = yaml.safe_load(read_plain_text(citation))
    found = {
        "upload_type": about["type"],
        "title": about["title"],
        "description": about["abstract"],
        "version": about["version"],
        "publication_date": str(about["date-released"]),
        "creators": [{"name": author["name"]} for author in about["authors"]],
        "license": about["license"],
        "keywords": about["keywords"],
        "access_right": "open",
    }
    write_json(output, found)


if __name__ == "__main__":
    run(main)
