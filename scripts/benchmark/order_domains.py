"""Order domains by similarity to one of them and choose some at even distances [RawCorpora, Sec. 4.3].

Writes a table of all, and the chosen ones as a configuration file for `--configfile`.
"""

from pathlib import Path
from typing import Annotated

from fathom.config.models import Continual
from fathom.io import paths
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.files import write_text
from fathom.io.tables import write_table
from fathom.jobs.program import log
from fathom.jobs.signature import Tables, run


def main(
    *,
    study: Annotated[str, "name of the study"],
    means: Annotated[Tables, paths.MEAN_VECTORS, "mean vector of a domain (.npy)"],
    table: Annotated[Path, "table of all domains (parquet)"],
    configuration: Annotated[Path, "the chosen order (YAML)"],
    settings: Continual,
) -> None:
    """Read the mean vectors, write table and configuration."""
    from fathom.benchmark.domain_order import order_domains, render_order
    from fathom.benchmark.matches import load_embeddings

    vectors = {name: load_embeddings(path) for name, _, path in means}
    measured = settings.evaluation_domain
    candidates = set(vectors) - {measured} if settings.candidates == "all" else settings.candidates
    order = order_domains(vectors, measured, candidates, settings.count, settings.order)
    if settings.count is not None and settings.count > len(candidates):
        log.info("%s candidates for %s stages: all are taken", len(candidates), settings.count)
    write_text(configuration, render_order(study, order))
    write_table(table, order, DOMAIN_ORDERS)
    log.info("%s of %s domains chosen, see %s", order["chosen"].sum(), len(order), configuration)


if __name__ == "__main__":
    run(main)
