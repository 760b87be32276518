"""Scoring: how well models predict the targets of benchmarks, and summaries of the scores."""
