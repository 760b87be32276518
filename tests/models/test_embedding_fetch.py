"""An embedding model of the hub is fetched once, and then found without a network."""

import os
import subprocess
import sys

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from fathom.planning.rehearsal.hub_stub import serve_hub

FETCH = "from fathom.models.embedding_fetch import fetch_embedding_model as f; f('org/embedder')"
EMBED = """
from fathom.benchmark.embedding_models import load_embedding_model
loaded = load_embedding_model('org/embedder')
inputs = loaded.tokenizer(['a model learns'], return_tensors='pt')
print(tuple(loaded.embed(loaded.network, dict(inputs)).shape))
"""
MODULES = """[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
 {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"""
POOLING = (
    '{"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}'
)
LIMITS = '{"max_seq_length": 32, "do_lower_case": false}'


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    """Return the files of a tiny embedding model, with copies of it in another format and pickled."""
    folder = tmp_path_factory.mktemp("embedder")
    words = {word: place for place, word in enumerate(["[PAD]", "[UNK]", "a", "model", "learns"])}
    core = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=core, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(
        folder
    )
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=5, max_position_embeddings=32, **shape)).save_pretrained(folder)
    found = {file.name: file.read_bytes() for file in folder.iterdir()}
    texts = {"modules.json": MODULES, "1_Pooling/config.json": POOLING, "sentence_bert_config.json": LIMITS}
    return {**found, **{name: text.encode() for name, text in texts.items()},
            "onnx/model.onnx": b"no", "pytorch_model.bin": b"no"}  # fmt: skip


def run(code, hub, tmp_path, **changes):
    values = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1", **changes}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **values},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_an_embedding_model_is_fetched_once_and_found_offline(files, tmp_path):
    with serve_hub() as hub:
        hub.add("org/embedder", files)
        run(FETCH, hub, tmp_path, HF_HUB_OFFLINE="0")
        assert hub.list_downloads("model.safetensors") == [""]
        assert not hub.list_downloads("model.onnx") and not hub.list_downloads("pytorch_model.bin")
        assert "(1, 16)" in run(EMBED, hub, tmp_path, HF_HUB_OFFLINE="1")
        run(FETCH, hub, tmp_path, HF_HUB_OFFLINE="1")
        assert len(hub.list_downloads("model.safetensors")) == 1


def test_an_embedding_model_that_cannot_be_had_is_refused(files, tmp_path):
    with serve_hub() as hub:
        assert "org/embedder is not on the hub" in run(FETCH, hub, tmp_path, HF_HUB_OFFLINE="0")
        hub.add("org/embedder", {name: each for name, each in files.items() if "safetensors" not in name})
        assert "org/embedder has no weights in safetensors" in run(FETCH, hub, tmp_path, HF_HUB_OFFLINE="0")
        assert "unset it to fetch" in run(FETCH, hub, tmp_path / "other", HF_HUB_OFFLINE="1")
