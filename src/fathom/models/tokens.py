"""Tokenization of prompts, targets and documents; every metric uses this module.

Prompt and target are encoded together. Encoded separately, the tokens can differ: a space is lost or doubled,
or letters of the prompt's last word and of the target merge. WordPiece tokenizers need no special case: they
encode a target's first word as a new word, never as a continuation (`##`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.jobs.bounded_calls import call_tokenizer
from fathom.models.chat_templates import fill_template, require_one_template

_BATCH = 1024
CHAT_REQUEST = "Continue this text."
"""User message of the chat in which pairs are scored."""

PLAIN = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
"""How texts are encoded: nothing added, nothing special."""


def count_entries(tokenizer: Any) -> int:
    """Return one more than a tokenizer's largest id: some vocabularies leave out ids."""
    return 1 + int(max(tokenizer.get_vocab().values()))


class EncodedPair(NamedTuple):
    """Token ids of one prompt with its target.

    Attributes
    ----------
    start : int
        Index of the first target token, at least 1: there is always a token before it.
    backed_off : bool
        Whether the joint tokens do not start with the prompt's tokens; the target then starts at the first
        token that differs.
    """

    ids: list[int]
    start: int
    backed_off: bool


def uses_bos(tokenizer: Any, add_bos: bool | None = None) -> bool:
    """Return whether every text starts with a BOS token; None leaves it to the tokenizer.

    Raise `InputError` if one is wanted and the tokenizer has none.
    """
    if add_bos is None:
        first = _encode(tokenizer, "a", add_special_tokens=True)["input_ids"][:1]
        return tokenizer.bos_token_id is not None and first == [tokenizer.bos_token_id]
    if add_bos and tokenizer.bos_token_id is None:
        raise InputError(
            "the model needs a BOS token and its tokenizer has none",
            str(tokenizer.name_or_path),
            "check that the tokenizer belongs to the model",
        )
    return add_bos


def encode_prompts(tokenizer: Any, prompts: Sequence[str], add_bos: bool | None = None) -> list[list[int]]:
    """Encode prompts without a target, with a BOS token first if the model uses one.

    Raises
    ------
    InputError
        If a prompt has no token.
    """
    encoded = encode_keywords(tokenizer, prompts, add_bos)
    for ids, prompt in zip(encoded, prompts, strict=True):
        if not ids:
            raise InputError("the prompt has no token", f"prompt {prompt!r}", "leave it out")
    return encoded


def count_encoded_otherwise(
    tokenizer: Any, original: Any, prompts: Sequence[str], add_bos: bool | None = None
) -> int:
    """Return how many prompts two tokenizers of the same entries encode otherwise."""
    found = (encode_keywords(each, prompts, add_bos) for each in (tokenizer, original))
    return sum(ids != others for ids, others in zip(*found, strict=True))


def encode_keywords(tokenizer: Any, keywords: Sequence[str], add_bos: bool | None = None) -> list[list[int]]:
    """Encode keywords like :func:`encode_prompts`, but allow keywords that have no token."""
    bos = tokenizer.bos_token_id if uses_bos(tokenizer, add_bos) else None
    encoded = encode_texts(tokenizer, keywords)
    return [ids if not ids or bos is None or ids[0] == bos else [bos, *ids] for ids in encoded]


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Encode texts without special tokens or truncation.

    A special token that occurs in a text (`</s>` in a paper on language models) is encoded as plain text.
    """
    ids: list[list[int]] = []
    for start in range(0, len(texts), _BATCH):
        batch = list(texts[start : start + _BATCH])
        ids += _encode(tokenizer, batch, **PLAIN)["input_ids"]
    return ids


def decode_texts(tokenizer: Any, tokens: Sequence[Sequence[int]], **how: Any) -> list[str]:
    """Decode the tokens of several texts; `how`: options of the tokenizer's `batch_decode`."""
    source = str(tokenizer.name_or_path)
    texts: list[str] = call_tokenizer(tokenizer.batch_decode, tokens, source, **how)
    return texts


def _encode(tokenizer: Any, what: str | Sequence[str], **how: Any) -> Any:
    return call_tokenizer(tokenizer, what, str(tokenizer.name_or_path), **how)


def encode_chat_prefix(
    tokenizer: Any, add_bos: bool | None = None, request: str = CHAT_REQUEST, system: str = ""
) -> list[int]:
    """Encode the prefix of an answer in a chat: the user's message and the start of the answer.

    A BOS token comes first as `add_bos` says only if the template adds none. See :func:`render_chat_prompt`.
    """
    text = render_chat_prompt(tokenizer, request, system)
    ids = list(_encode(tokenizer, text, add_special_tokens=False)["input_ids"])
    bos = tokenizer.bos_token_id
    return [bos, *ids] if uses_bos(tokenizer, add_bos) and ids[:1] != [bos] else ids


def render_chat_prompt(tokenizer: Any, request: str, system: str = "") -> str:
    """Render the user's message in the chat template, up to the start of the answer.

    Where a template refuses or leaves out the system message, it opens the user's message. Raise `InputError`
    if the tokenizer has no chat template, or one that does not end or cannot be rendered.
    """
    if not tokenizer.chat_template:
        raise InputError(
            "the tokenizer has no chat template",
            str(tokenizer.name_or_path),
            "score the model without one, or check that it is a chat model",
        )
    require_one_template(tokenizer)
    user = {"role": "user", "content": request}
    if system:
        system_message = {"role": "system", "content": system}
        text = fill_template(tokenizer, [system_message, user], answers=True, may_refuse=True)
        if system in text:
            return text
        user["content"] = f"{system}\n\n{request}"
    return fill_template(tokenizer, [user], answers=True)


def encode_chat_pairs(
    tokenizer: Any, prompts: Sequence[str], targets: Sequence[str], add_bos: bool | None = None
) -> list[EncodedPair]:
    """Encode prompts as user messages of a chat and targets as answers, without their leading space.

    The answer is encoded separately from the template, as when a model generates it.
    """
    for prompt, target in zip(prompts, targets, strict=True):
        _check_texts(prompt, target)
    prefixes = {prompt: encode_chat_prefix(tokenizer, add_bos, prompt) for prompt in dict.fromkeys(prompts)}
    answers = encode_texts(tokenizer, [target.removeprefix(" ") for target in targets])
    for target, ids in zip(targets, answers, strict=True):
        if not ids:
            raise InputError("the target has no token", f"target {target!r}", "leave it out")
    return [
        EncodedPair([*prefixes[prompt], *ids], len(prefixes[prompt]), False)
        for prompt, ids in zip(prompts, answers, strict=True)
    ]


def encode_spellings(
    tokenizer: Any, prefix: Sequence[int], answers: Sequence[str]
) -> list[list[EncodedPair]]:
    """Encode answers in a chat, each without and with its leading space where the tokens differ.

    Models differ in which of the two they were tuned to begin an answer with.
    """
    bare = encode_texts(tokenizer, [answer.removeprefix(" ") for answer in answers])
    spaced = encode_texts(tokenizer, answers)
    return [
        [EncodedPair([*prefix, *ids], len(prefix), False) for ids in dict.fromkeys(map(tuple, both))]
        for both in zip(bare, spaced, strict=True)
    ]


def find_answer_end(tokenizer: Any, chat: bool) -> list[int]:
    """Return the token ids that end an answer: EOS or, in a chat, the token that ends the model's turn."""
    if chat:
        answer = "An answer."
        messages = [{"role": "user", "content": CHAT_REQUEST}, {"role": "assistant", "content": answer}]
        text = fill_template(tokenizer, messages)
        ids = _encode(tokenizer, text.rpartition(answer)[2], add_special_tokens=False)["input_ids"]
        ends = [index for index, token in enumerate(ids) if token in tokenizer.all_special_ids]
        if ends:
            return list(ids[: ends[0] + 1])
    if tokenizer.eos_token_id is None:
        raise InputError("the tokenizer has no EOS token", str(tokenizer.name_or_path), "answers must end")
    return [tokenizer.eos_token_id]


def encode_pairs(
    tokenizer: Any,
    prompts: Sequence[str],
    targets: Sequence[str],
    add_bos: bool | None = None,
    prefix: Sequence[int] = (),
) -> list[EncodedPair]:
    """Encode prompts with their targets as continuations.

    Parameters
    ----------
    prompts : sequence of str
        Sentences up to the target, without trailing space.
    targets : sequence of str
        One space and the term.
    add_bos : bool, optional
        Whether a BOS token comes first; None: the tokenizer's default.
    prefix : sequence of int
        Tokens before every prompt, in place of a BOS token; see :func:`encode_chat_prefix`.

    Raises
    ------
    InputError
        If a prompt is empty or ends in a space, a target is empty, does not start with one space or
        has no token of its own.
    """
    for prompt, target in zip(prompts, targets, strict=True):
        _check_texts(prompt, target)
    if not prefix and uses_bos(tokenizer, add_bos):
        prefix = [tokenizer.bos_token_id]
    joint = encode_texts(
        tokenizer, [prompt + target for prompt, target in zip(prompts, targets, strict=True)]
    )
    alone = encode_texts(tokenizer, prompts)
    return [
        _find_target(tokenizer, ids, prompt_ids, prefix, f"target {target!r}")
        for ids, prompt_ids, target in zip(joint, alone, targets, strict=True)
    ]


def _check_texts(prompt: str, target: str) -> None:
    if not prompt.strip():
        raise InputError("the prompt is empty", f"target {target!r}", "leave this pair out")
    if not target.strip():
        raise InputError("the target is empty", f"prompt {prompt[-60:]!r}", "leave this pair out")
    if prompt.endswith(" "):
        raise InputError(
            "the prompt ends in a space", f"prompt {prompt[-60:]!r}", "the space belongs to the target"
        )
    if not target.startswith(" ") or target[1:2].isspace():
        raise InputError(
            "the target does not start with one space", f"target {target!r}", "write it as ' term'"
        )


def _find_target(
    tokenizer: Any, ids: list[int], prompt_ids: list[int], prefix: Sequence[int], target: str
) -> EncodedPair:
    start = _count_shared(ids, prompt_ids)
    backed_off = start < len(prompt_ids)
    if start == len(ids):
        raise InputError("the target has no token of its own", target, "leave this pair out")
    if not prefix and start == 0:
        # the first target token needs a context: use the token that separates texts in training
        separators = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        prefix = [token for token in separators if token is not None][:1]
        if not prefix:
            raise InputError("the prompt has no token and the tokenizer has no BOS token to add", target)
    if start and list(prefix) == ids[:1]:  # the text brings its own BOS token
        prefix = ()
    return EncodedPair([*prefix, *ids], len(prefix) + start, backed_off)


def _count_shared(first: Sequence[int], second: Sequence[int]) -> int:
    for index, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return index
    return min(len(first), len(second))
