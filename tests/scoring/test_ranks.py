"""Ranks and probabilities against a plain loop, over architectures, batches and traps."""
