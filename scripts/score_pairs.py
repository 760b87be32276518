"""Score a model on prompt-target pairs: rank and probability of every target (spec 2.1).

Reads a model (its pointer or a plain folder) and pairs (.parquet of the workflow, or .jsonl with pair_id,
keyword, prompt, target); writes one row for each pair, and a report.
"""

import argparse
import os
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config import Scoring
from fathom.errors import InputError
from fathom.files import hash_file, read_json_lines, write_json
from fathom.models.loading import check_fingerprint, load_model, read_pointer
from fathom.program import add_settings, log, read_settings, run_program
from fathom.scoring.ranks import COLUMNS, score_pairs
from fathom.tables import PAIRS, SCORES, read_table, write_table


def main(arguments: argparse.Namespace) -> None:
    """Load model and pairs, score, write scores and report."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    torch.set_num_threads(arguments.threads)
    settings = read_settings(arguments.settings, Scoring)
    pairs = read_pairs(arguments.pairs)
    pointer = read_pointer(arguments.model)
    model, tokenizer = load_model(pointer, settings.dtype, settings.device)
    fingerprint = check_fingerprint(pointer)
    scores = score_pairs(model, tokenizer, pairs, settings, pointer.add_bos, pointer.name)
    report: dict[str, Any] = {
        "model": pointer.name,
        "fingerprint": fingerprint,
        "dtype": settings.dtype,
        "device": model.device.type,
        "torch": torch.__version__,
        "pairs_sha256": hash_file(arguments.pairs),
        "pairs": len(scores),
        "backed_off": int(scores["backed_off"].sum()),
        "ties": int((scores["ties"] > 0).sum()),
    }
    log.info(
        "%s: %s pairs, %s backed off, %s with ties",
        *(report[key] for key in ("model", "pairs", "backed_off", "ties")),
    )
    write_table(arguments.output, scores, SCORES)
    write_json(arguments.report, report)


def read_pairs(path: Path) -> pl.DataFrame:
    """Read pairs from a parquet file of the workflow or from JSON lines."""
    if path.suffix == ".parquet":
        return read_table(path, PAIRS, COLUMNS)
    rows = read_json_lines(path)
    for number, row in enumerate(rows, start=1):
        wrong = [column for column in COLUMNS if not isinstance(row.get(column), str)]
        if wrong:
            raise InputError(f"no text under {', '.join(wrong)}", f"{path}, line {number}", "see the card")
    values = [[row[column] for column in COLUMNS] for row in rows]
    return pl.DataFrame(values, dict.fromkeys(COLUMNS, pl.String), orient="row")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="pointer to a model (JSON), or its folder")
    parser.add_argument("--pairs", type=Path, required=True, help="pairs (.parquet or .jsonl)")
    parser.add_argument("--output", type=Path, required=True, help="scores (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="what was scored, with counts (JSON)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch; 1 is the reference")
    add_settings(parser, Scoring)
    run_program(parser, main)
