"""The table of ranks that `fathom summary` prints."""

import json

import pytest
from tests.figures.rank_summaries import add_geometric_means, make_row, make_summary, write_summary
from tests.programs import run_command
from tests.refusals import refuses
from tests.tables import fill_table, read_delimited

from fathom.config.short_names import clean_name
from fathom.figures.model_ranks import read_model_ranks
from fathom.figures.rank_table import describe_run
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.statistics import GROUPS, SUMMARY
from fathom.io.delimited import write_rows
from fathom.io.tables import write_table


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_summary_of_a_run_is_printed(tmp_path, columns):
    names = ["toy-gpt2+machine-learning", "toy-gpt2", "red"]
    summary = make_summary(tmp_path / "summary.csv", names)
    (tmp_path / "index.html").touch()
    before = sorted(tmp_path.iterdir())
    run = run_command("summary", tmp_path, environment={"COLUMNS": str(columns)})
    assert sorted(tmp_path.iterdir()) == before
    order = [clean_name(model.model) for model in read_model_ranks(summary)["ml"]]
    places = [run.stdout.index(f"  {name}") for name in order]
    assert places == sorted(places)
    assert "low is best" in " ".join(run.stdout.split())
    assert str(tmp_path / "index.html") in run.stdout and "\x1b" not in run.stdout
    assert "config/arxiv.yaml" not in run.stdout
    table = run.stdout.split("A rank says")[0]
    assert columns == 40 or max(map(len, table.splitlines())) <= columns


def test_the_summary_of_the_demo_says_what_to_do_next(tmp_path):
    folder = tmp_path / "demo"
    folder.mkdir()
    make_summary(folder / "summary.csv", ["toy-gpt2"])
    run = run_command("summary", folder)
    assert "docs/tutorial.md" in run.stdout
    assert "fathom build FOLDER --models smollm2" in run.stdout
    assert "fathom run -c2 --configfile config/arxiv.yaml --config dump=FOLDER run=NAME" in run.stdout


def test_what_intervals_draw_is_said_where_it_is_not_keywords(tmp_path):
    rows = [(*make_row("one", variant, 20.0), clusters)
            for variant, clusters in (("tf", "keywords"), ("tfidf", "documents"))]  # fmt: skip
    write_rows(tmp_path / "summary.csv", rows, SUMMARY)
    said = [line for line in "\n".join(describe_run(tmp_path, 120)).splitlines() if "two keywords" in line]
    assert len(said) == 1 and "TF-IDF" in said[0] and "documents" in said[0]


def test_a_folder_without_a_summary_is_named(tmp_path):
    with refuses(f"{tmp_path}: there is no summary.csv\nHint: give the folder of a run"):
        run_command("summary", tmp_path)


def test_groups_are_shown_only_where_there_are_some(tmp_path):
    add_geometric_means(make_summary(tmp_path / "summary.csv", ["one", "two"]))
    plain = "".join(describe_run(tmp_path, 120))
    groups = [("ml", variant, mean, name, 1, 2, name[0].upper() + variant[-1] + mean[0], 9)
              for variant in ("tf", "tfidf") for mean in ("trimmed_mean", "geometric_mean")
              for name in ("one", "two")]  # fmt: skip
    # as older runs have it: without the metric, and what intervals draw
    older = [name for name in GROUPS.names[:-1] if name != "metric"]
    write_rows(tmp_path / "groups.csv", groups, GROUPS, older)
    grouped = "".join(describe_run(tmp_path, 120))
    assert "Letters:" not in plain and "Letters:" in grouped
    lines = [line for line in grouped.splitlines() if line.startswith("  one ")]
    marks = [[cell for cell in line.split() if cell[:2] in {"Of", "Tf"}] for line in lines]
    assert marks == [["Oft", "Oft"], ["Ofg", "Ofg"]]
    heads = [line.split()[1] for line in grouped.splitlines() if line.startswith("  by ")]
    assert heads == ["trimmed", "geometric"]
    assert len(grouped.splitlines()[1].split()) == len(plain.splitlines()[1].split()) == 8


def test_ranks_among_rivals_have_tables_and_letters_of_their_own(tmp_path):
    metrics = ("rank", "rival_rank")
    rows = [
        make_row(name, variant, 9 * place, 8, 30, metric=metric)
        for name in "ab"
        for variant in ("tf", "tfidf")
        for place, metric in enumerate(metrics, start=1)
    ]
    write_summary(tmp_path / "summary.csv", rows)
    letters = [("ml", "tf", metric, "trimmed_mean", name, 1, 2, f"{name}{metric[:2]}", 9)
               for metric in metrics for name in "ab"]  # fmt: skip
    write_rows(tmp_path / "groups.csv", letters, GROUPS, GROUPS.names[:-1])
    lines = "\n".join(describe_run(tmp_path, 120)).splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith("  by ")]
    assert ["rivals" in lines[place] for place in heads] == [False, True]
    assert [line.split()[1:3] for line in (lines[place + 1] for place in heads)] == [
        ["9.0", "[8.0,"],
        ["18.0", "[8.0,"],
    ]
    assert [("ara" in lines[place + 1], "ari" in lines[place + 1]) for place in heads] == [
        (True, False),
        (False, True),
    ]


def test_a_reference_benchmark_is_shown_where_there_is_one(tmp_path):
    make_summary(tmp_path / "summary.csv", ["a"])
    assert "reference" not in "".join(describe_run(tmp_path, 120))
    rows = [make_row(name, variant, 9, 8, 10) for name in "ab" for variant in ("tf", "tfidf", "reference")]
    write_summary(tmp_path / "summary.csv", rows)
    assert "reference rank" in "".join(describe_run(tmp_path, 120))
    folder = tmp_path / "ml" / "benchmark" / "reference"
    folder.mkdir(parents=True)
    (folder / "pairs.json").write_text('{"name": "claude"}')
    named = "".join(describe_run(tmp_path, 120))
    assert "claude rank" in named and "reference" not in named


def test_pairs_left_out_because_of_training_text_are_said(tmp_path):
    make_summary(tmp_path / "summary.csv", ["a", "b"])
    pairs = int(read_delimited(tmp_path / "summary.csv", ",")[0]["pairs"])
    for variant, total in (("tf", pairs + 7), ("tfidf", pairs)):
        folder = tmp_path / "ml" / "benchmark" / variant
        folder.mkdir(parents=True)
        (folder / "overlap.json").write_text(json.dumps({"pairs": total}))
    assert f"models were trained on: 7 of {pairs + 7} TF pairs." in " ".join(
        "".join(describe_run(tmp_path, 120)).split()
    )


def test_knowledge_in_bits_leads_and_the_papers_ranks_are_a_step_away(tmp_path):
    rows = [
        make_row(name, variant, *values, metric=metric, aggregate=aggregate)
        for name, bits in (("low", (0.02, -0.03, 0.07)), ("high", (1.5, 1.1, 1.9)), ("mid", (0.4, 0.1, 0.7)))
        for variant in ("tf", "tfidf")
        for metric, aggregate, values in (("bits", "mean", bits), ("rank", "trimmed_mean", (9.0, 8.0, 30.0)))
    ]
    write_summary(tmp_path / "summary.csv", rows)
    plain, whole = ("\n".join(describe_run(tmp_path, 120, ranks_too)) for ranks_too in (False, True))
    lines = plain.splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["high", "mid", "low"]
    assert "1.50 [1.10, 1.90]" in lines[2] and "rank" not in plain
    assert "No knowledge shown (intervals contain 0): low." in plain and "Ceiling" not in plain
    assert (
        "by trimmed mean rank" in whole and "A rank says" in whole and whole.startswith("ml\n  by knowledge")
    )
    pairs = fill_table(PAIRS, pair_id=[*"abcd"], target=[" tree", " lake", " walk", " desert"])
    write_table(tmp_path / "ml" / "benchmark" / "tf" / "pairs.parquet", pairs, PAIRS)
    assert "Ceiling, bits: 2.00 (TF)." in "\n".join(describe_run(tmp_path, 120))
