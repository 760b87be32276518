"""`fathom export`: records of Every Eval Ever, entries of model cards, and a table that `rankings` reads."""

import re
import shutil
import sys
from dataclasses import replace

import numpy as np
import pytest
import yaml
from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries
from tests.explorer.runs import MODELS, SETTINGS, write_run
from tests.programs import STATISTICS, run_command
from tests.refusals import refuses
from tests.tables import MODEL_COLUMNS, read_delimited, write_delimited

from fathom.config.ranking import RankingSettings
from fathom.explorer.reader import read_run
from fathom.exports.every_eval_ever import Source, make_records
from fathom.io.contracts.statistics import SUMMARY
from fathom.io.delimited import write_rows
from fathom.io.files import hash_folder, read_json, read_json_lines, write_json
from fathom.models.registry import ModelRow
from fathom.ranking.score_folder import read_folder

TIME = 1_700_000_000
PUBLISHED = ModelRow("alpha", "a", "org/alpha", "f" * 40, "base", "", 7, None, "float32")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="module")
def exported(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "out"
    done = run_command("export", run, "--output", folder, "--retrieved", TIME, "--dataset", "us/physics")
    counts = "3 records with 720 lines of pairs, model-index entries of 3 models, a table of 2 benchmarks"
    assert done.stdout == f"{folder}: {counts}\n"
    return folder


def test_records_say_what_the_summary_says(exported, run):
    records = [read_json(path) for path in sorted(exported.glob("data/*/*/*/*.json"))]
    assert {record["model_info"]["id"] for record in records} == {f"small/{name}" for name in MODELS}
    summary = read_delimited(run / "summary.csv", ",", SUMMARY.names)
    for record in records:
        rows = [row for row in summary if row["model"] == record["model_info"]["name"]]
        found = {result["evaluation_result_id"]: result for result in record["evaluation_results"]}
        assert len(found) == len(rows)
        for row in rows:
            name = f"{row['domain']}.{row['variant']}/{row['metric']}/{row['aggregate']}"
            result = found[f"{record['evaluation_id']}#{name}"]
            assert result["score_details"]["score"] == float(row["value"])
            assert result["metric_config"]["lower_is_better"] == (
                row["metric"] in ("rank", "rival_rank", "bits_per_byte", "perplexity")
            )


def test_each_pair_is_a_line_and_says_whether_it_counts(exported):
    for path in exported.glob("data/*/*/*/*_samples.jsonl"):
        aggregate = read_json(path.with_name(path.name.replace("_samples.jsonl", ".json")))
        details, lines = aggregate["detailed_evaluation_results"], read_json_lines(path)
        assert details["total_rows"] == len(lines) == 240
        assert details["file_path"] == path.relative_to(exported).as_posix()
        assert re.search(
            r"/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_samples", str(path)
        )
        assert sum(line["metadata"]["in_training_text"] == "true" for line in lines) == 2
        assert all(line["evaluation"]["is_correct"] == (line["evaluation"]["score"] == 1) for line in lines)
        assert {line["evaluation_id"] for line in lines} == {aggregate["evaluation_id"]}


def test_every_eval_ever_accepts_them(exported, monkeypatch):
    why = "every-eval-ever is not installed; it needs Python 3.12"
    validator = pytest.importorskip("every_eval_ever.validate", reason=why)
    monkeypatch.setattr(sys, "argv", ["validate", *map(str, exported.glob("data/*/*/*/*.json*"))])
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(validator.main())
    assert not ended.value.code


def test_model_cards_and_rankings_read_the_rest(exported):
    entry = yaml.safe_load((exported / "model-index" / "alpha.yaml").read_text())["model-index"][0]
    assert entry["name"] == "alpha" and len(entry["results"]) == 2
    metrics = {metric["type"]: metric["value"] for metric in entry["results"][0]["metrics"]}
    table = read_folder(exported / "scores", RankingSettings(), {})
    assert [each.name for each in table.benchmarks] == ["physics.tf", "physics.tfidf"]
    assert not any(each.lower_is_better for each in table.benchmarks)
    place = [model.name for model in table.models].index("alpha")
    assert np.asarray(table.scores)[0, place, 0] == metrics["bits"]


def test_the_hub_reads_the_results_of_a_model(exported, run):
    entries = parse_eval_result_entries(yaml.safe_load((exported / "eval-results/alpha.yaml").read_text()))
    assert [(each.dataset_id, each.task_id) for each in entries] == [
        ("us/physics", "physics-tf"), ("us/physics", "physics-tfidf")
    ]  # fmt: skip
    rows = [row for row in read_delimited(run / "summary.csv", ",") if row["model"] == "alpha"]
    assert [each.value for each in entries] == [
        float(row["value"]) for row in rows if row["metric"] == "bits"
    ]
    assert entries[0].date == "2023-11-14" and "0 is nothing, high is best" in entries[0].notes
    assert eval_result_entries_to_yaml(entries) == yaml.safe_load(
        (exported / "eval-results/alpha.yaml").read_text()
    )
    with refuses("OWNER/NAME"):
        run_command("export", run, "--output", exported / "x", "--dataset", "physics")


def test_the_same_run_gives_the_same_bytes(exported, run, tmp_path):
    again = ("--output", tmp_path / "again", "--retrieved", TIME, "--dataset", "us/physics")
    run_command("export", run, *again)
    assert hash_folder(tmp_path / "again") == hash_folder(exported)


def test_a_published_model_has_its_id_on_the_hub(run):
    source = Source(run, "small", TIME, "1.0")
    made = make_records(source, {"alpha": PUBLISHED}, with_pairs=False)
    records = {record.content["model_info"]["name"]: record for record in made}
    info = records["alpha"].content["model_info"]
    assert info["id"] == "org/alpha" and info["additional_details"]["revision"] == "f" * 40
    assert records["alpha"].path.startswith("data/fathom_small_physics/org/alpha/")
    assert records["beta"].content["model_info"]["id"] == "small/beta"
    assert not records["alpha"].samples and "detailed_evaluation_results" not in records["alpha"].content


def test_models_with_one_id_on_the_hub_have_records_of_their_own(run):
    source = Source(run, "small", TIME, "1.0")
    registry = {name: replace(PUBLISHED, name=name, revision=name) for name in ("alpha", "beta")}
    records = list(make_records(source, registry))
    assert len({record.path for record in records}) == 3
    assert len({record.content["evaluation_id"] for record in records}) == 3
    assert len({record.samples[0]["evaluation_id"] for record in records}) == 3
    assert [record.content["model_info"]["id"] for record in records].count("org/alpha") == 2


def test_intervals_have_the_level_of_the_run_and_none_without_a_width_is_an_error(run, tmp_path):
    copied = shutil.copytree(run, tmp_path / "run")
    rows = read_delimited(copied / "summary.csv", ",")
    for row in rows:
        if row["variant"] == "tfidf":
            row["ci_low"] = row["ci_high"] = row["value"]  # of one keyword
    write_rows(copied / "summary.csv", [tuple(row.values()) for row in rows], SUMMARY)
    known = {"licence": "Own", "terms": "https://example.org"}
    write_json(copied / "models/alpha/model.json", known)
    write_json(copied / "models/beta/model.json", known | {"licence": "Apache-2.0"})
    errors = []
    for level in (0.95, 0.6826895):
        out = tmp_path / str(level)
        run_command("export", copied, "--output", out, "--confidence", level, "--without-pairs")
        errors.append(read_delimited(out / "scores/run_stderr.csv", ","))
    assert {row["physics.tfidf"] for row in errors[0]} == {""}
    for narrow, wide in zip(*errors, strict=True):
        assert float(wide["physics.tf"]) == pytest.approx(1.959964 * float(narrow["physics.tf"]), rel=1e-4)
    card = (tmp_path / "0.6826895/model-index/alpha.yaml").read_text()
    assert "68.27 % interval" in card
    assert yaml.safe_load(card)["license_name"] == "Own"
    assert yaml.safe_load(card)["license_link"] == "https://example.org"
    card = (tmp_path / "0.6826895/model-index/beta.yaml").read_text()
    assert yaml.safe_load(card)["license"] == "apache-2.0"
    with refuses("--confidence 95"):
        run_command("export", copied, "--output", tmp_path / "x", "--confidence", 95)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("place", ["mine/alpha", "~/alpha", "./alpha"])
def test_a_local_folder_is_no_id_on_the_hub(run, tmp_path, place):
    (tmp_path / "mine/alpha").mkdir(parents=True)
    rows = [("alpha", "a", place, "", "base", "", "7", "", "float32")]
    write_delimited(tmp_path / "models.tsv", MODEL_COLUMNS, rows)
    given = ("--registry", tmp_path / "models.tsv", "--without-pairs", "--output", tmp_path / "out")
    run_command("export", run, *given)
    records = [read_json(path) for path in (tmp_path / "out").glob("data/*/*/*/*.json")]
    assert {record["model_info"]["id"] for record in records} == {f"small/{name}" for name in MODELS}


def test_what_cannot_be_exported_is_named(run, exported, tmp_path):
    with refuses("this is not an empty folder"):
        run_command("export", run, "--output", exported)
    for time in ("-1", "9" * 17):
        with refuses("--retrieved", time):
            run_command("export", run, "--output", tmp_path / "out", "--retrieved", time)
    with refuses("summary.csv: there is no such file"):
        run_command("export", tmp_path, "--output", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_export_that_fails_leaves_no_folder(run, tmp_path):
    damaged = shutil.copytree(run, tmp_path / "damaged")
    *_, last = sorted(damaged.glob("*/scores/*/*.parquet"))  # the others are exported before it
    last.write_bytes(b"cut off")
    with refuses("not a complete parquet file"):
        run_command("export", damaged, "--output", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["damaged"]


@pytest.mark.parametrize(
    ("old", "new", "column"),
    [("alpha", "../../x", "model"), ("alpha", "{tmp}/x", "model"), ("physics", "../../x", "domain"),
     (",tf,", ",../../x,", "variant")],
)  # fmt: skip
def test_names_in_tables_that_lead_elsewhere_are_refused(run, tmp_path, old, new, column):
    copied = shutil.copytree(run, tmp_path / "run")
    for path in copied.glob("*.csv"):
        path.write_text(path.read_text().replace(old, new.format(tmp=tmp_path)))
    for command in (
        ("export", copied, "--output", tmp_path / "a" / "out"), ("summary", copied), ("page", copied)
    ):  # fmt: skip
        with refuses(".csv, line 2", f"column {column}", "letters, digits"):
            run_command(*command, imports=STATISTICS)
    left = {path.name for path in [*tmp_path.iterdir(), *tmp_path.glob("a/*"), *copied.iterdir()]}
    assert left == {"run", *(path.name for path in run.iterdir())}


def test_a_link_that_leads_out_of_a_run_is_not_followed(run, tmp_path):
    copied = shutil.copytree(run, tmp_path / "run")
    (tmp_path / "secret.csv").write_text("key,value\nname,planted-secret\n")
    (copied / "table.csv").symlink_to(tmp_path / "secret.csv")
    found = read_run(copied, SETTINGS)
    assert "planted-secret" not in str(found.tables) and any("table.csv" in each for each in found.missing)
    scores = copied / "physics/scores/tf/alpha.parquet"
    scores.unlink()
    scores.symlink_to(run / "physics/scores/tf/alpha.parquet")
    for command in (("export", copied, "--output", tmp_path / "out"), ("plan", "--separate", copied)):
        with refuses("alpha.parquet", "leads out of the folder"):
            run_command(*command, imports=STATISTICS)
