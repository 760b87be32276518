"""The page of a run: the answer, and every pair behind it, in one HTML file."""
