"""Pairs of anybody: prompt and target are enough, for the program and in a notebook."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from transformers import GPT2Config, GPT2LMHeadModel, set_seed

from fathom.config.models import Training
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.scoring import SCORES
from fathom.io.files import read_json
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.models.folders import load_tokenizer, save_model
from fathom.models.sequences import train_tokenizer
from fathom.scoring.pair_files import COLUMNS, complete_pairs, read_pairs

ROOT = Path(__file__).resolve().parents[2]
ROWS = [{"prompt": "the model learns a", "target": " policy"}, {"prompt": "of the", "target": " state"}]


def write_lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    text = "the model learns a policy of the state and the reward of the agent . " * 9
    texts = pl.DataFrame({"doc_id": ["d"], "split": ["adapt-train"], "text": [text]})
    settings = Training(domain="x", vocabulary=270, context=64)
    train_tokenizer(texts, settings, folder / "tokenizer")
    tokenizer = load_tokenizer(folder / "tokenizer")
    set_seed(0)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=1, n_head=2)
    save_model(folder / "gpt2", GPT2LMHeadModel(config), tokenizer)
    return folder / "gpt2"


def test_what_is_missing_is_made_from_content(tmp_path):
    pairs = read_pairs(write_lines(tmp_path / "p.jsonl", ROWS))
    assert pairs.columns == list(COLUMNS) and set(pairs["keyword"]) == {""}
    assert pairs["pair_id"].n_unique() == 2
    again = read_pairs(write_lines(tmp_path / "p.jsonl", ROWS[::-1]))
    assert set(again["pair_id"]) == set(pairs["pair_id"])
    keyed = complete_pairs(pl.DataFrame(ROWS).with_columns(keyword=pl.lit("k"), more=1))
    assert keyed.columns == [*COLUMNS, "more"] and not set(keyed["pair_id"]) & set(pairs["pair_id"])


def test_a_parquet_file_needs_prompt_and_target_alone(tmp_path):
    frame = pl.DataFrame(ROWS)
    frame.write_parquet(tmp_path / "p.parquet")
    assert read_pairs(tmp_path / "p.parquet").equals(complete_pairs(frame))
    frame.with_columns(target=pl.Series([" x", None])).write_parquet(tmp_path / "p.parquet")
    with refuses("target", "p.parquet"):
        read_pairs(tmp_path / "p.parquet")
    frame.select("prompt").write_parquet(tmp_path / "p.parquet")
    for read in (lambda: read_pairs(tmp_path / "p.parquet"), lambda: complete_pairs(frame.select("prompt"))):
        with refuses("target"):
            read()


def test_what_is_there_stays():
    pairs = pl.DataFrame([{"pair_id": "mine", "keyword": "k", **ROWS[0]}])
    assert complete_pairs(pairs).equals(pairs)


@pytest.mark.parametrize(("rows", "message"), [
    ([{"prompt": "a"}], "line 1: no text in target"),
    ([ROWS[0], {"prompt": 3, "target": " x"}], "line 2: no text in prompt"),
    ([{**ROWS[0], "keyword": "k"}, ROWS[1]], "line 2: no text in keyword"),
])  # fmt: skip
def test_lines_that_lack_a_text_are_named(tmp_path, rows, message):
    with refuses(message):
        read_pairs(write_lines(tmp_path / "p.jsonl", rows))


def test_blank_lines_and_keys_that_nobody_reads_do_no_harm(tmp_path):
    rows = [row | {"doc_id": None, "keyword": None, "pair_id": number, "prompt_tokens": [1], "n": None}
            for number, row in enumerate(ROWS)]  # fmt: skip
    path = write_lines(tmp_path / "p.jsonl", rows)
    path.write_text("\n" + path.read_text() + "\n   \n\n")
    found = read_pairs(path)
    assert found["pair_id"].to_list() == ["0", "1"] and found["keyword"].to_list() == ["", ""]
    assert "doc_id" not in found.columns
    pl.DataFrame(ROWS).with_columns(doc_id=pl.lit(None, pl.String)).write_parquet(tmp_path / "p.parquet")
    assert "doc_id" not in read_pairs(tmp_path / "p.parquet").columns
    path.write_text('{"prompt": "a", "target": " b", "target": " c"}\n')
    with refuses("line 1", "duplicate keys: target"):
        read_pairs(path)


@pytest.mark.parametrize("name", ["p.jsonl", "p.parquet"])
def test_files_without_a_pair_are_refused(tmp_path, name):
    if name.endswith("parquet"):
        write_table(tmp_path / name, make_empty_table(PAIRS), PAIRS)
    else:
        write_lines(tmp_path / name, [])
    with refuses(name, "no pairs"):
        read_pairs(tmp_path / name)


def test_the_program_scores_a_plain_folder_on_prompts_and_targets(model_folder, tmp_path):
    lines = write_lines(tmp_path / "p.jsonl", ROWS)
    run_program(
        "score_model", "--model", model_folder, "--pairs", f"x/tf={lines}",
        "--scores", tmp_path / "s.parquet", "--finished", tmp_path / "finished", imports=MODELS,
    )  # fmt: skip
    scores = read_table(tmp_path / "s.parquet", SCORES)
    assert scores["pair_id"].to_list() == read_pairs(lines)["pair_id"].to_list()
    assert (scores["rank"] >= 1).all()
    assert read_json(tmp_path / "s.json")["pairs"] == 2


def test_the_example_of_the_scoring_page_runs_as_it_stands(model_folder, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "scoring.md").read_text(), re.S)
    (example,) = [block for block in blocks if "fathom.score" in block]
    program = tmp_path / "example.py"
    program.write_text(example.replace("path/to/model", "gpt2"))
    run_program(program, folder=model_folder.parent, imports=MODELS)
