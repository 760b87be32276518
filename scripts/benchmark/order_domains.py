"""Order domains by similarity to one of them and choose some at even distances [RawCorpora, Sec. 4.3].

Writes a table of all, and the chosen ones as a configuration file for `--configfile`.
"""

import argparse
from pathlib import Path

from fathom.config.models import Continual
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.files import write_text
from fathom.io.tables import write_table
from fathom.jobs.program import add_settings, add_tables, log, read_settings, run_program


def main(arguments: argparse.Namespace) -> None:
    """Read the mean vectors, write table and configuration."""
    from fathom.benchmark.domain_order import order_domains, render_order
    from fathom.benchmark.matches import load_embeddings

    settings = read_settings(arguments.settings, Continual)
    means = {name: load_embeddings(path) for name, path in arguments.mean}
    measured = settings.evaluation_domain
    candidates = set(means) - {measured} if settings.candidates == "all" else settings.candidates
    order = order_domains(means, measured, candidates, settings.count, settings.order)
    if settings.count is not None and settings.count > len(candidates):
        log.info("%s candidates for %s stages: all are taken", len(candidates), settings.count)
    write_text(arguments.configuration, render_order(arguments.study, order))
    write_table(arguments.output, order, DOMAIN_ORDERS)
    log.info("%s of %s domains chosen, see %s", order["chosen"].sum(), len(order), arguments.configuration)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="name of the study")
    add_tables(parser, "--mean", ("DOMAIN",), "mean vector of a domain (.npy)", required=True)
    parser.add_argument("--output", type=Path, required=True, help="table of all domains (parquet)")
    parser.add_argument("--configuration", type=Path, required=True, help="the chosen order (YAML)")
    add_settings(parser, Continual)
    run_program(parser, main)
