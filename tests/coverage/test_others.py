"""Benchmarks that others made lie where their questions do, all on one map."""

import json

import numpy as np
import pytest
from tests.coverage.conftest import DIMENSION, SETTINGS, TOPICS
from tests.figures.frames import draw_one, draw_twice, list_cut
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.tables import fill_table

from fathom.config.coverage import OtherBenchmark
from fathom.coverage.benchmarks import measure_benchmark
from fathom.coverage.others import map_benchmarks, read_questions
from fathom.io.contracts.coverage import OTHERS_MAP
from fathom.io.tables import read_table, write_table

NARROW = SETTINGS.model_copy(update={"bandwidth": 3.0})


def _encode(texts):
    """Return a unit vector for each question, near the middle of the topic that it names."""
    topics = np.random.default_rng(0).normal(size=(TOPICS, DIMENSION))
    random = np.random.default_rng(len(texts))
    vectors = topics[[int(text.split()[1]) for text in texts]] + 0.3 * random.normal(
        size=(len(texts), DIMENSION)
    )
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


QUESTIONS = {"MedQA": [f"topic 0 question {number}?" for number in range(30)],
             "PubMedQA": [f"topic {number % TOPICS} question {number}?" for number in range(40)]}  # fmt: skip


def test_each_benchmark_is_measured_alone_and_all_are_on_one_map(space):
    found = map_benchmarks(space, QUESTIONS, _encode, NARROW)
    assert list(found.report) == ["MedQA", "PubMedQA"]
    assert [told["questions"] for told in found.report.values()] == [30, 40]
    assert 0 < found.report["MedQA"]["coverage"] < found.report["PubMedQA"]["coverage"]
    assert found.map.columns == OTHERS_MAP.names
    counts = found.map.group_by("benchmark", "kind", maintain_order=True).len().rows()
    assert counts == [("", "sentence", len(space.points)), ("MedQA", "question", 30),
                      ("PubMedQA", "question", 40)]  # fmt: skip
    # places are those of the domain's own map: other benchmarks move none
    vectors = (_encode(QUESTIONS["PubMedQA"]) * NARROW.length).astype(np.float32)
    names = found.map.filter(benchmark="PubMedQA")["id"]
    alone = measure_benchmark(space, vectors, names, NARROW).map
    places = ["kind", "id", "x", "y"]
    assert (
        found.map.filter(kind="sentence").select(places).equals(alone.filter(kind="sentence").select(places))
    )
    assert (
        found.map.filter(benchmark="PubMedQA")
        .select("x", "y")
        .equals(alone.filter(kind="pair").select("x", "y"))
    )


def test_the_program_reads_questions_as_they_are_published(project, tmp_path):
    # as long as those of the model that embeds questions
    embeddings = [tmp_path / path.name for path in project.embeddings]
    for path, wide in zip(project.embeddings, embeddings, strict=True):
        np.save(wide, np.pad(np.load(path), ((0, 0), (0, 384 - DIMENSION))))
    lines, table = tmp_path / "medqa.jsonl", tmp_path / "pubmedqa.csv"
    lines.write_text(
        "".join(json.dumps({"question": each, "options": ["a", "b"]}) + "\n" for each in QUESTIONS["MedQA"])
    )
    table.write_text(
        "id,QUESTION\n" + "".join(f'{n},"{each}"\n' for n, each in enumerate(QUESTIONS["PubMedQA"]))
    )
    others = {"MedQA": OtherBenchmark(file=str(lines)),
              "PubMedQA": OtherBenchmark(file=str(table), column="QUESTION")}  # fmt: skip
    settings = json.dumps(
        {"coverage": NARROW.model_copy(update={"others": {"d": others}}).model_dump()}, sort_keys=True
    )
    run_program(
        "map_others", "--questions", table, lines, "--names", "PubMedQA", "MedQA",
        "--sentences", *project.sentences, "--embeddings", *embeddings, "--index", project.index,
        "--domain", "d", "--map", tmp_path / "others.parquet", "--report", tmp_path / "others.json",
        "--settings", settings, imports=MODELS,
    )  # fmt: skip
    told = json.loads((tmp_path / "others.json").read_text())
    assert told["PubMedQA"]["questions"] == 40 and told["MedQA"]["embedding"]
    # in the order of the names: that of the settings is lost where they become JSON
    asked = read_table(tmp_path / "others.parquet", OTHERS_MAP).filter(kind="question")
    assert asked["benchmark"].to_list() == ["PubMedQA"] * 40 + ["MedQA"] * 30


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [("a.txt", "q", ["a.txt", "not '.txt'"]),
     ("a.jsonl", "", ["no questions"]),
     ("a.csv", "question\n", ["no questions"]),
     ("a.jsonl", '{"question": "q"}\n{"query": "q"}\n', ["question 2 has no text", "it has query"]),
     ("a.csv", "question,answer\nq,b\n  ,c\n", ["question 2 has no text", "it has question, answer"])],
)  # fmt: skip
def test_a_file_without_questions_is_refused(name, text, said, tmp_path):
    (tmp_path / name).write_text(text)
    with refuses(*said):
        read_questions(tmp_path / name, "question")


def test_a_question_that_is_repeated_counts_once(tmp_path):
    (tmp_path / "a.csv").write_text('question\n"What\nis it?"\nWhy?\n" Why? "\n')
    assert read_questions(tmp_path / "a.csv", "question") == ["What\nis it?", "Why?"]


@pytest.mark.parametrize("count", [1, 5, 9])
def test_small_benchmarks_are_drawn_over_large_ones_in_one_panel(count, tmp_path):
    names = [f"Medical $questions_{number} of a long name" for number in range(count)]
    sizes = [10 * (number + 1) for number in range(count)]
    random = np.random.default_rng(0)
    total = 100 + sum(sizes)
    rows = fill_table(
        OTHERS_MAP, benchmark=[""] * 100 + np.repeat(names, sizes).tolist(),
        kind=["sentence"] * 100 + ["question"] * (total - 100), id=[str(n) for n in range(total)],
        x=random.normal(size=total), y=random.normal(size=total),
    )  # fmt: skip
    path = tmp_path / "others.parquet"
    write_table(path, rows, OTHERS_MAP)
    figure = draw_one("others", {"map": path}, {"domain": "med"}, title="Medicine_$")
    (axes,) = figure.axes
    drawn = {each.get_label(): (len(each.get_offsets()), each.get_zorder()) for each in axes.collections}
    assert [size for size, _ in drawn.values()] == [100, *sizes]
    assert all(f"({size})" in label for label, (size, _) in drawn.items())
    orders = [order for _, order in drawn.values()]
    assert min(orders) == orders[0] and orders[1:] == sorted(orders[1:], reverse=True)
    assert not list_cut(figure)
    frame, box = figure.bbox, figure.legends[0].get_window_extent()
    assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and box.y0 >= frame.y0
    looks = {
        (tuple(each.get_edgecolor()[0]), tuple(map(tuple, each.get_facecolor()))) for each in axes.collections
    }
    assert len(looks) == count + 1
    (numbers,) = draw_twice(tmp_path, "others", {"map": path}, {"domain": "med"})
    assert len(numbers.read_text().splitlines()) == total + 1
