"""One pair at a time, for tests of how pairs are encoded."""

from typing import Any

from fathom.models.tokens import EncodedPair, encode_pairs


def encode_pair(tokenizer: Any, prompt: str, target: str, add_bos: bool | None = None) -> EncodedPair:
    """Encode one prompt and its target."""
    return encode_pairs(tokenizer, [prompt], [target], add_bos)[0]
