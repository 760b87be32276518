"""Tokenization of prompts, targets, chats and documents; every metric uses this module.

Prompt and target are encoded together. Encoded separately, the tokens can differ: a space is lost or doubled,
or letters of the prompt's last word and of the target merge. WordPiece tokenizers need no special case: they
encode a target's first word as a new word, never as a continuation (`##`).

Chat templates are rendered with a fixed date and without randomness, so that scores are reproducible.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import compress
from typing import Any, NamedTuple

from fathom.errors import InputError
from fathom.jobs.bounded_calls import call_tokenizer, render_bounded

_BATCH = 1024
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
"""What a tokenizer decodes to in place of a part of a character."""
CHAT_REQUEST = "Continue this text."
"""User message of the chat in which pairs are scored."""

PLAIN = {"add_special_tokens": False, "split_special_tokens": True, "verbose": False}
"""Options of encoding: nothing added, nothing special."""


def count_entries(tokenizer: Any) -> int:
    """Return one more than a tokenizer's largest id, as some vocabularies skip ids."""
    return 1 + int(max(tokenizer.get_vocab().values()))


class EncodedPair(NamedTuple):
    """Token ids of one prompt with its target.

    `start`: index of the first target token, at least 1: there is always a token before it. `backed_off`:
    whether the joint tokens do not start with the prompt's tokens; the target then starts at the first token
    that differs.
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
        what = "the model needs a BOS token, but its tokenizer has none"
        raise InputError(what, str(tokenizer.name_or_path), "check that the tokenizer belongs to the model")
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
    """Return how many prompts two tokenizers of the same entries encode differently."""
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


def show_vocabulary(tokenizer: Any) -> list[str]:
    """Return every token by id as people read it in a table, on one line and without blanks.

    A blank is `␣`, what cannot be printed is escaped, and bytes that are a part of a character are shown as
    `<0xE2>`.
    """
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    letters = {letter: byte for byte, letter in bytes_to_unicode().items()}
    texts = decode_texts(tokenizer, [[token] for token in range(count_entries(tokenizer))])
    unclear = [token for token, text in enumerate(texts) if not text or REPLACEMENT in text]
    for token, name in zip(unclear, tokenizer.convert_ids_to_tokens(unclear), strict=True):
        if name:
            texts[token] = _show_bytes(name, letters) or texts[token] or name.replace("▁", " ")
    return [
        (text if text.isprintable() else text.encode("unicode_escape").decode()).replace(" ", "␣")
        for text in texts
    ]


def _show_bytes(name: str, letters: Mapping[str, int]) -> str:
    """Return the bytes of a token by its name, in which each letter stands for one; empty if it has none."""
    if re.fullmatch("<0x[0-9A-F]{2}>", name):
        return name
    if not letters.keys() >= {*name}:
        return ""
    decoded = bytes(letters[letter] for letter in name).decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda found: f"<0x{ord(found[0]) - 0xDC00:02X}>", decoded)


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
        hint = "score the model without one, or check that it is a chat model"
        raise InputError("the tokenizer has no chat template", str(tokenizer.name_or_path), hint)
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

    Models are tuned to begin an answer with one or the other.
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
        raise InputError("the tokenizer has no EOS token", str(tokenizer.name_or_path), "answers need an end")
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
        hint = "the space belongs to the target"
        raise InputError("the prompt ends in a space", f"prompt {prompt[-60:]!r}", hint)
    if not target.startswith(" ") or target[1:2].isspace():
        hint = "write it as ' term'"
        raise InputError("the target does not start with one space", f"target {target!r}", hint)


def _find_target(
    tokenizer: Any, ids: list[int], prompt_ids: list[int], prefix: Sequence[int], target: str
) -> EncodedPair:
    places = enumerate(zip(ids, prompt_ids, strict=False))
    start = next((place for place, (id_, own) in places if id_ != own), min(len(ids), len(prompt_ids)))
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


_DAY = datetime(2024, 7, 26, tzinfo=UTC)  # the date that Llama's templates fall back to
_FORMATS = (*"aAbBcdDeFHIjmMpSTuUVwWxXyYzZ%", "-d", "-m", "-H", "-I", "-M", "-S", "-j", "-y")
_PARTS = json.dumps({part: _DAY.strftime(f"%{part}") for part in _FORMATS})
# a macro of the template itself hides transformers' function of the same name, which asks the clock
_CLOCK = (
    "{%- macro strftime_now(format) -%}{%- set parts = " + _PARTS + " -%}"
    "{%- set each = namespace(code=none) -%}{%- for one in format -%}"
    "{%- if each.code is none and one == '%' -%}{%- set each.code = '' -%}"
    "{%- elif each.code is none -%}{{ one }}"
    "{%- elif one == '-' -%}{%- set each.code = '-' -%}"
    "{%- else -%}{{ parts[each.code ~ one] }}{%- set each.code = none -%}{%- endif -%}"
    "{%- endfor -%}{%- endmacro -%}"
)


def fill_template(
    tokenizer: Any, messages: Sequence[dict[str, str]], answers: bool = False, may_refuse: bool = False
) -> str:
    """Return messages in a tokenizer's chat template.

    The date, by `date_string` or `strftime_now`, is always 26 July 2024, 00:00 UTC. Random choices, by the
    filter `random` or by `lipsum`, are the same each time.

    Parameters
    ----------
    may_refuse : bool, default=False
        The text is empty where the template raises an error, its own way to refuse a role.

    Raises
    ------
    InputError
        If the template cannot be rendered, or does not end in the time and memory of
        :func:`fathom.jobs.bounded_calls.render_bounded`.
    """
    from jinja2.exceptions import TemplateError

    render: Callable[[], str] = partial(
        tokenizer.apply_chat_template,
        list(messages),
        chat_template=_CLOCK + tokenizer.get_chat_template(),
        add_generation_prompt=answers,
        tokenize=False,
        date_string=_DAY.strftime("%d %b %Y"),
    )
    state = random.getstate()  # of the choices that templates make at random
    random.seed(0)
    try:
        return render_bounded(render)
    except Exception as error:  # any exception: a template is a program
        if may_refuse and isinstance(error, TemplateError):
            return ""
        reason = "it takes too much memory" if isinstance(error, MemoryError) else str(error).strip()
        raise InputError(
            f"the chat template cannot be rendered: {reason or type(error).__name__}",
            str(tokenizer.name_or_path),
            "fix chat_template.jinja, or the key chat_template of tokenizer_config.json; or score the model "
            "without it",
        ) from error
    finally:
        random.setstate(state)


def require_one_template(tokenizer: Any) -> None:
    """Raise `InputError` if a tokenizer has several chat templates and none is the default."""
    named = tokenizer.chat_template
    if isinstance(named, dict) and "default" not in named:
        what = f"the tokenizer has chat templates for {', '.join(sorted(named)) or 'nothing'}, and no default"
        hint = "write the one to use to chat_template.jinja beside it; or score the model without it"
        raise InputError(what, str(tokenizer.name_or_path), hint)


class Document(NamedTuple):
    """Token ids of one document, and which of them are scored."""

    ids: list[int]
    bos: int | None  # BOS token that every window starts with; never scored itself
    start: int  # index of the first scored token: 0 after a BOS token, otherwise at least 1
    size: int  # UTF-8 bytes of the scored text, from token `start` on
    left_out: int  # UTF-8 bytes of the text before it
    overlap: frozenset[int] = frozenset()  # indices of the scored tokens that do not count
    overlap_size: int = 0  # UTF-8 bytes of their text, a part of `size`
    # first character of each token, and the one after its last; blanks between tokens may be in none
    offsets: Sequence[tuple[int, int]] = ()


def encode_document(
    tokenizer: Any, text: str, add_bos: bool | None = None, stretches: Sequence[tuple[int, int]] = ()
) -> Document:
    """Encode a whole document for perplexity; see :class:`Document`.

    Without a BOS token the first token has no context and cannot be scored. If it covers only part of a
    character, the other tokens of that character are left out too, so that byte counts are exact.

    Parameters
    ----------
    add_bos : bool, optional
        Whether a BOS token comes first; None: the tokenizer's default.
    stretches : sequence of (int, int)
        First characters of stretches whose tokens do not count, and the characters after their last ones.
    """
    bos = tokenizer.bos_token_id if uses_bos(tokenizer, add_bos) else None
    source = str(tokenizer.name_or_path)
    found = call_tokenizer(tokenizer, text, source, return_offsets_mapping=True, **PLAIN)
    ids, offsets = list(found["input_ids"]), found["offset_mapping"]
    if bos is not None and ids and ids[0] != bos:
        return Document(ids, bos, 0, len(text.encode()), 0, *_mark(text, offsets, 0, stretches), offsets)
    start, end = min(1, len(ids)), offsets[0][1] if ids else 0
    while bos is None and start < len(ids) and offsets[start][0] < end:
        end = max(end, offsets[start][1])
        start += 1
    if start == len(ids):
        end = len(text)
    size, left_out = len(text[end:].encode()), len(text[:end].encode())
    if bos is not None:  # the tokenizer reads the start of the text as a BOS token: do not add another
        ids, offsets, start = ids[1:], offsets[1:], 0
    marked = _mark(text, offsets, start, stretches, end)
    return Document(ids, bos, start, size, left_out, *marked, offsets)


def _mark(
    text: str,
    offsets: Sequence[tuple[int, int]],
    start: int,
    stretches: Sequence[tuple[int, int]],
    first: int = 0,
) -> tuple[frozenset[int], int]:
    """Return the scored tokens that lie in stretches, wholly or partly, and the bytes of their text.

    Tokens that share a character count together or not at all, so bytes are exact. `first`: where the scored
    text starts; characters without a token belong to the stretch that they lie in.
    """
    marked = bytearray(len(text))
    for begin, end in stretches:
        marked[begin:end] = b"\1" * (end - begin)
    tokens: set[int] = set()
    while True:
        more = {
            index for index in range(start, len(offsets))
            if index not in tokens and any(marked[slice(*offsets[index])])
        }  # fmt: skip
        if not more:
            break
        tokens |= more
        for index in more:
            begin, end = offsets[index]
            marked[begin:end] = b"\1" * (end - begin)
    return frozenset(tokens), len("".join(compress(text[first:], marked[first:])).encode())
