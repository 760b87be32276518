"""The studies of bits, on a small run with two models of random weights."""

import argparse
import itertools

import polars as pl
import pytest
from perf.studies import bits, exchanged_prompts, rivals
from tests.tables import fill_table, write_delimited
from tests.tiny import make_config, make_model, make_word_tokenizer

from fathom.io.contracts.benchmark import PAIRS, VOCABULARY
from fathom.models.loading import Pointer, write_pointer

TERMS = ["spin", "lattice", "phonon", "magnet", "band", "gap", "field", "wave"]
WORDS = ["the", "of", "a", "couples", "to", "we", "show", *TERMS]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    texts = [
        (f"k{place % 3}", f"the {one} of a {other} couples to the", f" {target}")
        for place, (one, other, target) in enumerate(itertools.permutations(TERMS[:5], 3))
    ]
    for variant in ("tf", "tfidf"):
        part = texts[:40] if variant == "tf" else texts[20:]
        names = [f"{variant}{place}" for place in range(len(part))]
        keywords, prompts, targets = (list(column) for column in zip(*part, strict=True))
        pairs = fill_table(PAIRS, pair_id=names, keyword=keywords, prompt=prompts, target=targets)
        place = folder / "field" / "benchmark" / variant
        place.mkdir(parents=True)
        pairs.write_parquet(place / "pairs.parquet")
        rows = [("k0", f" {term}", 1, 0.1, 0.1, 0.5) for term in TERMS]
        write_delimited(place / "vocabulary.tsv", VOCABULARY.names, rows)
    (folder / "corpus" / "texts").mkdir(parents=True)
    text = pl.DataFrame({"text": [" ".join(WORDS)]})
    text.write_parquet(folder / "corpus" / "texts" / "field.parquet")
    tokenizer = make_word_tokenizer(WORDS)
    for seed, name in enumerate(["one", "two"]):
        weights = folder / "models" / name / "weights"
        make_model(make_config("gpt2", len(tokenizer), 32), seed).save_pretrained(weights)
        tokenizer.save_pretrained(weights)
        write_pointer(weights.parent / "model.json", Pointer(name, weights))
    return folder


def test_plain_loops_give_the_bits_of_the_product_and_nothing_is_scored_twice(run, monkeypatch):
    study = bits.read_study(run, "field", ["one", "two"], 1)
    for model, each in study.read.items():
        found = bits.measure(each, study.keywords, study.choices[rivals.ALL])
        assert found == pytest.approx(study.scores[model]["bits"].to_numpy(), abs=1e-5)
    each = next(iter(study.read.values()))
    assert {word.strip() for word in each.words} == set(TERMS)
    usual, twice = (study.choices[name][each.places].sum(axis=1) for name in (rivals.ALL, bits.TWICE))
    assert set(usual) == {4} and set(twice) == {7}, "three terms are no targets"
    monkeypatch.setattr(rivals, "open_model", None)
    again = bits.read_study(run, "field", ["one", "two"], 1)
    assert again.scores["two"].equals(study.scores["two"])


def test_the_study_of_bits_prints_a_line_for_each_model_and_two_models(run, capsys):
    bits.main(argparse.Namespace(run=run, domain=["field"], model=["one", "two"], threads=1))
    told = capsys.readouterr().out
    assert "60 pairs, 3 keywords" in told
    models = [line for line in told.splitlines() if line.startswith(("| one | ", "| two | "))]
    assert len(models) == 3, "a line for each model, and one for both"
    assert "| one | two | " in told and f"| {bits.TWICE} |" in told


def test_the_study_of_exchanged_prompts_compares_two_measures(run, capsys):
    options = {"run": run, "domain": "field", "model": ["one", "two"], "threads": 1}
    exchanged_prompts.main(argparse.Namespace(**options, pairs=20, exchanges=2))
    told = capsys.readouterr().out
    assert "17 of 20 pairs have 2 exchanged prompts" in told and "0 have no term" in told
    assert "tau of the two orders of models" in told
