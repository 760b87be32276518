"""Measure a model's attribute rates and probability sums layer by layer [BeyondBenchmarks, Secs. 2.8, 3.3.1].

Reads a model (pointer or folder), the domain's keywords and matched sentences, and the stopwords. Writes the
most likely tokens after each keyword at every layer, the rates for every k and list length, the keywords'
token lists, example tokens of the last layer, and a report.
"""

import argparse
from pathlib import Path
from typing import Any

from fathom.benchmark.wordlists import read_word_list
from fathom.config.layers import LayerSettings
from fathom.io.contracts.layers import LAYER_EXAMPLE_COLUMNS, LAYER_RATES, LAYER_TOKENS
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.files import hash_file, read_delimited, write_delimited, write_json
from fathom.io.row_groups import scan_groups
from fathom.io.tables import write_table
from fathom.layers.rates import TokenLists, choose_prompts, collect_top_tokens, list_examples, measure_rates
from fathom.models.loading import describe_loaded, open_model
from fathom.models.tokens import encode_keywords, uses_bos
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.scoring.token_lists import decode_vocabulary, find_content_tokens, make_token_lists


def main(arguments: argparse.Namespace) -> None:
    """Find the top tokens of all layers, compute rates, write tables and report."""
    settings = read_settings(arguments.settings, LayerSettings)
    chosen = settings.layers
    sentences = scan_groups(arguments.sentences, "keyword", ["clean"])
    keywords = [row["keyword"] for row in read_delimited(arguments.keywords)]
    stopwords = read_word_list(arguments.wordlists / "stopwords.txt")
    scoring = settings.scoring
    pointer, model, tokenizer = open_model(arguments.model, scoring.dtype, scoring.device, arguments.threads)
    names = decode_vocabulary(tokenizer)
    content = find_content_tokens(names, stopwords)
    lists = make_token_lists(tokenizer, sentences, names, content, max(chosen.all_lengths))
    owned = {str(word): group["token_id"].to_list() for (word,), group in lists.group_by("keyword")}
    encoded = dict(zip(keywords, encode_keywords(tokenizer, keywords, pointer.add_bos), strict=True))
    prompts, left_out = choose_prompts(encoded, owned, chosen)
    tokens = collect_top_tokens(
        model, prompts, TokenLists(content, owned), chosen, scoring.batch_tokens, pointer.name
    )
    rates = measure_rates(tokens, chosen)
    texts = tokenizer.batch_decode([[token] for token in range(len(tokenizer))])
    report: dict[str, Any] = {
        **describe_loaded(pointer, model, scoring.dtype),
        "sentences_sha256": hash_file(arguments.sentences),
        "keywords_sha256": hash_file(arguments.keywords),
        "stopwords_sha256": hash_file(arguments.wordlists / "stopwords.txt"),
        "architecture": model.config.get_text_config().model_type,
        "bos": uses_bos(tokenizer, pointer.add_bos),
        "blocks": tokens["layer"].max(),
        "keywords": len(prompts),
        **left_out,
    }
    log.info("%s: %s keywords, %s blocks", pointer.name, len(prompts), report["blocks"])
    write_table(arguments.tokens, tokens, LAYER_TOKENS)
    write_table(arguments.token_lists, lists, TOKEN_LISTS)
    rows = list_examples(tokens, texts, chosen.k, chosen.list_length)
    write_delimited(arguments.examples, LAYER_EXAMPLE_COLUMNS, rows)
    write_table(arguments.output, rates, LAYER_RATES)
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="model pointer (JSON) or model folder")
    parser.add_argument("--keywords", type=Path, required=True, help="keywords of the domain (TSV)")
    parser.add_argument("--sentences", type=Path, required=True, help="matched sentences (parquet)")
    parser.add_argument("--wordlists", type=Path, required=True, help="folder with stopwords.txt")
    parser.add_argument("--output", type=Path, required=True, help="rates by keyword and layer (parquet)")
    parser.add_argument("--tokens", type=Path, required=True, help="most likely tokens by layer (parquet)")
    parser.add_argument("--token-lists", type=Path, required=True, help="token lists by keyword (parquet)")
    parser.add_argument(
        "--examples", type=Path, required=True, help="tokens inside and outside the lists (TSV)"
    )
    parser.add_argument("--report", type=Path, required=True, help="report with counts (JSON)")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads; reference results use 1")
    add_settings(parser, LayerSettings)
    run_program(parser, main)
