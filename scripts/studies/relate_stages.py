"""Relate metrics after each stage of continual pretraining to similarity, and to the reference.

Source: [RawCorpora, Sec. 4.3], [BeyondBenchmarks, Sec. 3.1.2].
"""

from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.studies import FOLLOWING, RELATIONS
from fathom.io.delimited import write_rows
from fathom.io.tables import read_table
from fathom.jobs.program import log
from fathom.jobs.signature import run


def main(
    *,
    following: Annotated[Path, "metrics of models over their training (parquet)"],
    track: Annotated[str, "name of what is followed"],
    order: Annotated[Path, "order of domains (parquet)"],
    relations: Annotated[Path, "table to write (CSV)"],
    settings: Summary,
) -> None:
    """Read both tables, write the relations."""
    from fathom.statistics.summaries import format_number
    from fathom.studies.stages import relate_stages, select_stages

    domains = read_table(order, DOMAIN_ORDERS)
    rows = read_table(following, FOLLOWING).filter(track=track, domain=domains["evaluation_domain"][0])
    found = relate_stages(select_stages(rows, domains), settings)
    texts = (tuple(format_number(n) if isinstance(n, float) else n for n in row) for row in found)
    write_rows(relations, list(texts), RELATIONS)
    log.info("%s: %s relations", track, len(found))


if __name__ == "__main__":
    run(main)
