"""A few calls of the fuzzer; `python -m tests.fuzzing` makes thousands."""

from tests.fuzzing import HANG, REFUSED, SILENT, TRACEBACK, WELL, fuzz


def test_damaged_files_are_read_or_refused_and_no_result_changes_in_silence():
    wrong: list[str] = []
    counts = fuzz(60, 1, wrong.append)
    assert not wrong, wrong[0]
    ends = {end for _, end in counts}
    assert ends == {WELL, REFUSED} and not ends & {TRACEBACK, HANG, SILENT}
    assert sum(counts.values()) == 60
