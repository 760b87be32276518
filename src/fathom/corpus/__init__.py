"""Documents: reading, choosing and cleaning them."""
