"""What a corpus lost stands on the page, and more than a tenth of it in its notes."""

from fathom.explorer.checks import describe_left_out

_FILES = {"read": 3, "skipped": {"a link": {"count": 1, "examples": ["a/b.txt"]}}}


def _slice(kept: int, script: int) -> dict:
    return {
        "sentences": kept + script, "kept": kept, "dropped_script": script, "dropped_empty": 0,
        "examples": {"dropped_script": ["мир"] * bool(script)}, "splitter": "rules",
    }  # fmt: skip


def test_reasons_are_added_up_with_shares_and_examples():
    missing: list[str] = []
    tables = describe_left_out([_slice(90, 10), _slice(99, 1)], {"files": _FILES}, missing)
    (rows,) = tables.values()
    assert [(row["what"], row["count"], row["share"], row["examples"]) for row in rows] == [
        ("sentence", "11", "0.0550", "мир · мир"), ("file", "1", "0.2500", "a/b.txt"),
    ]  # fmt: skip
    assert missing == []


def test_more_than_a_tenth_is_said_and_nothing_is_no_table():
    missing: list[str] = []
    describe_left_out([_slice(80, 20)], {}, missing)
    assert len(missing) == 1
    assert "20 %" in missing[0]
    assert describe_left_out([_slice(80, 0)], {}, missing) == {}
    assert describe_left_out([], {}, missing) == {}
