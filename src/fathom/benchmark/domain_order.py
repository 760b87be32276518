"""The order of domains by similarity to one of them, for continual pretraining [RawCorpora, Sec. 4.3].

A domain is the mean embedding of abstracts; two domains are as similar as the cosine of their means.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.errors import InputError
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.files import hash_text
from fathom.io.tables import make_empty_table

DRAWN_BY = ("doc_id", "abstract", "domains")
"""Columns of the index for drawing abstracts."""
_DECIMALS = 6  # of a cosine: further digits differ on a GPU

Mean = NDArray[np.float64]


def draw_abstracts(pieces: Iterable[pl.DataFrame], domain: str, count: int) -> list[str]:
    """Draw abstracts of a domain by a hash of doc_id; memory holds them and one piece of the index.

    `pieces`: the index of the corpus in pieces, columns :data:`DRAWN_BY`; all splits count. Returned: in the
    order of the hash; documents without an abstract are passed over.
    """
    drawn = pl.DataFrame(schema={"hash": pl.String, "abstract": pl.String})
    for piece in pieces:
        rows = piece.filter(pl.col("domains").list.contains(domain) & (pl.col("abstract") != ""))
        hashes = pl.Series("hash", [hash_text(doc_id) for doc_id in rows["doc_id"]], dtype=pl.String)
        drawn = pl.concat([drawn, rows.select(hashes, "abstract")]).sort("hash").head(count)
    return drawn["abstract"].to_list()


def draw_beginnings(texts: pl.DataFrame, count: int, characters: int = 2000) -> list[str]:
    """Draw beginnings of texts by a hash of doc_id, for a domain that is not in the corpus.

    `characters`: of each text.
    """
    order = sorted(zip(map(hash_text, texts["doc_id"]), texts["text"], strict=True))
    return [" ".join(text[:characters].split()) for _, text in order[:count]]


def average_vectors(vectors: NDArray[Any]) -> Mean:
    """Return the mean of unit vectors of shape (n_abstracts, dimension), in double precision, unit length."""
    mean: Mean = vectors.astype(np.float64).mean(axis=0)
    unit: Mean = mean / np.sqrt(np.sum(mean * mean))
    return unit


def order_domains(
    means: Mapping[str, Mean],
    evaluation_domain: str,
    candidates: Collection[str],
    count: int | None = None,
    given: Sequence[str] = (),
) -> pl.DataFrame:
    """Order domains by the cosine of their mean with one domain's, the least similar first.

    Parameters
    ----------
    means : mapping of str to ndarray of shape (dimension,)
        Of all domains; of unit length.
    count : int, optional
        Stages; None, or more than there are candidates: all of them.
    given : sequence of str
        The order of training, if already settled; it gives `stage`, while `chosen` is still computed.
    """
    rows = [
        (name, float(np.clip(np.round(mean @ means[evaluation_domain], _DECIMALS), -1, 1)))
        for name, mean in means.items()
        if name != evaluation_domain or name in (*candidates, *given)
    ]
    rows.sort(key=lambda row: (row[1], row[0]))
    chosen = choose_evenly([name for name, _ in rows if name in candidates], count)
    stages = list(given) or chosen
    table = [
        {"evaluation_domain": evaluation_domain, "domain": name, "similarity": cosine, "place": place,
         "chosen": name in chosen, "stage": stages.index(name) + 1 if name in stages else 0}
        for place, (name, cosine) in enumerate(rows, start=1)
    ]  # fmt: skip
    empty = make_empty_table(DOMAIN_ORDERS)
    return pl.DataFrame(table, schema=empty.schema)


def choose_evenly(names: Sequence[str], count: int | None) -> list[str]:
    """Return evenly spaced names in order, including the first and the last.

    `count`: how many, at least two; None, or more than there are: all.
    """
    if count is None or count >= len(names):
        return list(names)
    last, gaps = len(names) - 1, count - 1
    # rounded half up, in whole numbers
    return [names[(2 * place * last + gaps) // (2 * gaps)] for place in range(count)]


def render_order(study: str, order: pl.DataFrame) -> str:
    """Return the chosen order as a configuration file to add after the run's own."""
    chosen = order.filter("chosen")
    if chosen.is_empty():
        raise InputError("there is no domain to choose", f"models.continual.{study}", "name candidates")
    width = max(map(len, chosen["domain"])) + 2
    return "\n".join(
        [
            f"# By similarity to {chosen['evaluation_domain'][0]}, the least similar first: {len(chosen)} of"
            f" {len(order)} domains. For --configfile, after the file of the run.",
            "models:",
            "  continual:",
            f"    {study}:",
            "      order:",
            *(
                "        - " + f'"{name}"'.ljust(width) + f"  # {cosine:.4f}"
                for name, cosine in chosen.select("domain", "similarity").iter_rows()
            ),
            "",
        ]
    )
