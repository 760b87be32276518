"""Arithmetic that several rooms share."""
