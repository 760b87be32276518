"""Figures, drawn from finished tables only, with one style sheet."""
