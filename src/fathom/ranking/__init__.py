"""How far rankings of models agree: tau, significance, perplexity, components, alignment (004; spec 3.5)."""
