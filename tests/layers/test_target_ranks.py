"""Targets by layer: against a plain way, and the last layer against the scores."""

import json
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.figures.frames import draw_twice
from tests.layers.plain import ENTRIES, make_model, read_all_states
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.tiny import make_config, make_word_tokenizer
from tests.tiny import make_model as build_model

from fathom.config.layers import Layers
from fathom.config.scoring import Scoring
from fathom.io.contracts.benchmark import MATCHES, OVERLAP
from fathom.io.contracts.layers import LAYER_TARGETS
from fathom.io.tables import check_table, read_table, write_table
from fathom.layers.projection import LayerReader, Translators
from fathom.layers.target_ranks import MEASURES, ForwardSettings, measure_targets, sample_pairs
from fathom.models.folders import save_model
from fathom.scoring.ranks import score_benchmarks

WORDS = ["<unk>", "<s>", "the", *(f"word{number}" for number in range(ENTRIES - 3))]


def make_tokenizer() -> Any:
    return make_word_tokenizer(WORDS[2:])


def make_pairs(keywords: int = 3, each: int = 4) -> pl.DataFrame:
    random = np.random.default_rng(0)
    rows = []
    for keyword in range(keywords):
        for number in range(each):
            words = random.choice(WORDS[3:], 4 + number % 3).tolist()
            end = 1 + number % 2  # targets of one token and of two
            texts = {"prompt": " ".join(words[:-end]), "target": " " + " ".join(words[-end:])}
            rows.append({"pair_id": f"{keyword}-{number}", "keyword": f"k{keyword}", **texts})
    return pl.DataFrame(rows)


@pytest.mark.parametrize("kind", ["gpt2", "gpt_neox", "llama", "gemma2", "olmo2"])
def test_same_as_a_plain_way(kind):
    model, tokenizer, pairs = make_model(kind), make_tokenizer(), make_pairs()
    found = measure_targets(model, tokenizer, pairs, ForwardSettings(20))
    check_table(found.to_arrow(), LAYER_TARGETS)
    assert len(found) == len(pairs) * 4
    norm = next(
        m for name, m in reversed(list(model.base_model.named_children())) if "norm" in name or "ln" in name
    )
    rows = {(row["pair_id"], row["layer"]): row for row in found.iter_rows(named=True)}
    for pair in pairs.iter_rows(named=True):
        prompt, target = (tokenizer(pair[name])["input_ids"] for name in ("prompt", "target"))
        states = read_all_states(model, prompt + target)
        last = project(model, norm(states[-1]))
        for layer, state in enumerate(states):
            logits = project(model, norm(state))
            row = rows[pair["pair_id"], layer]
            assert row["tokens"] == len(target)
            want: dict[str, list[float]] = {name: [] for name in MEASURES}
            for place, token in enumerate(target, start=len(prompt) - 1):
                share, theirs = logits[place].softmax(0), last[place].softmax(0)
                order = logits[place].argsort(descending=True).tolist()
                want["rank"].append(1 + order.index(token))
                want["probability"].append(float(share[token]))
                want["entropy"].append(float(-(share * share.log()).sum()))
                want["agreement"].append(float(share.argmax() == theirs.argmax()))
                want["divergence"].append(float((theirs * (theirs / share).log()).sum()))
            for name, values in want.items():
                assert row[name] == pytest.approx(np.mean(values), abs=2e-5), name


def project(model: Any, states: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        logits = model.get_output_embeddings()(states)
    cap = getattr(model.config, "final_logit_softcapping", None)
    return (logits if cap is None else cap * (logits / cap).tanh()).double()


@pytest.mark.parametrize(("budget", "kind"), [(1, "llama"), (30, "llama"), (10_000, "llama"), (30, "long")])
def test_the_last_layer_is_what_scores_say_in_any_batch_and_order(budget, kind):
    model, tokenizer, pairs = make_model("llama"), make_tokenizer(), make_pairs()
    if kind == "long":  # prompts of three words are read as short, those of four and more as long
        scaling = {"rope_type": "longrope", "rope_theta": 1e4, "original_max_position_embeddings": 3,
                   "short_factor": [1.0] * 4, "long_factor": [1.0, 4.0, 9.0, 16.0]}  # fmt: skip
        model = build_model(
            make_config("llama", ENTRIES, 32, layers=3, initializer_range=0.2, rope_parameters=scaling)
        )
    pairs = pairs.sample(fraction=1.0, shuffle=True, seed=budget)
    scores = score_benchmarks(model, tokenizer, [pairs], Scoring(device="cpu"))[0]
    last = measure_targets(model, tokenizer, pairs, ForwardSettings(budget)).filter(layer=3)
    assert last["pair_id"].to_list() == pairs["pair_id"].to_list()
    assert last["rank"].to_list() == scores["rank"].to_list()
    assert np.allclose(last["probability"], scores["probability"], atol=1e-6)
    assert last["divergence"].max() == 0 and last["agreement"].min() == 1


@pytest.mark.parametrize("most", [1, 3, 7, 1000])
def test_no_more_rows_of_logits_are_held_than_allowed(most, monkeypatch):
    model, tokenizer, pairs = make_model("llama"), make_tokenizer(), make_pairs()
    whole = measure_targets(model, tokenizer, pairs, ForwardSettings(1000))
    held, project = [], LayerReader.to_logits

    def count(layers: LayerReader, states: torch.Tensor, normed: bool = True) -> torch.Tensor:
        held.append(states[..., 0].numel())
        return project(layers, states, normed)

    monkeypatch.setattr(LayerReader, "to_logits", count)
    monkeypatch.setattr("fathom.layers.projection.count_rows", lambda entries, device: most)
    found = measure_targets(model, tokenizer, pairs, ForwardSettings(1000))
    assert max(held) == min(most, 3 * whole.filter(layer=0)["tokens"].sum())
    assert found["rank"].to_list() == whole["rank"].to_list()
    for name in MEASURES:
        assert np.allclose(found[name], whole[name], atol=1e-5), name


def test_a_map_is_measured_beside_the_plain_lens():
    model, tokenizer, pairs = make_model("llama"), make_tokenizer(), make_pairs(1)
    nothing = Translators(torch.zeros(3, 16, 16), torch.zeros(3, 16))
    found = measure_targets(model, tokenizer, pairs, ForwardSettings(64), nothing)
    plain, tuned = (found.filter(lens=lens).drop("lens") for lens in ("plain", "tuned"))
    assert plain.equals(tuned)
    moved = Translators(torch.zeros(3, 16, 16), torch.ones(3, 16))
    tuned = (
        measure_targets(model, tokenizer, pairs, ForwardSettings(64), moved).filter(lens="tuned").drop("lens")
    )
    same = (plain["probability"] == tuned["probability"]).to_list()
    assert same == [False, False, False, True] * 4


def test_keywords_with_enough_pairs_come_first_and_the_order_of_pairs_does_not_matter():
    pairs = pl.concat([make_pairs(6, 5), make_pairs(9, 2).filter(pl.col("keyword") > "k5")])
    chosen = sample_pairs(pairs, Layers(keywords=7, pairs=3))
    counts = dict(chosen.group_by("keyword").len().rows())
    assert {f"k{number}" for number in range(6)} <= set(counts) and len(counts) == 7
    assert sorted(counts.values()) == [2, 3, 3, 3, 3, 3, 3]
    shuffled = sample_pairs(pairs.sample(fraction=1.0, shuffle=True, seed=1), Layers(keywords=7, pairs=3))
    assert shuffled.equals(chosen)
    other = sample_pairs(pairs, Layers(keywords=7, pairs=3, seed=1))
    assert set(other["pair_id"]) != set(chosen["pair_id"])


def test_no_pair_is_refused():
    with refuses("benchmark", "pairs"):
        sample_pairs(make_pairs().clear(), Layers())


def test_numbers_that_are_not_finite_name_pair_and_model():
    model = make_model("llama", tie_word_embeddings=False)
    with torch.no_grad():
        model.model.embed_tokens.weight[WORDS.index("word7")] = float("nan")
    prompts = {"prompt": ["word1", "word7"], "target": [" word2"] * 2}
    pairs = pl.DataFrame({"pair_id": ["fine", "odd"], "keyword": ["a", "b"], **prompts})
    with refuses("broken", "'odd'"):
        measure_targets(model, make_tokenizer(), pairs, ForwardSettings(64, name="broken"))


run = partial(run_program, imports=MODELS)


def test_the_programs_from_model_to_figure(tmp_path):
    tokenizer = make_tokenizer()
    tokenizer.add_special_tokens({"eos_token": "<s>"})
    save_model(tmp_path / "base", make_model("llama", seed=0), tokenizer)
    (tmp_path / "stopwords.txt").write_text("the\nword9\n")
    (tmp_path / "keywords.tsv").write_text("keyword\nword0 word1\nword10 word1\nsilent word\n")
    sentences = [
        {"keyword": f"word{10 * place} word1", "doc_id": "d", "position": 0, "cosine": 0.9,
         "clean": " ".join(f"word{n}" for n in range(10 * place, 10 * place + 20))}
        for place in range(2)
    ]  # fmt: skip
    frame = pl.DataFrame(sentences).with_columns(pl.col("position").cast(pl.Int32))
    write_table(tmp_path / "sentences.parquet", frame, MATCHES)
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, make_pairs().to_dicts())))
    texts = {"doc_id": [str(n) for n in range(40)], "split": ["adapt-train", "adapt-valid"] * 20,
             "text": [" ".join(WORDS[3 + n : 23 + n]) for n in range(40)]}  # fmt: skip
    pl.DataFrame(texts).write_parquet(tmp_path / "texts.parquet")
    small = {"k": 10, "list_length": 12, "other_k": [3], "other_lengths": [5]}
    lens = {"steps": 3, "batch": 2, "sequence": 8, "positions": 5}
    out = tmp_path / "out"
    given = ("--model", tmp_path / "base", "--wordlists", tmp_path, "--finished", tmp_path / "finished")
    given += ("--keywords", f"x={tmp_path / 'keywords.tsv'}", "--pairs", tmp_path / "pairs.jsonl")
    given += ("--sentences", tmp_path / "sentences.parquet", "--rates")
    settings = json.dumps({"layers": small, "lens": lens, "scoring": {"device": "cpu"}})
    done = run(
        "measure_layers", *given, out / "base.rates.parquet",
        "--texts", f"x={tmp_path / 'texts.parquet'}", "--settings", settings,
    )  # fmt: skip
    report = json.loads((out / "base.rates.json").read_text())
    assert report["without_sentences"] == ["silent word"] and report["keywords"] == 2
    assert "1 of 3 keywords have no clean sentence" in done.stderr
    assert sorted(path.name.removeprefix("base.") for path in out.iterdir()) == [
        "examples.tsv", "lens.json", "lens.safetensors", "rates.json", "rates.parquet", "targets.json",
        "targets.parquet", "token-lists.parquet", "tokens.parquet",
    ]  # fmt: skip
    assert len(read_table(out / "base.targets.parquet", LAYER_TARGETS)) == 12 * 2 * 4
    without = json.dumps({"lens": {"steps": 0}})
    with refuses("lens.steps is 0: nothing to train"):
        run("measure_layers", *given, out / "n.rates.parquet", "--texts", "x=t", "--settings", without)
    tables = [part for name in ("base", "again") for kind in ("rates", "targets")
              for part in (f"--{kind}", f"x/{name}={out / 'base'}.{kind}.parquet")]  # fmt: skip
    targets = read_table(out / "base.targets.parquet", LAYER_TARGETS)
    names = targets["pair_id"].unique().sort()
    flags = pl.DataFrame({"pair_id": names, "sentence": False, "ending": [True, *[False] * (len(names) - 1)]})
    write_table(tmp_path / "overlap.parquet", flags, OVERLAP)
    done = run(
        "summarize_layers", *tables, "--overlap", f"x/tf={tmp_path / 'overlap.parquet'}",
        "--references", '[["again", "base"]]', "--summary", out / "layers.csv",
        "--changes", out / "changes.csv", "--onsets", out / "onsets.csv", "--settings",
        json.dumps({"layers": small, "summary": {"rounds": 20}}),
    )  # fmt: skip
    assert "x, tf: 1 of 12 pairs are left out" in done.stderr
    first = targets.filter(pl.col("pair_id") != names[0], layer=0, lens="plain")
    summary = pl.read_csv(out / "layers.csv", schema_overrides={"k": pl.String, "list_length": pl.String})
    row = summary.row(by_predicate=(pl.col("model") == "base") & (pl.col("projection") == "normed")
                      & (pl.col("metric") == "rank") & (pl.col("layer") == 0), named=True)  # fmt: skip
    assert row["value"] == pytest.approx(first["rank"].mean(), rel=1e-4)
    changes = pl.read_csv(out / "changes.csv")
    assert set(changes["metric"]) == {"rate", "inside", "outside_any", "rank", "probability"}
    assert set(changes["change"].drop_nulls()) == {0}
    tables = {
        "summary": out / "layers.csv", "changes": out / "changes.csv", "rates": out / "base.rates.parquet",
    }  # fmt: skip
    parts = {"domain": "x", "model": "base"}
    drawn = draw_twice(out / "drawn", "layers", tables, parts, members=["base", "again"], layers=small)
    assert len(drawn) == 7
    rates = next(path for path in drawn if path.name == "x.layers.base.rates.csv")
    assert pl.read_csv(rates)["panel"].n_unique() == 4
