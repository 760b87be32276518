"""Scoring: how well models predict the targets of benchmarks, and how likely they find texts."""
