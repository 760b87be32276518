"""Write examples of keywords, vocabularies, tokens and pairs [RawCorpora, Tables 1-5, 7, 8].

Each table is a CSV; one page of Markdown holds them all.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.examples import Examples
from fathom.figures.example_tables import (
    list_benchmarks,
    list_keywords,
    list_pairs,
    list_question_sets,
    list_terms,
    read_examples,
    render_page,
)
from fathom.io import paths
from fathom.io.contracts.benchmark import (
    EXAMPLE_BENCHMARKS,
    EXAMPLE_KEYWORDS,
    EXAMPLE_PAIRS,
    EXAMPLE_VOCABULARIES,
)
from fathom.io.delimited import write_rows
from fathom.io.files import write_text
from fathom.jobs.program import log
from fathom.jobs.signature import PairTables, Tables, run


def main(
    *,
    domains: Annotated[Tables, paths.KEYWORDS, "keywords of one domain"],
    titles: Annotated[list[str], "what each domain is called"],
    vocabularies: Annotated[Tables, paths.VOCABULARY, "terms of its keywords"] = (),
    pairs: PairTables = (),
    tokens: Annotated[Tables, paths.TOKEN_LISTS, "tokens of its keywords"] = (),
    questions: Annotated[Tables, paths.QUESTIONS, "a set of questions"] = (),
    page: Annotated[Path, "all tables to write (Markdown)"],
    keywords: Annotated[Path, "keywords to write (CSV)"],
    terms: Annotated[Path, "target vocabularies and tokens to write (CSV)"],
    chosen: Annotated[Path, "pairs to write (CSV)"],
    benchmarks: Annotated[Path, "benchmarks and their sizes to write (CSV)"],
    references: Annotated[
        dict[str, dict[str, str]] | None, "names of references by domain and variant; none if empty"
    ] = None,
    settings: Examples,
) -> None:
    """Read all domains, write four tables and a page."""
    named = [(name, title, path) for (name, path), title in zip(domains, titles, strict=True)]
    examples = read_examples(named, vocabularies, tokens, pairs, settings, references)
    for each in examples:
        for key, lost, count in each.list_left_out():
            detail = (each.domain, len(lost), count, key, ", ".join(lost))
            log.warning("%s: %d of %d names of examples.%s are not in this run, left out: %s", *detail)
    sizes = [*list_benchmarks(examples), *list_question_sets(questions)]
    tables = [
        (keywords, EXAMPLE_KEYWORDS, list_keywords(examples)),
        (terms, EXAMPLE_VOCABULARIES, list_terms(examples)),
        (chosen, EXAMPLE_PAIRS, list_pairs(examples)),
        (benchmarks, EXAMPLE_BENCHMARKS, sizes),
    ]
    for path, contract, rows in tables:
        write_rows(path, rows, contract)
        log.info("%s: %s rows", path.name, f"{len(rows):,}")
    write_text(page, render_page(examples, sizes))


if __name__ == "__main__":
    run(main)
