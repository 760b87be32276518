"""Scoring: how well models predict the targets of a benchmark, and what that sums up to."""

from fathom.scoring.ranks import score_pairs

__all__ = ["score_pairs"]
