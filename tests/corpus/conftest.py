"""Small dumps, built in code."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from fathom.config.corpus import Selection


class Dump:
    """Makes the files of a small corpus."""

    @staticmethod
    def select(**corpus: Any) -> Selection:
        """Give settings of the corpus, with `domains` or two that together take everything."""
        domains = corpus.pop("domains", {"ai": {"categories": ["cs.AI"]}, "rest": {"categories": ["*"]}})
        return Selection.model_validate({"corpus": corpus, "domains": domains})

    @staticmethod
    def encode(rows: list[Any]) -> bytes:
        """Give one line for each row; bytes are taken as they are."""
        return b"".join((row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows)

    @classmethod
    def write(cls, path: Path, rows: list[Any]) -> Path:
        """Write rows as JSON lines, compressed as the name says."""
        content = cls.encode(rows)
        if path.suffix == ".gz":
            content = gzip.compress(content)
        if path.suffix == ".zst":
            content = zstandard.ZstdCompressor().compress(content)
        path.write_bytes(content)
        return path

    @staticmethod
    def paper(number: Any, **changes: Any) -> dict[str, Any]:
        """Give a record in Kaggle's form."""
        return {
            "id": number, "title": f"On the\n  number {number}",
            "abstract": f"  We study {number}\nat length.\n", "categories": "cs.AI cs.LG",
            "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
            "update_date": "2008-11-26", **changes,
        }  # fmt: skip

    @staticmethod
    def fulltext(number: Any, text: Any = "Some text.", **meta: Any) -> dict[str, Any]:
        """Give a full text in RedPajama's form."""
        return {"text": text, "meta": {"timestamp": None, "arxiv_id": number, **meta}}


@pytest.fixture(scope="session")
def dump() -> type[Dump]:
    """Return the maker of small dumps."""
    return Dump
