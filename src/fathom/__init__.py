"""Fathom: completion benchmarks from raw corpora, and how deep a language model's knowledge of them goes."""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.benchmark.benchmark_files import load_benchmark
    from fathom.planning.notebook_builds import build
    from fathom.scoring.domain_rank import DomainRank, DomainRankCallback
    from fathom.scoring.notebook import score

__version__ = "3.0.0"

# deterministic cuBLAS: PyTorch reads this once, at a process's first product on a GPU, so it is set first
if os.environ.get("CUBLAS_WORKSPACE_CONFIG") not in (":4096:8", ":16:8"):
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
__all__ = ["DomainRank", "DomainRankCallback", "build", "load_benchmark", "score"]


def __getattr__(name: str) -> Any:
    """Import what a notebook uses when it is used: the rest of the library does without polars."""
    if name == "load_benchmark":
        from fathom.benchmark.benchmark_files import load_benchmark

        return load_benchmark
    if name == "build":
        from fathom.planning.notebook_builds import build

        return build
    if name == "score":
        from fathom.scoring.notebook import score

        return score
    if name in ("DomainRank", "DomainRankCallback"):
        from fathom.scoring import domain_rank

        return getattr(domain_rank, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
