"""The report on a corpus: what was read, left out and matched, and the size of each domain."""

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from fathom.config.corpus import Corpus, Domain, Selection
from fathom.corpus.selection import matches_category
from fathom.errors import InputError

_KEPT = 20
_FREQUENT = 8
_EXAMPLES = 5
_NAMED, _SHOWN = 200, 20
"""Most files that the report names, and a log."""

_IN_MANY_LANGUAGES = ("jsonl", "table", "dataset", "folder")
"""Sources of which `language` leaves documents out."""

Report = Mapping[str, Any]


def describe_join(
    index: pl.DataFrame, counts: Mapping[str, int], reports: Sequence[Report], selection: Selection
) -> dict[str, Any]:
    """Return the join report; the order of the parts does not matter.

    Raises
    ------
    InputError
        If a configured domain has no documents.
    """
    _require_documents(index, reports, selection)
    metadata = next((report for report in reports if report["door"] == "metadata"), None)
    left_out: Counter[str] = Counter()
    for report in reports:
        # lines of a shard that belong to no domain were counted with the metadata
        if report["door"] != "join":
            left_out.update(report.get("left_out", {}))
    inputs = [report["input"] for report in reports if "input" in report]
    first = [each for report in reports for each in report.get("malformed", {}).get("first", [])]
    days = index.filter(pl.col("date") != "")["date"]
    return {
        "documents": len(index),
        "with_full_text": int((index["characters"] > 0).sum()),
        "without_full_text": int((index["characters"] == 0).sum()),
        "characters": int(index["characters"].sum()),
        "dates": {"first": days.min(), "last": days.max(), "unknown": len(index) - len(days)},
        "records_read": {
            "metadata": metadata["records"] + metadata["duplicates"] if metadata else 0,
            "other": sum(report.get("records", 0) for report in reports if report["door"] != "metadata"),
        },
        "malformed": {
            "count": sum(report.get("malformed", {}).get("count", 0) for report in reports),
            "first": sorted(first, key=lambda each: (each["file"], each["line"]))[:_KEPT],
        },
        "restored_ids": sum(report.get("restored_ids", 0) for report in reports),
        "duplicates": {
            "metadata": metadata["duplicates"] if metadata else 0,
            "in_parts": counts["duplicates_in_parts"],
            "across_parts": counts["duplicates_across_parts"],
            "in_docstrings": sum(report.get("duplicates", 0) for report in _of(reports, "docstrings")),
        },
        "one_side_only": {
            "metadata_only": sum(report["metadata_only"] for report in _of(reports, "abstracts")),
            "fulltext_only": sum(report["fulltext_only"] for report in _of(reports, "join")),
        },
        "matched": int((index["characters"] > 0).sum()) if metadata else 0,
        "fulltext_of_no_domain": sum(sum(report["left_out"].values()) for report in _of(reports, "join")),
        "left_out": dict(left_out),
        "files": _add_files(_of(reports, "folder")),
        "paragraphs_left_out": _add_counts(
            report["paragraphs_left_out"] for report in _of(reports, "folder")
        ),
        "gaps": sum(report["gaps"] for report in _of(reports, "folder")),
        "import_errors": [each for report in reports for each in report.get("import_errors", [])],
        "domains": {name: _describe_domain(index, name) for name in sorted(selection.domains)},
        "splits": _count_splits(index),
        "inputs": sorted(inputs, key=lambda each: (each["file"], each["sha256"])),
    }


def _of(reports: Sequence[Report], door: str) -> list[Report]:
    return [report for report in reports if report["door"] == door]


def _add_files(reports: Sequence[Report]) -> dict[str, Any]:
    skipped: dict[str, dict[str, Any]] = {}
    for report in reports:
        for reason, found in report["files"]["skipped"].items():
            total = skipped.setdefault(reason, {"count": 0, "examples": []})
            total["count"] += found["count"]
            total["examples"] = sorted([*total["examples"], *found["examples"]])[:_EXAMPLES]
    shares = [item for report in reports for item in report["files"]["little_prose"].items()]
    return {
        "read": sum(report["files"]["read"] for report in reports),
        "skipped": skipped,
        "little_prose": {
            "count": len(shares),
            "files": dict(sorted(shares, key=lambda item: (item[1], item[0]))[:_NAMED]),
        },
    }


def describe_reading(report: Report) -> list[str]:
    """Return lines on files of a folder that became no documents, and on copies."""
    files, copies = report["files"], report.get("groups", {}).get("copies", {})
    lines = [
        f"left out: {reason}: {found['count']:,}, such as {found['examples'][0]}"
        for reason, found in files["skipped"].items()
    ]
    little = files["little_prose"]
    if little["count"]:
        lines.append(f"files with less than a fifth of prose: {little['count']:,}")
        lines += [f"  {name}: {share:.0%}" for name, share in [*little["files"].items()][:_SHOWN]]
    if copies.get("documents"):
        lines.append(f"copies of other documents, which do not count: {copies['documents']:,}")
        for row in copies["files"][:_SHOWN]:
            other = "others in it" if row["of"] == row["file"] else row["of"]
            other += f" and {row['others']:,} more" if row.get("others") else ""
            some = "" if row["of_it"] == row["copies"] else f", {row['of_it']:,} of them"
            lines.append(f"  {row['file']}: {row['copies']:,} of {row['documents']:,}{some} from {other}")
    shown = [len(little["files"]), len(copies.get("files", []))]
    if max(shown) > _SHOWN or little["count"] > shown[0]:
        lines.append("  more are in corpus/join_report.json")
    return lines


def _add_counts(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items()))


def _describe_domain(index: pl.DataFrame, name: str) -> dict[str, Any]:
    rows = index.filter(pl.col("domains").list.contains(name))
    days = rows.filter(pl.col("date") != "")["date"]
    return {
        "documents": len(rows),
        "with_full_text": int((rows["characters"] > 0).sum()),
        "without_full_text": int((rows["characters"] == 0).sum()),
        "splits": _count_splits(rows),
        "dates": {"first": days.min(), "last": days.max()},
    }


def _count_splits(rows: pl.DataFrame) -> dict[str, int]:
    counts = Counter(rows["split"].to_list())
    return {name: counts[name] for name in sorted(counts)}


def _require_documents(index: pl.DataFrame, reports: Sequence[Report], selection: Selection) -> None:
    """Raise `InputError` that names all domains without documents."""
    held = set(index["domains"].explode().unique().drop_nulls())
    empty = {name: domain for name, domain in sorted(selection.domains.items()) if name not in held}
    if not empty:
        return
    seen: Counter[str] = Counter()
    for report in reports:
        seen.update(report.get("categories", {}))
    hints = {name: _hint_categories(domain, seen, selection.corpus) for name, domain in empty.items()}
    raise InputError(
        "; ".join(
            f"domain {name} (categories: {', '.join(domain.categories)}) has no documents"
            for name, domain in empty.items()
        ),
        ", ".join(f"domains.{name}" for name in empty),
        "; ".join(f"{name}: {hint}" for name, hint in hints.items())
        if len(hints) > 1
        else "".join(hints.values()),
    )


def _hint_categories(domain: Domain, seen: Counter[str], corpus: Corpus) -> str:
    if not seen:
        return "no document with a category was read: check the input files"
    fitting = [each for each in seen if any(matches_category(p, each) for p in domain.categories)]
    if fitting:
        # a document has several categories, so their sum would count it several times
        listed = ", ".join(f"{seen[each]:,} of {each}" for each in _sort_by_count(fitting, seen)[:_EXAMPLES])
        more = " and others" if len(fitting) > _EXAMPLES else ""
        return f"documents were read, {listed}{more}, but {_name_limits(domain, corpus)}"
    near = [
        match
        for pattern in domain.categories
        for match in difflib.get_close_matches(pattern.removesuffix(".*"), sorted(seen), n=3)
    ]
    frequent = _sort_by_count(seen, seen)[:_FREQUENT]
    start = f"did you mean {', '.join(dict.fromkeys(near))}? " if near else ""
    return f"{start}the most frequent categories are {', '.join(frequent)}"


def _name_limits(domain: Domain, corpus: Corpus) -> str:
    dates = [domain.since, domain.until, corpus.since, corpus.until]
    given = {
        "since, until": any(dates),
        "exclude": bool(domain.exclude),
        "primary_only": corpus.primary_only,
        "require_fulltext": corpus.require_fulltext,
        "language": corpus.language != "any" and corpus.source in _IN_MANY_LANGUAGES,
    }
    names = [name for name, is_given in given.items() if is_given]
    return f"what is set leaves all of them out: {', '.join(names)}" if names else "all are empty"


def _sort_by_count(names: Iterable[str], counts: Counter[str]) -> list[str]:
    """Return names by count, the most frequent first; ties by name."""
    return sorted(names, key=lambda each: (-counts[each], each))
