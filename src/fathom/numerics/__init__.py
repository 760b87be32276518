"""Numerics shared by several rooms."""
