"""Scoring: how well models predict the targets of benchmarks, and summaries of the scores."""

from fathom.scoring.ranks import score_pairs

__all__ = ["score_pairs"]
