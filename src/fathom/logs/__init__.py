"""Logs of other programs: scores of models, item by item, in one table."""
