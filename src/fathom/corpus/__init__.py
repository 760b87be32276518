"""Documents: how they come in, which ones count, and what their text says."""
