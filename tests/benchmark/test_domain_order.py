"""Domains by similarity: which abstracts count, the order, and which domains are taken."""

import numpy as np
import polars as pl
import pytest
import yaml
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.tables import fill_table

from fathom.benchmark.domain_order import (
    average_vectors,
    choose_evenly,
    draw_abstracts,
    draw_beginnings,
    order_domains,
    render_order,
)
from fathom.config.models import Continual
from fathom.config.whole import read_config
from fathom.io.contracts.benchmark import DOMAIN_ORDERS
from fathom.io.contracts.corpus import INDEX
from fathom.io.tables import read_table, write_table


def make_index(count=60) -> pl.DataFrame:
    """Return an index of two domains, a third of the documents in both, every tenth without an abstract."""
    abstracts = [f"abstract {n}" if n % 10 else "" for n in range(count)]
    domains = [[["x"], ["y"], ["x", "y"]][n % 3] for n in range(count)]
    return fill_table(INDEX, doc_id=[f"d{n:02d}" for n in range(count)], abstract=abstracts, domains=domains)


def test_abstracts_are_drawn_by_a_hash_whatever_the_pieces_of_the_index():
    index = make_index()
    drawn = draw_abstracts([index], "x", 10)
    assert len(drawn) == len({*drawn}) == 10 and "" not in drawn
    assert draw_abstracts([index[40:], index[:7], index[7:40]], "x", 10) == drawn
    assert draw_abstracts([index], "x", 5) == drawn[:5]
    others = set(draw_abstracts([index], "x", 1000)) - set(draw_abstracts([index], "y", 1000))
    assert others == {f"abstract {n}" for n in range(0, 60, 3) if n % 10}


def test_a_domain_without_abstracts_is_known_by_the_beginnings_of_its_texts():
    texts = pl.DataFrame({"doc_id": ["a", "b", "c"], "text": ["One\n two. " * 3, "Three", "Four"]})
    drawn = draw_beginnings(texts, 2, characters=9)
    assert len(drawn) == 2 and set(drawn) <= {"One two.", "Three", "Four"}
    assert draw_beginnings(texts[::-1], 2, characters=9) == drawn


def make_means(angles):
    return {name: np.array([np.cos(angle), np.sin(angle)]) for name, angle in angles.items()}


def test_means_have_unit_length_and_are_ordered_by_cosine():
    mean = average_vectors(np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32))
    assert mean == pytest.approx(np.array([1.6, 1.8]) / np.hypot(1.6, 1.8)) and mean.dtype == np.float64
    means = make_means({"target": 0.0, "a": 0.3, "b": 1.5, "c": 0.9, "d": 3.0})
    order = order_domains(means, "target", ["a", "b", "c", "d"], 3)
    assert order["domain"].to_list() == ["d", "b", "c", "a"]
    assert order["similarity"].to_list() == pytest.approx(np.cos([3.0, 1.5, 0.9, 0.3]), abs=1e-6)
    assert order["place"].to_list() == [1, 2, 3, 4]
    assert order.filter("chosen")["domain"].to_list() == ["d", "c", "a"]
    assert order["stage"].to_list() == [1, 0, 2, 3]


def test_equally_similar_domains_are_ordered_by_name():
    order = order_domains(make_means({"target": 0.0, "b": 0.5, "a": -0.5, "c": 0.5}), "target", ["a", "b"])
    assert order["domain"].to_list() == ["a", "b", "c"]


def test_a_given_order_counts_as_it_is_and_domains_outside_the_candidates_are_not_chosen():
    means = make_means({"target": 0.0, "a": 0.3, "b": 1.5, "c": 0.9})
    order = order_domains(means, "target", ["a", "b"], None, given=["a", "c"])
    assert order["domain"].to_list() == ["b", "c", "a"]
    assert order["chosen"].to_list() == [True, False, True]
    assert order["stage"].to_list() == [0, 2, 1]
    with_target = order_domains(means, "target", ["a", "target"], None)
    assert with_target["domain"].to_list() == ["b", "c", "a", "target"]
    assert with_target["similarity"][-1] == 1


@pytest.mark.parametrize("size", [2, 3, 12, 13, 165])
@pytest.mark.parametrize("count", [2, 3, 12])
def test_domains_are_taken_at_even_distances_with_both_ends(size, count):
    names = [f"d{number}" for number in range(size)]
    chosen = choose_evenly(names, count)
    places = [names.index(name) for name in chosen]
    assert len(chosen) == min(size, count) and places[0] == 0 and places[-1] == size - 1
    gaps = np.diff(places)
    assert gaps.min() >= 1 and gaps.max() - gaps.min() <= 1
    assert choose_evenly(names, None) == names


def test_the_programs_write_an_order_that_the_configuration_takes(tmp_path):
    (tmp_path / "orders/means").mkdir(parents=True)
    means = make_means({"target": 0.0, "a": 0.3, "on": 1.5, "c": 0.9})
    for name, mean in means.items():
        np.save(tmp_path / f"orders/means/{name}.100.npy", mean)
    files = ["--means", *(tmp_path / f"orders/means/{name}.100.npy" for name in means)]
    settings = Continual(base="m", evaluation_domain="target", count=2).model_dump_json()
    files += ["--table", tmp_path / "s.parquet", "--configuration", tmp_path / "s.yaml"]
    run_program("order_domains", "--study", "s", *files, "--settings", settings)
    order = read_table(tmp_path / "s.parquet", DOMAIN_ORDERS)
    assert order.filter("chosen")["domain"].to_list() == ["on", "a"]
    values = yaml.safe_load((tmp_path / "s.yaml").read_text())
    # `on` is true in YAML unless it is quoted
    assert values == {"models": {"continual": {"s": {"order": ["on", "a"]}}}}
    values["models"]["continual"]["s"] |= {"base": "m", "evaluation_domain": "target"}
    values["models"]["train"] = {"m": {"domain": "a"}}
    names = {name: {"categories": [name]} for name in ("target", "a", "on")}
    assert read_config({**values, "domains": names, "pairs": {"tokenizer": "m"}}, "s.yaml").models.studies
    with refuses("domain", "choose"):
        render_order("s", order.with_columns(chosen=pl.lit(value=False)))


def test_the_mean_of_abstracts_does_not_depend_on_the_order_of_the_index(tmp_path):
    index = make_index(12)
    vectors = []
    for number, frame in enumerate((index, index[::-1])):
        write_table(tmp_path / f"{number}.parquet", frame, INDEX)
        run_program(
            "average_abstracts", "--index", tmp_path / f"{number}.parquet", "--domain", "x", "--abstracts", 5,
            "--mean", tmp_path / f"{number}.npy", "--settings", '{"device": "cpu"}',
            imports=MODELS,
        )  # fmt: skip
        vectors.append(np.load(tmp_path / f"{number}.npy"))
    assert np.array_equal(*vectors) and np.linalg.norm(vectors[0]) == pytest.approx(1)
