"""Measure perplexity and bits per byte of a model on a domain's held-out text [BeyondBenchmarks, Sec. 2.11].

Reads a model (pointer or folder) and the domain's texts, of which only fold adapt-test is used.
Writes one row per document, and a report.
"""

import argparse
from pathlib import Path
from typing import Any

from fathom.config.scoring import Perplexity, Scoring
from fathom.config.section import Section
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.scoring import PERPLEXITY
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table, write_table
from fathom.models.loading import describe_loaded, open_model
from fathom.models.tokens import uses_bos
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.scoring.perplexity import FOLD, fit_windows, score_texts, select_held_out, sum_likelihoods


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    perplexity: Perplexity = Perplexity()


def main(arguments: argparse.Namespace) -> None:
    """Score the held-out documents, write table and report."""
    settings = read_settings(arguments.settings, Settings)
    texts, counts = select_held_out(read_table(arguments.texts, TEXTS), settings.perplexity.max_characters)
    scoring = settings.scoring
    pointer, model, tokenizer = open_model(arguments.model, scoring.dtype, scoring.device, arguments.threads)
    windows = fit_windows(model, settings.perplexity)
    report: dict[str, Any] = {
        **describe_loaded(pointer, model, scoring.dtype),
        "texts_sha256": hash_file(arguments.texts),
        "fold": FOLD,
        "bos": uses_bos(tokenizer, pointer.add_bos),
        **windows._asdict(),
        **counts,
    }
    scores = score_texts(
        model, tokenizer, texts, windows, scoring.batch_tokens, pointer.add_bos, pointer.name
    )
    total = sum_likelihoods(scores)
    report |= {
        "documents": len(scores),
        "tokens": total.tokens,
        "bytes": total.bytes,
        "nats": total.nats,
        "tokens_left_out": int(scores["tokens_left_out"].sum()),
        "bytes_left_out": int(scores["bytes_left_out"].sum()),
        "perplexity": total.perplexity,
        "bits_per_byte": total.bits_per_byte,
    }
    log.info(
        "%s: perplexity %.2f, %.4f bits per byte, %s tokens of %s documents",
        *(report[key] for key in ("model", "perplexity", "bits_per_byte", "tokens", "documents")),
    )
    write_table(arguments.output, scores, PERPLEXITY)
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="model pointer (JSON) or model folder")
    parser.add_argument("--texts", type=Path, required=True, help="texts of the domain (parquet)")
    parser.add_argument("--output", type=Path, required=True, help="likelihood by document (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="report with totals (JSON)")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads; reference results use 1")
    add_settings(parser, Settings)
    run_program(parser, main)
