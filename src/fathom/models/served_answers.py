"""Answers of servers: log-probabilities of a prompt's tokens, their ranks, and possible next tokens.

vLLM gives the rank of each token: the number of entries with at least its log-probability, so that ties count
as larger. Other servers with OpenAI's interface give only the most likely entries.
"""

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.errors import InputError
from fathom.io.names import show_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fathom.jobs.services import Service


FRAME_BYTES, ENTRY_BYTES = 1_000_000, 300
"""Bytes of an answer besides its entries, and of an entry."""
_ID = "token_id:"
"""vLLM's prefix of token ids shown in place of texts."""
LEAST = -9999.0
"""vLLM's value for a log-probability of minus infinity."""

_LARGEST_RANK = 2**31 - 1  # more entries than any vocabulary has

MOST_NAMED = 128
"""Most tokens that vLLM takes by id in one request."""


class AnswerError(Exception):
    """An answer does not fit its question; the text says how."""


class Question(NamedTuple):
    """One request: a prompt and its question.

    `wanted`: places of the tokens whose log-probability is wanted, sorted; of a text, the character where the
    target begins. `texts`: of token ids whose texts the answer shows: the text of each.
    """

    prompt: tuple[int, ...] | str
    wanted: tuple[int, ...]
    item: str
    texts: tuple[str, ...] = ()


class Reading(NamedTuple):
    """Answer for the wanted tokens."""

    # of shape (n_tokens,), int64: from 1. If not known, a lower bound; 0 if likely tokens with equal texts
    # hide it
    rank: "NDArray[np.int64]"
    known: "NDArray[np.bool_]"  # of shape (n_tokens,), bool
    log_probability: "NDArray[np.float64]"  # of shape (n_tokens,), float64: in nats
    # of shape (n_tokens,), int64: how many of the most likely entries the answer has there; 0 where it has
    # ranks
    given: "NDArray[np.int64]"


class Way(StrEnum):
    """How a server gives log-probabilities of any tokens in the place after a prompt."""

    NAMED = "named"
    """Those that a request names, `MOST_NAMED` at most: vLLM since the summer of 2026."""
    ALL = "all"
    """Those of the whole vocabulary: vLLM with `--max-logprobs -1`."""
    EACH = "each"
    """Those of the whole vocabulary, and nothing of the prompt: llama.cpp, see
    :mod:`fathom.models.served_answers`."""
    NONE = "none"


class Following(NamedTuple):
    """One request: a prompt, and tokens, sorted, whose log-probability in the place after it is wanted."""

    prompt: tuple[int, ...]
    tokens: tuple[int, ...]
    item: str


class FollowingReading(NamedTuple):
    """Log-probabilities of the tokens after a prompt, in nats, of shape (n_tokens,), float32."""

    log_probability: "NDArray[np.float32]"


def ask_following(
    service: "Service", question: Following, name: str, way: Way, entries: int
) -> FollowingReading:
    """Ask vLLM for the tokens after a prompt; raise `AnswerError` if one is missing."""
    import numpy as np

    # penalties that the model's folder sets would count where a server shows what is left after them
    body = {"model": name, "prompt": list(question.prompt), "max_tokens": 1, "temperature": 0,
            "repetition_penalty": 1.0, "return_tokens_as_token_ids": True}  # fmt: skip
    count, more = entries, dict[str, Any](logprobs=entries)
    if way != Way.ALL:
        count, more = len(question.tokens), {"logprobs": 1, "logprob_token_ids": list(question.tokens)}
    answer = service.post("/completions", body | more, FRAME_BYTES + ENTRY_BYTES * count)
    lists = read_choice(answer, name).get("logprobs")
    places = _as_list(lists.get("top_logprobs")) if isinstance(lists, dict) else []
    found = places[0] if len(places) == 1 and isinstance(places[0], dict) else {}
    numbers = []
    for token in question.tokens:
        value = found.get(f"{_ID}{token}")
        if value is None:
            raise AnswerError(f"{len(found):,} log-probabilities after the prompt, none of token {token}")
        numbers.append(_read_number(value, len(question.prompt)))
    return FollowingReading(np.array(numbers, np.float32))


def make_body(question: Question, name: str, top_k: int) -> dict[str, Any]:
    """Return the request to a server; `top_k`: most likely entries to ask for; 0: ranks, of vLLM."""
    prompt = question.prompt if isinstance(question.prompt, str) else list(question.prompt)
    # generate one token: for some servers, 0 means no limit
    body = {"model": name, "prompt": prompt, "max_tokens": 1, "temperature": 0}
    return body | ({"echo": True, "logprobs": top_k} if top_k else {"prompt_logprobs": 0})


def read_answer(answer: Any, question: Question, name: str, top_k: int) -> Reading | None:
    """Read a server's answer; None if the target of a text does not begin at a token.

    Raise `AnswerError` if it is not an answer to this question.
    """
    choice = read_choice(answer, name)
    if not top_k:
        return _read_ranks(choice.get("prompt_logprobs"), question)
    lists = choice.get("logprobs")
    if not isinstance(lists, dict):
        raise AnswerError("the answer has no log-probabilities of the prompt; the server may not echo them")
    return _read_most_likely(lists, question, top_k)


def read_choice(answer: Any, name: str) -> dict[str, Any]:
    """Return the single completion of a model's answer, else raise `AnswerError`."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], dict):
        raise AnswerError("the answer has no single completion")
    by = answer.get("model")
    if isinstance(by, str) and not by.startswith(name):
        raise AnswerError(f"another model answered: {by}")
    return choices[0]


def _read_ranks(entries: Any, question: Question) -> Reading:
    """Take one mapping of token ids for each token of the prompt."""
    count = len(entries) if isinstance(entries, list) else 0
    if count != len(question.prompt):
        tokens = show_count(len(question.prompt), "token")
        raise AnswerError(f"{show_count(count, 'log-probability', 'log-probabilities')} for {tokens}")
    found = []
    for place in question.wanted:
        token = question.prompt[place]
        entry = entries[place].get(str(token)) if isinstance(entries[place], dict) else None
        if not isinstance(entry, dict):
            raise AnswerError(f"token {place} was sent as {token}, which the answer does not have there")
        rank = entry.get("rank")
        if not isinstance(rank, int) or not 1 <= rank <= _LARGEST_RANK:
            raise AnswerError(f"token {place} has no rank: {rank!r:.20}")
        found.append((rank, True, _read_number(entry.get("logprob"), place), 0))
    return _join(found)


def _read_most_likely(lists: Mapping[str, Any], question: Question, top_k: int) -> Reading | None:
    names = ("tokens", "token_logprobs", "top_logprobs", "text_offset")
    tokens, own, top, offsets = (_as_list(lists.get(name)) for name in names)
    if not tokens or not len(tokens) == len(own) == len(top):
        raise AnswerError("the answer has different numbers of log-probabilities and tokens")
    if isinstance(question.prompt, str):
        places = _find_places(tokens, offsets, question.prompt, question.wanted[0])
        if places is None:
            return None
    else:
        if not 0 <= len(tokens) - len(question.prompt) <= 1:
            raise AnswerError(f"{len(tokens):,} log-probabilities for {len(question.prompt):,} tokens")
        _check_echo(tokens, question)
        places = question.wanted
    return _join([_find_rank(tokens[place], own[place], top[place], place, top_k) for place in places])


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _find_places(
    tokens: Sequence[Any], offsets: Sequence[Any], text: str, start: int
) -> Sequence[int] | None:
    """Return the places of a target's tokens; None if it does not begin at a token."""
    if len(offsets) != len(tokens) or not all(isinstance(each, int) for each in offsets):
        raise AnswerError("the answer does not say where tokens begin (text_offset)")
    places = [place for place, offset in enumerate(offsets) if start <= offset < len(text)]
    spelled = "".join(str(tokens[place]) for place in places)
    begins = bool(places) and offsets[places[0]] == start and spelled == text[start:]
    return places if begins and places[0] > 0 else None


def _check_echo(tokens: Sequence[Any], question: Question) -> None:
    """Raise `AnswerError` if a token's text visibly differs from that of the token sent.

    Servers spell spaces, bytes and special tokens differently, so only letters and digits are compared.
    """
    for place, (echoed, sent) in enumerate(zip(tokens, question.texts, strict=False)):
        text = str(echoed)
        if text.startswith(_ID):
            same = text[len(_ID) :] == str(question.prompt[place])
        elif "<" in text + sent or not sent.isascii():
            continue
        else:
            letters, own = keep_letters(text), keep_letters(sent)
            same = letters == own or not letters or not own
        if not same:
            raise AnswerError(f"token {place} was sent as {sent!r} and came back as {text!r:.40}")


def keep_letters(text: str) -> str:
    """Return the ASCII letters and digits of a text."""
    return "".join(sign for sign in text if sign.isascii() and sign.isalnum())


def _find_rank(token: Any, own: Any, top: Any, place: int, top_k: int) -> tuple[int, bool, float, int]:
    """Return a token's rank or its lower bound, whether it is known, log-probability, and entries.

    Entries are keyed by text, so that two tokens of one text are one entry, and there are fewer than were
    asked for: what is missing may stand above the token or below. A token that is not among the most likely
    ones may be added below them.
    """
    value = _read_number(own, place)
    if not isinstance(top, dict) or not top:
        raise AnswerError(f"token {place} has no most likely entries")
    others = [_read_number(each, place) for text, each in top.items() if text != token]
    larger, given = sum(each > value for each in others), len(top)
    known = token in top and larger < len(others)
    hidden = given < top_k or (larger < len(others) and not known)
    return (0 if hidden else 1 + larger), known and not hidden, value, given


def _read_number(value: Any, place: int) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value) or not LEAST < value <= 1e-3:
        raise AnswerError(f"the log-probability of token {place} is {value!r:.20}")
    return min(float(value), 0.0)


def _join(found: Sequence[tuple[int, bool, float, int]]) -> Reading:
    import numpy as np

    columns = zip(*found, strict=True) if found else ((), (), (), ())
    types = (np.int64, bool, np.float64, np.int64)
    return Reading(*(np.array(column, type_) for column, type_ in zip(columns, types, strict=True)))


def check_given(readings: Sequence[Reading | None], top_k: int) -> None:
    """Raise `AnswerError` if no place of several answers has as many entries as asked for.

    Where only some places have fewer, tokens of one text are one entry there.
    """
    given = [int(each.given.max(initial=0)) for each in readings if each is not None]
    if given and max(given) < top_k:
        raise AnswerError(
            f"{max(given)} most likely tokens at each place, where {top_k} were asked for (top_k)"
        )


def explain(error: AnswerError, question: Question | Following, server: str) -> InputError:
    """Return the message for an answer that is not what was asked for."""
    hint = "the server may have another model or tokenizer, or limit its answers; finished scores are kept"
    return InputError(f"{error} ({question.item})", server, hint)


_FORCED = 1e6  # logits added to the token that is generated; log-probabilities are those before
_UNDERFLOW = math.log(2.0**-149)
"""Replaces a probability that is 0 in float32."""
_SUM = 0.01
"""Tolerance of the sum of all probabilities."""


class VocabularyReading(NamedTuple):
    """Answer for some tokens after a prompt: arrays of shape (n_tokens,).

    Log-probabilities are in nats. A rank is the number of entries with at least the token's, so ties count as
    larger.
    """

    log_probability: "NDArray[np.float64]"
    rank: "NDArray[np.int64]"


def make_vocabulary_body(question: Following, name: str, entries: int, forced: int) -> dict[str, Any]:
    """Return the request to llama.cpp's server.

    The token to generate, `forced`, is one of whole characters: where the likeliest is a part of a character,
    the server leaves out its place, and answers with that of the next one.
    """
    # its cache of an earlier prompt may change the last digits
    return {"model": name, "prompt": list(question.prompt), "max_tokens": 1, "temperature": 0,
            "logit_bias": [[forced, _FORCED]], "n_probs": entries, "cache_prompt": False}  # fmt: skip


def post_vocabulary(service: "Service", question: Following, name: str, entries: int, forced: int) -> Any:
    """Return the answer of llama.cpp's server; see :func:`make_vocabulary_body`."""
    body = make_vocabulary_body(question, name, entries, forced)
    return service.post("/completions", body, FRAME_BYTES + ENTRY_BYTES * entries)


def ask_vocabulary(
    service: "Service", question: Following, name: str, entries: int, forced: int
) -> VocabularyReading:
    """Ask llama.cpp's server for the tokens after a prompt; see :func:`make_vocabulary_body`."""
    import numpy as np

    values = read_vocabulary(post_vocabulary(service, question, name, entries, forced), name, entries, forced)
    wanted = np.array(question.tokens, np.int64)
    if wanted.size and wanted.max() >= entries:
        raise AnswerError(f"token {wanted.max()} is not among the server's {entries:,}")
    own = values[wanted]
    # the number of entries that are not less likely
    rank = entries - np.searchsorted(np.sort(values), own, side="left")
    return VocabularyReading(own, rank.astype(np.int64))


def read_vocabulary(answer: Any, name: str, entries: int, forced: int) -> "NDArray[np.float64]":
    """Return the log-probability of each entry in the place after a prompt, of shape (entries,).

    Raise `AnswerError` if the answer is not to this question, or lacks an entry.
    """
    import numpy as np

    place = _read_place(answer, name, forced)
    try:
        ids = np.array([each["id"] for each in place], np.int64)
        given = np.array([each["logprob"] for each in place], np.float64)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise AnswerError(f"an entry has no id or log-probability: {error}") from error
    if len(ids) != entries or not np.array_equal(np.sort(ids), np.arange(entries)):
        raise AnswerError(f"{len(ids):,} entries after the prompt; the vocabulary has {entries:,}")
    values = np.empty(entries)
    values[ids] = np.clip(given, _UNDERFLOW, None)
    total = float(np.exp(values).sum())
    if not abs(total - 1) < _SUM:
        raise AnswerError(f"the probabilities of all entries add up to {total:.3g}")
    return values


def read_spellings(answer: Any, name: str, forced: int) -> dict[int, str]:
    """Return how the server spells each of its tokens."""
    try:
        return {int(each["id"]): str(each["token"]) for each in _read_place(answer, name, forced)}
    except (KeyError, TypeError, ValueError) as error:
        raise AnswerError(f"an entry has no id or text: {error}") from error


def _read_place(answer: Any, name: str, forced: int) -> list[Any]:
    lists = read_choice(answer, name).get("logprobs")
    places = lists.get("content") if isinstance(lists, dict) else None
    if not isinstance(places, list) or not places or not isinstance(places[0], dict):
        raise AnswerError("the answer has no log-probabilities after the prompt (n_probs)")
    if places[0].get("id") != forced:
        raise AnswerError(f"token {forced} was to be generated (logit_bias), not {places[0].get('id')!r:.20}")
    found = places[0].get("top_logprobs")
    if not isinstance(found, list):
        raise AnswerError("the answer has no most likely entries after the prompt (n_probs)")
    return found
