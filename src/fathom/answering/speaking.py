"""Chat models behind a service: they answer in writing; answers are kept, as each costs money."""

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.answering.answerer import Answerer, Fitted, ModelAnswerer
from fathom.answering.prompts import Prompt
from fathom.benchmark.chat_service import TEMPERATURE, Message, ask_chat
from fathom.config.scoring import Scoring
from fathom.config.served import Served, Speaker
from fathom.errors import InputError
from fathom.io.bounded_requests import read_key
from fathom.io.files import hash_text, make_folder
from fathom.io.names import show_count
from fathom.jobs.program import log, show_progress
from fathom.jobs.services import RequestLimits, Service, ask_side_by_side
from fathom.models.loading import Pointer, read_pointer
from fathom.models.open_model import OpenModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CHARACTERS = 4.0
"""Characters of English text per token, as services use their own tokenizers."""
_FRAME, _BYTES = 1_000_000, 1000
"""Bytes of an answer besides its tokens, and for each."""


class Reply(NamedTuple):
    """Answer of a service, the model that it names, and its own counts of tokens."""

    text: str
    model: str
    read: int
    written: int


class Replies:
    """Replies, kept in a file of JSON lines as they arrive.

    A last line that a kill has cut is left out.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._found: dict[str, Reply] = {}
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        self._is_cut = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                values = json.loads(line)
                self._found[values["request"]] = Reply(*(values[name] for name in Reply._fields))
            except (ValueError, LookupError, TypeError):
                continue

    def __contains__(self, request: str) -> bool:
        return request in self._found

    def __getitem__(self, request: str) -> Reply:
        return self._found[request]

    def keep(self, request: str, reply: Reply) -> None:
        """Write a reply to the disk."""
        values = {"request": request, "date": datetime.now(UTC).isoformat(timespec="seconds")}
        line = json.dumps(values | reply._asdict(), ensure_ascii=False)
        with self._lock:
            make_folder(self._path.parent)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{chr(10) if self._is_cut else ''}{line}\n")
                file.flush()
                os.fsync(file.fileno())
            self._is_cut = False
            self._found[request] = reply


class SpeakingModel(OpenModel):
    """A chat model behind a service, for measurements that need only its text."""

    def __init__(self, name: str, speaker: Speaker, served: Served, replies: Path) -> None:
        server = f"{speaker.service}#{speaker.model}"
        super().__init__(Pointer(name, Path(), kind="chat", chat_template=True, server=server), Scoring())
        self.speaker, self.served = speaker, served
        self.replies = Replies(replies)
        self.used: dict[str, Reply] = {}

    @property
    def description(self) -> dict[str, Any]:
        """Description of the model for reports: who answered, and the cost."""
        replies = self.used.values()
        return {
            "model": self.pointer.name,
            "server": self.pointer.server,
            "server_says": ", ".join(sorted({reply.model for reply in replies})),
            "weights": "not hashed: they are behind a server",
            "requests": len(replies),
            "input_tokens": sum(reply.read for reply in replies),
            "output_tokens": sum(reply.written for reply in replies),
        }

    @cached_property
    def key(self) -> list[Any]:
        """What results depend on besides settings and inputs."""
        return [self.pointer.name, self.pointer.server, self.speaker.thinking]

    @cached_property
    def access_key(self) -> str:
        """The key of the service, from the environment."""
        variable = self.speaker.key_variable
        key = read_key(variable) if variable else ""
        if variable and not key:
            hint = f"run `export {variable}=...` in this shell first"
            raise InputError(f"no key for {self.pointer.name}", variable, hint)
        return key


def open_model(
    model: Path,
    scoring: Scoring,
    threads: int,
    gpus: int,
    finished: Path,
    service: tuple[Speaker, Served] | None = None,
) -> OpenModel:
    """Return a model that answers, from its pointer or folder; or from its name, where a service has it.

    Replies of a service are kept in `finished`, as finished results are.
    """
    if service is not None:
        return SpeakingModel(model.name, *service, finished / "replies.jsonl")
    return OpenModel(read_pointer(model), scoring, threads, gpus)


def open_answerer(model: OpenModel) -> Answerer:
    """Return the answerer of a model: itself, or its service."""
    return SpeakingAnswerer(model) if isinstance(model, SpeakingModel) else ModelAnswerer(model)


class SpeakingAnswerer:
    """A chat model behind a service that answers in writing."""

    def __init__(self, model: SpeakingModel) -> None:
        self._model, self._speaker = model, model.speaker

    def fit(self, prompts: Sequence[Prompt]) -> list[Fitted]:
        """Return prompts whole: the service refuses what is too long for its model."""
        return [Fitted(prompt) for prompt in prompts]

    def score(self, prompts: Sequence[Prompt], answers: Sequence[Sequence[str]]) -> "list[Array]":
        """Raise `InputError`: a chat service gives no probabilities of answers."""
        raise InputError(
            f"{self._model.pointer.name} gives no probabilities, it writes",
            self._model.pointer.server,
            "ask it in writing: evaluation.by: text, choices.ways: [text]",
        )

    def announce(self, prompts: Sequence[Prompt], limits: Sequence[int]) -> None:
        """Log requests, tokens and price of answers, without those kept."""
        new: dict[str, tuple[float, int]] = {}
        kept: set[str] = set()
        for prompt, limit in zip(prompts, limits, strict=True):
            messages = make_messages(prompt)
            request = self._identify(messages, limit)
            if request in self._model.replies:
                kept.add(request)
            else:
                new[request] = (count_tokens(messages), limit + self._speaker.thinking)
        read, written = (sum(each[place] for each in new.values()) for place in (0, 1))
        price = self._speaker.calculate_price(read, written)
        asked = describe_requests(len(new), read, written, price)
        log.info("%s: %s; %s are answered already", self._model.pointer.name, asked, f"{len(kept):,}")

    def generate(self, prompts: Sequence[Prompt], max_tokens: int, until: str = "") -> list[str]:
        """Return the model's text, up to a text that ends it; each prompt is asked once.

        Raise `InputError` if there is no key, or the service refuses a request or is not reached; what it
        answered before is kept.
        """
        asked = [make_messages(prompt) for prompt in prompts]
        names = [self._identify(messages, max_tokens) for messages in asked]
        replies = self._model.replies
        new = {name: messages for name, messages in zip(names, asked, strict=True) if name not in replies}
        if new:
            for _ in show_progress(self._ask(new, max_tokens), "requests", len(new)):
                pass
        found = [replies[name] for name in names]
        self._model.used.update(zip(names, found, strict=True))
        texts = [reply.text.strip() for reply in found]
        if empty := texts.count(""):
            log.warning(
                "%s: %s of %s answers are empty; a model that thinks first needs more tokens, see"
                " models.speaking.%s.thinking",
                *(self._model.pointer.name, f"{empty:,}", f"{len(texts):,}", self._model.pointer.name),
            )
        return [text.partition(until)[0] if until else text for text in texts]

    def _identify(self, messages: Sequence[Message], limit: int) -> str:
        return hash_text(
            self._model.pointer.server, json.dumps(messages), str(limit), str(self._speaker.thinking)
        )

    def _ask(self, asked: Mapping[str, list[Message]], max_tokens: int) -> Iterator[None]:
        speaker, served, key = self._speaker, self._model.served, self._model.access_key
        limit = max_tokens + speaker.thinking
        options: dict[str, Any] = {"max_tokens": limit, TEMPERATURE: 0}
        limits = RequestLimits(served.timeout, served.retries, served.per_second)

        failed = threading.Event()

        def ask(name: str) -> None:
            if failed.is_set():  # an earlier request, whose error ends the job
                return
            with ExitStack() as unkept:
                unkept.callback(failed.set)
                found = ask_chat(service, speaker.model, asked[name], options, _FRAME + _BYTES * limit)
                self._model.replies.keep(name, _read_reply(found, key))
                unkept.pop_all()

        with Service(speaker.service, limits, key) as service:
            try:
                yield from ask_side_by_side(ask, asked, served.in_flight)
            except InputError as error:
                raise self._explain(error) from error

    def _explain(self, error: InputError) -> InputError:
        name, variable = self._model.pointer.name, self._speaker.key_variable
        key = f"models.speaking.{name}"
        whose = f"the key in {variable}" if variable else f"the key: {key}.key_variable names none"
        hint = error.hint.replace("the key", whose).replace("--service", f"{key}.service")
        return InputError(error.what, f"{name}: {error.where}", hint)


def count_tokens(messages: Sequence[Message]) -> float:
    """Return about how many tokens messages have."""
    return sum(len(each["content"]) for each in messages) / CHARACTERS


def describe_requests(requests: int, read: float, written: float, price: float | None) -> str:
    """Describe the number of requests and tokens, and their cost."""
    cost = "price not stated" if price is None else f"price at most about {price:,.2f}"
    return (
        f"{show_count(requests, 'request')}, about {read:,.0f} tokens in, at most {written:,.0f} out, {cost}"
    )


def make_messages(prompt: Prompt) -> list[Message]:
    """Return the messages of a chat that a prompt is."""
    system = [{"role": "system", "content": prompt.system}] if prompt.system else []
    return [*system, {"role": "user", "content": prompt.render(chat=True)}]


def _read_reply(found: Mapping[str, Any], key: str) -> Reply:
    """Return an answer of a service as it is kept: without the key, if the service repeats that."""
    text, model = found["content"][0]["text"], str(found["model"] or "")
    if key:
        text, model = text.replace(key, "***"), model.replace(key, "***")
    return Reply(text, model, found["usage"]["input_tokens"], found["usage"]["output_tokens"])
