"""The data of a page: what is read of a run, what is missing, advice, sub-fields, and how it is packed."""

import base64
import gzip
import json
import shutil

import numpy as np
import polars as pl
import pytest
from tests.explorer.runs import MODELS, SCRIPT, SETTINGS, make_large, write_run
from tests.programs import STATISTICS, run_command, run_program
from tests.refusals import refuses
from tests.tables import read_delimited, write_delimited

from fathom.errors import InputError
from fathom.explorer.data import collect_data, collect_tables, dump_script, link_document
from fathom.explorer.page import ASSETS, VENDOR, render_page
from fathom.explorer.reader import list_read, read_run
from fathom.explorer.run import Named
from fathom.io.files import hash_file, read_json, write_json


def unpack(text):
    return gzip.decompress(base64.b64decode(text))


def test_a_finished_run_misses_nothing(run):
    assert run.missing == [] and not run.computed
    assert [benchmark.variant for benchmark in run.benchmarks] == ["tf", "tfidf"]
    tf = run.benchmarks[0]
    assert list(tf.ranks) == sorted(MODELS) and tf.title == "Physics"
    assert tf.left_out.sum() == 1 and tf.left_out[0] and len(tf.kept) == 119


def test_what_is_packed_is_what_the_tables_say(run):
    data = collect_data(run, SETTINGS)
    described = data.overview["benchmarks"][0]
    assert described["statistics"]["trimmed_mean"]["ranking"][0][0] == "alpha"
    assert set(data.overview["short"]) == set(MODELS)
    assert described["dates"] == ["2024-01-01", "2024-10-01"]
    assert (described["pairs"], described["kept"], described["keywords"]) == (120, 119, 12)
    assert described["heldOut"] == [300, 2000]
    ranks = np.frombuffer(unpack(data.blocks["ranks-0"]), dtype="<f4").reshape(3, 120)
    tf = run.benchmarks[0]
    np.testing.assert_allclose(ranks[1], tf.ranks["beta"], rtol=1e-6)
    texts = json.loads(unpack(data.blocks["texts-0"]))
    assert texts["prompts"] == tf.pairs["prompt"].to_list() and texts["leftOut"] == [0]
    assert texts["links"][0] == "https://arxiv.org/abs/1000.00000"
    keywords = json.loads(unpack(data.blocks["keywords-0"]))["rank"]
    kept = tf.pairs.with_columns(rank=pl.Series(tf.ranks["beta"])).filter(~pl.Series(tf.left_out))
    first = kept.filter(pl.col("keyword") == keywords["keywords"][0])["rank"].log().mean()
    assert keywords["values"][0][1] == pytest.approx(np.exp(first), rel=1e-4)
    assert keywords["pairs"][0] == 9
    rivals = json.loads(unpack(data.blocks["rivals-0"]))
    assert rivals["words"] == ["rival0", "rival1"] and rivals["first"][1][:7] == [0, -1, -1, 1, -1, -1, 0]
    among = np.frombuffer(unpack(data.blocks["rival-ranks-0"]), dtype="<f4").reshape(3, 120)
    np.testing.assert_allclose(among, ranks)
    bits = np.frombuffer(unpack(data.blocks["bits-0"]), dtype="<f4").reshape(3, 120)
    np.testing.assert_allclose(bits, 8 - np.log2(ranks), atol=0.006)
    assert {"rank", "rival_rank"} <= {row[3] for row in data.overview["metrics"]}


def test_knowledge_comes_with_its_ceiling_over_the_pairs_that_count(copied):
    for path in copied.glob("physics/scores/tf/*.parquet"):
        scores = pl.read_parquet(path)
        # the first pair is left out, the second has no bits
        first, count = [100.0, float("nan")], len(scores) - 2
        scores.with_columns(ceiling=pl.Series([*first, *[4.0, 6.0] * (count // 2)])).write_parquet(path)
    run = read_run(copied, SETTINGS)
    data = collect_data(run, SETTINGS)
    found = data.overview["benchmarks"][0]["statistics"]
    assert found["bits"]["ceiling"] == run.benchmarks[0].measure_ceiling() == pytest.approx(5)
    assert found["trimmed_mean"]["ceiling"] is None
    assert found["bits"]["terms"][0][1].endswith("5.00: always sure")
    assert data.overview["statistics"][0]["sign"] == 1
    assert data.overview["benchmarks"][1]["statistics"]["bits"]["ceiling"] == pytest.approx(8)


def test_without_groups_the_best_model_still_comes_first(copied, run):
    (copied / "groups.csv").unlink()
    for name, ranking in read_run(copied, SETTINGS).benchmarks[0].rankings.items():
        assert [each.model for each in ranking.models] == [
            each.model for each in run.benchmarks[0].rankings[name].models
        ]


def test_the_same_tables_give_the_same_bytes(run, folder):
    first, second = (render_page(collect_data(read_run(folder, SETTINGS), SETTINGS)) for _ in range(2))
    assert first == second
    assert str(folder) not in first and "Fathom: small" in first


def test_tables_of_an_older_run_are_read(copied, run):
    for name in ("comparisons", "groups"):
        table = pl.read_csv(copied / f"{name}.csv", infer_schema=False)
        table.drop("pairs").write_csv(copied / f"{name}.csv")
    older = read_run(copied, SETTINGS)
    assert [each.rankings.keys() for each in older.benchmarks] == [
        each.rankings.keys() for each in run.benchmarks
    ]
    assert not older.missing


@pytest.mark.parametrize("computed", [False, True])
def test_scores_without_rivals_are_shown_and_said(copied, run, computed):
    for path in copied.glob("physics/scores/*/*.parquet"):
        pl.read_parquet(path).drop("rival_rank", "rival", "bits", "ceiling").write_parquet(path)
    for name in ("summary", "comparisons", "groups"):
        table = pl.read_csv(copied / f"{name}.csv", infer_schema=False)
        table.filter(~pl.col("metric").is_in(["bits", "rival_rank"])).write_csv(copied / f"{name}.csv")
        if computed:
            (copied / f"{name}.csv").unlink()
    older = read_run(copied, SETTINGS)
    assert [*older.benchmarks[0].rankings] == ["trimmed_mean", "geometric_mean"]
    assert next(iter(run.benchmarks[0].rankings)) == "bits"
    assert [*run.benchmarks[0].rankings][3:] == ["rival_rank.trimmed_mean", "rival_rank.geometric_mean"]
    assert sum("rivals" in each and "alpha, beta" in each for each in older.missing) == 2
    data = collect_data(older, SETTINGS)
    assert data.overview["benchmarks"][0]["rivals"] == "" and "rivals-0" not in data.blocks
    assert data.answer.endswith("predict the words of Physics best; they are not significantly different.")


def test_every_table_is_shown_but_those_of_figures_and_of_times(copied):
    (copied / "figures").mkdir()
    for name in ("own.csv", "figures/own.csv", "resources.csv"):
        (copied / name).write_text("a,b\n1,2\n")
    found = {each["name"]: each for each in collect_tables(read_run(copied, SETTINGS))}
    assert [*found] == ["summary.csv", "comparisons.csv", "groups.csv", "correlations.csv", "own.csv"]
    assert found["summary.csv"]["about"] and "aggregate" in found["summary.csv"]["lines"]
    assert found["own.csv"]["rows"] == [["1", "2"]]


def test_the_table_of_what_was_left_out_is_described_last(copied):
    report = {"sentences": 9, "kept": 8, "dropped_script": 1}
    path = copied / "corpus" / "sentences" / "own.json"
    path.parent.mkdir(parents=True)
    write_json(path, report)
    tables = collect_tables(read_run(copied, SETTINGS))
    assert tables[-1]["name"] == "corpus/left_out.csv" and all(each["about"] for each in tables)


def test_a_script_in_a_text_cannot_end_the_data(tmp_path):
    run = read_run(write_run(tmp_path / "planted", planted=SCRIPT), SETTINGS)
    page = render_page(collect_data(run, SETTINGS))
    assert "window.planted" in page and "<script>window.planted" not in page and "<img src=x" not in page
    value = {"text": f"{SCRIPT}\u2028&<!--"}
    assert json.loads(dump_script(value)) == value
    assert not set("<>&\u2028") & set(dump_script(value))


def test_an_unfinished_run_is_ranked_by_the_scores_that_are_there(copied, run):
    for name in ("summary", "comparisons", "groups", "correlations"):
        (copied / f"{name}.csv").unlink()
    (copied / "physics/scores/tfidf/beta.parquet").unlink()
    found = read_run(copied, SETTINGS)
    assert found.computed and len(found.missing) == 2
    assert "physics, tfidf: no scores of beta yet." in found.missing
    assert found.benchmarks[0].rankings == run.benchmarks[0].rankings
    ranking = found.benchmarks[1].rankings["trimmed_mean"]
    assert [each.model for each in ranking.models] == ["alpha", "gamma+fine-tuned"]


def test_a_run_without_scores_says_so(copied):
    shutil.rmtree(copied / "physics/scores")
    for path in copied.glob("*.csv"):
        path.unlink()
    found = read_run(copied, SETTINGS)
    assert "No model has been scored yet." in found.missing
    page = render_page(collect_data(found, SETTINGS))
    assert "No model has been scored on Physics yet." in page


def test_scores_of_other_pairs_are_left_out_and_named(copied):
    path = copied / "physics/scores/tf/beta.parquet"
    pl.read_parquet(path).head(5).write_parquet(path)
    found = read_run(copied, SETTINGS)
    assert list(found.benchmarks[0].ranks) == ["alpha", "gamma+fine-tuned"]
    assert any("scores of beta belong to other pairs" in each for each in found.missing)


@pytest.mark.parametrize(
    ("name", "column"), [("summary", "value"), ("summary", "pairs"), ("comparisons", "difference")]
)
def test_a_word_for_a_number_is_said_with_its_place(copied, name, column):
    path = copied / f"{name}.csv"
    rows = read_delimited(path, ",")
    rows[3][column] = "inf." if column == "pairs" else "x"
    write_delimited(path, rows[0], [tuple(row.values()) for row in rows], ",")
    message = rf"{name}\.csv, line 5, column {column}: .* is not a"
    with pytest.raises(InputError, match=message):
        read_run(copied, SETTINGS)


def test_vectors_that_were_cut_are_said(copied):
    path = copied / "physics/keywords.npy"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"keywords\.npy: not a NumPy array"):
        collect_data(read_run(copied, SETTINGS), SETTINGS)


def test_a_table_of_another_version_is_left_out_and_named(copied):
    path = copied / "groups.csv"
    path.write_text(path.read_text().replace("aggregate", "statistic", 1))
    found = read_run(copied, SETTINGS)
    assert "groups.csv was written by another version of Fathom and is left out." in found.missing
    models = found.benchmarks[0].rankings["trimmed_mean"].models
    assert models[2].model == "gamma+fine-tuned"
    assert [each.value for each in models] == sorted(each.value for each in models)


def test_tables_of_models_and_benchmarks_that_the_configuration_does_not_name_are_left_out(copied, run):
    models = [name for name in run.benchmarks[0].ranks if name != "alpha"]
    named = Named(models, ["physics/tf"])
    (found,) = read_run(copied, SETTINGS, named).benchmarks
    assert found.variant == "tf" and set(found.ranks) == set(models)
    (said,) = [each for each in read_run(copied, SETTINGS, named).missing if "does not name" in each]
    count = 1 + len(run.benchmarks[0].ranks) + 1  # pairs and scores of tfidf, and those of alpha on tf
    assert said.startswith(f"Left out: {count} tables") and "physics/benchmark/tfidf/pairs.parquet" in said
    listed = list_read(copied, named)
    assert "physics/scores/tf/alpha.parquet" not in listed
    assert not [name for name in listed if name.startswith("physics/scores/tfidf")]
    assert "physics/scores/tf/alpha.parquet" in list_read(copied)


def test_what_is_no_run_gets_one_clear_message(tmp_path):
    with pytest.raises(InputError, match="no benchmark and no table"):
        read_run(tmp_path, SETTINGS)
    with refuses("there is no such file or folder"):
        run_command("page", tmp_path / "nothing", imports=STATISTICS)


def test_program_and_command_write_the_same_page(folder, tmp_path):
    done = run_command("page", folder, "--output", tmp_path / "a.html", imports=STATISTICS)
    assert str(tmp_path / "a.html") in done.stdout
    outputs = ("--page", tmp_path / "b.html", "--contents", tmp_path / "contents.json")
    run_program("write_explorer", "--folder", folder, *outputs, imports=STATISTICS)
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_pairs_beyond_the_limit_are_left_out_and_named(run, monkeypatch):
    whole = collect_data(run, SETTINGS)
    limit = sum(len(whole.blocks[f"{kind}-0"]) for kind in ("texts", "ranks", "keywords"))
    monkeypatch.setattr("fathom.explorer.data.LIMIT", limit)
    data = collect_data(run, SETTINGS)
    assert "texts-0" in data.blocks and "texts-1" not in data.blocks
    assert any("physics, tfidf: its pairs are left out" in each for each in data.overview["missing"])


def test_thirty_thousand_pairs_and_twenty_models_take_less_than_15_mb(tmp_path):
    data = collect_data(make_large(), SETTINGS)
    assert data.overview["missing"] == []
    assert 3e6 < len(render_page(data).encode()) < 15e6


def test_libraries_are_those_of_the_manifest_and_make_no_code():
    entries = read_json(VENDOR / "vendor.json")
    assert {path.name for path in VENDOR.iterdir()} == {entry["file"] for entry in entries} | {
        "vendor.json",
        "licences.txt",
    }
    licences = (VENDOR / "licences.txt").read_text()
    for entry in entries:
        path = VENDOR / entry["file"]
        assert hash_file(path) == entry["sha256"]
        assert f"{entry['name']} {entry['version']}" in licences
        text = path.read_text()
        assert "new Function" not in text and "</script" not in text
    for path in ASSETS.glob("*.js"):
        text = path.read_text()
        assert "innerHTML" not in text and "eval(" not in text
        assert len(text.splitlines()) <= 400


@pytest.mark.parametrize(
    ("doc_id", "source", "link"),
    [("0704.0001", "arxiv", "https://arxiv.org/abs/0704.0001"),
     ("hep-th/9901001", "arxiv", "https://arxiv.org/abs/hep-th/9901001"),
     ("0704.0001", "jsonl", ""),
     ("javascript:alert(1)", "jsonl", ""),
     ("https://example.org/a?b=1", "jsonl", "https://example.org/a?b=1"),
     ("sklearn.svm.SVC", "docstrings", "")],
)  # fmt: skip
def test_documents_are_linked_where_the_record_says_where(doc_id, source, link):
    assert link_document(doc_id, source) == link


@pytest.mark.parametrize(
    ("change", "what"),
    [([], "not a JSON object"), ({"files": []}, "files is not an object"),
     ({"inputs": {"a": "b"}}, "inputs is not a list"), ({"inputs": [None]}, "entry 1 of inputs"),
     ({"parameters": {"corpus": "arxiv"}}, "parameters.corpus"), ({"parameters": {"domain": 1}}, "domain"),
     ({"packages": "all"}, "packages is not an object")],
)  # fmt: skip
def test_a_manifest_of_another_kind_is_said_before_a_browser_reads_it(copied, change, what):
    path = copied / "physics/benchmark/tf/manifest.json"
    path.write_text(json.dumps({**read_json(path), **change} if isinstance(change, dict) else change))
    with refuses(path, what):
        read_run(copied, SETTINGS)


def test_a_pointer_of_another_kind_is_said(copied):
    (copied / "models/alpha").mkdir(parents=True)
    (copied / "models/alpha/model.json").write_text("[1]")
    with refuses("model.json", "not a JSON object"):
        read_run(copied, SETTINGS)


def test_a_reference_has_its_configured_name(tmp_path):
    folder = write_run(tmp_path / "run", {"alpha": 10.0, "beta": 20.0}, variants=["tf", "reference"])
    labels = []
    for _ in range(2):
        run = read_run(folder, SETTINGS)
        labels.append([each["label"] for each in collect_data(run, SETTINGS).overview["benchmarks"]])
        write_json(folder / "physics/benchmark/reference/pairs.json", {"name": "claude"})
    assert labels == [["TF", "reference"], ["TF", "claude"]]
