"""Examples of what benchmarks are made of: which are chosen, what the page says, bad tables."""

import json

import polars as pl
import pytest
from tests.programs import run_program
from tests.tables import fill_table, read_delimited, write_delimited

from fathom.config.examples import Examples
from fathom.errors import InputError
from fathom.figures.example_tables import (
    list_benchmarks,
    list_keywords,
    list_pairs,
    list_terms,
    read_examples,
    render_page,
)
from fathom.io.contracts.benchmark import (
    EXAMPLE_BENCHMARKS,
    EXAMPLE_KEYWORDS,
    EXAMPLE_PAIRS,
    EXAMPLE_VOCABULARIES,
    PAIRS,
)
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.tables import make_empty_table, write_table

NAMES = ["tree search", "no pairs", "policy", "reward", "planning", *(f"word {n}" for n in range(9))]


def make_pairs(path, variant, keywords):
    rows = [
        {"pair_id": f"{variant}-{name}-{n}", "keyword": name, "variant": variant, "target": f" t{n}",
         "prompt": f"{name} | *{n}*", "doc_id": "d", "date": "", "cosine": 0.6,
         "target_in_prompt": False, "target_in_keyword": False, "association": 2.5}
        for name in sorted(keywords) for n in range(5)
    ]  # fmt: skip
    write_table(path, pl.DataFrame(rows, schema=make_empty_table(PAIRS).schema), PAIRS)
    return path


@pytest.fixture
def files(tmp_path):
    keywords = tmp_path / "keywords.tsv"
    write_delimited(keywords, ("keyword", "documents"), [(n, 40 - i) for i, n in enumerate(NAMES)], "\t")
    vocabularies, pairs, tokens = [], [], []
    for variant in ("tf", "tfidf"):
        path = tmp_path / f"{variant}.tsv"
        kept = [name for name in NAMES if (variant, name) != ("tfidf", "policy")]
        rows = [(name, f" {variant}{n}") for name in kept for n in range(12)]
        write_delimited(path, ("keyword", "term"), rows, "\t")
        vocabularies.append(("ai", variant, path))
        chosen = {*NAMES} - {"no pairs"}
        pairs.append(("ai", variant, make_pairs(tmp_path / f"{variant}.parquet", variant, chosen)))
    pairs.append(("ai", "reference", make_pairs(tmp_path / "r.parquet", "reference", list("dcba"))))
    for model, first in (("one", "x"), ("same", "x"), ("other", "y")):
        path = tmp_path / f"{model}.parquet"
        rows = [(name, n, f"{first}{n}", 20 - n) for name in sorted(NAMES) for n in range(20)]
        schema = make_empty_table(TOKEN_LISTS).schema
        write_table(path, pl.DataFrame(rows, schema=schema, orient="row"), TOKEN_LISTS)
        tokens.append(("ai", model, path))
    return {
        "domains": [("ai", "A_I", keywords)],
        "vocabularies": vocabularies,
        "tokens": tokens,
        "pairs": pairs,
    }


def test_a_token_with_and_without_a_blank_is_one_word(files, tmp_path):
    rows = [("reward", 1, "policy", 9), ("reward", 2, "agent", 7), ("reward", 3, "policy", 5)]
    schema = make_empty_table(TOKEN_LISTS).schema
    write_table(tmp_path / "t.parquet", pl.DataFrame(rows, schema=schema, orient="row"), TOKEN_LISTS)
    (found,) = read_examples(**files | {"tokens": [("ai", "m", tmp_path / "t.parquet")]})
    assert [row[3:] for row in list_terms([found]) if row[1:3] == ("reward", "tokens of m")] == [
        (1, "policy"), (2, "agent"),
    ]  # fmt: skip


def test_the_first_keywords_with_terms_and_pairs_are_shown_in_detail(files):
    (found,) = read_examples(**files)
    # one has no pairs, another no TF-IDF terms
    assert found.detailed == ["tree search", "reward", "planning"]
    assert list(found.tokens) == ["one, same", "other"]
    rows = list_terms([found])
    lists = ["TF"] * 10 + ["TF-IDF"] * 10 + ["tokens of one, same"] * 15 + ["tokens of other"] * 15
    assert [row[2] for row in rows if row[1] == "reward"] == lists
    assert rows[0] == ("ai", "tree search", "TF", 1, "tf0") and rows[-1][-1] == "y14"
    pairs = list_pairs([found])
    assert [(row[1], row[3]) for row in pairs[::3]] == [
        *(("tf", name) for name in found.detailed), *(("tfidf", name) for name in found.detailed),
        *(("reference", name) for name in "abc"),
    ]  # fmt: skip
    assert len({row[4] for row in pairs[:3]}) == 3 and pairs[0][-1].startswith("t")


CHOSEN = {"keywords": {"ai": ["word 8", "lost", "Reward"]},
          "detailed": {"ai": ["planning", "word 7", "no pairs", "word 5", "policy", "word 4"]},
          "categories": {"ai": {"reference": ["C", "z"]}}}  # fmt: skip


def test_named_keywords_come_first_and_the_first_ones_fill_up(files):
    (found,) = read_examples(**files, named=Examples(**CHOSEN))
    first = ["word 8", "reward", "tree search", "no pairs", "policy", "planning", *NAMES[5:9]]
    assert [row[2] for row in list_keywords([found])] == first
    assert [row[3] for row in list_keywords([found])][:3] == [27, 37, 40]
    # more than three, if so many are named; one has no pairs, another no TF-IDF terms
    assert found.detailed == ["planning", "word 7", "word 5", "word 4"]
    assert found.list_shown("tfidf") == found.detailed and found.list_shown("reference") == ["c", "a", "b"]
    assert found.list_left_out() == [
        ("keywords", ["lost"], 3), ("detailed", ["no pairs", "policy"], 6),
        ("categories, reference", ["z"], 2),
    ]  # fmt: skip
    # those that are listed first fill up the detailed ones
    few = Examples(keywords=CHOSEN["keywords"], detailed={"ai": ["planning"]})
    (found,) = read_examples(**files, named=few)
    assert found.detailed == ["planning", "word 8", "reward"]


def test_names_of_another_domain_change_nothing(files):
    (found,) = read_examples(**files, named=Examples(keywords={"law": ["policy"]}))
    assert found.listed == [(name, 40 - n) for n, name in enumerate(NAMES[:10])]
    assert found.list_left_out() == []


def test_the_page_has_domains_beside_each_other_and_text_as_it_is(files, tmp_path):
    short = tmp_path / "short.tsv"
    write_delimited(short, ("keyword", "documents"), [("law", 3)], "\t")
    files["domains"].append(("law", "", short))
    examples = read_examples(**files, references={"ai": {"reference": "claude"}})
    page = render_page(examples, list_benchmarks(examples))
    assert "| A\\_I | claude | completion | 20 | 4 | 5 | 1 |" in page and "| claude | a | " in page
    lines = page.splitlines()
    assert "| A\\_I | law |" in lines and "| tree search \\(40\\) | law \\(3\\) |" in lines
    assert sum(line.startswith(("| tree search \\(", "| word 4 ")) for line in lines) == 2
    assert "tree search \\| \\*" in page and "| keyword | TF | TF-IDF | tokens of one, same |" in page
    assert page.count("\n## ") == 2 + 2 * 2


def test_the_program_writes_a_page_and_four_tables(files, tmp_path):
    options = [word for name in ("vocabularies", "pairs", "tokens") for *place, path in files[name]
               for word in (f"--{name}", f"{'/'.join(place)}={path}")]  # fmt: skip
    for name, title, path in files["domains"]:
        options += ["--domains", f"{name}={path}", "--titles", title]
    out = {name: tmp_path / f"out-{name}.csv" for name in ("keywords", "terms", "chosen", "benchmarks")}
    names = [word for name, path in out.items() for word in (f"--{name}", path)]
    options += ["--references", json.dumps({"ai": {"reference": "claude"}})]
    chunks = [["r1", "r2"], ["r2"], []]
    questions = fill_table(
        QUESTIONS, question_id=["a", "b", "c"], form=["open", "binary", "binary"], chunks=chunks
    )
    write_table(tmp_path / "q.parquet", questions, QUESTIONS)
    options += [
        "--questions",
        f"staff={tmp_path / 'q.parquet'}",
        "--settings",
        json.dumps({"keywords": {"ai": ["policy", "lost", "gone"]}}),
    ]
    done = run_program("write_examples", *options, *names, "--page", tmp_path / "page.md")
    assert "ai: 2 of 3 names of examples.keywords are not in this run, left out: lost, gone" in done.stderr
    assert read_delimited(out["keywords"], ",", EXAMPLE_KEYWORDS.names)[0]["keyword"] == "policy"
    sizes = {
        "keywords": (EXAMPLE_KEYWORDS.names, 10),
        "terms": (EXAMPLE_VOCABULARIES.names, 150),
        "chosen": (EXAMPLE_PAIRS.names, 27),
        "benchmarks": (EXAMPLE_BENCHMARKS.names, 4),
    }
    for name, (columns, rows) in sizes.items():
        assert len(read_delimited(out[name], ",", columns)) == rows, name
    *_, line, own = read_delimited(out["benchmarks"], ",", EXAMPLE_BENCHMARKS.names)
    asked = ["staff", "questions about staff", "", "questions", "binary, open", "3", "", "", "2"]
    assert list(own.values()) == asked
    # five pairs of each of four categories, of one document
    assert list(line.values()) == ["ai", "A_I", "reference", "claude", "completion", "20", "4", "5", "1"]
    names = {row["benchmark"] for row in read_delimited(out["chosen"], ",", EXAMPLE_PAIRS.names)}
    assert names == {"TF", "TF-IDF", "claude"}
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# Examples") and f"| {' | '.join([asked[1], *asked[3:]])} |" in page


def test_a_damaged_table_of_keywords_is_refused(files, tmp_path):
    write_delimited(tmp_path / "bad.tsv", ("keyword", "documents"), [("law", "many")], "\t")
    with pytest.raises(InputError, match="not a whole number"):
        read_examples([("ai", "AI", tmp_path / "bad.tsv")], [], [], [])
