"""A folder of scores: what is read, what is refused and in which words."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.refusals import refuses
from tests.tables import write_delimited

from fathom.config.ranking import RankedBenchmark, Ranking, RankingSettings, ScoreFile
from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.io.contracts.statistics import COMPARISONS, SUMMARY
from fathom.io.files import write_json
from fathom.models.registry import ModelRow
from fathom.ranking.benchmark_agreement import measure_tau_matrices, summarize_benchmarks, tabulate_means
from fathom.ranking.condition_files import find_score_files, list_score_files
from fathom.ranking.resampled_scores import ResampledScores
from fathom.ranking.score_folder import collect_run, read_folder
from fathom.ranking.table import read_score_table, write_score_table

HIGH = RankingSettings(
    ranking=Ranking(benchmarks={name: RankedBenchmark(lower_is_better=False) for name in "abc"})
)
HEADER = ("model", "a", "b", "c")
LINES = [("m1", 1, 0.2, 3), ("m2", 2, 0.3, 1), ("m3", 3, 0.1, 2), ("m4", 4, 0.4, 5)]


def make_settings(benchmarks=None, **more):
    return RankingSettings(ranking=Ranking(benchmarks=benchmarks or {}, **more))


def refuse(folder, *names, settings=HIGH):
    with refuses(*names):
        read_folder(folder, settings, {})


def change(lines, row, column, value):
    return [tuple(value if (r, c) == (row, column) else cell for c, cell in enumerate(line))
            for r, line in enumerate(lines)]  # fmt: skip


def test_conditions_models_and_benchmarks_are_read(write_scores):
    write_scores(
        "after.csv", ("model", "c", "a", "b"), [("m4", 9, 8, 7), *((f"m{n}", n, n, n) for n in (1, 2, 3))]
    )
    folder = write_scores("before.csv", HEADER, LINES)
    conditions = [ScoreFile(name="direct", file="before"), ScoreFile(name="tuned", file="after")]
    settings = make_settings(HIGH.ranking.benchmarks, conditions=conditions)
    table = read_folder(folder, settings, {})
    assert table.conditions == ("direct", "tuned")
    assert [model.name for model in table.models] == ["m1", "m2", "m3", "m4"]
    assert table.scores[0].tolist() == [[1, 0.2, 3], [2, 0.3, 1], [3, 0.1, 2], [4, 0.4, 5]]
    # the other table has other orders of lines and columns
    assert table.scores[1, 3].tolist() == [8, 7, 9]
    assert np.isnan(table.errors).all() and np.isnan(table.paired).all()


def test_a_table_of_scores_survives_writing_and_reading(write_scores, tmp_path):
    write_scores(
        "s_examples/a.csv", ("example", "m1", "m2", "m3", "m4"), [(n, n % 2, 1, 0, 1) for n in range(9)]
    )
    write_scores("s_stderr.csv", HEADER, change(LINES, 1, 2, "n/a"))
    folder = write_scores("s.csv", HEADER, change(LINES, 2, 3, ""))
    table = read_folder(folder, HIGH, {"m1": ENTRY})
    write_score_table(tmp_path / "out", table)
    again = read_score_table(tmp_path / "out")
    assert (again.conditions, again.models, again.benchmarks) == (
        table.conditions, table.models, table.benchmarks,
    )  # fmt: skip
    for name in ("scores", "errors", "paired"):
        np.testing.assert_array_equal(getattr(again, name), getattr(table, name))
    assert not np.isnan(again.paired[0, 0]).any() and np.isnan(again.paired[0, 1]).all()


ENTRY = ModelRow("m1", "fam", "org/m1", "", "chat", "", 7, 100, "float32")


def test_low_is_good_turns_scores_and_paired_tests(write_scores):
    write_scores("s_examples/a.csv", ("example", "m1", "m2", "m3", "m4"), [(n, 0, 1, 2, 3) for n in range(9)])
    folder = write_scores("s.csv", HEADER, LINES)
    low = RankedBenchmark(lower_is_better=True)
    turned = read_folder(folder, make_settings({**HIGH.ranking.benchmarks, "a": low}), {})
    plain = read_folder(folder, HIGH, {})
    assert turned.oriented()[0, :, 0].tolist() == [-1, -2, -3, -4]
    assert turned.oriented()[0, :, 1].tolist() == plain.oriented()[0, :, 1].tolist()
    assert (turned.paired[0, 0] == -plain.paired[0, 0]).all() and plain.paired[0, 0].tolist() == [-1] * 6


@pytest.mark.parametrize(("trim", "ahead"), [(0.2, -1), (0.05, 0)])
def test_ranks_are_tested_with_the_trim_of_summaries(write_scores, trim, ahead):
    """The second model is better by 10, but for a few examples of an enormous rank."""
    ranks = np.random.default_rng(2).integers(50, 100, 200)
    second = np.where(np.arange(200) < 15, 50_000, ranks - 10)
    lines = [(n, rank, other, rank, rank) for n, (rank, other) in enumerate(zip(ranks, second, strict=True))]
    write_scores("s_examples/a.csv", ("example", "m1", "m2", "m3", "m4"), lines)
    folder = write_scores("s.csv", HEADER, LINES)
    write_json(folder / "metadata.json", {"metric": {"a": "rank", "b": "acc", "c": "acc"}})
    table = read_folder(folder, RankingSettings(summary=Summary(trim=trim)), {})
    assert table.paired[0, [each.name for each in table.benchmarks].index("a"), 0] == ahead


@pytest.mark.parametrize("text", ["", " ", "N/A", "'N/A'", "nan", "NA", "null", "-"])
def test_a_missing_score_is_missing_in_every_condition(write_scores, text, caplog):
    write_scores("x.csv", HEADER, change(LINES, 1, 2, text))
    folder = write_scores("y.csv", HEADER, LINES)
    table = read_folder(folder, HIGH, {})
    assert np.argwhere(np.isnan(table.scores)).tolist() == [[0, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize(
    ("lines", "parts"),
    [(change(LINES, 1, 2, "good"),
      ["s.csv, line 3, column b", "'good' is not a number", "leave the field empty"]),
     (change(LINES, 1, 2, "1_0"), ["s.csv, line 3, column b", "'1_0' is not a number"]),
     (change(LINES, 1, 2, "inf"), ["s.csv, line 3, column b", "'inf' is not a finite number"]),
     (change(LINES, 1, 0, ""), ["s.csv, line 3", "this line has no model"]),
     (change(LINES, 1, 0, "m1"), ["s.csv, line 3", "duplicate model 'm1'"]),
     (LINES[:1], ["s.csv: rankings of 1 model cannot be compared", "at least 3"]),
     ([], ["there is no model in this table"]),
     ([*LINES, ("m5", 1)], ["2 fields where the header has 4", "s.csv, line 6"])],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_place(write_scores, lines, parts):
    refuse(write_scores("s.csv", HEADER, lines), "Hint:", *parts)


def test_one_benchmark_is_no_ranking_to_compare_and_corpora_do_not_count(write_scores):
    found = "1 benchmark (corpora apart), so no second ranking"
    refuse(write_scores("s.csv", ("model", "a"), [line[:2] for line in LINES]), found, "Hint: at least 2")
    corpora = {name: RankedBenchmark(lower_is_better=True, corpus=True) for name in "bc"}
    folder = write_scores("s.csv", HEADER, LINES)
    refuse(folder, found, settings=make_settings({"a": HIGH.ranking.benchmarks["a"], **corpora}))


def test_a_header_must_name_models_and_each_benchmark_once(write_scores):
    refuse(write_scores("s.csv", ("name", "a", "b", "c"), LINES), "there is no column 'model'")
    refuse(write_scores("s.csv", ("model", "a", "a", "c"), LINES), "duplicate columns: a")


def test_conditions_that_differ_are_named_with_what_they_lack(write_scores):
    write_scores("x.csv", HEADER, LINES)
    lacks = "that another condition has are missing (1)"
    refuse(write_scores("y.csv", HEADER, LINES[1:]), f"y.csv: models {lacks}: m1")
    refuse(write_scores("y.csv", HEADER, [*LINES, ("m5", 1, 1, 1)]), f"x.csv: models {lacks}: m5")
    three = [line[:3] for line in LINES]
    refuse(write_scores("y.csv", HEADER[:3], three), f"y.csv: benchmarks {lacks}: c")


def test_standard_errors_must_fit_the_scores(write_scores):
    folder = write_scores("s.csv", HEADER, LINES)
    write_scores("s_stderr.csv", HEADER, change(LINES, 0, 1, -0.1))
    refuse(folder, "s_stderr.csv, line 2, column a: negative standard error -0.1")
    write_scores("s_stderr.csv", HEADER, change(LINES, 0, 0, "m9"))
    refuse(folder, "s.csv has no 'm9' on 'a'")
    write_scores("s_stderr.csv", ("model", "z"), [("m1", 1)])
    refuse(folder, "s.csv has no 'm1' on 'z'")


def test_missing_standard_errors_are_no_error(write_scores):
    folder = write_scores("s.csv", HEADER, LINES)
    write_scores("s_stderr.csv", HEADER[:2], [line[:2] for line in LINES[:3]])
    errors = read_folder(folder, HIGH, {}).errors[0]
    assert np.isnan(errors).tolist() == [[False, True, True]] * 3 + [[True] * 3]


def test_examples_must_fit_the_scores(write_scores):
    folder = write_scores("s.csv", HEADER, LINES)
    write_scores("s_examples/z.csv", ("example", "m1"), [(1, 1)])
    refuse(folder, "unknown benchmark 'z'")
    (folder / "s_examples" / "z.csv").unlink()
    write_scores("s_examples/a.csv", ("example", "m1", "m2", "m3", "m9"), [(1, 1, 1, 1, 1)] * 2)
    refuse(folder, "models that are unknown: m9, missing: m4")
    write_scores("s_examples/a.csv", ("example", "m1", "m2", "m3", "m4"), [(1, 1, 1, "x", 1)] * 2)
    refuse(folder, "a.csv, line 2, column m3: 'x' is not a number")


def test_a_direction_is_never_guessed(write_scores):
    folder = write_scores("s.csv", HEADER, LINES)
    unknown = "it is unknown whether high or low scores are good on a, c"
    hint = "ranking.benchmarks.a.lower_is_better: true or false"
    refuse(folder, unknown, hint, settings=make_settings({"b": HIGH.ranking.benchmarks["b"]}))


def test_directions_categories_and_sizes_come_from_the_metadata(write_scores):
    folder = write_scores("s.csv", HEADER, LINES)
    write_json(folder / "metadata.json", {
        "metric": {"a": "test_acc,none", "b": "test_bits_per_byte,none", "c": "test_exact_match,strict"},
        "task_category": {"a": "Math", "c": "Law"},
        "perplexity_tasks": ["b"],
        "train_size": {"a": 17},
        "model_rename": {"m1": "First"},
        "base_models": ["m1"], "chat_models": ["m2"],
        "pretraining_compute_N_billion_D_billion_tokens": {"m1": {"N": 2, "D": 3}},
    })  # fmt: skip
    table = read_folder(folder, make_settings(categories=["Law", "Math"]), {"x": ENTRY})
    assert [each.name for each in table.benchmarks] == ["c", "a", "b"]
    assert [each.lower_is_better for each in table.benchmarks] == [False, False, True]
    assert (table.downstream, table.corpora) == ([0, 1], [2])
    assert table.benchmarks[1].training_examples == 17
    assert [model.title for model in table.models] == ["First", "m2", "m3", "m4"]
    assert [model.kind for model in table.models] == ["base", "chat", "", ""]
    assert table.models[0].compute == 36e18 and table.models[1].compute is None
    assert table.scores[0, 0].tolist() == [3, 1, 0.2]


@pytest.mark.parametrize(
    ("value", "part"),
    [([1], "not a JSON object"), ({"metric": []}, "metric is not an object"),
     ({"base_models": {}}, "base_models is not a list"),
     ({"pretraining_compute_N_billion_D_billion_tokens": {"m1": {"N": 1}}}, "the size of 'm1' lacks N and D"),
     ({"metric": {"a": None}}, "metric holds None, not text"),
     ({"task_category": {"a": ["x"]}}, "task_category holds ['x'], not text"),
     ({"train_size": {"a": "1,000"}}, "train_size holds '1,000', not whole numbers")],
)  # fmt: skip
def test_metadata_of_another_form_is_refused(write_scores, value, part):
    folder = write_scores("s.csv", HEADER, LINES)
    write_json(folder / "metadata.json", value)
    refuse(folder, part)


def test_models_are_found_by_name_or_source_and_strangers_are_said(write_scores, caplog):
    folder = write_scores("s.csv", HEADER, change(change(change(LINES, 0, 0, "org/m1"), 1, 0, "m1"),
                                                  2, 0, "m12"))  # fmt: skip
    settings = make_settings(HIGH.ranking.benchmarks, families={"Group": ["fam"]})
    with caplog.at_level("INFO", logger="fathom"):
        table = read_folder(folder, settings, {"m1": ENTRY})
    models = table.models
    assert [(m.family, m.kind, m.parameters) for m in models[:2]] == [("Group", "chat", 7)] * 2
    # two rows of one model keep names that tell them apart
    assert [model.title for model in models[:2]] == ["org/m1", "m1"]
    assert [(m.family, m.kind, m.compute) for m in models[2:]] == [("", "", None)] * 2
    assert (
        "2 of 4 models are in neither models.tsv nor metadata.json (m12, m4; did you mean m1?)" in caplog.text
    )


def test_files_are_found_before_any_job(write_scores):
    write_scores("b_stderr.csv", HEADER, LINES)
    write_scores("b_examples/a.csv", HEADER, LINES)
    write_scores("b.csv", HEADER, LINES)
    folder = write_scores("a.csv", HEADER, LINES)
    write_json(folder / "metadata.json", {})
    names = [path.removeprefix(f"{folder}/") for path in list_score_files(folder, Ranking())]
    assert names == ["a.csv", "b.csv", "b_stderr.csv", "b_examples/a.csv", "metadata.json"]
    assert [each.name for each in find_score_files(folder, Ranking())[0]] == ["a", "b"]
    (folder / "empty").mkdir()
    absent = Ranking(conditions=[{"name": "x", "file": "z"}])
    for place, settings, part in ((".", absent, "there is no z.csv"), ("no", Ranking(), "no such folder"),
                                  ("empty", Ranking(), "there is no table of scores")):  # fmt: skip
        with refuses(part):
            find_score_files(folder / place, settings)


def test_nothing_of_a_number_is_lost(write_scores):
    value = 0.1 + 0.2
    folder = write_scores("s.csv", HEADER, change(LINES, 0, 1, repr(value)))
    assert read_folder(folder, HIGH, {}).scores[0, 0, 0] == value
    assert math.isclose(value, 0.3)


def test_a_benchmark_without_examples_is_left_out_of_the_paired_statistic_alone(write_scores, caplog):
    folder = write_scores("s.csv", HEADER, LINES)
    for name in ("a", "b"):
        rows = [(n, f"k{n}", 1, *(place + n * place % 7 / 10 for place in range(1, 5))) for n in range(30)]
        write_scores(f"s_examples/{name}.csv", ("example", "keyword", "weight", "m1", "m2", "m3", "m4"), rows)
    resampled = ResampledScores(read_folder(folder, HIGH, {}), RankingSettings(summary=Summary(rounds=20)))
    with caplog.at_level("INFO", logger="fathom"):
        assert set(resampled.signs) == {"tau", "tau_paired"}
    assert "tau_paired: no test on c, which are left out of this statistic" in caplog.text
    matrices = measure_tau_matrices(resampled)
    assert {(row[1], row[2]) for row in tabulate_means(matrices, resampled)} == {
        *(("tau", name) for name in "abc"), ("tau_paired", "a"), ("tau_paired", "b")}  # fmt: skip
    found = {each.name: each.values[0] for each in summarize_benchmarks(matrices, resampled)}
    assert found["mean_tau_paired"] == 1


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


def test_models_and_benchmarks_of_a_run_have_the_names_that_people_read(run):
    settings = RankingSettings(ranking=Ranking(categories=["law"]))
    named = {"law": {"tfidf": "claude"}}
    table = collect_run(*run, settings, {"gpt2": GPT2}, {"law": "The law"}, named)
    assert [each.title for each in table.models] == ["gpt2", "gpt2 adapted to The law", "own"]
    assert [each.title for each in table.benchmarks] == [
        *("The law: TF", "The law: claude", "The law: held-out text")
    ]
    assert {each.category for each in table.benchmarks} == {"The law"}
    assert [each.name for each in table.benchmarks] == ["law.tf", "law.tfidf", "law.text"]


def test_a_category_that_names_a_domain_is_that_of_its_benchmarks(run):
    moved = {"law.tfidf": {"category": "art"}, "law.text": {"category": "law"}}
    ranking = Ranking(categories=["art", "law"], benchmarks=moved)
    titles = {"law": "The law", "art": "Fine art"}
    table = collect_run(*run, RankingSettings(ranking=ranking), {"gpt2": GPT2}, titles)
    assert [(each.name, each.category) for each in table.benchmarks] == [
        *(("law.tfidf", "Fine art"), ("law.tf", "The law"), ("law.text", "The law"))
    ]


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
