"""Answerers of questions: log-probability of given answers, and text by greedy decoding.

A prompt that exceeds the context loses its last examples first, as in MMLU's own evaluation; if the question
alone is too long, it loses its beginning. Both are counted. Greedy decoding takes no setting of the model's
own (temperature, repetition penalty) [RawCorpora, App. A.8]; order and batches of prompts do not matter.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fathom.answering.prompts import LETTERS, Item, Prompt, spell_letters
from fathom.errors import InputError
from fathom.jobs.program import log, show_progress
from fathom.models import tokens
from fathom.models.loading import find_context_length
from fathom.models.open_model import OpenModel
from fathom.models.placement import find_input_device
from fathom.models.text_model import count_alike, find_long_length
from fathom.models.tokens import EncodedPair
from fathom.numerics.precision import use_full_precision
from fathom.scoring.batches import open_replica, score_sequences
from fathom.scoring.logits import describe_non_finite, evaluate_models
from fathom.scoring.scored_sequences import join_token_scores, plan_sequences

Array = NDArray[np.float64]


RESERVE = 32
"""Tokens of the context reserved for an answer, so that both ways of answering read the same."""


class Fitted(NamedTuple):
    """The part of a prompt that is read.

    `prompt`: with as many examples as fit. `cut`: tokens that the beginning of the question loses, after the
    first token.
    """

    prompt: Prompt
    cut: int = 0


class Answerer(Protocol):
    """Interface of answerers: a model, or a stand-in."""

    def fit(self, prompts: Sequence[Prompt]) -> list[Fitted]:
        """Return what is read of each prompt."""

    def score(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]) -> list[Array]:
        """Return the log-probability of each answer, one space and a text, to each prompt, in nats."""

    def generate(self, prompts: Sequence[Prompt], max_tokens: int, until: str = "") -> list[str]:
        """Return the text by greedy decoding after each prompt, up to a text that ends it."""


class ModelAnswerer:
    """A model that answers; if its pointer asks for the chat template, prompts are a user's messages."""

    def __init__(self, model: OpenModel) -> None:
        self.name, self.chat = model.pointer.name, model.pointer.chat_template
        self._model, self._tokenizer = model, model.tokenizer
        self._context = find_context_length(model.model)
        self._add_bos = model.pointer.add_bos
        self._fitted: dict[tuple[Prompt, int], Fitted] = {}
        self._sizes: dict[str, int] = {}
        self._lengths: dict[Prompt, int] = {}

    def fit(self, prompts: Sequence[Prompt]) -> list[Fitted]:
        """Return what is read of each prompt."""
        self._measure(prompts)
        return [self._fit(prompt) for prompt in prompts]

    def score(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]) -> list[Array]:
        """Return the log-probability of each answer to each prompt, in nats.

        In a chat it is that of the answer with or without its leading space; in plain text, which shows
        examples or a cue, the space belongs to the answer.
        """
        fitted = self.fit(prompts)
        encode = self._spell if self.chat else self._join
        encoded = encode([each.prompt for each in fitted], answers)
        groups = [self._shift(*each) for each in zip(fitted, encoded, answers, strict=True)]
        every = [pair for group in groups for spellings in group for pair in spellings]
        logs = iter(self._score(every))
        found = []
        for group in groups:
            sums = [np.logaddexp.reduce([next(logs) for _ in spellings]) for spellings in group]
            found.append(np.array(sums, dtype=np.float64))
        return found

    def generate(self, prompts: Sequence[Prompt], max_tokens: int, until: str = "") -> list[str]:
        """Return what greedy decoding writes after each prompt, up to a text that ends it and is left out.

        `max_tokens` are at most `RESERVE` where prompts must be those that are scored.
        """
        self._measure(prompts)
        fitted = [self._fit(prompt, max_tokens) for prompt in prompts]
        ids = [_cut(self._encode_prompt(each.prompt), each.cut) for each in fitted]
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
            what = f"the context of {self.name} is {self._context} tokens, {reserve} are kept for an answer"
            raise InputError(what, "prompts", "ask for shorter answers, or leave this model out")
        for count in range(len(self._shorten_by_sizes(prompt, room).examples), -1, -1):
            shorter = prompt._replace(examples=prompt.examples[:count])
            over = self._measure_whole(shorter) - room
            if over <= 0:
                break
        return Fitted(shorter, max(0, over))

    def _measure(self, prompts: Sequence[Prompt]) -> None:
        """Measure prompts and their parts in few calls: a call costs as much as some texts."""
        if self._context is None:
            return
        bare = (prompt._replace(examples=()).render(self.chat) for prompt in prompts)
        examples = (example for prompt in prompts for example in prompt.examples)
        new = [text for text in dict.fromkeys([*bare, *examples]) if text not in self._sizes]
        self._sizes.update(zip(new, map(len, tokens.encode_texts(self._tokenizer, new)), strict=True))
        if not self.chat:  # a chat template takes one text at a time
            room = self._context - RESERVE
            likely = dict.fromkeys(self._shorten_by_sizes(prompt, room) for prompt in prompts)
            unknown = [prompt for prompt in likely if prompt not in self._lengths]
            texts = [prompt.render(self.chat) for prompt in unknown]
            encoded = tokens.encode_prompts(self._tokenizer, texts, self._add_bos)
            self._lengths.update(zip(unknown, map(len, encoded), strict=True))

    def _shorten_by_sizes(self, prompt: Prompt, room: int) -> Prompt:
        """Leave out the last examples by sizes of parts; a whole differs from their sum by some tokens."""
        free = room - self._sizes[prompt._replace(examples=()).render(self.chat)]
        sizes = accumulate(self._sizes[example] for example in prompt.examples)
        return prompt._replace(examples=prompt.examples[: sum(size <= free for size in sizes)])

    def _measure_whole(self, prompt: Prompt) -> int:
        if prompt not in self._lengths:
            self._lengths[prompt] = len(self._encode_prompt(prompt))
        return self._lengths[prompt]

    def _encode_prompt(self, prompt: Prompt) -> list[int]:
        text = prompt.render(self.chat)
        if self.chat:
            return tokens.encode_chat_prefix(self._tokenizer, self._add_bos, text, prompt.system)
        return tokens.encode_prompts(self._tokenizer, [text], self._add_bos)[0]

    def _join(
        self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]
    ) -> list[list[list[EncodedPair]]]:
        """Return the one spelling of each answer as a continuation of its prompt, all encoded together."""
        texts = [prompt.render(self.chat) for prompt in prompts]
        each_text = [text for text, some in zip(texts, answers, strict=True) for _ in some]
        every = [answer for some in answers for answer in some]
        pairs = iter(tokens.encode_pairs(self._tokenizer, each_text, every, self._add_bos))
        return [[[next(pairs)] for _ in some] for some in answers]

    def _spell(
        self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]
    ) -> list[list[list[EncodedPair]]]:
        prefixes = map(self._encode_prompt, prompts)
        return [
            tokens.encode_spellings(self._tokenizer, prefix, some)
            for prefix, some in zip(prefixes, answers, strict=True)
        ]

    def _shift(
        self, fitted: Fitted, groups: Sequence[Sequence[EncodedPair]], answers: Sequence[str]
    ) -> list[list[EncodedPair]]:
        """Return spellings of answers without what their question loses."""
        cut = fitted.cut
        if self._context is not None:  # an answer may be longer than the reserve
            longest = max(len(pair.ids) - 1 for group in groups for pair in group)
            cut = max(cut, longest - self._context)
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

    def _score(self, pairs: Sequence[EncodedPair]) -> "list[float]":
        if not pairs:
            return []
        plan = plan_sequences(pairs, find_long_length(self._model.copies[0]))
        with evaluate_models(self._model.copies):
            ids = plan.sequences[0].ids
            replicas = [open_replica(each, ids, self.name) for each in self._model.copies]
            budget = self._model.batch_tokens
            scores = join_token_scores(list(score_sequences(replicas, plan.sequences, budget, None)))
        if not np.isfinite(scores.log_probability).all():
            raise describe_non_finite(self.name, "a question", "answers")
        return [float(scores.log_probability[rows].sum()) for rows in plan.rows]


def _cut(ids: Sequence[int], count: int) -> list[int]:
    """Return tokens without some after the first."""
    return [ids[0], *ids[1 + count :]] if count else list(ids)


def generate_texts(
    opened: OpenModel, prompts: Sequence[Sequence[int]], max_tokens: int, until: str = ""
) -> list[str]:
    """Return what a model's first copy writes after each prompt, the most likely token at every place.

    `until` ends a text, and is left out of it; empty: only the end of an answer.
    """
    longest_first = sorted({tuple(ids) for ids in prompts}, key=lambda ids: (-len(ids), ids))
    # on a GPU too: what attention keeps of each token takes far more memory than scoring does
    budget = opened.settings.count_tokens("cpu")
    batches = list(_cut_batches(longest_first, budget, max_tokens, find_long_length(opened.model)))
    written: dict[tuple[int, ...], str] = {}
    with _plain_decoding(opened, max_tokens):
        for batch in show_progress(batches, "batches of answers"):
            written.update(zip(batch, _write_batch(opened, batch, until), strict=True))
    texts = [written[tuple(ids)] for ids in prompts]
    return [text.partition(until)[0] if until else text for text in texts]


def _cut_batches(
    prompts: Sequence[tuple[int, ...]], budget: int, max_tokens: int, long: int | None
) -> Iterator[Sequence[tuple[int, ...]]]:
    """Yield batches of at most `budget` tokens, or one prompt; the first of each is its longest."""
    start = 0
    while start < len(prompts):
        size = max(1, budget // (len(prompts[start]) + max_tokens))
        size = count_alike(prompts, start, size, long, max_tokens)
        yield prompts[start : start + size]
        start += size


@contextmanager
def _plain_decoding(opened: OpenModel, max_tokens: int) -> Iterator[None]:
    """Decode greedily inside the `with` block, whatever settings the model came with."""
    from transformers import GenerationConfig

    model, tokenizer = opened.model, opened.tokenizer
    own, training = model.generation_config, model.training
    ends = {tokens.find_answer_end(tokenizer, opened.pointer.chat_template)[-1], tokenizer.eos_token_id}
    ends.update(own.eos_token_id if isinstance(own.eos_token_id, list) else [own.eos_token_id])
    model.generation_config = GenerationConfig(
        do_sample=False,
        num_beams=1,
        max_new_tokens=max_tokens,
        eos_token_id=sorted(token for token in ends if token is not None),
        pad_token_id=0,  # masked before a prompt, and after the end of it
    )
    model.eval()
    try:
        yield
    finally:
        model.generation_config = own
        model.train(training)


def _write_batch(opened: OpenModel, batch: Sequence[tuple[int, ...]], until: str) -> list[str]:
    """Return what follows each prompt; halve a batch that does not fit the memory of a GPU."""
    import torch

    try:
        return _generate_batch(opened, batch, until)
    except torch.cuda.OutOfMemoryError:
        if len(batch) == 1:
            raise InputError(
                "GPU memory cannot hold a single prompt", "scoring", "use a larger GPU or dtype bfloat16"
            ) from None
    torch.cuda.empty_cache()
    middle = len(batch) // 2
    log.info("out of GPU memory: a batch of %s prompts is divided", len(batch))
    return [text for half in (batch[:middle], batch[middle:]) for text in _write_batch(opened, half, until)]


def _generate_batch(opened: OpenModel, batch: Sequence[tuple[int, ...]], until: str) -> list[str]:
    import torch

    longest = max(map(len, batch))
    device = find_input_device(opened.model)
    ids = torch.tensor([[0] * (longest - len(each)) + list(each) for each in batch], device=device)
    mask = torch.tensor([[0] * (longest - len(each)) + [1] * len(each) for each in batch], device=device)
    more = {"stop_strings": [until], "tokenizer": opened.tokenizer} if until else {}
    with torch.inference_mode(), use_full_precision():
        found = opened.model.generate(input_ids=ids, attention_mask=mask, **more)
    ends = set(opened.model.generation_config.eos_token_id)
    rows = []
    for row in found[:, longest:].tolist():
        stop = next((place for place, token in enumerate(row) if token in ends), len(row))
        rows.append(row[:stop])
    return tokens.decode_texts(opened.tokenizer, rows, skip_special_tokens=True)


Way = Literal["letter", "text"]
"""How an answer is found: the letter of the largest log-probability, or the letter in what is written."""

WAYS: tuple[Way, ...] = ("letter", "text")
LETTER_TOKENS = 8
"""Tokens that are written where a letter is asked for."""

_SCHEMA: dict[str, Any] = {
    "item_id": pl.String,
    "way": pl.String,
    "chosen": pl.Int32,
    "is_right": pl.Boolean,
    "log_probabilities": pl.List(pl.Float64),
    "text": pl.String,
    "shots": pl.Int32,
    "cut": pl.Int32,
}


def ask_items(
    answerer: Answerer, items: Sequence[Item], prompts: Sequence[Prompt], ways: Sequence[Way] = WAYS
) -> pl.DataFrame:
    """Ask questions with options, and return the answers.

    Returned: way by way in the order of the items: item_id; way; chosen, the place of the chosen option, -1
    where no letter is found; is_right; log_probabilities of the letters in nats, empty for text; text, what
    was written, empty for letters; shots, the examples that fitted; cut, tokens that the question lost.
    """
    fitted = answerer.fit(prompts)
    rows: list[tuple[Any, ...]] = []
    for way in ways:
        answers = _score(answerer, items, prompts) if way == "letter" else _write(answerer, items, prompts)
        for item, read, (chosen, logs, text) in zip(items, fitted, answers, strict=True):
            is_right = chosen in item.right
            rows.append(
                (item.item_id, way, chosen, is_right, logs, text, len(read.prompt.examples), read.cut)
            )
    return pl.DataFrame(rows, _SCHEMA, orient="row")


Answer = tuple[int, list[float], str]


def _score(answerer: Answerer, items: Sequence[Item], prompts: Sequence[Prompt]) -> list[Answer]:
    """Return the most likely letter of each item, the first of equal ones."""
    found = answerer.score(prompts, [spell_letters(item) for item in items])
    return [(int(logs.argmax()), logs.tolist(), "") for logs in found]


def _write(answerer: Answerer, items: Sequence[Item], prompts: Sequence[Prompt]) -> list[Answer]:
    texts = answerer.generate(prompts, LETTER_TOKENS)
    letters = [parse_letter(text, len(item.options)) for text, item in zip(texts, items, strict=True)]
    return [(-1 if letter is None else letter, [], text) for letter, text in zip(letters, texts, strict=True)]


# `A` before a word is an article, with few exceptions
_ARTICLE = r"(?!\s+(?!(?:and|or|is|because)\b)[a-z])"
_NAMED = r"(?:(?:answers?|options?|choices?)(?:\s+(?:is|are))?\s*:?\s*)"


def parse_letter(text: str, count: int) -> int | None:
    """Return the place of the option that an answer names, None if it names none, or several.

    These count, in this order: a letter that the answer begins with, alone or before a mark; a letter after
    `answer`, `option` or `choice`; the only letter that stands by itself. `A` before most words is an
    article.
    """
    plain = re.sub(r"[*_`\"']", "", text).strip()
    letters = LETTERS[:count]
    first = re.match(rf"[(\[]?([{letters}{letters.lower()}])(?:[)\].:,;]|\s*$|\s*\n)", plain)
    first = first or re.match(rf"([{letters[1:] or '!'}])(?![\w+#-])", plain)
    if first:
        return LETTERS.index(first[1].upper())
    both = rf"(?!\s+(?:and|or)\s+[{letters}]\b)"
    named = set(re.findall(rf"(?i:{_NAMED})[(\[]?([{letters}])(?![\w+#-]){_ARTICLE}{both}", plain))
    alone = set(re.findall(rf"(?<![\w-])([{letters}])(?![\w+#-]){_ARTICLE}", plain))
    for found in (named, alone):
        if found:
            return LETTERS.index(found.pop()) if len(found) == 1 else None
    return None


def parse_letters(text: str, count: int) -> tuple[int, ...]:
    """Return the places of all options that the first line of an answer names, sorted."""
    line = next((line for line in text.splitlines() if line.strip()), "")
    found = re.findall(rf"(?<![\w-])([{LETTERS[:count]}])(?![\w+#-]){_ARTICLE}", line.replace("*", ""))
    return tuple(sorted({LETTERS.index(letter) for letter in found}))
