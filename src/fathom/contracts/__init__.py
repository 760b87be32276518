"""Contracts of the tables that rules hand to each other, by room; see fathom.tables for their use."""
