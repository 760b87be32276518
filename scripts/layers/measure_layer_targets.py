"""Follow the true targets of a benchmark through the layers of a model [BeyondBenchmarks, Sec. 3.3.3].

Reads a model (its pointer or a plain folder), pairs, and a tuned lens where there is one; writes rank,
probability, entropy, agreement and divergence of every pair at every layer, and a report.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from fathom.config.layers import Layers
from fathom.config.scoring import Scoring
from fathom.config.section import Section
from fathom.io.contracts.layers import LAYER_TARGETS
from fathom.io.files import hash_file, write_json
from fathom.io.tables import write_table
from fathom.layers.lens import load_lens
from fathom.layers.target_ranks import ForwardSettings, measure_targets, sample_pairs
from fathom.models.loading import describe_loaded, load_model, read_pointer
from fathom.models.tokens import uses_bos
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.scoring.inputs import read_pairs


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    layers: Layers = Layers()


def main(arguments: argparse.Namespace) -> None:
    """Load model and pairs, measure, write rows and report."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    import torch

    torch.set_num_threads(arguments.threads)
    settings = read_settings(arguments.settings, Settings)
    pairs = sample_pairs(read_pairs(arguments.pairs), settings.layers)
    pointer = read_pointer(arguments.model)
    model, tokenizer = load_model(pointer, settings.scoring.dtype, settings.scoring.device)
    report: dict[str, Any] = describe_loaded(pointer, model, settings.scoring.dtype)
    maps = load_lens(arguments.lens, report["fingerprint"], model.device) if arguments.lens else None
    device = ForwardSettings(settings.scoring.batch_tokens, pointer.add_bos, pointer.name)
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
    parser.add_argument("--model", type=Path, required=True, help="pointer to a model (JSON), or its folder")
    parser.add_argument("--pairs", type=Path, required=True, help="pairs (parquet or JSON lines)")
    parser.add_argument("--lens", type=Path, help="tuned lens of the model (safetensors)")
    parser.add_argument("--output", type=Path, required=True, help="measures by pair and layer (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="what was measured, with counts (JSON)")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch; 1 is the reference")
    add_settings(parser, Settings)
    run_program(parser, main)
