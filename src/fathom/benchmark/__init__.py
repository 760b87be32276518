"""Benchmarks: keywords, embeddings, matches, vocabularies, prompt-target pairs."""
