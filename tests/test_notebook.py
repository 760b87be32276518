"""What a notebook imports: the examples of its docstrings run, and bad input gives one message."""

import doctest
from pathlib import Path

import polars as pl
import pytest
from tests.refusals import refuses
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

import fathom
from fathom.benchmark import benchmark_files as loading
from fathom.benchmark.benchmark_files import make_manifest
from fathom.config.models import Training
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import write_json, write_text
from fathom.io.tables import read_table, write_table
from fathom.models.folders import load_tokenizer, save_model
from fathom.models.loading import Pointer, write_pointer
from fathom.models.sequences import train_tokenizer
from fathom.planning import notebook_builds
from fathom.scoring import domain_rank, notebook

DOMAIN = "machine-learning"
PLACE = Path("results", "demo", DOMAIN, "benchmark")
ROWS = [{"prompt": "The agent learns a", "target": " policy"}, {"prompt": "of the", "target": " state"}]


def write_model(folder: Path) -> None:
    text = "The agent learns a policy of the state . It maximizes the expected reward . " * 9
    texts = pl.DataFrame({"doc_id": ["d"], "split": ["adapt-train"], "text": [text]})
    train_tokenizer(texts, Training(domain="x", vocabulary=270, context=64), folder / "tokenizer")
    tokenizer = load_tokenizer(folder / "tokenizer")
    set_seed(0)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=1, n_head=2)
    save_model(folder / "gpt2", GPT2LMHeadModel(config), tokenizer)


def write_benchmark(folder: Path, variant: str) -> None:
    rows = [
        {"pair_id": f"p{number}", "keyword": "agents", "variant": variant, "doc_id": "d", "date": "",
         "cosine": 0.7, "target_in_prompt": False, "target_in_keyword": False, "association": 2.5, **row}
        for number, row in enumerate(ROWS)
    ]  # fmt: skip
    write_table(folder / "pairs.parquet", pl.DataFrame(rows), PAIRS)
    write_json(folder / "pairs.json", {"pairs": len(rows)})
    write_text(folder / "README.md", "# The card\n")
    if variant != "reference":
        config = Config.model_validate(
            {"domains": {DOMAIN: {"categories": ["cs.LG"]}}, "pairs": {"tokenizer": "gpt2"}}
        )
        files = {"pairs.parquet": folder / "pairs.parquet"}
        write_json(folder / "manifest.json", make_manifest(files, config, DOMAIN, "tf", {}, {}))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model `gpt2` and the benchmarks of a run."""
    folder = tmp_path_factory.mktemp("notebook")
    write_model(folder)
    (folder / "opinions").mkdir()
    for number in range(3):
        text = f"The court of number {number} hears the appeal of the plaintiff."
        (folder / "opinions" / f"{number}.txt").write_text(text)
    for variant in ("tf", "reference"):
        write_benchmark(folder / PLACE / variant, variant)
    return folder


@pytest.mark.parametrize(
    "module", [domain_rank, loading, notebook, notebook_builds], ids=lambda module: module.__name__
)
def test_examples_run_as_they_stand(folder, monkeypatch, module):
    monkeypatch.chdir(folder)
    found = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL, report=True)
    assert found.attempted >= 3
    assert found.failed == 0


def test_pairs_are_taken_in_every_form(folder, tmp_path):
    model = folder / "gpt2"
    write_text(tmp_path / "p.jsonl", pl.DataFrame(ROWS).write_ndjson())
    write_pointer(tmp_path / "model.json", Pointer("m", model))
    scores = fathom.score(model, ROWS)
    assert scores.columns == SCORES.names
    assert scores["log_probability"].max() < 0
    for other in (pl.DataFrame(ROWS), tmp_path / "p.jsonl", str(tmp_path / "p.jsonl")):
        assert fathom.score(tmp_path / "model.json", other, batch_tokens=3).equals(scores)
    with_bos = fathom.score(model, ROWS, add_bos=True)
    assert with_bos["pair_id"].equals(scores["pair_id"]) and not with_bos.equals(scores)


@pytest.mark.parametrize(
    ("model", "pairs", "settings", "message"),
    [("gpt2", [], {}, "pairs: there is no pair"),
     ("gpt2", pl.DataFrame(ROWS).clear(), {}, "pairs: there is no pair"),
     ("gpt2", [ROWS[0], {"prompt": "a"}], {}, "pairs, row 2: no text in target"),
     ("gpt2", [("a", " b")], {}, r"pairs, row 1: not a mapping: \('a', ' b'\)"),
     ("gpt2", pl.DataFrame({"prompt": ["a", None], "target": ["b", "c"]}), {}, "no text in prompt"),
     ("gpt2", pl.DataFrame({"prompt": [1], "target": ["b"]}), {}, "no text in prompt"),
     ("gpt2", pl.DataFrame({"prompt": ["a"]}), {}, "missing columns: target"),
     ("gpt2", ROWS, {"device": "abacus"}, "device = 'abacus'"),
     ("./gpt3", ROWS, {}, "GGUF file ./gpt3"),
     ("a/b/c", ROWS, {}, "GGUF file a/b/c")],
)  # fmt: skip
def test_bad_input_is_named(folder, monkeypatch, model, pairs, settings, message):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=message):
        fathom.score(model, pairs, **settings)


def test_a_model_that_was_fetched_before_needs_no_hub(folder, tmp_path, monkeypatch):
    cache = tmp_path / "models--some--tiny"
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text("abc")
    (cache / "snapshots").mkdir()
    (cache / "snapshots" / "abc").symlink_to(folder / "gpt2")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert fathom.score("some/tiny", ROWS).equals(fathom.score(folder / "gpt2", ROWS))
    with refuses("some/other"):
        fathom.score("some/other", ROWS)


def test_a_benchmark_is_what_the_workflow_wrote(folder):
    found = fathom.load_benchmark(folder / PLACE / "tf")
    assert found.pairs.equals(read_table(folder / PLACE / "tf" / "pairs.parquet", PAIRS))
    assert (found.report, found.card) == ({"pairs": 2}, "# The card\n")
    assert found.manifest["variant"] == "tf"
    reference = fathom.load_benchmark(folder / PLACE / "reference")
    assert (reference.domain, reference.variant, reference.manifest) == (DOMAIN, "reference", {})


def test_a_benchmark_of_an_earlier_version_is_scored_and_what_it_lacks_is_said(folder, tmp_path, caplog):
    earlier = tmp_path / DOMAIN / "benchmark" / "tf"
    earlier.mkdir(parents=True)
    pl.read_parquet(folder / PLACE / "tf" / "pairs.parquet").drop("association").write_parquet(
        earlier / "pairs.parquet"
    )
    with caplog.at_level("INFO"):
        found = fathom.load_benchmark(earlier)
    assert "association of its pairs is unknown" in caplog.text
    assert found.pairs["association"].is_nan().all()
    now = fathom.load_benchmark(folder / PLACE / "tf")
    scores = fathom.score(folder / "gpt2", found.pairs)
    assert scores.equals(fathom.score(folder / "gpt2", now.pairs))


def test_benchmarks_that_are_none_are_named(folder, tmp_path):
    with refuses("pairs.parquet"):
        fathom.load_benchmark(tmp_path)
    write_benchmark(tmp_path / "d" / "benchmark" / "tf", "tf")
    pairs = read_table(tmp_path / "d" / "benchmark" / "tf" / "pairs.parquet", PAIRS)
    for frame, message in ((pairs[:1], "manifest.json"), (pairs.clear(), "has no pair")):
        write_table(tmp_path / "d" / "benchmark" / "tf" / "pairs.parquet", frame, PAIRS)
        with pytest.raises(InputError, match=message):
            fathom.load_benchmark(tmp_path / "d" / "benchmark" / "tf")


def test_there_is_nothing_else_at_the_top():
    with pytest.raises(AttributeError, match="has no attribute 'scroe'"):
        fathom.scroe  # noqa: B018
