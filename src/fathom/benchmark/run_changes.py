"""Differences between two runs: input files, documents, keywords, pairs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.benchmark.card import escape_markdown
from fathom.config.benchmark import VARIANTS
from fathom.io import paths
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, PAIRS
from fathom.io.delimited import read_rows
from fathom.io.reports import EmbeddedSentences, OnFile, SplitDocuments, read_report
from fathom.io.row_groups import scan_table
from fathom.io.tables import read_table

_CONTENT = ("title", "abstract", "text_hash")
_LISTED = 100
_MERGED = re.compile(r"(?:^|; )(.+?) \((\d+)\)(?=;|$)")
_UNMERGED = {"gained": " (until now merged into another)", "lost": " (now merged into another)"}


class Change(NamedTuple):
    """One row of changes.csv."""

    domain: str
    what: str
    variant: str
    previous: int
    now: int
    kept: int
    changed: int

    def values(self) -> list[Any]:
        """Return the values of the row, in the order of CHANGES."""
        new, gone = self.now - self.kept - self.changed, self.previous - self.kept - self.changed
        total = self.kept + self.changed + new + gone
        overlap = f"{self.kept / total:.4f}" if total else ""
        return [*self, new, gone, overlap]


def compare_contents(
    domain: str, what: str, previous: Mapping[str, Any], now: Mapping[str, Any], variant: str = ""
) -> Change:
    """Compare items by name and content: kept (equal content), changed, new, gone."""
    both = previous.keys() & now.keys()
    kept = sum(previous[name] == now[name] for name in both)
    return Change(domain, what, variant, len(previous), len(now), kept, len(both) - kept)


def compare_names(
    domain: str, what: str, previous: Iterable[str], now: Iterable[str], variant: str = ""
) -> Change:
    """Compare items by name only."""
    return compare_contents(domain, what, dict.fromkeys(previous), dict.fromkeys(now), variant)


def compare_inputs(previous: Path, run: Path) -> Change:
    """Compare the input files of two runs by name and sha256, as reported for their parts."""
    return compare_contents("", "input files", _read_inputs(previous), _read_inputs(run))


def _read_inputs(run: Path) -> dict[str, str]:
    kinds = (paths.DOCUMENTS.ending(".json"), paths.METADATA.ending(".json"))
    inputs = [read_report(path, OnFile).get("input") for kind in kinds for _, path in kind.find_files(run)]
    return {given["file"]: given["sha256"] for given in inputs if given}


def compare_documents(previous: Path, run: Path, domains: Sequence[str]) -> list[Change]:
    """Compare the documents of two runs by id and content, overall and by domain.

    Holds the id, a hash and the domains of each document in memory; texts are not read.
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
    columns = ["doc_id", "domains", *_CONTENT]
    pieces = [
        frame.select("doc_id", "domains", content=pl.struct(_CONTENT).hash())
        for frame in scan_table(paths.INDEX.under(run), columns)
    ]
    return pl.concat(pieces)


def compare_keywords(previous: Path, run: Path, domain: str) -> tuple[Change, list[list[Any]]]:
    """Compare the keywords of a domain; return their counts, and one row per keyword (KEYWORD_CHANGES)."""
    (before, merged_before), (now, merged_now) = (_read_keywords(each, domain) for each in (previous, run))
    lines = []
    for keyword in sorted(before.keys() | now.keys()):
        change = "kept" if keyword in before and keyword in now else "gained" if keyword in now else "lost"
        counts = (before | merged_before).get(keyword), (now | merged_now).get(keyword)
        lines.append([domain, keyword, change, *counts])
    return compare_names(domain, "keywords", before, now), lines


def _read_keywords(run: Path, domain: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the documents of each keyword, and of each phrase merged into one; empty without the domain."""
    path = Path(paths.KEYWORDS.of(domain=domain).under(run))
    names = ("keyword", "documents", "merged")
    rows = list(read_rows(path, DOMAIN_KEYWORDS, names)) if path.is_file() else []
    merged = {found[1]: int(found[2]) for row in rows for found in _MERGED.finditer(row["merged"])}
    return {row["keyword"]: row["documents"] for row in rows}, merged


def compare_pairs(previous: Path, run: Path, domain: str) -> list[Change]:
    """Compare the pairs of a domain's benchmarks, and their source documents."""
    found = []
    for variant in VARIANTS:
        before, now = (_read_pairs(folder, domain, variant) for folder in (previous, run))
        # a pair's id is a hash of its content
        found.append(compare_names(domain, "pairs", before, now, variant))
        documents = before.values(), now.values()
        found.append(compare_names(domain, "documents of pairs", *documents, variant))
    return found


def _read_pairs(run: Path, domain: str, variant: str) -> dict[str, str]:
    """Return the source document of each pair; empty if the run has no such benchmark."""
    path = Path(paths.PAIRS.of(domain=domain, variant=variant).under(run))
    return dict(read_table(path, PAIRS, ["pair_id", "doc_id"]).iter_rows()) if path.is_file() else {}


def count_reuse(run: Path) -> list[Change]:
    """Count the documents whose sentences, and the sentences whose vectors, came from the earlier run."""
    split, named, embedded = (
        [read_report(path, shape) for _, path in each.ending(".json").find_files(run)]
        for each, shape in (
            (paths.SENTENCES, SplitDocuments),
            (paths.NAMED_EMBEDDINGS, EmbeddedSentences),
            (paths.EMBEDDINGS, EmbeddedSentences),
        )
    )
    return [
        _count("documents split", split, "documents", "reused_documents"),
        _count("sentences embedded", named + embedded, "sentences", "reused_sentences"),
    ]


def _count(what: str, reports: Iterable[Mapping[str, Any]], total: str, reused: str) -> Change:
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
    """Return the report as Markdown: tables of counts, then the keywords gained and lost in each domain."""
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
            names = [
                escape_markdown(line[1]) + (_UNMERGED[kind] if None not in line[3:] else "")
                for line in keywords
                if line[0] == domain and line[2] == kind
            ]
            more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
            listed = ", ".join(names[:_LISTED]) or "none"
            lines += ["", f"**{escape_markdown(domain)}, keywords {kind} ({len(names):,})**: {listed}{more}"]
    return "\n".join(lines) + "\n"
