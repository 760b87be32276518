"""Results for other places: records of Every Eval Ever, model cards, tables of scores."""
