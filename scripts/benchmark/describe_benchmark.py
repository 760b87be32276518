"""Write the manifest, the card and the metadata of a benchmark."""

from pathlib import Path
from typing import Annotated, Any

from fathom.config.benchmark import Variant
from fathom.config.whole import Config
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, PAIRS, VOCABULARY
from fathom.io.delimited import read_rows
from fathom.io.files import read_object, write_json, write_text
from fathom.io.reports import Sources, read_report
from fathom.io.tables import read_table
from fathom.jobs.signature import run


def main(
    *,
    pairs: Annotated[Path, "pairs.parquet; pairs.jsonl lies beside it"],
    keywords: Annotated[Path, "keywords.tsv"],
    vocabulary: Annotated[Path, "vocabulary.tsv of this variant"],
    join_report: Annotated[Path, "join_report.json of the corpus"],
    pairs_report: Annotated[Path, "pairs.json of this variant"],
    keywords_report: Annotated[Path, "keywords.json"],
    sentences_report: Annotated[Path, "sentences.json, of the matches"],
    overlap: Annotated[Path | None, "overlap.json of this variant"] = None,
    held_out_overlap: Annotated[Path | None, "held-out.overlap.json of the domain"] = None,
    coverage: Annotated[Path | None, "coverage.json of this variant"] = None,
    draw: Annotated[Path | None, "report of the draw of documents, by domain"] = None,
    domain: Annotated[str, "name of the domain"],
    title: Annotated[str, "display name of the domain; its name if empty"] = "",
    variant: Annotated[Variant, "variant of the benchmark"],
    manifest: Annotated[Path, "manifest.json to write"],
    card: Annotated[Path, "README.md to write"],
    croissant: Annotated[Path, "croissant.json to write"],
    settings: Config,
) -> None:
    """Read the benchmark's files and the steps' reports; write manifest, card and metadata."""
    from fathom.benchmark.benchmark_files import make_manifest
    from fathom.benchmark.card import Description, describe_files, name_benchmark, write_card

    files = {"pairs": pairs_report, "keywords": keywords_report, "sentences": sentences_report}
    others = {"overlap": overlap, "held_out_overlap": held_out_overlap, "coverage": coverage}
    files |= {name: path for name, path in others.items() if path}
    reports = {name: read_object(path) for name, path in files.items()}
    if draw is not None:
        reports["draw"] = read_report(draw, dict[str, dict[str, Any]])[domain]
    made = make_manifest(
        {
            "pairs.parquet": pairs,
            "pairs.jsonl": pairs.with_suffix(".jsonl"),
            "keywords.tsv": keywords,
            "vocabulary.tsv": vocabulary,
        },
        settings,
        domain,
        variant,
        read_report(join_report, Sources),
        reports,
    )
    tables = ((keywords, DOMAIN_KEYWORDS), (vocabulary, VOCABULARY))
    counts = [len(read_rows(path, contract, ["keyword"])) for path, contract in tables]
    about = Description(domain, title, variant, *counts, made)
    table = read_table(pairs, PAIRS)
    write_text(card, write_card(table, about))
    write_json(croissant, describe_files(name_benchmark(about), table.columns, made["files"]))
    write_json(manifest, made)


if __name__ == "__main__":
    run(main)
