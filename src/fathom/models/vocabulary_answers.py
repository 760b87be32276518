"""What llama.cpp's server answers: log-probabilities of its whole vocabulary in the place after a prompt.

It gives none of the prompt's own tokens, so each token of a target takes a request.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.models.served_answers import ENTRY_BYTES, FRAME_BYTES, AnswerError, Following, read_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fathom.jobs.services import Service

_FORCED = 1e6  # logits added to the token that is generated; log-probabilities are those before
_LEAST = math.log(2.0**-149)
"""What stands for a probability that is 0 in float32."""
_SUM = 0.01
"""How far all probabilities together may be from 1."""


class VocabularyReading(NamedTuple):
    """What an answer says of some tokens after a prompt: arrays of shape (n_tokens,).

    Log-probabilities are in nats. A rank is the number of entries with at least the token's, so ties count as
    larger.
    """

    log_probability: "NDArray[np.float64]"
    rank: "NDArray[np.int64]"


def make_vocabulary_body(question: Following, name: str, entries: int, forced: int) -> dict[str, Any]:
    """Return what is sent to llama.cpp's server.

    The token to generate, `forced`, is one of whole characters: where the likeliest is a part of a character,
    the server leaves out its place, and answers with that of the next one.
    """
    # what it keeps of an earlier prompt may change the last digits
    return {"model": name, "prompt": list(question.prompt), "max_tokens": 1, "temperature": 0,
            "logit_bias": [[forced, _FORCED]], "n_probs": entries, "cache_prompt": False}  # fmt: skip


def post_vocabulary(service: "Service", question: Following, name: str, entries: int, forced: int) -> Any:
    """Return what llama.cpp's server answers; see :func:`make_vocabulary_body`."""
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
        raise AnswerError(f"token {wanted.max()} is none of the server's {entries:,}")
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
    values[ids] = np.clip(given, _LEAST, None)
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
