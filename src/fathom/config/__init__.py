"""Typed configuration: every key, its type, its default, and what is wrong with a value; by room."""
