"""Records as a corpus that holds nothing twice: which ones each t_c keeps [CompComp, Sec. 5.5, Table 4]."""

import numpy as np
import polars as pl

from fathom.config.coverage import Coverage
from fathom.coverage.correlations_varied import expand_with_each
from fathom.coverage.expanded_corpus import divide_documents
from fathom.coverage.sets import Space, Vectors, draw_rows
from fathom.io.contracts.questions import RECORD_CORPORA
from fathom.io.tables import make_empty_table


def vary_records(
    names: pl.Series, vectors: Vectors, settings: Coverage, device: str = "cpu", threads: int = 1
) -> pl.DataFrame:
    """Return the records that an expansion keeps with each t_c, under RECORD_CORPORA.

    Parameters
    ----------
    names : polars.Series
        IRIs of records; each is a document of one sentence.
    vectors : array of float32 of shape (n_records, dimension)
        Their embeddings: unit vectors.
    settings : Coverage
        Uses what an expansion does, and `ablation.max_correlation`.
    device : str, default="cpu"
    threads : int, default=1
        Change no bit of the result.
    """
    table = pl.DataFrame({"doc_id": names, "position": pl.Series([0] * len(names), dtype=pl.Int32)})
    points = draw_rows(table, settings.points, "point")
    space = Space(table, vectors * np.float32(settings.length), points, {})
    subsets = divide_documents(table, settings.documents)[0]["subset"].to_numpy()
    parts = [
        pl.DataFrame({"max_correlation": most, "iri": names.filter(expansion.joined[subsets] > 0)})
        for most, expansion, _ in expand_with_each(space, settings, device, threads)
    ]
    return pl.concat([make_empty_table(RECORD_CORPORA), *parts])
