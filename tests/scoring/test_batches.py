"""Batches dealt out to several devices: the scores are those of one, whatever happens on the way."""

import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from tests.refusals import refuses
from tests.scoring.sentences import cut_many_sentences, make_tokenizer
from tests.tiny import make_config, make_model
from transformers import PreTrainedTokenizerFast

from fathom.config.scoring import Scoring
from fathom.jobs import resume
from fathom.jobs.resume import Resume, State
from fathom.models.loading import Pointer
from fathom.scoring import batches, ranks
from fathom.scoring.scored_sequences import TokenScores

CONFIGS = {
    "gpt2": make_config("gpt2", 62, 40, initializer_range=0.2),
    "gemma2": make_config("gemma2", 62, 40, sliding_window=5, initializer_range=0.2),
}


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_tokenizer()


@pytest.fixture(scope="module")
def benchmarks() -> list[pl.DataFrame]:
    """Return pairs of 36 sentences of several lengths."""
    return [cut_many_sentences("tf", [3, 5]), cut_many_sentences("tfidf", [7])]


def copies(name: str, count: int) -> list[Any]:
    """Return equal models that stand for one model on several GPUs."""
    return [make_model(CONFIGS[name]) for _ in range(count)]


def same(first: list[pl.DataFrame], second: list[pl.DataFrame]) -> bool:
    """Say whether scores are equal to the last bit."""
    return all(one.equals(other, null_equal=True) for one, other in zip(first, second, strict=True))


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("size", [1, 40, 100_000])
def test_scores_do_not_depend_on_how_many_devices_there_are(name, size, tokenizer, benchmarks):
    settings = Scoring(batch_tokens=size)
    (alone,) = copies(name, 1)
    expected = ranks.score_benchmarks(alone, tokenizer, benchmarks, settings)
    for count in (2, 3):
        models, shapes = copies(name, count), [list[tuple[int, ...]]() for _ in range(count)]
        for model, seen in zip(models, shapes, strict=True):
            model.get_input_embeddings().register_forward_hook(
                lambda module, inputs, output, seen=seen: seen.append(tuple(inputs[0].shape))
            )
        assert same(ranks.score_benchmarks(models, tokenizer, benchmarks, settings), expected)
        # each looked at the same sample first, then took its turns
        turns = [len(seen) for seen in shapes]
        assert max(turns) - min(turns) <= 1
        assert size == 100_000 or min(turns) > 5


def test_a_model_over_three_devices_works_on_three_batches_at_once(tokenizer, benchmarks, monkeypatch):
    (model,) = copies("gpt2", 1)
    settings = Scoring(batch_tokens=40)
    expected = ranks.score_benchmarks(model, tokenizer, benchmarks, settings)
    threads = set[int]()
    model.get_input_embeddings().register_forward_hook(lambda *_: threads.add(threading.get_ident()))
    monkeypatch.setattr(batches, "count_stages", lambda _: 3)
    assert same(ranks.score_benchmarks(model, tokenizer, benchmarks, settings), expected)
    assert len(threads - {threading.get_ident()}) == 3


def test_a_batch_is_larger_on_a_gpu_unless_it_is_given():
    assert [Scoring().count_tokens(device) for device in ("cpu", "mps", "cuda")] == [1024, 1024, 16_384]
    assert Scoring(batch_tokens=7).count_tokens("cuda") == 7


def test_memory_that_runs_out_on_one_of_several_gives_the_batches_of_one_device(
    tokenizer, benchmarks, monkeypatch
):
    true = batches.score_batch

    def small(project: Any, batch: Any, *more: Any) -> TokenScores:
        if sum(len(one.ids) for one in batch) > 45 and len(batch[0].ids) < 9:
            raise torch.cuda.OutOfMemoryError("no memory")
        return true(project, batch, *more)

    monkeypatch.setattr(batches, "score_batch", small)
    monkeypatch.setattr(resume, "INTERVAL", 0)
    kept: dict[int, list[list[int]]] = {}

    class Recorder(Resume):
        def save(self, state: State) -> None:
            kept[count].append([len(state.arrays["rank"]), *state.values.values()])

    found = {}
    for count in (1, 3):
        kept[count] = []
        found[count] = ranks.score_benchmarks(
            copies("gpt2", count), tokenizer, benchmarks, Scoring(batch_tokens=60),
            resume=Recorder(Path("nowhere") / "s.parquet", "k"),
        )  # fmt: skip
    assert kept[1] == kept[3]
    assert {budget for *_, budget in kept[1]} == {60, 30}
    assert same(found[1], found[3])


def test_what_is_no_finite_number_names_the_same_pair(tokenizer, benchmarks):
    messages = set()
    for count in (1, 3):
        models = copies("gpt2", count)
        for model in models:
            with torch.no_grad():
                model.transformer.wpe.weight[4] = float("nan")
        with refuses("broken", "pair 'tf", "non-finite") as error:
            ranks.score_benchmarks(
                models, tokenizer, benchmarks, Scoring(batch_tokens=20), Pointer("broken", Path())
            )
        messages.add(str(error.value))
    assert len(messages) == 1


def test_a_run_stopped_on_three_devices_goes_on_with_one(tokenizer, benchmarks, tmp_path, monkeypatch):
    settings = Scoring(batch_tokens=30)
    (alone,) = copies("gpt2", 1)
    expected = ranks.score_benchmarks(alone, tokenizer, benchmarks, settings)
    monkeypatch.setattr(resume, "INTERVAL", 0)
    saved = Resume(tmp_path / "s.parquet", "k")
    true = saved.save

    class StoppedError(Exception):
        """What stands for a kill."""

    def stop(state: State) -> None:
        true(state)
        if state.values["sequences"] > 10:
            raise StoppedError

    monkeypatch.setattr(saved, "save", stop)
    with pytest.raises(StoppedError):
        ranks.score_benchmarks(copies("gpt2", 3), tokenizer, benchmarks, settings, resume=saved)
    again = Resume(tmp_path / "s.parquet", "k")
    read: list[int] = []
    alone.get_input_embeddings().register_forward_hook(
        lambda module, inputs, output: read.append(inputs[0].shape[0])
    )
    assert same(ranks.score_benchmarks(alone, tokenizer, benchmarks, settings, resume=again), expected)
    assert sum(read) < 36 - 10 + 3  # the three are the sample that is looked at first
