"""A table of scores from a run's own summary and comparisons."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tables import write_delimited

from fathom.config.ranking import RankingSettings
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.statistics import COMPARISONS, SUMMARY
from fathom.models.registry import ModelRow
from fathom.ranking.score_folder import collect_run

GPT2 = ModelRow("gpt2", "gpt2", "openai-community/gpt2", "", "base", "", 124, 9, "float32")


@pytest.fixture
def run(tmp_path):
    ranks = {"gpt2": (30, 40), "gpt2+law": (10, 12), "own": (20, 50)}
    summary = [("law", variant, model, "rank", "trimmed_mean", value, value - 2, value + 2, 9)
               for model, values in ranks.items()
               for variant, value in zip(("tf", "tfidf"), values, strict=True)]  # fmt: skip
    summary += [("law", "tf", "own", "rank", "geometric_mean", 99, 1, 2, 9),
                ("law", "tf", "own", "probability", "trimmed_mean", 0.5, 0.4, 0.6, 9)]  # fmt: skip
    summary += [("law", "text", model, "bits_per_byte", "mean", 1.5, "", "", 9) for model in ranks]
    comparisons = [
        ("law", "tf", "rank", "trimmed_mean", "gpt2+law", "gpt2", 20, 15, 25, 0.002, 0.006, "yes", 9),
        ("law", "tf", "rank", "trimmed_mean", "gpt2+law", "own", 10, 5, 15, 0.002, 0.006, "yes", 9),
        ("law", "tf", "rank", "trimmed_mean", "own", "gpt2", 10, -1, 15, 0.2, 0.2, "no", 9),
        ("law", "tfidf", "rank", "trimmed_mean", "gpt2", "own", 10, "", "", "", "", "no", 9),
        ("law", "tf", "rank", "geometric_mean", "gpt2", "gpt2+law", 20, 15, 25, 0.002, 0.006, "yes", 9),
        ("law", "tf", "probability", "trimmed_mean", "gpt2", "own", 10, 1, 2, 0.1, 0.3, "yes", 9),
    ]
    write_delimited(tmp_path / "summary.csv", SUMMARY.names[:-1], summary, ",")
    write_delimited(tmp_path / "comparisons.csv", COMPARISONS.names[:-1], comparisons, ",")
    return tmp_path / "summary.csv", tmp_path / "comparisons.csv"


def test_ranks_are_tasks_text_is_a_corpus_and_low_is_good(run):
    table = collect_run(*run, RankingSettings(), {"gpt2": GPT2})
    assert [each.name for each in table.benchmarks] == ["law.tf", "law.tfidf", "law.text"]
    assert [each.corpus for each in table.benchmarks] == [False, False, True]
    assert {each.category for each in table.benchmarks} == {"law"}
    assert [model.name for model in table.models] == ["gpt2", "gpt2+law", "own"]
    assert table.scores[0, :, 0].tolist() == [30, 10, 20]
    assert table.oriented()[0, :, 0].argmax() == 1
    assert table.errors[0, 0, 0] == pytest.approx(4 / (2 * 1.959964), abs=1e-6)
    assert np.isnan(table.errors[0, :, 2]).all()


def test_what_leads_ranks_the_models(run):
    """With bits they are the tasks, high is good, and their comparisons are the tests; by rank as without."""
    summary, comparisons = run
    for path, more in (
        (summary, [f"law,tf,{model},bits,mean,{value},{value - 1},{value + 1},9,"
                   for model, value in {"gpt2": 2, "gpt2+law": 1, "own": 3}.items()]
                  + [f"law,tfidf,{model},bits,mean,1.5,1,2,9," for model in ("gpt2", "gpt2+law", "own")]),
        (comparisons, ["law,tf,bits,mean,own,gpt2,1,0.5,1.5,0.002,0.006,yes,9,"]),
    ):  # fmt: skip
        width = path.read_text().splitlines()[0].count(",")
        lines = [",".join(line.split(",")[: width + 1]) for line in more]
        path.write_text(path.read_text() + "\n".join(lines) + "\n")
    table = collect_run(*run, RankingSettings(), {"gpt2": GPT2})
    assert [each.name for each in table.benchmarks] == ["law.tf", "law.tfidf", "law.text"]
    assert table.scores[0, :, 0].tolist() == [2, 1, 3] and table.oriented()[0, :, 0].argmax() == 2
    assert table.paired[0, 0].tolist() == pytest.approx([np.nan, -1.0, np.nan], nan_ok=True)
    by_rank = RankingSettings(summary=Summary(lead="rank"))
    assert collect_run(*run, by_rank, {"gpt2": GPT2}).scores[0, :, 0].tolist() == [30, 10, 20]


def test_an_adapted_model_is_of_the_family_of_its_base_without_its_tokens(run):
    models = collect_run(*run, RankingSettings(), {"gpt2": GPT2}).models
    assert [model.family for model in models] == ["gpt2", "gpt2", "own"]
    assert [model.tokens for model in models] == [9, None, None]


def test_a_model_in_its_chat_template_is_the_model(tmp_path, run):
    summary, comparisons = run
    for path in run:
        path.write_text(path.read_text().replace("own", "gpt2@chat"))
    chat = replace(GPT2, kind="chat", parameters=7, tokens=9)
    models = {
        model.name: model
        for model in collect_run(summary, comparisons, RankingSettings(), {"gpt2": chat}).models
    }
    found = models["gpt2@chat"]
    assert (found.family, found.kind, found.parameters, found.tokens) == ("gpt2", "chat", 7, 9)


def test_paired_tests_are_those_of_the_comparisons(run):
    paired = collect_run(*run, RankingSettings(), {"gpt2": GPT2}).paired[0]
    # pairs: gpt2 with gpt2+law, gpt2 with own, gpt2+law with own
    assert paired[0].tolist() == [-1, 0, 1]
    # an interval without width says nothing
    assert np.isnan(paired[1]).all() and np.isnan(paired[2]).all()


def test_a_damaged_summary_is_named(run, tmp_path):
    text = run[0].read_text().replace(",30,", ",thirty,")
    (tmp_path / "summary.csv").write_text(text)
    with pytest.raises(InputError, match=r"summary\.csv, line 2, column value: 'thirty' is not a number"):
        collect_run(*run, RankingSettings(), {})
    (tmp_path / "summary.csv").write_text("domain,variant\nlaw,tf\n")
    with pytest.raises(InputError, match="missing columns: model"):
        collect_run(*run, RankingSettings(), {})


def test_a_run_of_one_model_cannot_be_ranked(run, tmp_path):
    lines = run[0].read_text().splitlines()
    (tmp_path / "summary.csv").write_text("\n".join(line for line in lines if "gpt2" not in line) + "\n")
    write_delimited(tmp_path / "none.csv", COMPARISONS.names[:-1], [], ",")
    with pytest.raises(InputError, match="rankings of 1 model cannot be compared"):
        collect_run(run[0], tmp_path / "none.csv", RankingSettings(), {})
