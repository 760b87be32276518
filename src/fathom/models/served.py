"""Models behind a server, named by its address and their name there: `http://localhost:8000/v1#NAME`.

The weights of such a model are unknown; the server's description replaces them and is checked before each
use.
"""

from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from fathom.config.scoring import Scoring
from fathom.config.served import Served
from fathom.errors import InputError
from fathom.io.bounded_requests import read_key
from fathom.io.files import read_json
from fathom.jobs.services import RefusedRequestError, RequestLimits, Service
from fathom.models.folders import load_tokenizer
from fathom.models.loading import Pointer, check_fingerprint, find_bos_rule
from fathom.models.open_model import OpenModel
from fathom.models.registry import KEY_VARIABLE, Address, parse_address
from fathom.models.served_answers import (
    AnswerError,
    Following,
    Way,
    ask_following,
    keep_letters,
    post_vocabulary,
    read_spellings,
    read_vocabulary,
)
from fathom.models.tokens import count_entries, decode_texts, encode_prompts

_SAID = ("id", "root", "parent", "owned_by", "max_model_len")
_SAID_OF_FILE = ("n_vocab", "n_ctx", "n_params", "size", "ftype")
_LIST_BYTES = 10_000_000
_SERVE = "serve the model with vLLM, `vllm serve MODEL --max-logprobs -1`"
_OTHERWISE = 0.01
"""Largest share of a vocabulary that two spellings of tokens may differ in."""


class Maker(StrEnum):
    """Kind of server by `owned_by` of its models."""

    VLLM = "vllm"
    LLAMACPP = "llamacpp"
    OTHER = ""


class Statement(NamedTuple):
    """A server's description of a model.

    `text`: on one line; unchanged as long as the server's answer is. `context`: longest input in tokens, with
    the one token that is generated.
    """

    text: str
    maker: Maker
    context: int | None
    entries: int | None = None

    @property
    def gives_ranks(self) -> bool:
        """Whether the server gives the rank of every token: vLLM, and llama.cpp by its whole vocabulary."""
        return self.maker != Maker.OTHER


def connect(address: Address, settings: Served) -> Service:
    """Return the service at an address, with the key from the environment if there is one."""
    limits = RequestLimits(settings.timeout, settings.retries, settings.per_second)
    return Service(address.url, limits, read_key(KEY_VARIABLE))


def ask_statement(service: Service, name: str) -> Statement:
    """Ask a server for its description of a model.

    Raises
    ------
    InputError
        If it cannot be reached, does not answer with a list of models, or lacks the model.
    """
    where = f"{service.address}/models"
    listed = service.get(where, _LIST_BYTES)
    models = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(models, list) or not all(isinstance(each, dict) and "id" in each for each in models):
        raise InputError("not a list of models", where, "check the address: it usually ends in /v1")
    found = next((each for each in models if each["id"] == name), None)
    if found is None:
        names = service.clean(", ".join(str(each["id"]) for each in models)) or "none"
        what = f"the server has no model {name!r}" if name else "the address names no model"
        raise InputError(what, where, f"write {service.address}#NAME; it has: {names}")
    said = {key: found[key] for key in _SAID if isinstance(found.get(key), str | int)}
    maker = next((each for each in Maker if said.get("owned_by") == each), Maker.OTHER)
    if maker == Maker.VLLM:
        said["version"] = _ask_beside(service, "version", "version")
    if maker == Maker.LLAMACPP:
        meta = found.get("meta")
        values = meta if isinstance(meta, dict) else {}
        said |= {key: values[key] for key in _SAID_OF_FILE if isinstance(values.get(key), str | int)}
        said["build"] = _ask_beside(service, "props", "build_info")
    sizes = {key: value for key, value in said.items() if type(value) is int}
    text = service.clean(", ".join(f"{key} {value}" for key, value in said.items()))
    return Statement(text, maker, sizes.get("max_model_len", sizes.get("n_ctx")), sizes.get("n_vocab"))


def _ask_beside(service: Service, path: str, key: str) -> str:
    """Return a server's answer outside of /v1; nothing if a proxy hides it."""
    try:
        answer = service.get(f"{service.address.rpartition('/')[0]}/{path}", _LIST_BYTES)
    except InputError:
        return ""
    return str(answer.get(key, "")) if isinstance(answer, dict) else ""


def point_to_server(
    source: str, tokenizer: Path | None, settings: Served | None = None, need_ranks: bool = False
) -> Pointer:
    """Return the pointer of a model behind a server, `ADDRESS#NAME`.

    With the folder of its tokenizer, prompts are sent as token ids, otherwise as text. With `need_ranks`,
    refuses servers that give only the most likely tokens.
    """
    address = parse_address(source)
    with connect(address, settings or Served()) as service:
        said = ask_statement(service, address.name)
    if need_ranks and not said.gives_ranks:
        hint = "serve it with vLLM or llama.cpp; only `fathom score` can use the most likely tokens"
        raise InputError("this server gives no ranks, but the workflow needs exact ones", source, hint)
    if tokenizer is None and said.maker == Maker.LLAMACPP:
        raise InputError(
            "llama.cpp's server needs token ids for log-probabilities, but this prompt is sent as text",
            source,
            "give --tokenizer, the folder or id of the model before it became a GGUF file",
        )
    if tokenizer is not None:
        load_tokenizer(tokenizer)
    folder, server = tokenizer.resolve() if tokenizer else Path(), f"{address.url}#{address.name}"
    rule = find_bos_rule(folder) if tokenizer else None
    pointer = Pointer(address.name, folder, revision=said.text, dtype="", server=server, add_bos=rule)
    return replace(pointer, fingerprint=check_fingerprint(pointer))


class ServedModel(OpenModel):
    """A model behind a server, for measurements that need only log-probabilities.

    The first question raises `InputError` if the server's description differs from the pointer.
    """

    def __init__(self, pointer: Pointer, served: Served) -> None:
        super().__init__(pointer, Scoring())
        self.served, self.address = served, parse_address(pointer.server)

    @property
    def sends_text(self) -> bool:
        """Whether prompts are sent as text, without a tokenizer."""
        return self.pointer.path == Path()

    @cached_property
    def statement(self) -> Statement:
        """What the server says of the model."""
        with connect(self.address, self.served) as service:
            found = ask_statement(service, self.address.name)
        if found.text != self.pointer.revision:
            what = f"the server now says {found.text}; it said {self.pointer.revision}"
            hint = "the name has another model, or the server changed: make the pointer again"
            raise InputError(what, self.pointer.server, hint)
        return found

    @cached_property
    def following(self) -> tuple[Way, str]:
        """How it gives log-probabilities of any tokens after a prompt, or why not."""
        if self.sends_text:
            return Way.NONE, "candidates are tokens, which need a tokenizer: give --tokenizer FOLDER"
        if not self.statement.gives_ranks:
            return Way.NONE, f"the server gives only the most likely tokens: {_SERVE}"
        if self.statement.maker == Maker.LLAMACPP:
            self._check_vocabulary()
            return Way.EACH, ""
        question = Following(self._short_prompt, (0, 1), "")  # of two tokens, one is not the likeliest
        why = ""
        with connect(self.address, self.served) as service:
            for way in (Way.NAMED, Way.ALL):
                try:
                    ask_following(service, question, self.address.name, way, self.entries)
                except (AnswerError, RefusedRequestError) as error:
                    why = service.clean(error.what if isinstance(error, RefusedRequestError) else str(error))
                else:
                    return way, ""
        return Way.NONE, f"{why}; {_SERVE}"

    @cached_property
    def _short_prompt(self) -> tuple[int, ...]:
        return tuple(encode_prompts(self.tokenizer, ["a"], self.pointer.add_bos)[0])

    @property
    def forced(self) -> int:
        """A token of whole characters, see :func:`fathom.models.served_answers.make_vocabulary_body`."""
        return self._short_prompt[-1]

    def _check_vocabulary(self) -> None:
        """Refuse llama.cpp's server if it does not give its vocabulary, or that differs."""
        question = Following(self._short_prompt, (0,), "")
        entries, forced, name = self.entries, self.forced, self.address.name
        with connect(self.address, self.served) as service:
            try:
                answer = post_vocabulary(service, question, name, entries, forced)
                read_vocabulary(answer, name, entries, forced)
                spelled = read_spellings(answer, name, forced)
            except AnswerError as error:
                what = f"the server does not give its vocabulary: {service.clean(str(error))}"
                hint = "it may be older than `logprobs` in its /v1/completions: use a newer llama.cpp"
                raise InputError(what, self.pointer.server, hint) from error
        own = count_entries(self.tokenizer)
        known = sorted(each for each in spelled if each < own)
        texts = decode_texts(self.tokenizer, [[each] for each in known])
        other = [
            token
            for token, text in zip(known, texts, strict=True)
            if text.isascii() and spelled[token].isascii() and "<" not in text + spelled[token]
            and keep_letters(text) != keep_letters(spelled[token])
        ]  # fmt: skip
        if len(other) > _OTHERWISE * len(known):
            raise InputError(
                f"{len(other):,} of the server's {len(spelled):,} tokens are other texts in this tokenizer,"
                f" such as {other[0]}: {spelled[other[0]]!r:.40}",
                str(self.pointer.path),
                "give --tokenizer, the folder or id of the model before it became a GGUF file",
            )

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, from its folder here."""
        return load_tokenizer(self.pointer.path)

    @cached_property
    def entries(self) -> int:
        """Number of entries that the model has logits for, by server, config.json or tokenizer."""
        if self.statement.entries is not None:
            return self.statement.entries
        config = self.pointer.path / "config.json"
        values = read_json(config) if config.is_file() else {}
        inner = values.get("text_config", values) if isinstance(values, dict) else {}
        size = inner.get("vocab_size") if isinstance(inner, dict) else None
        return size if isinstance(size, int) else count_entries(self.tokenizer)

    @cached_property
    def description(self) -> dict[str, Any]:
        """Description of the model for reports."""
        return {
            "model": self.pointer.name,
            "fingerprint": check_fingerprint(self.pointer),
            "server": self.pointer.server,
            "server_says": self.statement.text,
            "weights": "not hashed: they are behind a server",
        }

    @cached_property
    def key(self) -> list[Any]:
        """What results depend on besides settings and inputs."""
        pointer = {**vars(self.pointer), "path": "", "fingerprint": check_fingerprint(self.pointer)}
        top_k = 0 if self.statement.gives_ranks and not self.sends_text else self.served.top_k
        return [pointer, top_k, self.following[0] != Way.NONE]
