"""Relate metrics after each stage of continual pretraining to similarity, and to the reference.

Source: [RawCorpora, Sec. 4.3], [BeyondBenchmarks, Sec. 3.1.2].
"""

import argparse
from pathlib import Path

from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.scoring import FOLLOWING, RELATION_COLUMNS
from fathom.io.files import write_delimited
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read both tables, write the relations."""
    from fathom.statistics.summaries import format_number
    from fathom.studies.stages import relate_stages, select_stages

    settings = read_settings(arguments.settings, Summary)
    order = read_table(arguments.order, DOMAIN_ORDERS)
    rows = read_table(arguments.following, FOLLOWING).filter(
        track=arguments.track, domain=order["evaluation_domain"][0]
    )
    relations = relate_stages(select_stages(rows, order), settings)
    texts = (tuple(format_number(n) if isinstance(n, float) else n for n in row) for row in relations)
    write_delimited(arguments.output, RELATION_COLUMNS, list(texts), ",")
    log.info("%s: %s relations", arguments.track, len(relations))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--following", type=Path, required=True, help="following.parquet of a run")
    parser.add_argument("--track", required=True, help="name of what is followed")
    parser.add_argument("--order", type=Path, required=True, help="order of domains (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="relations (CSV)")
    add_settings(parser, Summary)
    run_program(parser, main)
