"""The request, and answers in the formats that models use, read without executing anything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import run_command, run_program
from tests.refusals import refuses
from tests.tables import read_delimited, write_delimited

from fathom.benchmark.reference_request import check_answers, parse_answer, write_request
from fathom.io.files import read_json_lines

STOPWORDS = frozenset(("a", "an", "the", "of", "as", "by", "to", "in", "and", "is", "it", "with", "from"))
FILLER = "In many textbooks of this field the one thing that takes its actions and learns from"
PROMPT = f"{FILLER} them is called an"


def pair(prompt: str = PROMPT, target: str = " agent") -> str:
    return json.dumps({"prompt": prompt, "target": target})


def rules(text: str, each: int = 1, categories: tuple[str, ...] = ("Agents",)) -> list[str]:
    return [fault.rule for fault in check_answers({"a.txt": text}, categories, each, STOPWORDS).faults]


def test_the_request_states_counts_and_rules():
    text = write_request("Physics & Society", [f"category {n}" for n in range(20)])
    for part in (
        "1,000 items",
        "50 for each of the 20",
        "20. category 19",
        "15 to 40 words",
        "Physics & Society",
    ):
        assert part in text
    entries, faults = parse_answer(text)
    assert len(entries) == 2 and not faults  # the form that it shows can be read
    with refuses("duplicate categories"):
        write_request("x", ["a", "a"])


def test_words_of_the_request_can_be_the_users_own():
    template = "On {domain}: {each} each, {total} in all.\n{categories}\nAnswer as [{'prompt': ''}]."
    text = write_request("Physics {each}", ["waves", "heat"], 600, template)
    assert (
        text == "On Physics {each}: 600 each, 1,200 in all.\n1. waves\n2. heat\nAnswer as [{'prompt': ''}]."
    )
    with refuses("no {categories}", "template"):
        write_request("Physics", ["waves"], template="{domain}")


FORMS = {
    "listing": "qa_pairs = [\n# Category 1: Agents\n{P}, {Q},\n]\n"
    "qa_pairs.extend([\n# Category 2: Graphs\n{R},\n])",
    "no commas": "qa_pairs = [\n# Category 1: Agents\n{P}\n{Q}\n...]\n# Category 2: Graphs\n{R}",
    "prose": "Here's what you'd like:\n```python\n# Category 1: Agents\n[{P}, {Q}]\n"
    "# Category 2: Graphs\n[{R}]\n``` I'm done",
    "markdown": "## Category 1: Agents\n{P}\n{Q}\n**Category 2: Graphs**\n{R}",
    "json by category": '{"Agents": [{P}, {Q}], "Graphs": [{R}]}',
    "json with keys": '[{"category": "Agents", "pairs": [{P}, {Q}]}, {"category": "Graphs", "pairs": [{R}]}]',
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_answers(form):
    texts = [pair(), pair(PROMPT.replace("many", "some")), pair(PROMPT.replace("many", "old"), " edge")]
    text = FORMS[form]
    for name, one in zip("PQR", texts, strict=True):
        text = text.replace(f"{{{name}}}", one)
    entries, faults = parse_answer(text)
    assert not faults
    assert [entry.category for entry in entries] == ["Agents", "Agents", "Graphs"]
    assert [json.dumps({"prompt": e.prompt, "target": e.target}) for e in entries] == texts


def test_an_entry_names_its_own_category_and_python_quotes():
    text = """[{'prompt': 'It\\'s "so" {not} a', 'target': " x", 'category': 'Agents'},]"""
    (entry,), faults = parse_answer(text)
    assert not faults and (entry.category, entry.prompt) == ("Agents", """It's "so" {not} a""")


@pytest.mark.parametrize("text", [
    "{'prompt': open('x').read(), 'target': ' x'}", "{'prompt': __import__('os').name, 'target': ' x'}",
    "{**{}, 'prompt': 'x'}", '{"prompt": "a b, "target": " x"}', '{"prompt": "a b',
    '{"prompt": 3, "target": " x"}', '{"prompt": “a”, "target": " x"}',
])  # fmt: skip
def test_unreadable_entries_are_listed_and_nothing_is_executed(text):
    good = pair()
    entries, faults = parse_answer(f"# Category 1: Agents\n{text}\n{good}\n")
    assert len(entries) == 1 and entries[0].prompt == PROMPT
    assert faults and all(fault.rule == "unreadable" and fault.line == 2 for fault in faults)


@given(st.text(alphabet="{}[]\"'\\:,#\n aprompttarget1", max_size=80))
def test_any_text_is_read_without_error(text):
    entries, faults = parse_answer(text)
    assert len(entries) + len(faults) <= text.count("{")
    assert check_answers({"a.txt": text}, ["a"], 1, STOPWORDS) is not None


@pytest.mark.parametrize(("prompt", "target", "broken"), [
    (PROMPT, " agent", []),
    (f"{FILLER} them are termed", " model-free algorithms", []),
    (f"{FILLER} them is known as the", " Bellman equation", []),
    ("It is called an", " agent", ["length"]),
    (f"{PROMPT.removesuffix(' an')} {'very ' * 30}an", " agent", ["length"]),
    (f"{FILLER} them", " agents", ["ending"]),
    (f"{FILLER} them is called:", " agent", ["ending"]),
    (f"{FILLER} them is called a", " agent", ["article"]),
    (PROMPT, " learner", ["article"]),
    (PROMPT, " MDP", []),
    (PROMPT, " hour", []),
    (f"{FILLER} them is called a", " unit", []),
    (f"{FILLER} them is called a", " Eulerian walk", []),
    (PROMPT, " agent of the state", ["stopword"]),
    (PROMPT, "agent", ["target blank"]),
    (PROMPT + " ", " agent", ["prompt end"]),
    (PROMPT.replace("thing", "agent"), " agent", ["answer"]),
])  # fmt: skip
def test_rules(prompt, target, broken):
    text = f"# Category 1: Agents\n{pair(prompt, target)}"
    assert rules(text) == broken
    answer = check_answers({"a.txt": text}, ["Agents"], 1, STOPWORDS)
    assert (len(answer.valid), len(answer.invalid)) == ((0, 1) if broken else (1, 0))


def test_counts_and_categories():
    second = pair(PROMPT.replace("many", "some"))
    text = f"# Category 1: agents\n{pair()} {second}\n# Category 2: Other\n{pair()}"
    answer = check_answers({"a.txt": text}, ["Agents", "Graphs"], 2, STOPWORDS)
    found = [(fault.line, fault.entry, fault.rule) for fault in answer.faults]
    assert found == [(0, 0, "count"), (0, 0, "count"), (4, 3, "category"), (4, 3, "duplicate")]
    assert [entry.category for entry in answer.valid] == ["Agents", "Agents"]
    assert "'Graphs' has 0 entries, not 2" in answer.faults[0].text


def test_from_keywords_to_an_imported_benchmark(tmp_path):
    def run(*arguments: object) -> str:
        done = run_command("request", *arguments)
        return done.stderr

    write_delimited(
        tmp_path / "keywords.tsv", ["keyword", "documents"], [["rare", 1], ["agents", 9], ["graphs", 10]]
    )
    run("write", "--keywords", tmp_path / "keywords.tsv", "--title", "AI", "--categories", 2,
        "--each", 2, "--output", tmp_path / "r.txt", "--list", tmp_path / "c.txt")  # fmt: skip
    assert (tmp_path / "c.txt").read_text() == "graphs\nagents\n"
    assert "I need 4 items" in (tmp_path / "r.txt").read_text()
    good = [pair(PROMPT.replace("many", word), " edge") for word in ("old", "new", "some")]
    text = (
        f"# Category 1: Graphs\n{good[0]}\n{good[1]}\n# Category 2: Agents\n{good[2]}\n{pair(target='xerox')}"
    )
    (tmp_path / "answer.txt").write_text(text)
    logged = run("read", "--answer", tmp_path / "answer.txt",
                 "--categories", tmp_path / "c.txt", "--each", 2,
                 "--output", tmp_path / "pairs.jsonl", "--faults", tmp_path / "f.csv")  # fmt: skip
    assert "3 entries keep the rules, 1 do not" in logged
    faults = read_delimited(tmp_path / "f.csv", ",")
    assert {(row["file"], row["line"], row["entry"]) for row in faults} == {("answer.txt", "6", "4")}
    assert {row["rule"] for row in faults} == {"target blank", "article"}
    assert len(read_json_lines(tmp_path / "pairs.jsonl")) == 3
    run_program("import_reference", "--entries", tmp_path / "pairs.jsonl", "--folder", tmp_path / "reference")
