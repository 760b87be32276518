"""Which models a run has trained from scratch."""

from fathom.models.origins import find_origins


def test_adapted_models_count_as_what_they_start_from():
    models = ["small+law", "small", "SmolLM2-1.7B+law+art@seed2", "SmolLM2-1.7B@chat"]
    assert find_origins(models, {"small"}.__contains__) == (["small"], ["SmolLM2-1.7B"])
