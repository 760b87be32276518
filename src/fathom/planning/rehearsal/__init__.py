"""A rehearsal: a whole configuration run to its last figure, with tiny stand-ins for all that it fetches."""
