"""Abbreviations that spell a target out, and those that do not."""

import pytest

from fathom.benchmark.pairs import spells_out


@pytest.mark.parametrize(
    ("prompt", "target"),
    [
        ("We train a convolutional neural network (3D", " CNN"),
        ("It affects the GUI (graphical user", " interface"),
        ("Signals have a low signal-to-noise ratio, or", " SNR"),
        ("Bosons form a BEC, a Bose-Einstein", " condensate"),
        ("The ROC is low, as the rate of", " convergence"),
        ("Convolutional neural networks beat other", " CNNs"),
    ],
)
def test_a_prompt_spells_out_what_it_abbreviates(prompt, target):
    assert spells_out(prompt, target)


@pytest.mark.parametrize(
    ("prompt", "target"),
    [
        ("We train a network on a graph, unlike a", " CNN"),
        ("The GUI is slow for the graphical", " editor"),
        ("The DNA of a large", " dog"),
        ("A GPU and graphics", " memory"),
        ("", " CNN"),
        ("It has", " 3"),
    ],
)
def test_other_abbreviations_give_nothing_away(prompt, target):
    assert not spells_out(prompt, target)
