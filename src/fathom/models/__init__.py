"""Models: which there are, loading them, tokens at the prompt's end, training and adapting small ones."""
