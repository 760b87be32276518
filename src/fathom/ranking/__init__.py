"""How far rankings of models agree: tau, significance, perplexity, components, alignment.

Source: [TrainBeforeTest].
"""
