"""Tables as people have them: an element whose discovery has no year, countries with thousands apart."""

import json

import pytest
import yaml
from tests.questions.test_proved_options import pose_all

from fathom.errors import InputError
from fathom.questions.ontology_sources import read_tables

YEARS = {"phosphorus": 1669, "zinc": 1746, "nickel": 1751, "oxygen": 1774, "tungsten": 1783, "iodine": 1811,
         "helium": 1868, "radium": 1898, "iron": ""}  # fmt: skip
INHABITANTS = (999, 1_000, 8_100, 9_500, 10_200, 84_000, 97_000, 110_000, 620_000, 1_300_000, 5_900_000,
               10_400_000, 67_000_000, 83_200_000, 125_000_000, 331_000_000, 1_390_000_000,
               1_410_000_000)  # fmt: skip


def write_case(folder, rows, table, template):
    """Write a table and a template; return the ontology."""
    (folder / "things.csv").write_text("\n".join(rows) + "\n")
    tables = {"things.csv": {"key": "name", "label": "name", **table}}
    (folder / "tables.yaml").write_text(json.dumps({"tables": tables}))
    (folder / "templates.yaml").write_text(yaml.safe_dump({"templates": {"one": template}}))
    return read_tables(folder / "tables.yaml")


def make_template(text, about, kind, form, condition):
    return {"level": "apply" if form == "multiple-answer" else "understand", "form": form, "text": text,
            "answer": "other", "class": kind, "select": f"SELECT ?{about} ?other {{ {condition} }}",
            "ask": f"ASK {{ {condition} }}"}  # fmt: skip


def test_an_element_without_a_year_is_neither_right_nor_wrong(tmp_path):
    rows = ["name,sort,discovered", *(f"{name},element,{year}" for name, year in YEARS.items())]
    condition = "?other :sort ?sort ; :discovered ?year . FILTER (?year < 1700)"
    template = make_template(
        "Which {sort} was discovered before 1700?", "sort", "Element", "multiple-answer", condition
    )
    table = {"class": "Element", "links": {"sort": {"to": "Sort"}}, "values": ["discovered"]}
    (question,), _ = pose_all(tmp_path, write_case(tmp_path, rows, table, template))
    assert question["answer"] == "phosphorus"
    assert {*question["options"]} == {*YEARS} - {"iron"}


def write_countries(folder, numbers):
    """Write countries with their inhabitants; ask which have more than another."""
    rows = ["name,people", *(f'country {place:02d},"{text}"' for place, text in enumerate(numbers))]
    condition = "?one :people ?own . ?other :people ?more . FILTER (?more > ?own)"
    template = make_template(
        "Which has more inhabitants than {one}?", "one", "Country", "multiple-choice", condition
    )
    return write_case(folder, rows, {"class": "Country", "values": ["people"]}, template)


# the text of a smaller number often comes after that of a larger one
@pytest.mark.parametrize("shape", ["{:,}", "{:_}", "{}"])
def test_every_key_of_more_inhabitants_is_right(tmp_path, shape):
    numbers = [shape.format(number).replace("_", " ") for number in INHABITANTS]
    numbers[1] = "1e3"
    questions, _ = pose_all(tmp_path, write_countries(tmp_path, numbers))
    # three wrong options need three countries that are no larger, beside the one asked about
    assert len(questions) == 14
    for question in questions:
        own = INHABITANTS[int(question["question"][-3:-1])]
        told = [INHABITANTS[int(option[-2:])] > own for option in question["options"]]
        assert told == question["right"] and sum(told) == 1


def test_an_approximate_number_is_refused_with_its_place(tmp_path):
    with pytest.raises(InputError, match="'~234' is no number") as error:
        write_countries(tmp_path, ["~234", *map(str, INHABITANTS)])
    assert error.value.where.endswith("things.csv, line 2, column people")
