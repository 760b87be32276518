import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.refusals import refuses

from fathom.config.corpus import Corpus
from fathom.corpus import arxiv_join as arxiv
from fathom.corpus.arxiv_join import collect_abstracts, join_shard
from fathom.corpus.index import build_index, iterate_documents
from fathom.corpus.join_report import describe_join
from fathom.corpus.metadata import read_metadata
from fathom.io.contracts.corpus import INDEX
from fathom.io.files import hash_text
from fathom.io.tables import read_table


class Run:
    """One run of the arXiv door in a folder."""

    def __init__(self, dump, folder: Path, papers: list[Any], **corpus: Any) -> None:
        self.dump, self.folder, self.selection = dump, folder, dump.select(**corpus)
        folder.mkdir(parents=True, exist_ok=True)
        self.metadata = folder / "metadata.parquet"
        source = dump.write(folder / "meta.json", papers)
        self.reports = [read_metadata(source, self.selection, self.metadata)]
        self.parts: list[Path] = []

    def join(self, rows: list[Any], name: str = "arxiv_000.jsonl.gz") -> tuple[pl.DataFrame, dict]:
        shard = self.dump.write(self.folder / name, rows)
        part = self.folder / f"{name}.parquet"
        report = join_shard(self.metadata, shard, self.selection.corpus, part)
        self.parts.append(part)
        self.reports.append(report)
        return pl.read_parquet(part), report

    def collect(self, parts: int = 2) -> None:
        outputs = [self.folder / f"abstracts-{place:02d}.parquet" for place in range(parts)]
        joined, needs = list(self.parts), self.selection.corpus.require_fulltext
        self.reports += collect_abstracts(self.metadata, joined, outputs, needs)
        self.parts += outputs

    def index(self) -> tuple[pl.DataFrame, dict]:
        counts = build_index(self.parts, self.folder / "index.parquet")
        index = read_table(self.folder / "index.parquet", INDEX)
        return index, describe_join(index, counts, self.reports, self.selection)

    def documents(self, index: pl.DataFrame) -> list[dict]:
        found = []
        for path in self.parts:
            found += iterate_documents(path, path.name.removesuffix(".parquet"), index)
        return sorted(found, key=lambda each: each["doc_id"])


PAPERS = ["0704.0001", "0704.0002", "hep-th/9901001", "2401.00010"]


def test_a_shard_is_joined_on_the_id(dump, tmp_path):
    run = Run(dump, tmp_path, [dump.paper(each) for each in PAPERS])
    rows = [
        dump.fulltext("hep-th/9901001v2", "Strings."),
        dump.fulltext("arXiv:0704.0001", "Photons {\\it and} more."),
        dump.fulltext("2112.99999", "Not in the metadata"),
        dump.fulltext("0704.0002", "  "),
    ]
    frame, report = run.join(rows)
    columns = ["doc_id", "title", "text", "characters", "domains"]
    assert frame.select(columns).rows() == [
        ("hep-th/9901001", "On the number hep-th/9901001", "Strings.", 8, ["ai", "rest"]),
        ("0704.0001", "On the number 0704.0001", "Photons {\\it and} more.", 23, ["ai", "rest"]),
    ]
    assert (report["documents"], report["fulltext_only"], report["left_out"]) == (2, 1, {"no full text": 1})


def test_the_id_is_found_wherever_it_stands(dump, tmp_path):
    run = Run(dump, tmp_path, [dump.paper(each) for each in PAPERS])
    long = "x" * 5000
    quoted = 'He wrote "arxiv_id": "0704.0002" and {"arxiv_id": "0704.0002"}'
    rows = [
        {"meta": {"arxiv_id": "0704.0001"}, "text": long},
        {"a": long, "meta": {"arxiv_id": "0704.0002"}, "text": long},
        dump.fulltext("hep-th/9901001", quoted),
        {"text": "t", "meta": {"arxiv_id": "2401.00010", "other": {"arxiv_id": "0704.0001"}}},
    ]
    frame, report = run.join(rows)
    assert frame["doc_id"].to_list() == ["0704.0001", "0704.0002", "hep-th/9901001", "2401.00010"]
    assert frame["text"][2] == quoted
    assert report["malformed"]["count"] == 0


def test_malformed_lines_of_a_shard_are_named(dump, tmp_path):
    run = Run(dump, tmp_path, [dump.paper(each) for each in PAPERS])
    rows = [
        dump.fulltext("0704.0001"), b'{"text": "no end", "meta": {"arxiv_id": "0704.0001"}',
        {"text": "no meta"}, dump.fulltext(704.0001), dump.fulltext("0704.0002", 5),
        b'{"text": "\xff", "meta": {"arxiv_id": "0704.0001"}}',
    ]  # fmt: skip
    frame, report = run.join(rows)
    assert len(frame) == 1
    assert [(each["line"], each["reason"]) for each in report["malformed"]["first"]] == [
        (2, "not JSON"), (3, "no id"),
        (4, "the id 704.0001 is not a string: a number may have lost its zeros"), (5, "text is not a string"),
        (6, "invalid UTF-8"),
    ]  # fmt: skip


def test_a_document_of_20_mb_on_one_line(dump, tmp_path):
    run = Run(dump, tmp_path, [dump.paper(each) for each in PAPERS])
    text = "word " * 4_000_000
    frame, report = run.join([dump.fulltext("0704.0001", text), dump.fulltext("0704.0002")], "a.jsonl")
    assert frame["characters"].to_list() == [20_000_000, 10]
    assert frame["text"][0] == text
    assert report["malformed"]["count"] == 0


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.jsonl.zst"])
def test_a_cut_shard_leaves_nothing_behind(dump, tmp_path, name):
    run = Run(dump, tmp_path / "run", [dump.paper(each) for each in PAPERS])
    texts = [dump.fulltext("0704.0001", f"text {number}") for number in range(3000)]
    shard = dump.write(tmp_path / name, texts)
    shard.write_bytes(shard.read_bytes()[:-200])
    output = tmp_path / "out" / "a.parquet"
    with refuses("cut off"):
        join_shard(run.metadata, shard, Corpus(), output)
    assert not output.parent.exists()


def test_waves_give_the_same_table(dump, tmp_path, monkeypatch):
    papers = [dump.paper(f"0704.{number:04d}") for number in range(1, 101)]
    texts = [dump.fulltext(paper["id"], f"text of {paper['id']}") for paper in papers]
    whole, _ = Run(dump, tmp_path / "a", papers).join(texts)
    monkeypatch.setattr(arxiv, "_WAVE", 25)
    waves, _ = Run(dump, tmp_path / "b", papers).join(texts)
    assert waves.equals(whole)
    assert len(whole) == 100


def test_the_rest_goes_to_the_abstracts(dump, tmp_path):
    papers = [dump.paper(f"0704.{number:04d}") for number in range(1, 41)]
    papers.append(dump.paper("0704.0099", title="", abstract=None))
    papers.append(dump.paper("0704.0100", categories="math.CO"))
    domains = {"ai": {"categories": ["cs.AI"]}}
    run = Run(dump, tmp_path / "a", papers, domains=domains)
    run.join([dump.fulltext("0704.0001"), dump.fulltext("0704.0100"), dump.fulltext("2112.00001")])
    run.collect(3)
    index, report = run.index()
    assert index["doc_id"].to_list() == [f"0704.{number:04d}" for number in range(1, 41)]
    assert set(index["part"]) == {"arxiv_000.jsonl.gz", "abstracts-00", "abstracts-01", "abstracts-02"}
    assert (report["matched"], report["without_full_text"]) == (1, 39)
    assert report["one_side_only"] == {"metadata_only": 40, "fulltext_only": 1}
    assert report["fulltext_of_no_domain"] == 1
    assert report["left_out"] == {"in no domain": 1, "no title, abstract or text": 1}
    assert report["domains"]["ai"]["with_full_text"] == 1
    assert sum(report["splits"].values()) == 40
    assert report["dates"] == {"first": "2007-04-02", "last": "2007-04-02", "unknown": 0}

    needs = Run(dump, tmp_path / "b", papers, domains=domains, require_fulltext=True)
    needs.join([dump.fulltext("0704.0001")])
    needs.collect(3)
    index, report = needs.index()
    assert index["doc_id"].to_list() == ["0704.0001"]
    assert report["left_out"]["no full text"] == 40


def test_versions_of_one_document_over_shards(dump, tmp_path):
    run = Run(dump, tmp_path, [dump.paper(each) for each in PAPERS])
    run.join([dump.fulltext("0704.0001", "short"), dump.fulltext("0704.0001", "much longer")], "b.jsonl")
    run.join([dump.fulltext("0704.0001", "much LONGER"), dump.fulltext("0704.0002", "x")], "a.jsonl")
    run.join(
        [dump.fulltext("0704.0001", "much longer"), dump.fulltext("0704.0001", "much longer")], "c.jsonl"
    )
    run.collect()
    index, report = run.index()
    assert report["duplicates"] == {"metadata": 0, "in_parts": 2, "across_parts": 2, "in_docstrings": 0}
    documents = run.documents(index)
    assert [each["doc_id"] for each in documents] == sorted(PAPERS)  # each once
    # two are equally long: the larger hash counts
    longest = max(("much longer", "much LONGER"), key=hash_text)
    assert documents[0]["text"] == longest
    assert report["matched"] == 2


def test_names_and_order_of_shards_change_nothing(dump, tmp_path):
    papers = [dump.paper(f"0704.{number:04d}") for number in range(1, 61)]
    texts = [dump.fulltext(f"0704.{number % 40 + 1:04d}", f"text {number}" * 3) for number in range(100)]
    results = []
    for name, order in (("a", 1), ("b", -1)):
        run = Run(dump, tmp_path / name, papers[::order])
        shards = [texts[:30], texts[30:70], texts[70:]][::order]
        for place, rows in enumerate(shards):
            run.join(rows[::order], f"shard{name}{place}.jsonl")
        run.collect(2 if order == 1 else 3)
        index, report = run.index()
        for each in report["inputs"]:
            del each["file"], each["sha256"]
        results.append((index.drop("part"), run.documents(index), json.dumps(report["domains"])))
    assert results[0][0].equals(results[1][0])
    assert results[0][1] == results[1][1]
    assert results[0][2] == results[1][2]


@pytest.mark.parametrize(("domain", "hint"), [
    (
        {"categories": ["cs.AL"]},
        "did you mean cs.LG, cs.AI? the most frequent categories are cs.AI, cs.LG",
    ),
    (
        {"categories": ["cs.AI"], "since": "2030-01-01"},
        "4 of cs.AI, but what is set leaves all of them out: since, until",
    ),
    (
        {"categories": ["*"], "exclude": ["cs.*"]},
        "documents were read, 4 of cs.AI, 4 of cs.LG, but what is set leaves all of them out: exclude",
    ),
    ({"categories": ["zzz"]}, "the most frequent categories are cs.AI"),
])  # fmt: skip
def test_a_domain_without_documents(dump, tmp_path, domain, hint):
    papers = [dump.paper(each) for each in PAPERS]
    run = Run(dump, tmp_path, papers, domains={"all": {"categories": ["*"]}, "empty": domain})
    run.join([dump.fulltext("0704.0001")])
    run.collect()
    with refuses("domains.empty", "no documents", hint):
        run.index()


def test_all_domains_without_documents_are_named_at_once(dump, tmp_path):
    domains = {"all": {"categories": ["*"]}, "a": {"categories": ["zzz"]}, "b": {"categories": ["cs.AL"]}}
    run = Run(dump, tmp_path, [dump.paper("0704.0001")], domains=domains)
    run.join([])
    run.collect()
    with refuses(
        "domains.a, domains.b", "domain a (categories: zzz)", "domain b (categories: cs.AL)", "b: did you"
    ):
        run.index()


def test_real_shards(dump, tmp_path, shared):
    """Latex shards against the first records of the real snapshot that they name."""
    folder = shared / "arxiv" / "redpajama"
    wanted = set()
    for name in ("arxiv_000", "arxiv_002"):
        with gzip.open(folder / f"{name}.jsonl.gz") as stream:
            wanted |= {json.loads(line)["meta"]["arxiv_id"] for line in stream}
    run = Run(dump, tmp_path, [dump.paper(each) for each in sorted(wanted)])
    shards = [folder / "arxiv_000.jsonl.gz", folder / "arxiv_002.jsonl.gz"]
    reports = [join_shard(run.metadata, path, Corpus(), tmp_path / f"{path.name}.parquet") for path in shards]
    assert [report["documents"] for report in reports] == [48, 139]
    assert [report["fulltext_only"] for report in reports] == [0, 0]
