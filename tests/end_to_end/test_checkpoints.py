"""Published checkpoints from a stub of the hub: few lie on the disk, a corrupt one is replaced."""

import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from tests.end_to_end.project import HASH_SEED, run_snakemake, write_tiny_config
from tests.programs import MODELS, find_python
from tests.tables import MODEL_COLUMNS

from fathom.planning.rehearsal.hub_stub import read_folder, serve_hub

STEPS = (100, 200, 250, 300)
"""Checkpoints of the stub, of which the second is corrupt; the third stands in for it, and is not listed."""


def make_revisions(project, folder):
    """Return the files of the checkpoints."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, set_seed

    from fathom.models.folders import load_tokenizer

    tokenizer = load_tokenizer(project / "results" / "tiny" / "models" / "tiny" / "tokenizer")
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=1, n_head=2)
    for step in STEPS:
        set_seed(step)
        model = GPT2LMHeadModel(config)
        if step == STEPS[1]:
            model.transformer.h[0].mlp.c_fc.weight.data[3, 5] = torch.nan
        model.save_pretrained(folder / str(step))
        tokenizer.save_pretrained(folder / str(step))
    return [read_folder(folder / str(step)) for step in STEPS]


def write_registry(path, commits):
    """Write a table with a row for each checkpoint."""
    lines = ["\t".join([*MODEL_COLUMNS, "stand_in"])]
    for step, commit in zip(STEPS, commits, strict=True):
        stand_in = "step250" if step == STEPS[1] else ""
        row = (f"step{step}", "tiny", "org/tiny", commit, "base", "", "5000", f"{step}000", "float32",
               stand_in)  # fmt: skip
        lines.append("\t".join(row))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def followed(from_scratch, tmp_path_factory):
    """Follow three checkpoints, one on the disk at a time; return the project, what was said, downloads."""
    folder = tmp_path_factory.mktemp("followed") / "project"
    shutil.copytree(from_scratch, folder)
    with serve_hub() as hub:
        commits = hub.add("org/tiny", *make_revisions(folder, folder / "revisions"))
        write_registry(folder / "config" / "checkpoints.tsv", commits)
        models = {"registry": "config/checkpoints.tsv",
                  "on_disk": 1,
                  "follow": {"others": ["step100", "step200", "step300"]},
                  "train": {"tiny": {"domain": "far", "layers": 2, "width": 32, "heads": 2, "vocabulary": 512,
                                     "context": 64, "steps": 4, "batch": 4, "sequence": 32}}}  # fmt: skip
        shards = [Path("input") / name for name in ("b.jsonl.gz", "z.jsonl")]
        config = write_tiny_config(folder, shards, models=models)
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}
        online["HF_HOME"] = str(folder / "hub")
        python = find_python(MODELS, PYTHONHASHSEED=HASH_SEED, **online)
        wanted = "results/tiny/following/following.parquet"
        done = run_snakemake(folder, "-c2", "--configfile", config, "--", wanted, python=python, **online)
        yield folder, done.stdout + done.stderr, list(hub.list_downloads("model.safetensors"))


def test_each_checkpoint_is_fetched_once_and_one_lies_on_the_disk_at_a_time(followed):
    folder, output, downloads = followed
    assert len(downloads) == len(STEPS)  # the corrupt one and its stand-in too
    here = 0
    for started, _ in re.findall(
        r"^(localrule fetch_weights:)|^(Removing temporary output \S+/weights)", output, re.M
    ):
        here += 1 if started else -1
        assert 0 <= here <= 1
    assert output.count("localrule fetch_weights:") == 3
    assert not list((folder / "results" / "tiny" / "models").glob("step*/weights"))


def test_a_corrupt_checkpoint_is_replaced_and_reported(followed):
    folder, _, _ = followed
    run = folder / "results" / "tiny"
    message = "step200 is corrupt and replaced by step250: model.safetensors: values of "
    assert message in (run / "logs" / "fetch_weights" / "step200.log").read_text()
    table = pl.read_parquet(run / "following" / "following.parquet")
    rows = table.filter(metric="rank", aggregate="trimmed_mean", domain="near", variant="tf").sort("tokens")
    assert rows["model"].to_list() == ["step100", "step200", "step300"]
    assert rows["stand_in"].to_list() == ["", "step250", ""]
    assert rows["tokens"].to_list() == [100_000, 250_000, 300_000]
    assert rows["value"].n_unique() == 3
