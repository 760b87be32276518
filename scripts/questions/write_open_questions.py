"""Let a local model write open questions about records, by greedy decoding [CompComp, Sec. 4.2].

Writes the questions that pass its checks, and a table of those that do not.
"""

import os
from pathlib import Path
from typing import Annotated

from fathom.config.scoring import Scoring
from fathom.io.contracts.questions import CHUNKS
from fathom.io.tables import read_table
from fathom.jobs.signature import Gpus, ModelFile, Threads, run
from fathom.questions.material import Chunks


def main(
    *,
    model: ModelFile,
    chunks: Chunks,
    count: Annotated[int, "records, a question about each"],
    questions: Annotated[Path, "questions that pass, to write (JSON lines)"],
    faults: Annotated[Path, "what was left out, and why, to write (CSV)"],
    threads: Threads = 1,
    gpus: Gpus = 1,
    settings: Scoring,
) -> None:
    """Read records, load the model, write questions and faults."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from fathom.answering.answerer import ModelAnswerer
    from fathom.models.loading import read_pointer
    from fathom.models.open_model import OpenModel
    from fathom.questions.writing import write_checked, write_with_model

    records = read_table(chunks, CHUNKS).rows()[:count]
    opened = OpenModel(read_pointer(model), settings, threads, gpus)
    write_checked(write_with_model(ModelAnswerer(opened), records), questions, faults)


if __name__ == "__main__":
    run(main)
