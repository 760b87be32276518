"""What a model does to its logits after the output layer: scaling and soft capping."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor


_CAPS = (
    "final_logit_softcapping",
    "logits_soft_cap",
    "output_logit_soft_cap",
)  # Gemma, RecurrentGemma, xLSTM


class LogitTransform(NamedTuple):
    """Scale and soft cap of a model's logits.

    Attributes
    ----------
    scale : float or None
        Factor of the logits (Cohere), or the inverse of their divisor (Granite).
    cap : float or None
        Soft cap c of the scaled logits, c · tanh(logits / c) (Gemma 2).
    """

    scale: float | None
    cap: float | None

    def apply(self, logits: "Tensor") -> "Tensor":
        """Return the logits themselves if there is nothing to do."""
        if self.scale is not None:
            logits = logits * self.scale
        if self.cap is not None:
            logits = (logits / self.cap).tanh() * self.cap
        return logits


def find_logit_transform(model: Any) -> LogitTransform:
    """Return the logit transform of a transformers model, from its configuration."""
    config = model.config.get_text_config()
    scale, divisor = getattr(config, "logit_scale", None), getattr(config, "logits_scaling", None)
    if divisor is not None:  # Granite divides, Cohere multiplies
        scale = 1 / divisor
    caps = (getattr(config, name, None) for name in _CAPS)
    return LogitTransform(scale, next((cap for cap in caps if cap is not None), None))
