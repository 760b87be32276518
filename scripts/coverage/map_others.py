"""Place the questions of others' benchmarks on the map of a domain [CompComp, Fig. 1b]."""

from pathlib import Path
from typing import Annotated

from fathom.config.coverage import CoverageSettings
from fathom.errors import InputError
from fathom.io.contracts.coverage import OTHERS_MAP
from fathom.io.files import write_json
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import Threads, run


def main(
    *,
    questions: Annotated[list[Path], "files of questions (.jsonl or .csv)"],
    names: Annotated[list[str], "names of their benchmarks in coverage.others, in the same order"],
    sentences: Annotated[list[Path], "tables of sentences"],
    embeddings: Annotated[list[Path], "their embeddings (.npy)"],
    index: Annotated[Path, "index of the corpus"],
    drawn: Annotated[Path | None, "table of drawn documents, with sentences.limit"] = None,
    domain: Annotated[str, "name of the domain"],
    threads: Threads = 1,
    map: Annotated[Path, "table of the map"],
    report: Annotated[Path, "numbers to write (JSON)"],
    settings: CoverageSettings,
) -> None:
    """Read sentences, embeddings and questions; write a map and a report."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.coverage.others import map_benchmarks, read_questions
    from fathom.coverage.sets import Slices, read_space
    from fathom.jobs.devices import pick_device

    coverage = settings.coverage
    others = coverage.others.get(domain, {})
    unknown = [name for name in names if name not in others]
    if unknown or len(names) != len(questions):
        where = f"--names {' '.join(names)}"
        raise InputError(
            f"not a name of coverage.others.{domain} for each file", where, f"known: {', '.join(others)}"
        )
    device = pick_device(coverage.device, "coverage.device")
    texts = {
        name: read_questions(path, others[name].column) for name, path in zip(names, questions, strict=True)
    }
    space = read_space(Slices(sentences, embeddings, drawn), index, domain, coverage)
    encoder = SentenceEncoder(settings.embedding)
    found = map_benchmarks(space, texts, encoder.encode, coverage, device, threads)
    write_table(map, found.map, OTHERS_MAP)
    write_json(
        report, {name: own | {"embedding": settings.embedding.model} for name, own in found.report.items()}
    )
    for name, own in found.report.items():
        log.info(
            "%s questions of %s cover %.1f %% of %s sentences",
            f"{own['questions']:,}", name, 100 * own["coverage"], domain,
        )  # fmt: skip


if __name__ == "__main__":
    run(main)
