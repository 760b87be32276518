"""What the page on tuning shows for the texts of 2025 makes them, from small files of the same schema."""

import bz2
import json
import re
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tuning.md"
SNIPPETS = {name: code for code in re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
            for name in re.findall(r"texts/(\w+)_2025", code)}  # fmt: skip


def run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run a snippet in a folder; return the texts that it writes."""
    (folder / "texts").mkdir()
    monkeypatch.chdir(folder)
    (folder / "make.py").write_text(SNIPPETS[name])
    runpy.run_path(str(folder / "make.py"))
    lines = (folder / "texts" / f"{name}_2025.jsonl").read_text().splitlines()
    return [json.loads(line)["text"] for line in lines]


def test_abstracts_of_papers_whose_first_version_is_of_the_year(tmp_path, monkeypatch):
    (tmp_path / "DUMP").mkdir()
    dates = {"old": ["Tue, 31 Dec 2024 23:59:59 GMT", "Wed, 1 Jan 2025 10:00:00 GMT"],
             "new": ["Mon, 2 Jun 2025 19:18:42 GMT", "Thu, 1 Jan 2026 00:00:00 GMT"]}  # fmt: skip
    rows = [{"abstract": f"  The\n {name} one.\n", "versions": [{"created": each} for each in some]}
            for name, some in dates.items()]  # fmt: skip
    (tmp_path / "DUMP" / "arxiv-metadata-oai-snapshot.json").write_text("\n".join(map(json.dumps, rows)))
    assert run("arxiv", tmp_path, monkeypatch) == ["The new one."]


def test_questions_that_were_asked_in_the_year(tmp_path, monkeypatch):
    body = "&lt;p&gt;How &lt;b&gt;so&lt;/b&gt;?&lt;/p&gt;&#xA;&lt;p&gt;1 &amp;lt; 2&lt;/p&gt;"
    rows = [
        'Id="1" PostTypeId="1" CreationDate="2024-12-31T23:59:59.000" Title="Old" Body="a"',
        f'Id="2" PostTypeId="1" CreationDate="2025-01-01T00:00:00.000" Title="New &amp; fine" Body="{body}"',
        'Id="3" PostTypeId="2" ParentId="2" CreationDate="2025-01-02T00:00:00.000" Body="So."',
    ]
    lines = [f"  <row {row} />" for row in rows]
    text = "\n".join(['<?xml version="1.0" encoding="utf-8"?>', "<posts>", *lines, "</posts>", ""])
    (tmp_path / "Posts.xml").write_text(text)
    assert run("stackexchange", tmp_path, monkeypatch) == ["New & fine\nHow so? 1 < 2"]


def test_pages_that_are_of_the_year_by_their_number(tmp_path, monkeypatch):
    parser = SimpleNamespace(parse=lambda text: SimpleNamespace(strip_code=lambda: text.replace("'''", "")))
    monkeypatch.setitem(sys.modules, "mwparserfromhell", parser)
    pages = [(77_999_999, 0, ""), (78_000_000, 0, ""), (78_000_001, 1, ""), (78_000_002, 0, "<redirect/>"),
             (82_000_000, 0, "")]  # fmt: skip
    rows = "".join(
        f"<page><title>T</title><ns>{space}</ns><id>{number}</id>{more}<revision><id>7</id>"
        f"<text>'''Page''' {number}</text></revision></page>"
        for number, space, more in pages
    )
    text = f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">{rows}</mediawiki>'
    (tmp_path / "pages-articles.xml.bz2").write_bytes(bz2.compress(text.encode()))
    assert run("wiki", tmp_path, monkeypatch) == ["Page 78000000"]
