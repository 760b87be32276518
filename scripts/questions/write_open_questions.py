"""Let a local model write open questions about records, by greedy decoding [CompComp, Sec. 4.2].

Writes the questions that pass its checks, and a table of those that do not.
"""

import argparse
import os
from pathlib import Path

from fathom.config.scoring import Scoring
from fathom.io.contracts.questions import CHUNKS
from fathom.io.tables import read_table
from fathom.jobs.program import add_settings, read_settings, run_program
from fathom.models.open_model import add_gpus, add_torch_threads


def main(arguments: argparse.Namespace) -> None:
    """Read records, load the model, write questions and faults."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from fathom.answering.answerer import ModelAnswerer
    from fathom.models.loading import read_pointer
    from fathom.models.open_model import OpenModel
    from fathom.questions.writing import write_checked, write_with_model

    settings = read_settings(arguments.settings, Scoring)
    records = read_table(arguments.chunks, CHUNKS).rows()[: arguments.count]
    model = OpenModel(read_pointer(arguments.model), settings, arguments.threads, arguments.gpus)
    checked = write_with_model(ModelAnswerer(model), records)
    write_checked(checked, arguments.output, arguments.faults)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="pointer to a model (JSON), or its folder")
    parser.add_argument("--chunks", type=Path, required=True, help="table of texts of records")
    parser.add_argument("--count", type=int, required=True, help="records, a question about each")
    add_torch_threads(parser)
    add_gpus(parser)
    parser.add_argument("--output", type=Path, required=True, help="questions that pass (JSON lines)")
    parser.add_argument("--faults", type=Path, required=True, help="what was left out, and why (CSV)")
    add_settings(parser, Scoring)
    run_program(parser, main)
