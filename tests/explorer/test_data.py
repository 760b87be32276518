"""The data of a page: what is read of a run, what is missing, advice, sub-fields, and how it is packed."""

import base64
import gzip
import json
import shutil
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.explorer.runs import MODELS, SCRIPT, SETTINGS, make_large, write_run
from tests.programs import STATISTICS, run_command, run_program
from tests.refusals import refuses
from tests.tables import read_delimited, write_delimited

from fathom.config.scoring import Summary
from fathom.errors import InputError
from fathom.explorer.advice import (
    advise,
    describe_advice,
    find_disagreements,
    find_unknown_keywords,
    find_unsettled,
)
from fathom.explorer.answers import to_text
from fathom.explorer.attachments import collect_tables
from fathom.explorer.data import collect_data, link_document
from fathom.explorer.encoding import dump_script
from fathom.explorer.page import ASSETS, VENDOR, render_page
from fathom.explorer.reader import read_run
from fathom.explorer.run import ORDERS, Compared, Ranking
from fathom.explorer.subfields import Keywords, group_keywords, measure_strengths, sum_keywords
from fathom.explorer.terms import mind_vocabularies
from fathom.io.files import hash_file, read_json
from fathom.statistics.sizing import count_keywords, estimate_variances


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="module")
def run(folder):
    return read_run(folder, SETTINGS)


@pytest.fixture
def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "run")


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
    assert described["dates"] == ["2024-01-01", "2024-10-01"]
    assert (described["pairs"], described["kept"], described["keywords"]) == (120, 119, 12)
    assert described["heldOut"] == [300, 2000]
    ranks = np.frombuffer(unpack(data.blocks["ranks-0"]), dtype="<f4").reshape(3, 120)
    tf = run.benchmarks[0]
    np.testing.assert_allclose(ranks[1], tf.ranks["beta"], rtol=1e-6)
    texts = json.loads(unpack(data.blocks["texts-0"]))
    assert texts["prompts"] == tf.pairs["prompt"].to_list() and texts["leftOut"] == [0]
    assert texts["links"][0] == "https://arxiv.org/abs/1000.00000"
    keywords = json.loads(unpack(data.blocks["keywords-0"]))
    kept = tf.pairs.with_columns(rank=pl.Series(tf.ranks["beta"])).filter(~pl.Series(tf.left_out))
    first = kept.filter(pl.col("keyword") == keywords["keywords"][0])["rank"].log().mean()
    assert keywords["ranks"][0][1] == pytest.approx(np.exp(first), rel=1e-4)
    assert keywords["pairs"][0] == 9
    rivals = json.loads(unpack(data.blocks["rivals-0"]))
    assert rivals["words"] == ["rival0", "rival1"] and rivals["first"][1][:7] == [0, -1, -1, 1, -1, -1, 0]
    among = np.frombuffer(unpack(data.blocks["rival-ranks-0"]), dtype="<f4").reshape(3, 120)
    np.testing.assert_allclose(among, ranks)
    assert {"rank", "rival_rank"} <= {row[3] for row in data.overview["metrics"]}


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
        pl.read_parquet(path).drop("rival_rank", "rival").write_parquet(path)
    for name in ("summary", "comparisons", "groups"):
        table = pl.read_csv(copied / f"{name}.csv", infer_schema=False)
        table.filter(pl.col("metric") != "rival_rank").write_csv(copied / f"{name}.csv")
        if computed:
            (copied / f"{name}.csv").unlink()
    older = read_run(copied, SETTINGS)
    assert [*older.benchmarks[0].rankings] == ["trimmed_mean", "geometric_mean"]
    assert [*run.benchmarks[0].rankings][2:] == ["rival_rank.trimmed_mean", "rival_rank.geometric_mean"]
    assert sum("rivals" in each and "alpha, beta" in each for each in older.missing) == 2
    data = collect_data(older, SETTINGS)
    assert data.overview["benchmarks"][0]["rivals"] == "" and "rivals-0" not in data.blocks


def test_every_table_is_shown_but_those_of_figures_and_of_times(copied):
    (copied / "figures").mkdir()
    for name in ("own.csv", "figures/own.csv", "resources.csv"):
        (copied / name).write_text("a,b\n1,2\n")
    found = {each["name"]: each for each in collect_tables(read_run(copied, SETTINGS))}
    assert [*found] == ["summary.csv", "comparisons.csv", "groups.csv", "correlations.csv", "own.csv"]
    assert found["summary.csv"]["about"] and "aggregate" in found["summary.csv"]["lines"]
    assert found["own.csv"]["rows"] == [["1", "2"]]


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
    assert "No model has been ranked on Physics yet." in page


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


def test_what_is_no_run_gets_one_clear_message(tmp_path):
    with pytest.raises(InputError, match="no benchmark and no table"):
        read_run(tmp_path, SETTINGS)
    with refuses("there is no such file or folder"):
        run_command("page", tmp_path / "nothing", imports=STATISTICS)


def test_program_and_command_write_the_same_page(folder, tmp_path):
    done = run_command("page", folder, "--output", tmp_path / "a.html", imports=STATISTICS)
    assert str(tmp_path / "a.html") in done.stdout
    run_program("write_explorer", "--folder", folder, "--page", tmp_path / "b.html", imports=STATISTICS)
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


# what to do next


def test_models_without_keywords_are_settled_by_documents(run):
    tf = run.benchmarks[0]
    bare = replace(tf, pairs=tf.pairs.with_columns(doc_id=pl.col("keyword"), keyword=pl.lit("")))
    assert find_unsettled(bare) == find_unsettled(tf)
    first = ORDERS["trimmed_mean"]
    advice = [describe_advice(each, first, [], SETTINGS)["clusters"] for each in (tf, bare)]
    assert advice == ["keywords", "documents"]


@pytest.mark.parametrize("name", [*ORDERS])
def test_unsettled_models_come_with_the_pairs_that_would_settle_them(run, name):
    """In each order by its own statistic: the answer, and what to do next, speak of the same numbers."""
    tf, order = run.benchmarks[0], ORDERS[name]
    (found,) = find_unsettled(tf, order, SETTINGS)
    assert {found.better, found.worse} == {"alpha", "beta"}
    ranks = {each.model: each.value for each in tf.rankings[name].models}
    assert found.factor == pytest.approx(ranks[found.worse] / ranks[found.better], rel=1e-4)
    if name == "geometric_mean":
        kept = ~tf.left_out
        logs = np.log(tf.ranks[found.worse][kept]) - np.log(tf.ranks[found.better][kept])
        pilot = estimate_variances(logs, tf.pairs["keyword"].to_numpy()[kept].tolist())
        wanted = count_keywords(pilot, 10, pilot.difference, 0.8, 1 - 0.05 / 3)
        assert found.keywords == (wanted if wanted <= 10_000 else None)
    assert found.pairs is None or found.pairs == 10 * found.keywords > 119


@pytest.mark.parametrize(("factor", "equal"), [(1.002, True), (1.2, False)])
def test_models_that_need_more_than_a_hundred_thousand_pairs_are_taken_as_equal(tmp_path, factor, equal):
    tf = read_run(write_run(tmp_path / "run", {"alpha": 10.0}, variants=["tf"]), SETTINGS).benchmarks[0]
    noise = np.random.default_rng(1).lognormal(0, 0.5, len(tf.pairs))
    noise *= factor / np.exp(np.log(noise[1:]).mean())  # the first pair is left out
    row = Compared("alpha", "beta", 1.0, 0.5, 1.5, 0.5, 0.5, False)
    close = replace(tf, ranks=tf.ranks | {"beta": tf.ranks["alpha"] * noise})
    rankings = {"geometric_mean": Ranking([], [row])}
    (found,) = find_unsettled(replace(close, rankings=rankings), ORDERS["geometric_mean"], SETTINGS)
    assert (found.pairs is None) == equal and (found.pairs or 0) <= 100_000


def test_every_conflict_with_bits_per_byte_is_there_with_how_sure_it_is(run):
    """Bits per byte turn all three models round; two of three are apart by rank."""
    tf, summary = run.benchmarks[0], run.rows["summary.csv"]
    found = find_disagreements(tf, summary)
    assert [(each.by_rank, each.by_text, each.apart) for each in found] == [
        ("alpha", "gamma+fine-tuned", True),
        ("beta", "gamma+fine-tuned", True),
        ("alpha", "beta", False),
    ]
    assert all(each.certain for each in found)
    turned = replace(tf, rankings={"geometric_mean": tf.rankings["geometric_mean"]})
    assert find_disagreements(turned, summary) == []
    assert find_disagreements(turned, summary, ORDERS["geometric_mean"])


def test_keywords_that_no_model_knows_need_several_pairs(run):
    tf = run.benchmarks[0]
    keywords = pl.Series(["easy"] * 5 + ["hard"] * 5 + ["rare"] * 2)
    ranks = {"alpha": [5.0] * 5 + [500.0] * 5 + [999.0] * 2,
             "beta": [900.0] * 5 + [200.0] * 4 + [20_000.0] + [999.0] * 2}  # fmt: skip
    few = replace(
        tf, pairs=tf.pairs.head(12).with_columns(keyword=keywords), left_out=np.zeros(12, dtype=bool),
        ranks={model: np.array(each) for model, each in ranks.items()},
    )  # fmt: skip
    (found,) = find_unknown_keywords(few, ORDERS["trimmed_mean"], SETTINGS)
    assert (found.keyword, found.pairs, found.model) == ("hard", 5, "beta")
    assert found.rank == pytest.approx(200)
    (found,) = find_unknown_keywords(few, ORDERS["geometric_mean"], SETTINGS)
    assert found.model == "alpha" and found.rank == pytest.approx(500)


def test_vocabularies_of_different_sizes_are_said_where_a_rank_depends_on_them(copied):
    def say(order):
        (tf, _) = read_run(copied, SETTINGS).benchmarks
        return to_text(mind_vocabularies(tf, ORDERS[order]))

    assert say("trimmed_mean") == ""
    path = copied / "physics/scores/tf/beta.parquet"
    scores = pl.read_parquet(path)
    scores.with_columns(rank_share=pl.col("rank") / 50_257).write_parquet(path)
    said = say("trimmed_mean")
    assert "beta has 50,257" in said and "gamma+fine-tuned have 1,000,000,000" in said
    assert say("rival_rank.trimmed_mean") == ""


def test_advice_has_a_short_form(run):
    lines = advise(run)
    assert any(line.startswith("physics, tf: 1 comparison not settled") for line in lines)
    assert "physics, tf: alpha is ahead by rank, gamma+fine-tuned by bits per byte." in lines


# sub-fields


def test_keywords_are_grouped_by_meaning():
    random = np.random.default_rng(1)
    centres = np.eye(4)
    vectors = np.repeat(centres, 4, axis=0) + random.normal(0, 0.02, (16, 4))
    names = [f"{'abcd'[number // 4]}{number % 4}" for number in range(16)]
    labels, codes = group_keywords(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), names)
    assert len(labels) == 4
    assert [set(codes[start : start + 4].tolist()) for start in range(0, 16, 4)] == [{0}, {1}, {2}, {3}]
    assert all(
        {name[0] for name in label.split(", ")} == {"abcd"[place]} for place, label in enumerate(labels)
    )


def test_a_planted_strength_is_found_and_others_are_not():
    random = np.random.default_rng(2)
    keywords, each = 60, 20
    codes = [number % 3 for number in range(keywords)]
    means = (
        random.normal(3, 0.5, (keywords, 1))
        + np.array([[0.0, 1.0, 2.0]])
        + random.normal(0, 0.2, (keywords, 3))
    )
    means[np.array(codes) == 1, 0] -= np.log(2)  # the first model is twice as good there
    summed = Keywords([str(number) for number in range(keywords)], np.full(keywords, each), means * each)
    found = measure_strengths(summed, codes, SETTINGS)
    # the residual of a two-way table: two thirds of it stay with the model, two thirds of that with the group
    assert found.factor[1, 0] == pytest.approx(2 ** (4 / 9), rel=0.1)
    assert found.low[1, 0] > 1 and found.factor[0, 0] < 1
    assert ((found.low < found.factor) & (found.factor < found.high)).all()
    assert found.apart[1, 0]
    assert not measure_strengths(summed, codes, SETTINGS, benchmarks=1000).apart.any()


def test_nothing_is_called_strong_or_weak_where_models_are_equal():
    """Of 50 pages two or three are expected; by the intervals of single cells it is each of them."""
    random, named, alone = np.random.default_rng(0), 0, 0
    for seed in range(50):
        logs = random.normal(5, 1, (50, 1)) + random.normal(0, 0.7, (50, 7))
        summed = Keywords([str(number) for number in range(50)], np.ones(50, dtype=np.int64), logs)
        found = measure_strengths(
            summed, [number % 7 for number in range(50)], Summary(rounds=100, seed=seed)
        )
        named += bool(found.apart.any())
        alone += bool(((found.low > 1) | (found.high < 1)).any())
    assert named <= 5 and alone > 40


def test_a_sum_over_keywords_leaves_out_what_does_not_count(run):
    summed = sum_keywords(run.benchmarks[0])
    assert summed.pairs.sum() == 119 and summed.logs.shape == (12, 3)


# what is inside


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
