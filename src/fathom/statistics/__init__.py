"""Statistics of scores: summaries with intervals, paired comparisons, correlations, sizes of samples."""
