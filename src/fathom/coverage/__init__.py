"""How well one set of texts covers another: densities of embeddings, gaps, redundancy."""
