"""An embedding model of the hub is fetched once, by a rule, and then found without a network."""

import json
import os
import re
import subprocess
import sys

import pytest
from tests.plans import ROOT, count_jobs, list_commands, plan
from tests.programs import find_program, list_programs
from tests.refusals import refuses
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from fathom.benchmark.embedding_models import find_identifier
from fathom.config.yaml_files import dump_yaml
from fathom.planning.rehearsal.hub_stub import serve_hub

FETCH = "from fathom.models.embedding_fetch import fetch_embedding_model as f; f('org/embedder')"
EMBED = """
import sys
from fathom.benchmark.embedding_models import load_embedding_model
loaded = load_embedding_model('org/embedder', *sys.argv[1:])
inputs = loaded.tokenizer(['a model learns'], return_tensors='pt')
print(tuple(loaded.embed(loaded.network, dict(inputs)).shape))
"""
MODULES = """[{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
 {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]"""
POOLING = (
    '{"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true, "pooling_mode_cls_token": false}'
)
EMBEDDER = "results/plan/corpus/embedder.json"
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


def run_python(hub, tmp_path, *arguments, **changes):
    values = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path), "HF_HUB_DISABLE_XET": "1", **changes}
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, **values},
        cwd=tmp_path if tmp_path.is_dir() else None,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def run(code, hub, tmp_path, *arguments, **changes):
    return run_python(hub, tmp_path, "-c", code, *arguments, **changes)


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


def test_a_revision_is_fetched_recorded_and_loaded(files, tmp_path):
    program, written = find_program("fetch_embedding"), tmp_path / "embedder.json"
    with serve_hub() as hub:
        # the newest cannot be loaded
        old, new = hub.add("org/embedder", files, {**files, "config.json": b"{}"})
        options = (program, "--name", "org/embedder", "--fetched", written)
        run_python(hub, tmp_path, *options, "--revision", old, HF_HUB_OFFLINE="0")
        first = json.loads(written.read_text())
        assert (first["repository"], first["revision"]) == ("org/embedder", old)
        assert "(1, 16)" in run(EMBED, hub, tmp_path, old, HF_HUB_OFFLINE="1")
        said = run_python(hub, tmp_path, *options, HF_HUB_OFFLINE="0")
        assert f"no pinned revision: using {new}" in said
        second = json.loads(written.read_text())
        assert second["revision"] == new and second["sha256"] != first["sha256"]
        said = run_python(hub, tmp_path, *options, "--revision", "none", HF_HUB_OFFLINE="0")
        assert "org/embedder has no revision 'none'" in said


def test_a_folder_has_no_revision(tmp_path):
    (tmp_path / "model.safetensors").touch()
    assert find_identifier(str(tmp_path)) is None
    assert find_identifier("org/embedder") == "org/embedder"
    with refuses("embedding.revision = main", "is a folder"):
        find_identifier(str(tmp_path), "main")


def test_the_target_fetch_fetches_the_embedding_model_of_a_run_that_has_nothing_else_to_do(files, tmp_path):
    values = {"run": "mine", "corpus": {"source": "jsonl", "files": ["mine.jsonl"]},
              "domains": {"all": {"categories": ["*"]}}, "pairs": {"tokenizer": "tiny"},
              "models": {"train": {"tiny": {"domain": "all"}}},
              "embedding": {"model": "org/embedder"}}  # fmt: skip
    (tmp_path / "mine.jsonl").write_text('{"id": "1", "text": "A model learns.", "categories": ["a"]}\n')
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(dump_yaml(values))
    place = ("-m", "snakemake", "-s", ROOT / "workflow/Snakefile", "-d", tmp_path, "-c1", "--", "fetch")
    with serve_hub() as hub:
        (commit,) = hub.add("org/embedder", files)
        said = run_python(hub, tmp_path, *place, HF_HUB_OFFLINE="0")
        written = tmp_path / "results/mine/corpus/embedder.json"
        assert written.is_file(), said
        assert json.loads(written.read_text())["revision"] == commit
        assert hub.list_downloads("model.safetensors") == [""]


def list_inputs(done: subprocess.CompletedProcess[str]) -> list[tuple[str, list[str]]]:
    """Return program and inputs of each job of a plan that has both."""
    jobs = re.split(r"^(?:localrule|rule) \w+:$", done.stdout, flags=re.MULTILINE)
    found = (
        (re.search(r"^Shell command: python \S*?(\w+)\.py", job, re.MULTILINE),
         re.search(r"^    input: (.*)$", job, re.MULTILINE))
        for job in jobs
    )  # fmt: skip
    return [(program[1], inputs[1].split(", ")) for program, inputs in found if program and inputs]


def test_every_job_that_embeds_waits_for_the_embedding_model(tmp_path):
    (tmp_path / "redpajama").mkdir()
    for name in ("arxiv-metadata-oai-snapshot.json", "redpajama/a.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / "mmlu.csv").touch()
    others = f"coverage={{others: {{cs.AI: {{MMLU: {{file: {tmp_path}/mmlu.csv}}}}}}}}"
    values = (f"dump={tmp_path}", "embedding={model: org/embedder, revision: abc}", others)
    asked = {"files": "config/arxiv-figures.yaml", "targets": "all coverage follow"}
    done = plan(*values, **asked)
    assert count_jobs(done)["fetch_embedding"] == 1
    (command,) = list_commands(done, "fetch_embedding")
    assert "--name org/embedder --revision abc" in command and f"--fetched {EMBEDDER}" in command
    embedding = {path.stem for path in list_programs() if "SentenceEncoder" in path.read_text()}
    waiting = {program for program, inputs in list_inputs(done) if EMBEDDER in inputs}
    jobs = [(program, inputs) for program, inputs in list_inputs(done) if program in embedding]
    assert {program for program, _ in jobs} == embedding == waiting
    assert all(EMBEDDER in inputs for _, inputs in jobs)


def test_an_embedding_model_that_is_here_or_not_needed_is_not_fetched():
    assert not count_jobs(
        plan("embedding={model: org/embedder}", targets="results/plan/corpus/index.parquet")
    )["fetch_embedding"]
    assert not count_jobs(plan(targets="all"))["fetch_embedding"]
