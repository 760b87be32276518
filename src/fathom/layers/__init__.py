"""Layers: what hidden states between a model's blocks would predict, and where adaptation changes it."""
