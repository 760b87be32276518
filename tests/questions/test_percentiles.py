"""Questions with several t_d: those of rounds with each, no text embedded twice, and their map."""

import polars as pl
from tests.figures.frames import draw_twice
from tests.questions.conftest import encode

from fathom.config.coverage import QuestionSettings
from fathom.figures.coverage_figures import draw_questions
from fathom.figures.style import use_style
from fathom.io.contracts.questions import PERCENTILES, QUESTION_MAP, QUESTIONS
from fathom.io.tables import check_table, write_table
from fathom.questions.percentiles import vary_percentile
from fathom.questions.question_rounds import RoundFolder, ask_questions

_SETTINGS = QuestionSettings.model_validate(
    {"questions": {"first": 12}, "coverage": {"ablation": {"gap_percentile": [0.2, 0.9, 1.0]}}}
)


def test_each_t_d_gives_its_rounds(material, tmp_path):
    texts: list[str] = []

    def count(some):
        texts.extend(some)
        return encode(some)

    found = vary_percentile(material, count, _SETTINGS)
    assert len(texts) == len(set(texts))
    rows = [dict(zip(PERCENTILES.names, row, strict=True)) for row in found.rows]
    assert [row["gap_percentile"] for row in rows] == [0.2, 0.6, 0.9, 1.0]
    check_table(found.map.to_arrow(), QUESTION_MAP)
    check_table(found.questions.to_arrow(), QUESTIONS)
    alone = ask_questions(material, encode, _SETTINGS, RoundFolder(tmp_path / "rounds", "key"))
    of_default = found.map.filter(kind="question", gap_percentile=0.6)
    assert of_default["id"].to_list() == alone.table["question_id"].to_list()
    assert rows[1]["questions"] == len(alone.table) and rows[1]["end"] == alone.report["end"]
    assert rows[1]["large_gaps"] == alone.report["rounds"][-1]["large_gaps"]
    # a higher t_d leaves fewer large gaps to ask about
    counts = [row["questions"] for row in rows]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1]
    every = found.map.filter(kind="question")
    assert set(found.questions["question_id"]) == set(every["id"])
    assert len(found.map.filter(kind="record", gap_percentile=0.9)) == len(material.names)

    with use_style():
        figure = draw_questions(found.map, "Courses")
    assert [axes.get_title() for axes in figure.axes] == [
        f"t_d = {row['gap_percentile']:g}: {row['questions']:,} questions" for row in rows
    ] + [""] * (len(figure.axes) - len(rows))
    shown = {each.get_label(): len(each.get_offsets()) for each in figure.axes[1].collections}
    assert shown["question of the first round"] == len(of_default.filter(round=0))
    assert shown["for a gap, or asked by people"] == len(of_default.filter(pl.col("round") > 0)) > 0
    write_table(tmp_path / "map.parquet", found.map, QUESTION_MAP)
    (numbers,) = draw_twice(tmp_path, "questions", {"map": tmp_path / "map.parquet"}, {"set": "Courses"})
    assert len(numbers.read_text().splitlines()) == 1 + len(found.map)
