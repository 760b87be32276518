"""Bad input ends with one message: a test says what the message has to name, not how it is worded."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from fathom.errors import InputError


@contextmanager
def refuses(*names: object, error: type[Exception] = InputError) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Expect an error whose message names these things: file, key, line, value, a word of the hint.

    It may be a function's, or that of a program that :mod:`tests.programs` runs.
    """
    with pytest.raises(error) as caught:
        yield caught
    missing = [name for name in map(str, names) if name not in str(caught.value)]
    assert not missing, f"{missing} not in: {caught.value}"
