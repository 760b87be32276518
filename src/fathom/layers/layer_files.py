"""What is measured inside a model on one domain, from files to files: rates, a tuned lens, targets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from fathom.config.layers import Layers, TunedLens
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS
from fathom.io.contracts.corpus import TEXTS
from fathom.io.contracts.layers import LAYER_EXAMPLES, LAYER_RATES, LAYER_TARGETS, LAYER_TOKENS
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import hash_file, write_json
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log
from fathom.layers.lens import load_lens, save_lens, train_lens
from fathom.layers.rates import TokenLists, choose_prompts, collect_top_tokens, list_examples, measure_rates
from fathom.layers.target_ranks import ForwardSettings, measure_targets, sample_pairs
from fathom.models.open_model import Measurement, OpenModel
from fathom.models.tokens import count_entries, decode_texts, encode_keywords, uses_bos
from fathom.scoring.attribute_rate import list_keyword_tokens
from fathom.scoring.pair_files import read_pairs


class DomainFiles(NamedTuple):
    """The files of one domain; the names of all files to write begin with `prefix`.

    For `overlap` see :func:`fathom.scoring.attribute_rate.scan_sentences`.
    """

    name: str
    keywords: Path
    sentences: Path
    pairs: Path
    stopwords: Path
    prefix: str
    overlap: Path | None = None

    def name_output(self, ending: str) -> Path:
        """Return the name of a file to write."""
        return Path(f"{self.prefix}.{ending}")


def plan_layers(
    files: DomainFiles, layers: Layers, texts: Path | None = None, lens: TunedLens | None = None
) -> list[Measurement]:
    """Return everything that is measured inside a model on one domain.

    With `texts` a tuned lens is trained on split adapt-train, and looked through at the targets.
    """
    endings = ("rates.parquet", "tokens.parquet", "token-lists.parquet", "examples.tsv", "rates.json")
    planned = [
        _plan(
            files,
            "rates",
            [files.sentences, files.keywords, files.stopwords, *([files.overlap] if files.overlap else [])],
            endings,
            layers,
            lambda model, outputs, resume: _measure_rates(model, files, layers, outputs),
        )
    ]
    maps = None
    if texts is not None and lens is not None:
        maps = files.name_output("lens.safetensors")
        planned.append(
            _plan(
                files,
                "lens",
                [texts],
                ("lens.safetensors", "lens.json"),
                lens,
                lambda model, outputs, resume: _train_lens(model, texts, lens, outputs),
            )
        )
    planned.append(
        _plan(
            files,
            "targets",
            [files.pairs, *([maps] if maps else [])],
            ("targets.parquet", "targets.json"),
            layers,
            lambda model, outputs, resume: _measure_targets(model, files.pairs, maps, layers, outputs),
        )
    )
    return planned


def _plan(
    files: DomainFiles,
    kind: str,
    inputs: Sequence[Path],
    endings: Sequence[str],
    settings: Layers | TunedLens,
    measure: Any,
) -> Measurement:
    outputs = [files.name_output(ending) for ending in endings]
    return Measurement(f"{files.name}.{kind}", __file__, inputs, outputs, settings, measure)


def _measure_rates(model: OpenModel, files: DomainFiles, settings: Layers, outputs: Sequence[Path]) -> None:
    """Write rates by keyword and layer, the most likely tokens, token lists, examples and a report."""
    keywords = [row["keyword"] for row in read_rows(files.keywords, DOMAIN_KEYWORDS, ["keyword"])]
    longest = max(settings.all_lengths)
    content, lists, owned = list_keyword_tokens(
        model.tokenizer, files.sentences, files.stopwords, longest, files.overlap
    )
    tokens, left_out, count = _collect_tokens(model, keywords, TokenLists(content, owned), settings)
    texts = decode_texts(model.tokenizer, [[token] for token in range(count_entries(model.tokenizer))])
    report: dict[str, Any] = {
        **model.description,
        "sentences_sha256": hash_file(files.sentences),
        "keywords_sha256": hash_file(files.keywords),
        "stopwords_sha256": hash_file(files.stopwords),
        "architecture": model.model.config.get_text_config().model_type,
        "bos": uses_bos(model.tokenizer, model.pointer.add_bos),
        "blocks": tokens["layer"].max(),
        "keywords": count,
        **left_out,
    }
    log.info("%s: %s keywords, %s blocks", model.pointer.name, count, report["blocks"])
    write_table(outputs[0], measure_rates(tokens, settings), LAYER_RATES)
    write_table(outputs[1], tokens, LAYER_TOKENS)
    write_table(outputs[2], lists, TOKEN_LISTS)
    rows = list_examples(tokens, texts, settings.k, settings.list_length)
    write_rows(outputs[3], rows, LAYER_EXAMPLES)
    write_json(outputs[4], report)


def _collect_tokens(
    model: OpenModel, keywords: Sequence[str], lists: TokenLists, settings: Layers
) -> tuple[pl.DataFrame, Mapping[str, Any], int]:
    """Return the most likely tokens by layer, which keywords were left out, and how many were not."""
    ids = encode_keywords(model.tokenizer, keywords, model.pointer.add_bos)
    encoded = dict(zip(keywords, ids, strict=True))
    prompts, left_out = choose_prompts(encoded, lists.by_keyword, settings)
    batch_tokens = model.batch_tokens
    tokens = collect_top_tokens(model.model, prompts, lists, settings, batch_tokens, model.pointer.name)
    return tokens, left_out, len(prompts)


def _train_lens(model: OpenModel, texts: Path, settings: TunedLens, outputs: Sequence[Path]) -> None:
    """Write a tuned lens and a report with its divergences."""
    pointer = model.pointer
    table = read_table(texts, TEXTS)
    maps, points = train_lens(model.model, model.tokenizer, table, settings, pointer.add_bos, pointer.name)
    for point in points:
        log.info("layer %s: divergence %.3f, tuned %.3f", *point)
    save_lens(outputs[0], maps, model.description["fingerprint"])
    values = [point._asdict() for point in points]
    write_json(outputs[1], {**model.description, "texts_sha256": hash_file(texts), "layers": values})


def _measure_targets(
    model: OpenModel, file: Path, lens: Path | None, settings: Layers, outputs: Sequence[Path]
) -> None:
    pairs = sample_pairs(read_pairs(file), settings)
    pointer, device = model.pointer, model.model.get_output_embeddings().weight.device
    maps = load_lens(lens, model.description["fingerprint"], device) if lens else None
    forward = ForwardSettings(model.batch_tokens, pointer.add_bos, pointer.name)
    found = measure_targets(model.model, model.tokenizer, pairs, forward, maps)
    report: dict[str, Any] = {
        **model.description,
        "pairs_sha256": hash_file(file),
        "lens_sha256": hash_file(lens) if lens else "",
        "bos": uses_bos(model.tokenizer, pointer.add_bos),
        "blocks": found["layer"].max(),
        "keywords": pairs["keyword"].n_unique(),
        "pairs": len(pairs),
    }
    log.info("%s: %s pairs of %s keywords", pointer.name, f"{len(pairs):,}", report["keywords"])
    write_table(outputs[0], found, LAYER_TARGETS)
    write_json(outputs[1], report)
