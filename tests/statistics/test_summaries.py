"""Summaries against scipy and a bootstrap that builds its resamples."""
