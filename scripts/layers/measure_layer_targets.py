"""Measure the targets of a benchmark at every layer of a model [BeyondBenchmarks, Sec. 3.3.3].

Reads a model (pointer or folder), pairs and, optionally, a tuned lens. Writes rank, probability, entropy,
agreement and divergence of every pair at every layer, and a report.
"""

import argparse
from pathlib import Path
from typing import Any

from fathom.config.layers import LayerSettings
from fathom.io.contracts.layers import LAYER_TARGETS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import write_table
from fathom.layers.lens import load_lens
from fathom.layers.target_ranks import ForwardSettings, measure_targets, sample_pairs
from fathom.models.loading import describe_loaded, open_model
from fathom.models.tokens import uses_bos
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.scoring.inputs import read_pairs


def main(arguments: argparse.Namespace) -> None:
    """Measure the sampled pairs at all layers, write table and report."""
    settings = read_settings(arguments.settings, LayerSettings)
    pairs = sample_pairs(read_pairs(arguments.pairs), settings.layers)
    scoring = settings.scoring
    pointer, model, tokenizer = open_model(arguments.model, scoring.dtype, scoring.device, arguments.threads)
    report: dict[str, Any] = describe_loaded(pointer, model, scoring.dtype)
    maps = load_lens(arguments.lens, report["fingerprint"], model.device) if arguments.lens else None
    device = ForwardSettings(scoring.batch_tokens, pointer.add_bos, pointer.name)
    found = measure_targets(model, tokenizer, pairs, device, maps)
    report |= {
        "pairs_sha256": hash_file(arguments.pairs),
        "lens_sha256": hash_file(arguments.lens) if arguments.lens else "",
        "bos": uses_bos(tokenizer, pointer.add_bos),
        "blocks": found["layer"].max(),
        "keywords": pairs["keyword"].n_unique(),
        "pairs": len(pairs),
    }
    log.info("%s: %s pairs of %s keywords", pointer.name, f"{len(pairs):,}", report["keywords"])
    write_table(arguments.output, found, LAYER_TARGETS)
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="model pointer (JSON) or model folder")
    parser.add_argument("--pairs", type=Path, required=True, help="pairs (parquet or JSON lines)")
    parser.add_argument("--lens", type=Path, help="tuned lens of the model (safetensors), optional")
    parser.add_argument("--output", type=Path, required=True, help="measures by pair and layer (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="report with counts (JSON)")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads; reference results use 1")
    add_settings(parser, LayerSettings)
    run_program(parser, main)
