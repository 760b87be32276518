"""A folder of documents becomes records, files that are no documents are counted and named."""

import gzip
import os
from pathlib import Path

import polars as pl
import pytest
from tests.documents import GERMAN, make_pdf, put
from tests.refusals import refuses

from fathom.benchmark.normalise import split_into_runs
from fathom.config.corpus import Domain
from fathom.corpus.corpus_files import FoundFile, list_documents, name_parts_of_folder, take_part
from fathom.corpus.folder import read_folder
from fathom.corpus.sentences import join_parts

_PROSE = "A write-ahead log holds every change before the tables do, so that nothing is lost."


def _read(dump, folder: Path, output: Path, **domains) -> tuple[pl.DataFrame, dict]:
    chosen = {name: Domain(categories=[each]) for name, each in domains.items()} or None
    selection = dump.select(domains=chosen) if chosen else dump.select()
    report = read_folder("files-1-of-1", [str(folder)], selection, output / "d.parquet", output / "k.gz")
    return pl.read_parquet(output / "d.parquet"), report


def _page(title: str, *sections: tuple[str, str]) -> str:
    parts = "".join(f"<h2>{heading}</h2><p>{text}</p>" for heading, text in sections)
    return f"<html><body><h1>{title}</h1>{parts}</body></html>"


def test_subfolders_are_categories_and_paths_are_ids(dump, tmp_path):
    folder = tmp_path / "docs"
    put(folder, "api/x.html", _page("Logs", ("Writing", _PROSE), ("Reading", _PROSE.replace("A", "The"))))
    put(folder, "api/sub.v2/y.md.gz", gzip.compress(f"# Tables\n\n{_PROSE}".encode()))
    put(folder, "top.txt", _PROSE)
    put(folder, "other/z.txt", _PROSE)
    frame, report = _read(dump, folder, tmp_path, api="api.*", top="*")
    rows = {row["doc_id"]: row for row in frame.to_dicts()}
    assert {name: row["categories"] for name, row in rows.items()} == {
        "api/x.html#1": ["api"], "api/x.html#2": ["api"], "api/sub.v2/y.md.gz": ["api.sub_v2"], "top.txt": [],
        "other/z.txt": ["other"],
    }  # fmt: skip
    assert rows["api/x.html#1"]["title"] == "Writing"
    assert rows["api/sub.v2/y.md.gz"]["domains"] == ["api", "top"]
    assert rows["top.txt"]["abstract"] == rows["top.txt"]["text"] == _PROSE
    assert report["files"] == {"read": 4, "reused": 0, "skipped": {}, "little_prose": {}}


def test_a_short_section_is_in_the_language_of_its_file(dump, tmp_path):
    english = f"{_PROSE} {_PROSE.replace('tables', 'indexes')} This is read by all others that ask for it."
    short = "Der Speicher der Maschine ist voll, und keine weitere Seite kann vom Kern vergeben werden."
    put(tmp_path / "docs", "de.html", _page("Protokoll", ("Schreiben", GERMAN), ("Speicher", short)))
    put(
        tmp_path / "docs",
        "en.html",
        _page("Log", ("Writing", english), ("Memory", short), ("Deutsch", GERMAN)),
    )
    put(tmp_path / "docs", "short.html", _page("Log", ("Memory", short)))
    parts = (
        ("Memory", short),
        ("More", short.replace("voll", "leer")),
        ("Most", short.replace("voll", "neu")),
    )
    put(tmp_path / "docs", "three.html", _page("Log", *parts))
    frame, report = _read(dump, tmp_path / "docs", tmp_path)
    assert sorted(frame["doc_id"].to_list()) == ["en.html#1", "en.html#2", "short.html"]
    assert report["left_out"] == {"language: de": 6}  # three short sections together are long enough


def test_headings_and_paragraphs_that_repeat_are_neither_titles_nor_text(dump, tmp_path):
    folder, licence = (
        tmp_path / "docs",
        "All rights are reserved, and so is everything that is not written here.",
    )
    for number in range(20):
        sections = (
            ("Synopsis", f"{_PROSE} ({number})"),
            ("Description", f"{number}: {_PROSE} {licence[:40]}"),
        )
        put(folder, f"{number}.html", _page(f"Command {number}", *sections, (f"Tuning {number}", licence)))
    frame, report = _read(dump, folder, tmp_path)
    assert sorted(frame["title"].unique()) == sorted(f"Command {number}" for number in range(20))
    assert frame["text"].str.contains("All rights are reserved, and so is everything").sum() == 0
    assert frame["text"].str.split("\n\n").list.len().to_list() == [2] * 20
    assert report["paragraphs_left_out"]["boilerplate"] == 20


def test_versions_of_one_document_are_no_boilerplate(dump, tmp_path):
    for number in range(20):
        put(tmp_path / "docs", f"v{number}/a.html", _page("Logs", ("Writing", _PROSE)))
    frame, _ = _read(dump, tmp_path / "docs", tmp_path)
    assert frame["title"].to_list() == ["Writing"] * 20


@pytest.mark.parametrize(("name", "text"), [
    ("a.html", "<p>The graph <var>gr</var> is what the <code>BFS</code> procedure visits once.</p>"),
    ("a.html", '<p>The graph <span class="code">gr</span> is what the <tt>BFS</tt> procedure visits once.'),
    ("a.md", "The graph `gr` is what the `BFS` procedure visits once."),
    ("a.rst", "The graph ``gr`` is what the :py:func:`~search.BFS` procedure visits once."),
])  # fmt: skip
def test_phrases_do_not_go_from_prose_into_code(dump, tmp_path, name, text):
    put(tmp_path / "docs", name, text)
    frame, _ = _read(dump, tmp_path / "docs", tmp_path)
    row = frame.row(0, named=True)
    assert split_into_runs(row["abstract"]) == [
        ["the", "graph"], ["gr", "is", "what", "the"], ["bfs", "procedure", "visits", "once"]
    ]  # fmt: skip
    assert row["text"] == join_parts(row) == "The graph gr is what the BFS procedure visits once."


def test_the_beginning_gives_phrases_and_is_read_once(dump, tmp_path):
    parts = [f"{_PROSE[:-1]} by call {number} of `sync`. {'All of it is kept. ' * 20}" for number in range(8)]
    put(tmp_path / "docs", "a.md", "# Logs\n\n" + "\n\n".join(parts))
    frame, _ = _read(dump, tmp_path / "docs", tmp_path)
    row = frame.row(0, named=True)
    assert [f"call {number} of" in row["abstract"] for number in range(8)] == [True] * 4 + [False] * 4
    assert ["sync"] in split_into_runs(row["abstract"])
    assert join_parts(row) == f"Logs\n\n{row['text']}"


def test_only_changed_files_are_read_again(dump, tmp_path):
    folder = tmp_path / "docs"
    for name in ("a.md", "b.md"):
        put(folder, name, f"# Title {name}\n\n{_PROSE}")
    first, _ = _read(dump, folder, tmp_path)
    again, report = _read(dump, folder, tmp_path)
    assert first.equals(again)
    assert report["files"]["reused"] == 2
    put(folder, "a.md", f"# Another title\n\n{_PROSE}")
    changed, report = _read(dump, folder, tmp_path)
    assert report["files"]["reused"] == 1
    assert changed["title"].to_list() == ["Another title", "Title b.md"]


def test_what_is_kept_of_files_depends_on_them_alone(dump, tmp_path, monkeypatch):
    put(tmp_path / "docs", "a.md", f"# Title\n\n{_PROSE}")
    kept = []
    for name, now in (("first", 1e9), ("second", 1.1e9)):
        monkeypatch.setattr("time.time", lambda now=now: now)
        (tmp_path / name).mkdir()
        _read(dump, tmp_path / "docs", tmp_path / name)
        kept.append((tmp_path / name / "k.gz").read_bytes())
    assert kept[0] == kept[1]


def test_what_cannot_be_read_is_counted_and_named_and_stops_nothing(dump, tmp_path):
    folder = tmp_path / "docs"
    odd = os.fsdecode(b"odd \n\xff#.txt")
    put(folder, f"a/{odd}", _PROSE)
    put(folder, "a/locked.pdf", make_pdf([[(72, 700, 10, _PROSE)]], locked=True))
    put(folder, "a/scan.pdf", make_pdf([[], []]))
    put(folder, "a/picture.png", b"\x89PNG")
    put(folder, ".git/x.md", _PROSE)
    outside = put(tmp_path, "outside.txt", "A secret that lies outside of the folder of documents.")
    (folder / "out.txt").symlink_to(outside)
    (folder / "a/circle").symlink_to(folder)
    os.mkfifo(folder / "a/pipe.txt")
    frame, report = _read(dump, folder, tmp_path)
    assert frame["doc_id"].to_list() == ["a/odd%20%0A%FF%23.txt"]
    skipped = report["files"]["skipped"]
    assert {reason: each["count"] for reason, each in skipped.items()} == {
        "a link": 2, "hidden": 1, "unsupported format: .png": 1, "not a regular file": 1,
        "this PDF has no text": 1, "this PDF needs a password": 1,
    }  # fmt: skip
    assert skipped["this PDF has no text"]["examples"] == ["a/scan.pdf"]


@pytest.mark.parametrize("names", [[], ["a.png", "b.jpg"]], ids=["empty", "pictures"])
def test_a_folder_without_documents_is_refused(tmp_path, names):
    (tmp_path / "docs").mkdir()
    for name in names:
        put(tmp_path / "docs", name, b"data")
    with refuses("docs", ".pdf", *(Path(name).suffix for name in names)):
        list_documents([str(tmp_path / "docs")])


def test_sources_beside_the_pages_made_of_them_are_not_read(tmp_path):
    for name in ("html/index.html", "html/objects.inv", "html/_sources/a/b.txt", "html/_sources/c.txt"):
        put(tmp_path, name, "text")
    put(tmp_path, "other/_sources/d.txt", "text")  # nothing says that Sphinx made it
    files, skipped = list_documents([str(tmp_path)])
    assert [file.name for file in files] == ["html/index.html", "other/_sources/d.txt"]
    reason = "sources beside the pages that Sphinx made from them"
    assert skipped.report()[reason] == {"count": 2, "examples": ["html/_sources"]}


def test_folders_are_named_once_and_exist(tmp_path):
    put(tmp_path, "docs/sub/a.md", _PROSE)
    with refuses("twice"):
        list_documents([str(tmp_path / "docs"), str(tmp_path / "docs/sub")])
    with refuses("nowhere"):
        list_documents([str(tmp_path / "nowhere")])
    with refuses("corpus.files"):
        list_documents([])
    put(tmp_path, "more/a.md", _PROSE)
    found, _ = list_documents([str(tmp_path / "docs"), str(tmp_path / "more")])
    assert [(file.name, file.categories) for file in found] == [
        ("docs/sub/a.md", ["docs.sub"]),
        ("more/a.md", ["more"]),
    ]


def test_every_file_is_in_one_part_and_a_new_one_moves_no_other():
    files = [FoundFile(Path(f"{n}.md"), f"{n}.md", [], 1_000_000) for n in range(60)]
    parts = name_parts_of_folder(files)
    assert list(parts) == [f"files-{n}-of-4" for n in range(1, 5)]
    assert sum(parts.values()) == pytest.approx(60)
    dealt = {part: take_part(files, part)[0] for part in parts}
    assert sorted(file.name for each in dealt.values() for file in each) == sorted(
        file.name for file in files
    )
    more = [*files, FoundFile(Path("new.md"), "new.md", [], 1_000_000)]
    for part in parts:
        assert [file for file in take_part(more, part)[0] if file.name != "new.md"] == dealt[part]
    with refuses("--part"):
        take_part(files, "docs")


def test_one_large_file_makes_no_empty_parts(tmp_path):
    with (tmp_path / "giant.txt").open("wb") as stream:
        stream.truncate(1_000_000_000)
    (tmp_path / "a.txt").write_text("The court hears the appeal.")
    files, _ = list_documents([str(tmp_path)])
    assert len(name_parts_of_folder(files)) <= 2
