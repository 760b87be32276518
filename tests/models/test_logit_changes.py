"""Scales and soft caps of logits: in the loss of training, and in the float32 output layer."""

import pytest
import torch
from tests.layers.plain import ENTRIES, make_model

from fathom.models.training import sum_losses
from fathom.scoring.logits import choose_projection


@pytest.mark.parametrize("kind", ["cohere", "gemma2", "granite", "gpt2", "llama"])
def test_the_loss_is_that_of_the_models_own_logits(kind):
    model = make_model(kind)
    ids = torch.randint(0, ENTRIES, (3, 9), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        expected = model(input_ids=ids, labels=ids).loss
        assert float(sum_losses(model, ids)) / (ids.numel() - len(ids)) == pytest.approx(
            float(expected), rel=1e-5
        )


def test_noise_that_depends_on_the_length_does_not_make_a_model_non_causal():
    model = make_model("gpt2")
    plain = type(model).forward

    def add_noise(*arguments: object, input_ids: torch.Tensor, **more: object) -> object:
        output = plain(model, *arguments, input_ids=input_ids, **more)
        output.logits += 0.01 * input_ids.shape[1]
        return output

    model.forward = add_noise
    with torch.inference_mode():
        assert choose_projection(model, [3, 5, 7], "noisy").name == "native logits"
