"""Parts of a benchmark from files to files: scores, and first tokens, from which bits of the whole follow."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fathom.io.contracts.scoring import SCORES
from fathom.io.files import write_atomically
from fathom.io.tables import write_table
from fathom.jobs.resume import Resume
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.served import ServedModel
from fathom.scoring.pair_files import read_pairs
from fathom.scoring.ranks import How, score_among
from fathom.scoring.served_ranks import score_served_among

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def plan_part(name: str, pairs: Path, scores: Path, words: Sequence[str]) -> Measurement:
    """Return how a part of a benchmark is scored, with first tokens in a file beside the scores.

    `words` are the candidates, the distinct targets of the whole benchmark.
    """

    def measure(model: OpenModel, outputs: Sequence[Path], resume: Resume) -> None:
        import numpy as np
        from safetensors.numpy import save_file

        if isinstance(model, ServedModel):
            found, first = score_served_among(model, read_pairs(pairs), words, resume)
        else:
            how = How(model.settings, model.pointer, resume)
            found, first = score_among(model.copies, model.tokenizer, read_pairs(pairs), words, how)
        write_table(outputs[0], found, SCORES)
        # safetensors writes memory as it lies, whatever the order of its axes
        arrays = {"own": np.ascontiguousarray(first.own), "others": np.ascontiguousarray(first.others)}
        with write_atomically(outputs[1]) as temporary:
            save_file(arrays, temporary)

    return Measurement(
        name, __file__, [pairs], [scores, _name_beside(scores)], [*words], measure
    )  # fmt: skip


def read_first_tokens(scores: Path) -> "tuple[NDArray[np.float64], NDArray[np.float32]]":
    """Return the log-probabilities of the first tokens of targets, and of all candidates, beside scores."""
    from safetensors.numpy import load_file

    found = load_file(_name_beside(scores))
    return found["own"], found["others"]


def _name_beside(scores: Path) -> Path:
    return scores.with_suffix(".safetensors")
