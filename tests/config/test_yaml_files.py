"""YAML that says two things, or nothing."""

import pytest
from tests.refusals import refuses

from fathom.config.yaml_files import parse_yaml


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("run: a\nrun: b\n", "'run'"), ("corpus: {source: a, source: b}\n", "'source'"),
        ("1: a\n'1': b\n", "'1'"),
        ("day: 2020-13-45\n", "not valid YAML"),
        ("a: " + "[" * 3000, "deep"), ("a: " + "9" * 5000, "not valid YAML"),
    ],
    ids=["key twice", "inner key twice", "number and text", "no day", "levels", "digits"],
)  # fmt: skip
def test_what_is_no_configuration_is_refused(text, said):
    with refuses("it.yaml", said):
        parse_yaml(text, "it.yaml")


def test_what_a_merged_mapping_has_may_be_replaced():
    text = "a: &a {k: 1, l: 2}\nb: {c: &c {<<: *a, k: 3}}\nd: {<<: *c, l: 4}\n"
    assert parse_yaml(text, "it.yaml")["d"] == {"k": 3, "l": 4}
