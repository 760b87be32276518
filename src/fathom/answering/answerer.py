"""Whoever answers questions: the log-probability of given answers, and text by greedy decoding.

A prompt that exceeds the context loses its last examples first, as in MMLU's own evaluation; if the question
alone is too long, it loses its beginning. Both are counted. Greedy decoding takes no setting of the model's
own (temperature, repetition penalty) [RawCorpora, App. A.8].
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from fathom.answering.prompts import Prompt
from fathom.errors import InputError
from fathom.models.loading import find_context_length
from fathom.models.open_model import OpenModel
from fathom.models.tokens import (
    EncodedPair,
    encode_chat_prefix,
    encode_pairs,
    encode_prompts,
    encode_spellings,
    encode_texts,
)
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.logits import describe_non_finite, evaluate_models
from fathom.scoring.scored_sequences import join_token_scores, plan_sequences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

RESERVE = 32
"""Tokens of the context that are kept free for an answer, so that both ways of answering read the same."""


class Fitted(NamedTuple):
    """What is read of a prompt.

    Attributes
    ----------
    prompt : Prompt
        With as many examples as fit.
    cut : int
        Tokens that the beginning of the question loses, after the first token.
    """

    prompt: Prompt
    cut: int = 0


class Answerer(Protocol):
    """Whoever answers: a model, or a stand-in for one."""

    def fit(self, prompts: Sequence[Prompt]) -> list[Fitted]:
        """Return what is read of each prompt."""

    def score(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]) -> "list[Array]":
        """Return the log-probability of each answer to each prompt, in nats.

        Parameters
        ----------
        prompts : sequence of Prompt
        answers : sequence of sequences of str
            For each prompt; each answer is one space and a text.
        """

    def generate(self, prompts: Sequence[Prompt], max_tokens: int, until: str = "") -> list[str]:
        """Return what greedy decoding writes after each prompt, up to a text that ends it."""


class ModelAnswerer:
    """A model that answers.

    Parameters
    ----------
    model : OpenModel
        If its pointer asks for the chat template, prompts become the user's message of a chat.
    """

    def __init__(self, model: OpenModel) -> None:
        self.name, self.chat = model.pointer.name, model.pointer.chat_template
        self._model, self._tokenizer = model, model.tokenizer
        self._context = find_context_length(model.model)
        self._add_bos = model.pointer.add_bos
        self._fitted: dict[tuple[Prompt, int], Fitted] = {}
        self._sizes: dict[str, int] = {}

    def fit(self, prompts: Sequence[Prompt]) -> list[Fitted]:
        """Return what is read of each prompt."""
        return [self._fit(prompt) for prompt in prompts]

    def score(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]) -> "list[Array]":
        """Return the log-probability of each answer to each prompt, in nats.

        In a chat it is that of the answer with or without its leading space; in plain text, which shows
        examples or a cue, the space belongs to the answer.

        Raises
        ------
        InputError
            If the tokenizer has no chat template and needs one, or logits are not finite.
        """
        import numpy as np

        groups = [self._encode(prompt, some) for prompt, some in zip(prompts, answers, strict=True)]
        every = [pair for group in groups for spellings in group for pair in spellings]
        logs = iter(self._score(every))
        found = []
        for group in groups:
            sums = [np.logaddexp.reduce([next(logs) for _ in spellings]) for spellings in group]
            found.append(np.array(sums, dtype=np.float64))
        return found

    def generate(self, prompts: Sequence[Prompt], max_tokens: int, until: str = "") -> list[str]:
        """Return what greedy decoding writes after each prompt, up to a text that ends it.

        Parameters
        ----------
        prompts : sequence of Prompt
        max_tokens : int
            At most `RESERVE` where prompts must be those that are scored.
        until : str
            What ends an answer, such as a line break; it is left out.
        """
        from fathom.answering.generation import generate_texts

        ids = [self._read(prompt, max_tokens) for prompt in prompts]
        return generate_texts(self._model, ids, max_tokens, until)

    def _fit(self, prompt: Prompt, reserve: int = RESERVE) -> Fitted:
        """Return what is read of a prompt if so many tokens follow it."""
        reserve = max(RESERVE, reserve)
        if (prompt, reserve) not in self._fitted:
            self._fitted[prompt, reserve] = self._shorten(prompt, reserve)
        return self._fitted[prompt, reserve]

    def _shorten(self, prompt: Prompt, reserve: int) -> Fitted:
        """Leave out the last examples of a prompt, then the beginning of the question, until it fits."""
        if self._context is None:
            return Fitted(prompt)
        room = self._context - reserve
        if room < 1:
            raise InputError(
                f"the context of {self.name} is {self._context} tokens, {reserve} are kept for an answer",
                "prompts",
                "ask for shorter answers, or leave this model out",
            )
        sizes = [self._measure(example) for example in prompt.examples]
        free = room - self._measure(prompt._replace(examples=()).render(self.chat))
        shots = sum(sum(sizes[: count + 1]) <= free for count in range(len(sizes)))
        for count in range(shots, -1, -1):  # tokens of a whole differ a little from those of its parts
            shorter = prompt._replace(examples=prompt.examples[:count])
            over = len(self._encode_prompt(shorter)) - room
            if over <= 0:
                break
        return Fitted(shorter, max(0, over))

    def _measure(self, text: str) -> int:
        """Return the tokens of a text."""
        if text not in self._sizes:
            self._sizes[text] = len(encode_texts(self._tokenizer, [text])[0])
        return self._sizes[text]

    def _encode_prompt(self, prompt: Prompt) -> list[int]:
        """Return the tokens of a whole prompt."""
        text = prompt.render(self.chat)
        if self.chat:
            return encode_chat_prefix(self._tokenizer, self._add_bos, text, prompt.system)
        return encode_prompts(self._tokenizer, [text], self._add_bos)[0]

    def _read(self, prompt: Prompt, max_tokens: int) -> list[int]:
        """Return the tokens of what is read of a prompt."""
        fitted = self._fit(prompt, max_tokens)
        return _cut(self._encode_prompt(fitted.prompt), fitted.cut)

    def _encode(self, prompt: Prompt, answers: Sequence[str]) -> list[list[EncodedPair]]:
        """Return the spellings of each answer after what is read of a prompt."""
        fitted = self._fit(prompt)
        text = fitted.prompt.render(self.chat)
        if self.chat:
            prefix = self._encode_prompt(fitted.prompt)
            groups = encode_spellings(self._tokenizer, prefix, answers)
        else:
            pairs = encode_pairs(self._tokenizer, [text] * len(answers), answers, self._add_bos)
            groups = [[pair] for pair in pairs]
        cut = fitted.cut + self._count_excess(fitted.cut, groups)
        if min(pair.start for group in groups for pair in group) <= cut:
            raise InputError(
                f"an answer is longer than the context of {self.name}, {self._context} tokens",
                f"answer {max(answers, key=len)!r:.60}",
                "leave this model or this question out",
            )
        return [
            [EncodedPair(_cut(pair.ids, cut), pair.start - cut, pair.backed_off) for pair in group]
            for group in groups
        ]

    def _count_excess(self, cut: int, groups: Sequence[Sequence[EncodedPair]]) -> int:
        """Return how many tokens more must go because an answer is longer than what is kept for it."""
        longest = max(len(pair.ids) - 1 for group in groups for pair in group)
        return 0 if self._context is None else max(0, longest - cut - self._context)

    def _score(self, pairs: Sequence[EncodedPair]) -> "list[float]":
        """Return the log-probability of the target of each pair."""
        import numpy as np

        if not pairs:
            return []
        plan = plan_sequences(pairs)
        with evaluate_models(self._model.copies):
            ids = plan.sequences[0].ids
            replicas = [open_replica(each, ids, self.name) for each in self._model.copies]
            budget = self._model.batch_tokens
            tokens = join_token_scores(list(score_sequences(replicas, plan.sequences, budget, None)))
        if not np.isfinite(tokens.log_probability).all():
            raise describe_non_finite(self.name, "a question", "answers")
        return [float(tokens.log_probability[rows].sum()) for rows in plan.rows]


def _cut(ids: Sequence[int], count: int) -> list[int]:
    """Return tokens without some after the first."""
    return [ids[0], *ids[1 + count :]] if count else list(ids)
