"""Records that are nearest to questions, for prompts that hold them [CompComp, Sec. 5.1]."""

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt

RETRIEVED = 5
"""Records in a prompt."""
_CHARACTERS = 800
"""Characters of a record in a prompt, so that five fit into a context of 2,048 tokens."""
_AT_ONCE = 1024
_SPARE = 16
"""Records beyond those wanted that FAISS finds, so that its rounding leaves out none of them."""
_DECIMALS = 12

Vectors = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]


def retrieve_records(
    questions: Vectors, records: Vectors, texts: Sequence[str], count: int = RETRIEVED
) -> list[str]:
    """Return the texts of the records next to each question, the nearest first, by exact search.

    FAISS is used where it is installed, and changes nothing but the time.

    Parameters
    ----------
    questions : array of float32 of shape (n_questions, dimension)
        Unit vectors.
    records : array of float32 of shape (n_records, dimension)
        Unit vectors.
    count : int, default=RETRIEVED
        Records for each question, if there are as many; of equal ones the first.
    """
    find = _find_with_faiss if find_spec("faiss") else find_exactly
    places = [row for some in _divide(questions) for row in find(some, records, count).tolist()]
    return ["".join(f"{texts[place][:_CHARACTERS]}\n" for place in each) for each in places]


def find_exactly(questions: Vectors, records: Vectors, count: int) -> Places:
    """Return the rows of the records next to each question, of shape (n_questions, count)."""
    return _sort(questions.astype(np.float64) @ records.astype(np.float64).T, count)


def _find_with_faiss(questions: Vectors, records: Vectors, count: int) -> Places:
    """Return what :func:`find_exactly` does, but sort only what a flat index of FAISS finds in float32.

    Where its rounding leaves it open whether another record is nearer, all records are looked at.
    """
    # by its name, as an environment of the workflow need not have it
    faiss = import_module("faiss")
    index = faiss.IndexFlatIP(records.shape[1])
    index.add(np.ascontiguousarray(records))
    nearest, found = index.search(np.ascontiguousarray(questions), min(count + _SPARE, len(records)))
    found = np.sort(found, axis=1)
    cosines = np.einsum("qd,qkd->qk", questions.astype(np.float64), records[found].astype(np.float64))
    places = np.take_along_axis(found, _sort(cosines, count), axis=1)
    if found.shape[1] < len(records):
        lengths = np.linalg.norm(questions, axis=1) * np.linalg.norm(records, axis=1).max()
        error = records.shape[1] * np.finfo(np.float32).eps * lengths
        last = np.sort(cosines, axis=1)[:, -places.shape[1]]
        unsure = last <= nearest[:, -1] + error
        places[unsure] = find_exactly(questions[unsure], records, count)
    return places


def _sort(cosines: npt.NDArray[np.float64], count: int) -> Places:
    """Return the places of the highest cosines in each row, of equal ones the first."""
    # rounded, so that the order in which products are summed decides no tie
    return np.argsort(-cosines.round(_DECIMALS), axis=1, kind="stable")[:, :count]


def _divide(questions: Vectors) -> Iterator[Vectors]:
    for start in range(0, len(questions), _AT_ONCE):
        yield questions[start : start + _AT_ONCE]
