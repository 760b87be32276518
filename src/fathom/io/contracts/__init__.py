"""Contracts of the tables that rules hand to each other, by room; see fathom.io.tables for their use."""
