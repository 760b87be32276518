"""Fathom: completion benchmarks from raw corpora, and how deep a language model's knowledge of them goes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.benchmark.loading import load_benchmark
    from fathom.scoring.notebook import score

__version__ = "0.1.0"
__all__ = ["load_benchmark", "score"]


def __getattr__(name: str) -> Any:
    """Import what a notebook uses when it is used: the rest of the library does without polars."""
    if name == "load_benchmark":
        from fathom.benchmark.loading import load_benchmark

        return load_benchmark
    if name == "score":
        from fathom.scoring.notebook import score

        return score
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
