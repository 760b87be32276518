"""Candidates, questions and their proofs: every right option is true, and no wrong one."""

import polars as pl
import pytest
from tests.questions.conftest import pose

from fathom.errors import InputError
from fathom.questions.graph import Query
from fathom.questions.ontology import name_entity
from fathom.questions.posing import Candidate, Entities, find_candidates, pose_question
from fathom.questions.proofs import prove_questions


@pytest.fixture(scope="module")
def questions(catalogue):
    return pl.DataFrame(pose(catalogue), infer_schema_length=None)


def test_candidates_are_grouped_by_what_is_asked_about(catalogue):
    candidates, counts = find_candidates(
        [catalogue.askers["requirements"]], catalogue.graph, catalogue.lookup
    )
    course = name_entity("Course", "CS301")
    (found,) = [each for each in candidates if dict(each.asked_about)["course"] == course]
    earlier = [name_entity("Course", key) for key in ("CS202", "MATH102", "MATH201")]
    assert found.answers == tuple(earlier) and found.records == tuple(sorted([*earlier, course]))
    assert counts["requirements"] == {"possible": 15, "about_chunks": 15, "left_out": {}}
    assert [each.key for each in candidates] == sorted(each.key for each in candidates)


def test_forms_have_their_options_and_wrong_ones_are_never_answers(catalogue, questions):
    right = {}
    for asker in catalogue.askers.values():
        for each in find_candidates([asker], catalogue.graph, catalogue.lookup)[0]:
            right[asker.name, each.asked_about[0][1]] = each.answers
    assert questions["form"].unique().sort().to_list() == ["binary", "multiple-answer", "multiple-choice"]
    for row in questions.filter(pl.col("form") != "binary").iter_rows(named=True):
        about = row["bindings"][0].split("=", 1)[1]
        for iri, is_right in zip(row["option_iris"], row["right"], strict=True):
            assert (iri in right[row["template"], about]) == is_right
    binary = questions.filter(form="binary")
    assert set(binary["answer"]) == {"yes", "no"} and set(map(tuple, binary["options"])) == {("yes", "no")}


def test_questions_name_entities_and_rows(questions):
    row = questions.filter(pl.col("question").str.contains("Cell Biology"), template="department").row(
        0, named=True
    )
    assert row["question"] == 'Which department offers the course "Cell Biology"?'
    assert row["answer"] == "Department of Biology" and len(row["options"]) == 4
    assert row["sources"] == ["courses.csv, line 15", "departments.csv, line 5"]
    assert "ASK { ?course :department ?department }" in row["query"] and row["asked"] == "department"


def test_every_question_is_proved_by_its_query(catalogue, questions):
    found = prove_questions(questions, catalogue.graph)
    assert found["open"] == 0
    assert sum(count["questions"] for count in found["proved"].values()) == len(questions) == 75
    assert found["proved"]["multiple-choice"] == {"questions": 22, "right": 22, "wrong": 66}


def test_questions_without_a_query_are_open_and_their_text_is_not_judged(catalogue, questions):
    row = questions.filter(form="multiple-choice").row(0, named=True)
    found = prove_questions(pl.DataFrame([row, row | {"query": "", "options": []}]), catalogue.graph)
    assert found == {"proved": {"multiple-choice": {"questions": 1, "right": 1, "wrong": 3}}, "open": 1}


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_wrong_answer_to_a_binary_question_is_found(catalogue, questions, answer):
    row = questions.filter(form="binary", answer=answer).row(0, named=True)
    prove_questions(pl.DataFrame([row]), catalogue.graph)
    with pytest.raises(InputError, match="the answer is"):
        prove_questions(pl.DataFrame([row | {"right": row["right"][::-1]}]), catalogue.graph)


@pytest.mark.parametrize("right", [[True, True, False, False], [False] * 4])
def test_a_choice_has_one_right_option(catalogue, questions, right):
    row = questions.filter(form="multiple-choice").row(0, named=True)
    with pytest.raises(InputError, match=f"{sum(right)} right options"):
        prove_questions(pl.DataFrame([row | {"right": right}]), catalogue.graph)


@pytest.mark.parametrize(("options", "right"), [(3, 3), (4, 5), (4, 3), (5, 5)])
def test_a_choice_has_four_options(catalogue, questions, options, right):
    row = questions.filter(form="multiple-choice").row(0, named=True)
    names, flags = (
        [*row["options"], "another"][:options],
        [*sorted(row["right"], reverse=True), False][:right],
    )
    with pytest.raises(InputError, match="options"):
        prove_questions(pl.DataFrame([row | {"options": names, "right": flags}]), catalogue.graph)


def test_the_first_of_several_faults_is_named(catalogue, questions):
    rows = questions.filter(form="multiple-answer").head(3).to_dicts()
    for row in rows[1:]:
        row["right"] = [not each for each in row["right"]]
    with pytest.raises(InputError, match="2 of 3 questions") as error:
        prove_questions(pl.DataFrame(rows), catalogue.graph)
    assert f"question {rows[1]['question_id']}:" in error.value.what


def test_names_of_entities_may_hold_an_equals_sign(catalogue, questions):
    row = questions.filter(form="multiple-choice").row(0, named=True)
    bindings = [f"{each}=x" for each in row["bindings"]]
    with pytest.raises(InputError, match="is not true"):
        prove_questions(pl.DataFrame([row | {"bindings": bindings}]), catalogue.graph)


def swap(lists):
    return [[*each[1:], each[0]] for each in lists]


@pytest.mark.parametrize("form", ["binary", "multiple-choice", "multiple-answer"])
def test_one_wrong_answer_among_all_is_found(catalogue, questions, form):
    place = questions["form"].to_list().index(form)
    rows = questions.to_dicts()
    rows[place]["right"] = [not each for each in rows[place]["right"]]
    if form == "multiple-choice":
        rows[place]["right"] = swap([questions["right"][place].to_list()])[0]
    with pytest.raises(InputError, match="1 of 75 questions are not proved") as error:
        prove_questions(pl.DataFrame(rows), catalogue.graph)
    assert rows[place]["question_id"] in error.value.what
    assert error.value.where == f"template {rows[place]['template']}"


def test_two_equal_options_or_one_too_few_are_found(catalogue, questions):
    rows = questions.filter(form="multiple-choice").head(1).to_dicts()
    for options in ([*rows[0]["options"][:3], rows[0]["options"][0]], rows[0]["options"][:3]):
        with pytest.raises(InputError, match="options"):
            prove_questions(pl.DataFrame([rows[0] | {"options": options}]), catalogue.graph)


def test_a_select_that_finds_too_few_answers_is_found_by_the_ask(catalogue):
    asker = catalogue.askers["staff"]
    tartu = "<urn:fathom:University/University%20of%20Tartu>"
    text = f"SELECT ?department ?person {{ ?person :department ?department ; :studied_at {tartu} }}"
    narrow = asker._replace(select=Query(text, "SELECT", "here"))
    candidates, _ = find_candidates([narrow], catalogue.graph, catalogue.lookup)
    rows = [pose_question(each, narrow, catalogue.lookup, catalogue.graph) for each in candidates]
    with pytest.raises(InputError, match="is true"):
        prove_questions(pl.DataFrame(rows), catalogue.graph)


def test_what_cannot_be_asked_is_counted(catalogue):
    entities = catalogue.entities.with_columns(usable=pl.col("iri") != name_entity("Person", "p03"))
    _, counts = find_candidates([catalogue.askers["staff"]], catalogue.graph, Entities(entities))
    assert counts["staff"] == {"possible": 5, "about_chunks": 5, "left_out": {"ambiguous names": 1}}
    few = catalogue.entities.filter(
        (pl.col("class") != "Person") | (pl.col("iri") < name_entity("Person", "p10"))
    )
    asker = catalogue.askers["teaches"]
    with pytest.raises(
        InputError, match=r"\?person is 'urn:fathom:Person/p1.', which is not an entity|is not of the class"
    ):
        find_candidates([asker], catalogue.graph, Entities(few))
    few = entities.with_columns(
        usable=(pl.col("class") != "Person") | (pl.col("iri") < name_entity("Person", "p02"))
    )
    with pytest.raises(InputError, match=r"no template gives a question .*class too small for wrong answers"):
        find_candidates([asker], catalogue.graph, Entities(few))


@pytest.mark.parametrize(("name", "wrong"), [
    ("teaches", 1), ("department", 3), ("staff", None), ("alumni", None),
])  # fmt: skip
def test_a_class_has_to_be_just_large_enough_for_wrong_options(catalogue, name, wrong):
    """Eight options less the right ones, four less one, or one wrong statement."""
    asker = catalogue.askers[name]
    candidates, _ = find_candidates([asker], catalogue.graph, catalogue.lookup)
    chosen = min(candidates, key=lambda each: len(each.answers))
    needed = wrong or 8 - len(chosen.answers)
    others = [
        iri for iri in catalogue.lookup.list_class(asker.template.kind) if iri not in chosen.never_wrong
    ]
    assert len(others) > needed
    for count in (needed, needed - 1):
        named = [*chosen.never_wrong, *others[:count]]
        entities = Entities(catalogue.entities.with_columns(usable=pl.col("iri").is_in(named)))
        try:
            found, _ = find_candidates([asker], catalogue.graph, entities)
        except InputError as error:  # where nothing else can be asked either
            assert "class too small for wrong answers" in str(error)
            found = []
        assert (chosen.key in {each.key for each in found}) == (count == needed)


def test_more_than_eight_answers_are_left_out_and_counted(catalogue):
    asker = catalogue.askers["long-courses"]
    text = "SELECT ?department ?course { ?department a :Department . ?course a :Course }"
    every = asker._replace(select=Query(text, "SELECT", "here"))
    with pytest.raises(InputError, match="more than eight answers"):
        find_candidates([every], catalogue.graph, catalogue.lookup)


def test_a_query_without_rows_is_counted_and_an_error_where_nothing_is_left(catalogue):
    asker = catalogue.askers["staff"]
    none = asker._replace(
        name="none", select=Query("SELECT ?department ?person { ?department :no ?person }", "SELECT", "")
    )
    _, counts = find_candidates([asker, none], catalogue.graph, catalogue.lookup)
    assert counts["none"] == {"possible": 0, "about_chunks": 0, "left_out": {}}
    with pytest.raises(InputError, match="none: no rows"):
        find_candidates([none], catalogue.graph, catalogue.lookup)


def test_plain_values_cannot_be_asked_for(catalogue):
    asker = catalogue.askers["staff"]
    text = "SELECT (?c AS ?department) ?person { ?person :credits ?c }"
    wrong = asker._replace(select=Query(text, "SELECT", "here"), where="t.yaml, templates.staff")
    with pytest.raises(InputError, match=r"\?department is '[46]', which is not an entity") as error:
        find_candidates([wrong], catalogue.graph, catalogue.lookup)
    assert error.value.where == "t.yaml, templates.staff.select"


@pytest.mark.parametrize(("answer", "kind"), [("course", "Person"), ("department", "Course")])
def test_an_answer_of_another_class_is_named(catalogue, answer, kind):
    """Of a class before the right one in the alphabet, and of one behind it."""
    asker = catalogue.askers["teaches"]
    shape = asker.template.model_copy(update={"kind": kind})
    text = f"SELECT ?course (?{answer} AS ?person) {{ ?course :department ?department }}"
    wrong = asker._replace(select=Query(text, "SELECT", "here"), template=shape)
    with pytest.raises(InputError, match=f"which is not of the class {kind}"):
        find_candidates([wrong], catalogue.graph, catalogue.lookup)


def test_other_records_are_only_counted(catalogue):
    asker = catalogue.askers["department"]
    every, _ = find_candidates([asker], catalogue.graph, catalogue.lookup)
    (chunk, *_) = every[0].records
    found, counts = find_candidates([asker], catalogue.graph, catalogue.lookup, {chunk})
    assert [each.key for each in found] == [each.key for each in every if chunk in each.records]
    assert 0 < len(found) == counts["department"]["about_chunks"]
    assert len(found) < counts["department"]["possible"] == len(every)


def test_wrong_answers_are_unlike_right_ones_and_each_other(catalogue):
    alike = catalogue.entities.with_columns(
        likeness=pl.when(pl.col("class") == "Person").then(pl.col("iri").str.slice(-1)).otherwise("likeness")
    )
    entities, asker = Entities(alike), catalogue.askers["staff"]
    right = (name_entity("Person", "p01"), name_entity("Person", "p11"))
    about = (("department", name_entity("Department", "MATH")),)
    row = pose_question(Candidate("staff", about, right, right), asker, entities, catalogue.graph)
    assert row is not None
    wrong = [iri for iri, is_right in zip(row["option_iris"], row["right"], strict=True) if not is_right]
    ends = [iri[-1] for iri in wrong]
    assert len(ends) == 6 == len(set(ends)) and "1" not in ends
    one = Entities(alike.with_columns(likeness=pl.lit("same")))
    assert pose_question(Candidate("staff", about, right, right), asker, one, catalogue.graph) is None


@pytest.mark.parametrize(("template", "count"), [("requirements", 15), ("colleagues", 13)])
def test_what_a_question_is_about_is_no_option(catalogue, template, count):
    same = "?person :department ?d . ?other a :Person ; :department ?d . ?person a :Person"
    asker = catalogue.askers["staff"]
    shape = asker.template.model_copy(
        update={"text": "Who works where {person} works?", "answer": "other", "ask": f"ASK {{ {same} }}"}
    )
    select = Query(f"SELECT ?person ?other {{ {same} }}", "SELECT", "here")
    colleagues = asker._replace(name="colleagues", template=shape, select=select)
    asker = {**catalogue.askers, "colleagues": colleagues}[template]
    candidates, counts = find_candidates([asker], catalogue.graph, catalogue.lookup)
    rows = [pose_question(each, asker, catalogue.lookup, catalogue.graph) for each in candidates]
    assert len(rows) == count
    for row in rows:
        about = {each.split("=", 1)[1] for each in row["bindings"]}
        assert len(row["option_iris"]) == 8 and not about & set(row["option_iris"])
    assert counts[template]["left_out"] == {}
    assert prove_questions(pl.DataFrame(rows), catalogue.graph)["proved"]["multiple-answer"]
    swapped = rows[0] | {"option_iris": [next(iter(about)), *rows[0]["option_iris"][1:]]}
    swapped |= {"bindings": rows[-1]["bindings"]}
    with pytest.raises(InputError, match="which is an option"):
        prove_questions(pl.DataFrame([swapped]), catalogue.graph)
