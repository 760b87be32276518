"""Agreement of rankings of models: tau, significance, perplexity, components, alignment.

Source: [TrainBeforeTest].
"""
