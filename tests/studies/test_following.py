"""Metrics over a training: values, intervals over keywords and seeds, and what is refused."""
