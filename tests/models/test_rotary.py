"""Sequences that a model reads as long share batches with long ones alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiny import make_config, make_model

from fathom.models.text_model import count_alike, find_long_length

LONG = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}


@pytest.mark.parametrize(
    ("kind", "more", "length"),
    [
        ("phi3", {"rope_parameters": LONG, "original_max_position_embeddings": 16}, 16),
        ("llama", {"rope_parameters": {**LONG, "original_max_position_embeddings": 8}}, 8),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}}, None),
        ("llama", {}, None),
        ("gpt2", {}, None),
    ],
)
def test_the_length_is_that_of_a_models_own_settings(kind, more, length):
    assert find_long_length(make_model(make_config(kind, 20, 64, **more))) == length


@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=20),
    most=st.integers(1, 8),
    long=st.none() | st.integers(1, 12),
    more=st.integers(0, 3),
)
def test_batches_hold_all_sequences_and_none_is_read_otherwise_than_alone(sizes, most, long, more):
    sequences = [[0] * size for size in sorted(sizes, reverse=True)]
    start = 0
    while start < len(sequences):
        count = count_alike(sequences, start, most, long, more)
        assert 1 <= count <= most
        batch = [len(each) for each in sequences[start : start + count]]
        if long is not None and count > 1:
            assert min(batch) > long or max(batch) + more <= long
        start += count
    assert start == len(sequences)
