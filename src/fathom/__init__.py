"""Fathom: completion benchmarks from raw corpora, and how deep a language model's knowledge of them goes."""

__version__ = "0.1.0"
