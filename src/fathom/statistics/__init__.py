"""Statistics of scores: summaries with intervals, paired comparisons, correlations, sample sizes."""
