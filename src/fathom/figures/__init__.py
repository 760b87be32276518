"""Figures, from finished tables only, all under one style sheet."""
