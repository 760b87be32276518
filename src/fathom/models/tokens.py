"""The one place that turns prompt and target into token ids; every metric uses it (spec 2.1).

Prompt and target are encoded together, once. Encoded apart they can differ: a blank is lost or doubled, or
letters of the prompt's last word and of the target merge.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fathom.errors import InputError

_BATCH = 1024


class Encoded(NamedTuple):
    """Token ids of one prompt with its target.

    Attributes
    ----------
    ids : list of int
        Context tokens, then target tokens; a BOS token first where the model wants one.
    start : int
        Index of the first target token, at least 1: there is always a context token.
    backed_off : bool
        The joint tokens did not begin with the prompt's; the target starts at the last stable token.
    """

    ids: list[int]
    start: int
    backed_off: bool


def wants_bos(tokenizer: Any, add_bos: bool | None = None) -> bool:
    """Say whether a BOS token stands before every text.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        Asked for its own default.
    add_bos : bool, optional
        What the table of models says; it overrules the tokenizer.

    Raises
    ------
    InputError
        If a BOS token is asked for and the tokenizer has none.
    """
    if add_bos is None:
        first = tokenizer("a", add_special_tokens=True)["input_ids"][:1]
        return tokenizer.bos_token_id is not None and first == [tokenizer.bos_token_id]
    if add_bos and tokenizer.bos_token_id is None:
        raise InputError(
            "the model wants a BOS token and its tokenizer has none",
            str(tokenizer.name_or_path),
            "check that the tokenizer belongs to the model",
        )
    return add_bos


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the plain token ids of texts: nothing added, nothing cut.

    What looks like a special token (`</s>` in a paper on language models) is read as the text it is.
    """
    ids: list[list[int]] = []
    for place in range(0, len(texts), _BATCH):
        batch = list(texts[place : place + _BATCH])
        ids += tokenizer(batch, add_special_tokens=False, split_special_tokens=True, verbose=False)[
            "input_ids"
        ]
    return ids


def encode_pair(tokenizer: Any, prompt: str, target: str, add_bos: bool | None = None) -> Encoded:
    """Encode one prompt and its target; see :func:`encode_pairs`."""
    return encode_pairs(tokenizer, [prompt], [target], add_bos)[0]


def encode_pairs(
    tokenizer: Any, prompts: Sequence[str], targets: Sequence[str], add_bos: bool | None = None
) -> list[Encoded]:
    """Encode prompts with their targets as continuations.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        A fast one.
    prompts : sequence of str
        Sentences up to the target, no blank at their end.
    targets : sequence of str
        One blank and the term.
    add_bos : bool, optional
        Whether a BOS token comes first; None asks the tokenizer.

    Returns
    -------
    list of Encoded
        In the order of `prompts`.

    Raises
    ------
    InputError
        If a prompt is empty or ends in a blank, a target is empty or lacks its blank, or the tokenizer
        gives a target no token.
    """
    for prompt, target in zip(prompts, targets, strict=True):
        _check_texts(prompt, target)
    bos = tokenizer.bos_token_id if wants_bos(tokenizer, add_bos) else None
    joint = encode_texts(
        tokenizer, [prompt + target for prompt, target in zip(prompts, targets, strict=True)]
    )
    apart = encode_texts(tokenizer, prompts)
    return [
        _join(tokenizer, ids, head, bos, f"target {target!r}")
        for ids, head, target in zip(joint, apart, targets, strict=True)
    ]


def _check_texts(prompt: str, target: str) -> None:
    """Raise `InputError` unless the blank between prompt and target belongs to the target."""
    if not prompt.strip():
        raise InputError("the prompt is empty", f"target {target!r}", "leave this pair out")
    if not target.strip():
        raise InputError("the target is empty", f"prompt {prompt[-60:]!r}", "leave this pair out")
    if prompt.endswith(" "):
        raise InputError(
            "the prompt ends in a blank", f"prompt {prompt[-60:]!r}", "the blank belongs to the target"
        )
    if not target.startswith(" ") or target[1:2].isspace():
        raise InputError(
            "the target does not start with one blank", f"target {target!r}", "write it as ' term'"
        )


def _join(tokenizer: Any, ids: list[int], prompt_ids: list[int], bos: int | None, target: str) -> Encoded:
    """Find where the target starts in the joint ids, and put a BOS token before them where it is due."""
    start = _count_shared(ids, prompt_ids)
    backed_off = start < len(prompt_ids)
    if backed_off and start == len(ids):
        start -= 1
    if not ids or start == len(ids):
        raise InputError("the tokenizer gives this target no token", target, "leave this pair out")
    if bos is None and start == 0:
        # without a context token nothing can be predicted: what stands between texts in training comes first
        bos = next((i for i in (tokenizer.bos_token_id, tokenizer.eos_token_id) if i is not None), None)
        if bos is None:
            raise InputError("the prompt has no token and the tokenizer no BOS token to stand for it", target)
    if bos is not None and (start == 0 or ids[0] != bos):
        return Encoded([bos, *ids], start + 1, backed_off)
    return Encoded(list(ids), start, backed_off)


def _count_shared(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the length of the longest common beginning."""
    for place, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return place
    return min(len(first), len(second))
