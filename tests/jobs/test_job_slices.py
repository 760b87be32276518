import pytest

from fathom.jobs.job_slices import Slice, divide_part, read_slice
from fathom.jobs.resources import Sizes


def test_a_small_part_is_one_slice_of_its_own_name():
    assert divide_part("a.jsonl", 9.9, 10) == [Slice("a.jsonl")]
    assert divide_part("a.jsonl", 0.0, 10)[0].name == "a.jsonl"


@pytest.mark.parametrize("megabytes", [10.1, 25, 119, 1234])
def test_names_are_sorted_and_read_again(megabytes):
    slices = divide_part("a.jsonl.gz", megabytes, 10)
    names = [each.name for each in slices]
    assert names == sorted(set(names))
    assert [read_slice(name) for name in names] == slices
    assert len(names) == -(-megabytes // 10)


def test_a_slice_has_its_share_of_the_part():
    sizes = Sizes({"a.jsonl": 30.0, "b.jsonl": 5.0}, 35.0)
    assert [sizes.of(name) for name in ("a.jsonl", "a.jsonl.2-of-3", "b.jsonl", "", "other")] == [
        30.0, 10.0, 5.0, 35.0, 35.0]  # fmt: skip
