"""Association of targets with the words before them, against counts by hand."""

import json
import math
import random
import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.programs import run_program
from tests.tables import fill_table, write_delimited

from fathom.benchmark.association import LEAST, AssociationFinder, Associations, join_documents
from fathom.io.contracts.benchmark import ASSOCIATIONS, MATCHES
from fathom.io.contracts.corpus import INDEX, SENTENCES
from fathom.io.tables import read_table, write_table

FUNCTION_WORDS = frozenset({"the", "with", "and"})
TERMS = {"resonance", "process", "energy"}
GENERAL = ["paper", "result", "method", "value", "energy", "process"]
PLANTED = "The nuclear magnetic resonance with energy value"


def write_sentences(documents: int, each: int = 4) -> pl.DataFrame:
    """Return sentences of random words; a fifth of them hold a phrase that is the field's own."""
    draw = random.Random(2)
    rows = []
    for document in range(documents):
        for position in range(each):
            words = draw.choices(GENERAL, k=8)
            planted = ["nuclear", "magnetic", "resonance"] if draw.random() < 0.2 else []
            rows.append(
                (
                    f"d{document:04d}",
                    position,
                    " ".join([f"{document}a{position}", *words[:4], *planted, *words[4:]]),
                )
            )
    return pl.DataFrame(rows, {"doc_id": pl.String, "position": pl.Int32, "clean": pl.String}, orient="row")


SENTENCES_READ = write_sentences(150)
OUTSIDE = [" ".join(random.Random(number).choices(GENERAL, k=30)) for number in range(200)]


def find_all(
    sentences: pl.DataFrame, outside=OUTSIDE, parts: int = 1, terms=TERMS, general=()
) -> pl.DataFrame:
    size = max(1, len(sentences) // parts)
    finder = AssociationFinder(
        lambda: join_documents(sentences.iter_slices(size)), outside, terms, FUNCTION_WORDS
    )
    return pl.concat(finder.find(sentences.select("doc_id", "position"))).sort("doc_id", "position", "start")


def find(sentences: pl.DataFrame, *args, **options) -> pl.DataFrame:
    """Return the terms that have an association, or whose association is unknown."""
    return find_all(sentences, *args, **options).filter(pl.col("association") != 0)


def count_by_hand(sentences: pl.DataFrame, row: dict) -> float:
    """Return an association from the sentences of all other documents, the slow way."""
    here = set(sentences.filter(doc_id=row["doc_id"])["clean"])
    others = [text for text in sentences["clean"].unique() if text not in here]
    split = [[word for word in text.split() if not word[0].isdigit()] for text in others]
    own = sentences.filter(doc_id=row["doc_id"], position=row["position"])["clean"][0]
    target = re.match(r"\w+", own[row["start"] :])[0]
    context = [word for word in own[: row["start"]].split() if not word[0].isdigit()][-6:]
    uses = Counter(word for words in split for word in words)
    pairs = Counter(
        (before, word)
        for words in split
        for place, word in enumerate(words)
        for before in words[max(0, place - 6) : place]
    )
    best = 0.0
    for word in {"nuclear", "magnetic", "resonance"} & set(context):
        size = sum(count for (before, _), count in pairs.items() if before == word)
        together = pairs[word, target]
        if together >= LEAST:
            chance = size * uses[target] / uses.total()
            best = max(best, math.log2((together - math.sqrt(together)) / chance))
    return best


def test_associations_are_counted_without_the_terms_own_document():
    found = find(SENTENCES_READ)
    rows = found.filter(pl.col("association") > 2)
    assert len(rows) > 100
    for row in rows[::15].iter_rows(named=True):
        assert row["association"] == pytest.approx(count_by_hand(SENTENCES_READ, row), abs=1e-3)


def test_general_words_are_no_context_where_other_documents_tell():
    terms = {SENTENCES_READ.row(0)[2], *TERMS}
    first = find(SENTENCES_READ, terms=terms).filter(pl.col("start") < 12)
    assert first.is_empty()


def test_a_word_of_any_field_counts_where_it_completes_a_term_of_this_one():
    # `process` is more frequent outside, and so is `value`, which completes nothing
    told = SENTENCES_READ.with_columns(
        clean=pl.when(pl.col("position") == 0)
        .then(pl.col("clean") + " the Yule process with the value")
        .otherwise("clean")
    )
    outside = [*OUTSIDE, *[" ".join(["process value"] * 40)] * 200]
    found = find(told, outside=outside, terms=TERMS | {"value"}).join(told, on=["doc_id", "position"])
    before = {clean[:start].split()[-1] for start, clean in found.select("start", "clean").iter_rows()}
    assert "Yule" in before and "the" not in before


def test_one_field_alone_has_associations_too():
    assert (find(SENTENCES_READ, outside=[])["association"] > 2).sum() > 100


def test_neither_the_order_of_documents_nor_of_batches_changes_a_number():
    found = find(SENTENCES_READ)
    for parts in (3, 7):
        assert find(SENTENCES_READ, parts=parts).equals(found)
    reverse = SENTENCES_READ.sort("doc_id", descending=True, maintain_order=True)
    assert find(reverse).equals(found)


def test_a_document_that_stands_a_thousand_times_associates_nothing():
    one = write_sentences(1, each=10).with_columns(clean=pl.lit(PLANTED) + " of " + pl.col("clean"))
    copies = pl.concat([one.with_columns(doc_id=pl.lit(f"copy{number:04d}")) for number in range(1000)])
    assert find(copies, terms=TERMS | {"paper", "value"}).is_empty()


def test_of_few_documents_nothing_is_known():
    found = find(write_sentences(10))
    assert len(found) > 20 and found["association"].is_nan().all()


def test_a_term_is_found_by_its_place():
    rows = pl.DataFrame(
        {
            "doc_id": ["a", "a", "b"],
            "position": [1, 1, 0],
            "start": [4, 30, 7],
            "association": [2.0, 3.0, 4.0],
            "gift": [False, True, False],
        }
    )
    found = Associations(rows.reverse())
    assert [found.find(*place) for place in (("a", 1, 4), ("a", 1, 30), ("b", 0, 7))] == [
        (2, False), (3, True), (4, False),
    ]  # fmt: skip
    others = [found.find(*place) for place in (("a", 1, 5), ("a", 0, 4), ("c", 0, 7), ("b", 0, 99))]
    assert others == [(0, True)] * 4
    unknown = Associations.unknown().find("a", 1, 4)
    assert math.isnan(unknown.association) and not unknown.gift


def test_the_program_reads_all_slices(tmp_path: Path):
    paths = []
    for name, half in (("one", pl.col("doc_id") < "d0075"), ("two", pl.col("doc_id") >= "d0075")):
        rows = SENTENCES_READ.filter(half).with_columns(sentence=pl.col("clean")).with_row_index("row")
        paths.append(tmp_path / f"{name}.parquet")
        write_table(paths[-1], rows, SENTENCES)
    matched = SENTENCES_READ.with_columns(keyword=pl.lit("nuclear magnetic"), cosine=pl.lit(0.7))
    write_table(tmp_path / "matched.parquet", matched, MATCHES)
    names = sorted(set(SENTENCES_READ["doc_id"]))
    outside = [f"x{number:04d}" for number in range(len(OUTSIDE))]
    index = fill_table(
        INDEX, doc_id=[*names, *outside], abstract=[*[""] * len(names), *OUTSIDE],
        domains=[*[["field"]] * len(names), *[["other"]] * len(outside)],
    )  # fmt: skip
    write_table(tmp_path / "index.parquet", index, INDEX)
    terms = [["nuclear magnetic", f" {term}"] for term in sorted(TERMS)]
    write_delimited(tmp_path / "vocabulary.tsv", ["keyword", "term"], terms)
    for name in ("stopwords", "function", "academic"):
        (tmp_path / f"{name}.txt").write_text("" if name == "academic" else "\n".join(sorted(FUNCTION_WORDS)))
    run_program(
        "find_associations", "--sentences", *paths, "--matched", tmp_path / "matched.parquet",
        "--vocabularies", tmp_path / "vocabulary.tsv", "--index", tmp_path / "index.parquet",
        "--domain", "field", "--wordlists", tmp_path, "--associations", tmp_path / "associations.parquet",
        "--report", tmp_path / "report.json",
    )  # fmt: skip
    found = read_table(tmp_path / "associations.parquet", ASSOCIATIONS)
    assert found.sort("doc_id", "position", "start").equals(find_all(SENTENCES_READ))
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["documents"], report["documents_outside"]) == (150, 200)


def test_a_hundred_documents_are_enough():
    assert find(write_sentences(99))["association"].is_nan().all()
    found = find(write_sentences(100))
    assert len(found) > 20 and not found["association"].is_nan().any()


def test_documents_without_matched_sentences_end_nothing():
    found = find(SENTENCES_READ)
    late = SENTENCES_READ.filter(pl.col("doc_id") > "d0120")
    finder = AssociationFinder(
        lambda: join_documents(
            each for part in SENTENCES_READ.iter_slices(100) for each in (part.clear(), part, part.clear())
        ),
        OUTSIDE, TERMS, FUNCTION_WORDS,
    )  # fmt: skip
    rows = pl.concat(finder.find(late.select("doc_id", "position"))).sort("doc_id", "position", "start")
    rows = rows.filter(pl.col("association") > 0)
    assert len(rows) > 10 and rows.equals(found.filter(pl.col("doc_id") > "d0120"))


def test_sentences_that_a_document_repeats_count_once():
    found = find(SENTENCES_READ)
    again = SENTENCES_READ.with_columns(pl.col("position") + 100)
    both = find(pl.concat([SENTENCES_READ, again]).sort("doc_id", maintain_order=True))
    assert both.filter(pl.col("position") < 100).equals(found)


@pytest.mark.parametrize(("texts", "own"), [(8, True), (3, False)])
def test_what_never_occurs_outside_may_have_been_missed_half_a_time(texts, own):
    """Of the field's words 2.3 % are `nuclear`: 1.5 half uses in 48 words are fewer, in 18 words more."""
    outside = [" ".join(GENERAL)] * texts + [""] * (100 - texts)
    found = find(SENTENCES_READ, outside, terms={"resonance"})
    assert found.is_empty() != own


def test_a_term_rarer_after_the_word_before_it_than_outside_is_associated_with_nothing():
    words = ["paper"] * 30 + ["method"] * 30 + ["result"] * 59 + ["value"]
    rows = [(f"d{number:03d}", 0, f"{number}x nuclear {word} energy") for number, word in enumerate(words)]
    schema = {"doc_id": pl.String, "position": pl.Int32, "clean": pl.String}
    outside = ["paper energy method method method method"] * 100 + ["method energy"] * 5
    found = find(pl.DataFrame(rows, schema, orient="row"), outside, terms={"energy"})
    after = Counter(words[int(doc_id[1:])] for doc_id in found["doc_id"])
    assert after == {"method": 30, "result": 59, "value": 1}
    assert 0 < found["association"].min() < 1


def write_places(*texts: str, copies: int) -> pl.DataFrame:
    """Return each text in as many documents, made distinct by a number at its beginning."""
    rows = [
        (f"d{place}-{number:03d}", 0, f"{place}{number} {text}")
        for place, text in enumerate(texts)
        for number in range(copies)
    ]
    return pl.DataFrame(rows, {"doc_id": pl.String, "position": pl.Int32, "clean": pl.String}, orient="row")


# own terms of the field, so that text outside has something to choose from
OTHERS = [
    f"{first}{last}"
    for first in ("ferm", "bos", "plasm", "mes", "phot", "grav")
    for last in ("ion", "ite", "oid", "ium", "ule")
]


@pytest.mark.parametrize(
    ("text", "outside", "gift"),
    [
        ("nuclear resonance", "method paper", False),
        ("nuclear resonance", "resonance paper", True),  # as frequent outside
        ("nuclear resonance", "paper " * 400 + "nuclear resonance", True),  # text outside says it
        ("nuclear resonance", "paper " * 400 + "resonance nuclear", False),  # it says others
        ("new york", "method paper", True),  # general English says it
        ("magnetic york", "method paper", False),
    ],
)
def test_a_gift_is_what_text_outside_the_field_gives(text, outside, gift):
    term = text.split()[-1]
    told = write_places(text, *[f"strange {other}" for other in OTHERS], copies=100)
    said = " ".join(f"nuclear {other} magnetic {other}" for other in OTHERS)
    texts = [outside] * 120 + ["method " * 4000, said]
    found = find_all(told, texts, terms={term, *OTHERS}).filter(pl.col("doc_id").str.starts_with("d0-"))
    # a gift without association has no row
    assert (not len(found) or found["gift"].all()) == gift


def test_of_few_own_terms_none_is_guessed_by_chance():
    told = write_places("nuclear resonance", "strange boson", copies=100)
    found = find_all(told, ["method paper"] * 120, terms={"resonance", "boson"})
    assert len(found) and not found["gift"].any()


def test_beside_general_english_alone_there_are_gifts_too():
    told = write_places("nuclear resonance", "new york", copies=60)
    found = find_all(told, [], terms={"resonance", "york"})
    gifts = {doc_id[:2]: gift for doc_id, gift in found.select("doc_id", "gift").iter_rows()}
    assert gifts == {"d0": False, "d1": True}
