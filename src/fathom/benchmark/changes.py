"""What changed from one run to the next: input files, documents, keywords, pairs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.benchmark.card import escape_markdown
from fathom.config.benchmark import VARIANTS
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import read_delimited, read_json
from fathom.io.row_groups import scan_table
from fathom.io.tables import read_table

CHANGE_COLUMNS = (
    "domain", "what", "variant", "previous", "now", "kept", "changed", "new", "gone", "overlap",
)  # fmt: skip
"""Header of changes.csv; `overlap` is the share of kept ones among all that either run has."""

KEYWORD_COLUMNS = ("domain", "keyword", "change", "previous_documents", "documents")
"""Header of keyword_changes.csv: one line for each keyword of either run."""

_CONTENT = ("title", "abstract", "text_hash")
_LISTED = 100


class Change(NamedTuple):
    """One line of changes.csv."""

    domain: str
    what: str
    variant: str
    previous: int
    now: int
    kept: int
    changed: int

    def values(self) -> list[Any]:
        """Return the line's values, under CHANGE_COLUMNS."""
        new, gone = self.now - self.kept - self.changed, self.previous - self.kept - self.changed
        every = self.kept + self.changed + new + gone
        overlap = f"{self.kept / every:.4f}" if every else ""
        return [*self, new, gone, overlap]


def compare_maps(
    domain: str, what: str, previous: Mapping[str, Any], now: Mapping[str, Any], variant: str = ""
) -> Change:
    """Compare things by name and content: kept with equal content, changed, new, gone."""
    both = previous.keys() & now.keys()
    kept = sum(previous[name] == now[name] for name in both)
    return Change(domain, what, variant, len(previous), len(now), kept, len(both) - kept)


def compare_names(
    domain: str, what: str, previous: Iterable[str], now: Iterable[str], variant: str = ""
) -> Change:
    """Compare things that have nothing but a name."""
    return compare_maps(domain, what, dict.fromkeys(previous), dict.fromkeys(now), variant)


def compare_inputs(previous: Path, run: Path) -> Change:
    """Compare the input files of two runs by name and sha256, as the reports on their parts name them."""
    return compare_maps("", "input files", _read_inputs(previous), _read_inputs(run))


def _read_inputs(run: Path) -> dict[str, str]:
    """Return the sha256 of each input file of a run."""
    corpus = run / "corpus"
    reports = [*sorted((corpus / "documents").glob("*.json")), corpus / "metadata.json"]
    inputs = [read_json(path).get("input") for path in reports if path.is_file()]
    return {given["file"]: given["sha256"] for given in inputs if given}


def compare_documents(previous: Path, run: Path, domains: Sequence[str]) -> list[Change]:
    """Compare the documents of two runs, of all and by domain, by id and content.

    Memory holds an id, a hash and the domains of each document; texts are not read.
    """
    before, now = _read_documents(previous), _read_documents(run)
    found = []
    for domain in ["", *domains]:
        left, right = (
            frame.filter(pl.col("domains").list.contains(domain)) if domain else frame
            for frame in (before, now)
        )
        both = left.join(right, on="doc_id")
        kept = int((both["content"] == both["content_right"]).sum())
        found.append(Change(domain, "documents", "", len(left), len(right), kept, len(both) - kept))
    return found


def _read_documents(run: Path) -> pl.DataFrame:
    """Return doc_id, a hash of the content, and the domains of each document of a run."""
    columns = ["doc_id", "domains", *_CONTENT]
    pieces = [
        frame.select("doc_id", "domains", content=pl.struct(_CONTENT).hash())
        for frame in scan_table(run / "corpus" / "index.parquet", columns)
    ]
    return pl.concat(pieces)


def compare_keywords(previous: Path, run: Path, domain: str) -> tuple[Change, list[list[str]]]:
    """Compare the keywords of a domain; return the counts, and a line for each under KEYWORD_COLUMNS."""
    before, now = _read_keywords(previous, domain), _read_keywords(run, domain)
    lines = []
    for keyword in sorted(before.keys() | now.keys()):
        change = "kept" if keyword in before and keyword in now else "gained" if keyword in now else "lost"
        lines.append([domain, keyword, change, before.get(keyword, ""), now.get(keyword, "")])
    return compare_names(domain, "keywords", before, now), lines


def _read_keywords(run: Path, domain: str) -> dict[str, str]:
    """Return the keywords of a domain with their number of documents; none if the run has no such domain."""
    path = run / domain / "keywords.tsv"
    return {row["keyword"]: row["documents"] for row in read_delimited(path)} if path.is_file() else {}


def compare_pairs(previous: Path, run: Path, domain: str) -> list[Change]:
    """Compare the pairs of a domain's benchmarks, and the documents that they come from."""
    found = []
    for variant in VARIANTS:
        before, now = (_read_pairs(folder, domain, variant) for folder in (previous, run))
        # a pair's id is a hash of its content
        found.append(compare_names(domain, "pairs", before, now, variant))
        documents = before.values(), now.values()
        found.append(compare_names(domain, "documents of pairs", *documents, variant))
    return found


def _read_pairs(run: Path, domain: str, variant: str) -> dict[str, str]:
    """Return the document of each pair; none if the run has no such benchmark."""
    path = run / domain / "benchmark" / variant / "pairs.parquet"
    return dict(read_table(path, PAIRS, ["pair_id", "doc_id"]).iter_rows()) if path.is_file() else {}


def count_reuse(run: Path) -> list[Change]:
    """Count the documents whose sentences, and the sentences whose vectors, were taken over."""
    corpus = run / "corpus"
    split = [read_json(path) for path in sorted((corpus / "sentences").glob("*.json"))]
    embedded = [read_json(path) for path in sorted((corpus / "embeddings").glob("*.json"))]
    return [
        _count("documents split", split, "documents", "reused_documents"),
        _count("sentences embedded", embedded, "sentences", "reused_sentences"),
    ]


def _count(what: str, reports: Iterable[Mapping[str, Any]], total: str, reused: str) -> Change:
    """Return how many of a step's items are kept from an earlier run."""
    counts = [(int(report[total]), int(report[reused])) for report in reports]
    every, kept = sum(count[0] for count in counts), sum(count[1] for count in counts)
    return Change("", what, "", kept, every, kept, 0)


def describe_changes(
    previous: str,
    run: str,
    changes: Sequence[Change],
    reuse: Sequence[Change],
    keywords: Sequence[Sequence[str]],
) -> str:
    """Return the report as Markdown: tables of counts, then keywords gained and lost by domain.

    Parameters
    ----------
    previous, run : str
        Names of the two runs.
    changes, reuse : sequence of Change
        What was compared, and what was taken over.
    keywords : sequence of sequence of str
        Lines under KEYWORD_COLUMNS.
    """
    lines = [f"# From {escape_markdown(previous)} to {escape_markdown(run)}", ""]
    header = ["domain", "what", "variant", "before", "now", "kept", "changed", "new", "gone", "overlap"]
    lines += [f"| {' | '.join(header)} |", "|---|---|---|" + "---:|" * 7]
    for change in changes:
        values = [
            f"{value:,}" if isinstance(value, int) else escape_markdown(value) for value in change.values()
        ]
        lines.append(f"| {' | '.join(values)} |")
    lines += ["", "Taken over from the earlier run, because the content is the same:", ""]
    lines += [f"- {change.what}: {change.kept:,} of {change.now:,}" for change in reuse]
    for domain in dict.fromkeys(str(line[0]) for line in keywords):
        for kind in ("gained", "lost"):
            names = [line[1] for line in keywords if line[0] == domain and line[2] == kind]
            more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
            listed = ", ".join(escape_markdown(name) for name in names[:_LISTED]) or "none"
            lines += ["", f"**{escape_markdown(domain)}, keywords {kind} ({len(names):,})**: {listed}{more}"]
    return "\n".join(lines) + "\n"
