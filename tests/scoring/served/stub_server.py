"""A server that imitates vLLM's interface, llama.cpp's, or OpenAI's with the likeliest tokens alone."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import torch
from tests.servers import forget_servers, listen

NAME = "org/tiny"


@dataclass
class Stub:
    """What the server does, and what it was asked: of prompts with their targets, and of what follows one.

    Attributes
    ----------
    model, tokenizer
        What answers.
    vllm, llamacpp : bool
        What it imitates; `vllm` counts first. The answers of llama.cpp are as those of its version 0.5.0.
    names, most : bool, int
        Whether it gives log-probabilities of tokens that a request names, and how many likeliest ones.
    change : callable
        Takes the path and the answer, and returns another one, or status, content type and text.
    pause : float
        Seconds between two bytes of an answer.
    """

    model: Any
    tokenizer: Any
    vllm: bool = True
    llamacpp: bool = False
    names: bool = True
    most: int = 20
    change: Callable[[str, dict[str, Any]], Any] = lambda _, answer: answer
    pause: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)
    followed: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    url: str = ""

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return what is answered to a request, None for an unknown path."""
        if path == "/v1/models":
            by = {"owned_by": "vllm", "max_model_len": 40, "root": "/models/tiny"} if self.vllm else {}
            if self.llamacpp:
                meta = {
                    "n_vocab": self.model.config.vocab_size,
                    "n_ctx": 40,
                    "n_params": 9,
                    "ftype": "all F32",
                }
                by = {"owned_by": "llamacpp", "meta": meta}
            return {"object": "list", "data": [{"id": "other"}, {"id": NAME, "created": 7, **by}]}
        if path != "/v1/completions":
            own = {"/version": {"version": "0.0.1"}} if self.vllm else {}
            return ({"/props": {"build_info": "b1-stub"}} if self.llamacpp else own).get(path)
        (self.followed if "return_tokens_as_token_ids" in body else self.asked).append(body)
        prompt = body["prompt"]
        ids = self.tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt
        with torch.inference_mode():
            rows = self.model(torch.tensor([ids])).logits[0].log_softmax(-1)
        if self.llamacpp:
            choice = self._give_vocabulary(rows[-1], body)
        elif "prompt_logprobs" in body:
            choice = self._give_ranks(ids, rows)
        elif "echo" in body:
            choice = self._echo(ids, rows, body)
        elif (count := body["logprobs"]) > self.most or len(body.get("logprob_token_ids", [])) > 128:
            return {
                "error": {"message": f"Requested {count}, which is greater than max allowed: {self.most}"}
            }
        else:
            choice = self._follow(rows[-1], body)
        return {"model": body["model"], "choices": [choice]}

    def _give_ranks(self, ids: list[int], rows: torch.Tensor) -> dict[str, Any]:
        """Return the rank of each token as vLLM counts: entries that are not less likely."""
        entries: list[Any] = [None]
        for token, row in zip(ids[1:], rows, strict=False):
            rank = int((row >= row[token]).sum())
            entries.append({str(token): {"logprob": float(row[token]), "rank": rank, "decoded_token": "x"}})
        return {"text": " x", "prompt_logprobs": entries}

    def _give_vocabulary(self, row: torch.Tensor, body: dict[str, Any]) -> dict[str, Any]:
        """Return all entries that may follow, the likeliest first, and the token whose logit is raised."""
        ((forced, _),) = body["logit_bias"]
        best = row.sort(descending=True)
        shown = [
            {"id": token, "token": self.tokenizer.decode([token]), "bytes": [120], "logprob": value}
            for token, value in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        own = {"id": forced, "token": "x", "bytes": [120], "logprob": -1.0}
        return {"text": "x", "logprobs": {"content": [own | {"top_logprobs": shown[: body["n_probs"]]}]}}

    def _follow(self, row: torch.Tensor, body: dict[str, Any]) -> dict[str, Any]:
        """Return what may follow: the tokens that are named, or the likeliest, and the one generated."""
        best = row.topk(body["logprobs"]).indices.tolist()
        named = body.get("logprob_token_ids") if self.names else None
        shown = {int(row.argmax()), *(best if named is None else named)}
        return {
            "text": " x",
            "logprobs": {"top_logprobs": [{f"token_id:{each}": float(row[each]) for each in shown}]},
        }

    def _echo(self, ids: list[int], rows: torch.Tensor, body: dict[str, Any]) -> dict[str, Any]:
        """Return the most likely tokens at each place, and the token itself, by their texts."""
        names = [f" {self.tokenizer.decode([token])}" for token in range(rows.shape[1])]
        tokens = [names[token] for token in ids]
        tokens[0] = tokens[0].lstrip()
        offsets = [sum(map(len, tokens[:place])) for place in range(len(tokens))]
        own: list[float | None] = [None]
        top: list[dict[str, float] | None] = [None]
        for token, row in zip(ids[1:], rows, strict=False):
            best = row.topk(body["logprobs"])
            found = {names[int(each)]: float(row[each]) for each in best.indices}
            top.append(found | {names[token]: float(row[token])})
            own.append(float(row[token]))
        # the token that is generated
        lists = {"tokens": [*tokens, " x"], "token_logprobs": [*own, -1.0], "top_logprobs": [*top, top[-1]],
                 "text_offset": [*offsets, sum(map(len, tokens))]}  # fmt: skip
        return {"text": "".join(tokens) + " x", "logprobs": lists}


class _Handler(BaseHTTPRequestHandler):
    stub: Stub

    def do_GET(self) -> None:
        self._reply({})

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        body = self.rfile.read(size)
        if len(body) == size:  # who asks may go before all is sent
            self._reply(json.loads(body))

    def _reply(self, body: dict[str, Any]) -> None:
        self.stub.times.append(time.monotonic())
        self.stub.keys.add(self.headers.get("authorization") or "")
        answer = self.stub.answer(self.path, body)
        changed = (404, "text/plain", "unknown") if answer is None else self.stub.change(self.path, answer)
        plain = 400 if "error" in changed else 200
        status, kind, text = changed if isinstance(changed, tuple) else (plain, "application/json", None)
        data = (json.dumps(changed) if text is None else text).encode()
        with suppress(ConnectionError):  # who asked may have gone
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if not self.stub.pause:
                self.wfile.write(data)
                return
            for byte in data:
                time.sleep(self.stub.pause)
                self.wfile.write(bytes([byte]))

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    """Run the server; no proxy of the environment stands before it."""
    with listen(_Handler, stub) as server:
        stub.url = f"http://127.0.0.1:{server.server_port}/v1"
        forget_servers(monkeypatch, "FATHOM_SERVER")
        yield stub
