"""`fathom contamination`: pairs and a corpus in, what occurs there and ranks without it out."""
