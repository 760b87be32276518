"""Records that are nearest to questions, for prompts that hold them [CompComp, Sec. 5.1]."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

RETRIEVED = 5
"""Records in a prompt."""
_CHARACTERS = 800
"""Characters of a record in a prompt, so that five fit into a context of 2,048 tokens."""
_AT_ONCE = 1024

Vectors = npt.NDArray[np.float32]


def retrieve_records(
    questions: Vectors, records: Vectors, texts: Sequence[str], count: int = RETRIEVED
) -> list[str]:
    """Return the texts of the records next to each question, the nearest first, by exact search.

    Parameters
    ----------
    questions : array of float32 of shape (n_questions, dimension)
        Unit vectors.
    records : array of float32 of shape (n_records, dimension)
        Unit vectors.
    texts : sequence of str
        Their texts, of which a prompt holds the beginning.
    count : int, default=RETRIEVED
        Records for each question, if there are as many; of equal ones the first.

    Returns
    -------
    list of str
        One text for each question, a line for each record.
    """
    # in double precision, so that the number of cores decides no tie
    exact = records.astype(np.float64)
    found = []
    for start in range(0, len(questions), _AT_ONCE):
        cosines = questions[start : start + _AT_ONCE].astype(np.float64) @ exact.T
        found += np.argsort(-cosines, axis=1, kind="stable")[:, :count].tolist()
    return ["".join(f"{texts[place][:_CHARACTERS]}\n" for place in places) for places in found]
