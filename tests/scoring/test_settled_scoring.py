"""Rounds of scoring: who is scored on what, what is written, and what tables say of it."""
