"""Models: registry, loading, tokenization, training and adaptation."""
