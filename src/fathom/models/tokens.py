"""The one place that turns prompt and target into token ids; every metric uses it.

Prompt and target are encoded together, once. Encoded apart they can differ: a blank is lost or doubled, or
letters of the prompt's last word and of the target merge. A tokenizer without blanks (WordPiece) needs no
rule of its own: it gives a target's first word as a word that is begun, never as one that goes on (`##`).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fathom.errors import InputError

_BATCH = 1024
CHAT_DATE = "26 Jul 2024"
"""The day that templates of Llama name: always the same, or scores would change."""

CHAT_REQUEST = "Continue this text."
"""What the user says where a model is scored inside its chat template."""

_PLAIN = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}


class EncodedPair(NamedTuple):
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


def uses_bos(tokenizer: Any, add_bos: bool | None = None) -> bool:
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


class Document(NamedTuple):
    """Token ids of one document, and which of them can be predicted.

    Attributes
    ----------
    ids : list of int
        Tokens of the text, without a BOS token.
    bos : int or None
        What stands before every window of it, never predicted itself.
    start : int
        Index of the first token that can be predicted: 0 after a BOS token, else at least 1.
    size : int
        UTF-8 bytes of the text of the tokens from `start` on.
    left_out : int
        UTF-8 bytes of the text before it.
    """

    ids: list[int]
    bos: int | None
    start: int
    size: int
    left_out: int


def encode_document(tokenizer: Any, text: str, add_bos: bool | None = None) -> Document:
    """Encode a whole document for perplexity; see :class:`Document`.

    Without a BOS token nothing stands before the first token, so that it cannot be predicted. Where it holds
    a part of a character only, the tokens of that character are left out with it: bytes are then exact.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        A fast one: it says which characters a token stands for.
    text : str
        Any length.
    add_bos : bool, optional
        Whether a BOS token comes first; None asks the tokenizer.
    """
    bos = tokenizer.bos_token_id if uses_bos(tokenizer, add_bos) else None
    found = tokenizer(text, return_offsets_mapping=True, **_PLAIN)
    ids, offsets = list(found["input_ids"]), found["offset_mapping"]
    if bos is not None and ids and ids[0] != bos:
        return Document(ids, bos, 0, len(text.encode()), 0)
    start, end = min(1, len(ids)), offsets[0][1] if ids else 0
    while bos is None and start < len(ids) and offsets[start][0] < end:
        end = max(end, offsets[start][1])
        start += 1
    if start == len(ids):
        end = len(text)
    size, left_out = len(text[end:].encode()), len(text[:end].encode())
    if bos is not None:  # the text begins with what this tokenizer takes for a BOS token: it is not doubled
        return Document(ids[1:], bos, 0, size, left_out)
    return Document(ids, None, start, size, left_out)


def encode_prompts(tokenizer: Any, prompts: Sequence[str], add_bos: bool | None = None) -> list[list[int]]:
    """Return the token ids of prompts without a target, a BOS token first where the model wants one.

    Raises
    ------
    InputError
        If the tokenizer gives a prompt no token.
    """
    encoded = encode_keywords(tokenizer, prompts, add_bos)
    for ids, prompt in zip(encoded, prompts, strict=True):
        if not ids:
            raise InputError("the tokenizer gives this prompt no token", f"prompt {prompt!r}", "leave it out")
    return encoded


def encode_keywords(tokenizer: Any, keywords: Sequence[str], add_bos: bool | None = None) -> list[list[int]]:
    """Return the token ids of keywords as :func:`encode_prompts` does; none for what is nothing to it."""
    bos = tokenizer.bos_token_id if uses_bos(tokenizer, add_bos) else None
    encoded = encode_texts(tokenizer, keywords)
    return [ids if not ids or bos is None or ids[0] == bos else [bos, *ids] for ids in encoded]


def encode_texts(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the plain token ids of texts: nothing added, nothing cut.

    What looks like a special token (`</s>` in a paper on language models) is read as the text it is.
    """
    ids: list[list[int]] = []
    for place in range(0, len(texts), _BATCH):
        batch = list(texts[place : place + _BATCH])
        ids += tokenizer(batch, **_PLAIN)["input_ids"]
    return ids


def encode_chat_prefix(tokenizer: Any, add_bos: bool | None = None, request: str = CHAT_REQUEST) -> list[int]:
    """Return what stands before a text in a chat: what the user says, and the beginning of the answer.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        One with a chat template.
    add_bos : bool, optional
        Whether a BOS token comes first where the template itself puts none; None asks the tokenizer.
    request : str
        What the user says.

    Raises
    ------
    InputError
        If the tokenizer has no chat template.
    """
    ids = list(tokenizer(render_chat_prompt(tokenizer, request), add_special_tokens=False)["input_ids"])
    bos = tokenizer.bos_token_id
    return [bos, *ids] if uses_bos(tokenizer, add_bos) and ids[:1] != [bos] else ids


def render_chat_prompt(tokenizer: Any, request: str) -> str:
    """Return what the user says inside the chat template, up to where the answer begins.

    Raises
    ------
    InputError
        If the tokenizer has no chat template.
    """
    if not tokenizer.chat_template:
        raise InputError(
            "the tokenizer has no chat template",
            str(tokenizer.name_or_path),
            "score the model without one, or check that it is a chat model",
        )
    text: str = tokenizer.apply_chat_template(
        [{"role": "user", "content": request}],
        add_generation_prompt=True,
        tokenize=False,
        date_string=CHAT_DATE,
    )
    return text


def encode_chat_pairs(
    tokenizer: Any, prompts: Sequence[str], targets: Sequence[str], add_bos: bool | None = None
) -> list[EncodedPair]:
    """Encode prompts as what the user says in a chat, each target as the answer, without its blank.

    An answer's tokens begin anew behind the template, as they do when a model answers.

    Parameters
    ----------
    tokenizer : transformers tokenizer
        One with a chat template.
    prompts, targets : sequence of str
        As in :func:`encode_pairs`.
    add_bos : bool, optional
        See :func:`encode_chat_prefix`.

    Raises
    ------
    InputError
        As :func:`encode_pairs`, and if the tokenizer has no chat template.
    """
    for prompt, target in zip(prompts, targets, strict=True):
        _check_texts(prompt, target)
    heads = {prompt: encode_chat_prefix(tokenizer, add_bos, prompt) for prompt in dict.fromkeys(prompts)}
    answers = encode_texts(tokenizer, [target.removeprefix(" ") for target in targets])
    for target, ids in zip(targets, answers, strict=True):
        if not ids:
            raise InputError("the tokenizer gives this target no token", f"target {target!r}", "leave it out")
    return [
        EncodedPair([*heads[prompt], *ids], len(heads[prompt]), False)
        for prompt, ids in zip(prompts, answers, strict=True)
    ]


def find_answer_end(tokenizer: Any, chat: bool) -> list[int]:
    """Return the token ids that end an answer: the EOS token or, in a chat, what ends the model's turn.

    Raises
    ------
    InputError
        If the tokenizer has neither.
    """
    if chat:
        answer = "An answer."
        messages = [{"role": "user", "content": CHAT_REQUEST}, {"role": "assistant", "content": answer}]
        text = tokenizer.apply_chat_template(messages, tokenize=False, date_string=CHAT_DATE)
        ids = tokenizer(text.rpartition(answer)[2], add_special_tokens=False)["input_ids"]
        ends = [place for place, token in enumerate(ids) if token in tokenizer.all_special_ids]
        if ends:
            return list(ids[: ends[0] + 1])
    if tokenizer.eos_token_id is None:
        raise InputError("the tokenizer has no EOS token", str(tokenizer.name_or_path), "answers must end")
    return [tokenizer.eos_token_id]


def encode_pair(tokenizer: Any, prompt: str, target: str, add_bos: bool | None = None) -> EncodedPair:
    """Encode one prompt and its target; see :func:`encode_pairs`."""
    return encode_pairs(tokenizer, [prompt], [target], add_bos)[0]


def encode_pairs(
    tokenizer: Any,
    prompts: Sequence[str],
    targets: Sequence[str],
    add_bos: bool | None = None,
    opening: Sequence[int] = (),
) -> list[EncodedPair]:
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
    opening : sequence of int
        What stands before every prompt instead, see :func:`encode_chat_prefix`.

    Returns
    -------
    list of EncodedPair
        In the order of `prompts`.

    Raises
    ------
    InputError
        If a prompt is empty or ends in a blank, a target is empty or lacks its blank, or the tokenizer
        gives a target no token of its own.
    """
    for prompt, target in zip(prompts, targets, strict=True):
        _check_texts(prompt, target)
    if not opening and uses_bos(tokenizer, add_bos):
        opening = [tokenizer.bos_token_id]
    joint = encode_texts(
        tokenizer, [prompt + target for prompt, target in zip(prompts, targets, strict=True)]
    )
    apart = encode_texts(tokenizer, prompts)
    return [
        _join(tokenizer, ids, head, opening, f"target {target!r}")
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


def _join(
    tokenizer: Any, ids: list[int], prompt_ids: list[int], opening: Sequence[int], target: str
) -> EncodedPair:
    """Find where the target starts in the joint ids, and put what opens every text before them."""
    start = _count_shared(ids, prompt_ids)
    backed_off = start < len(prompt_ids)
    if start == len(ids):
        raise InputError("the tokenizer gives this target no token of its own", target, "leave this pair out")
    if not opening and start == 0:
        # without a context token nothing can be predicted: what stands between texts in training comes first
        between = (tokenizer.bos_token_id, tokenizer.eos_token_id)
        opening = [token for token in between if token is not None][:1]
        if not opening:
            raise InputError("the prompt has no token and the tokenizer no BOS token to stand for it", target)
    if start and list(opening) == ids[:1]:  # a BOS token that the text brings is not doubled
        opening = ()
    return EncodedPair([*opening, *ids], len(opening) + start, backed_off)


def _count_shared(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the length of the longest common beginning."""
    for place, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            return place
    return min(len(first), len(second))
