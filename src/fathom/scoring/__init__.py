"""Scoring: how well models predict targets of benchmarks, and the likelihood of texts."""
