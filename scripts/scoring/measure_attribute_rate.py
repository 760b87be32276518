"""Measure a model's last-layer attribute rate on a domain's keywords [RawCorpora, App. A.3.3].

Reads a model (pointer or folder), the domain's matched sentences and the stopwords. Writes one row
per keyword, the token lists under the model's tokenizer, and a report.
"""

import argparse
from pathlib import Path
from typing import Any

from fathom.benchmark.wordlists import read_word_list
from fathom.config.scoring import AttributeRate, Scoring
from fathom.config.section import Section
from fathom.errors import InputError
from fathom.io.contracts.scoring import ATTRIBUTE_RATES, TOKEN_LISTS
from fathom.io.files import hash_file, write_json
from fathom.io.row_groups import scan_groups, scan_table
from fathom.io.tables import write_table
from fathom.models.loading import describe_loaded, open_model
from fathom.models.tokens import encode_prompts, uses_bos
from fathom.running.program import add_settings, log, read_settings, run_program
from fathom.scoring.attribute_rate import measure_attribute_rates
from fathom.scoring.token_lists import decode_vocabulary, find_content_tokens, make_token_lists


class Settings(Section):
    """Settings of this program."""

    scoring: Scoring = Scoring()
    attribute_rate: AttributeRate = AttributeRate()


def main(arguments: argparse.Namespace) -> None:
    """Make token lists, measure rates, write tables and report."""
    settings = read_settings(arguments.settings, Settings)
    chosen = settings.attribute_rate
    pieces = scan_table(arguments.sentences, ["keyword"])
    keywords = sorted({keyword for piece in pieces for keyword in piece["keyword"].unique()})
    if not keywords:
        raise InputError("no keyword has a sentence", str(arguments.sentences), "see sentences.json")
    stopwords = read_word_list(arguments.wordlists / "stopwords.txt")
    scoring = settings.scoring
    pointer, model, tokenizer = open_model(arguments.model, scoring.dtype, scoring.device, arguments.threads)
    names = decode_vocabulary(tokenizer)
    content = find_content_tokens(names, stopwords)
    sentences = scan_groups(arguments.sentences, "keyword", ["clean"])
    lists = make_token_lists(tokenizer, sentences, names, content, chosen.list_length)
    prompts = dict(zip(keywords, encode_prompts(tokenizer, keywords, pointer.add_bos), strict=True))
    owned = {str(keyword): group["token_id"].to_list() for (keyword,), group in lists.group_by("keyword")}
    rates = measure_attribute_rates(
        model, prompts, owned, content, chosen.k, scoring.batch_tokens, pointer.name
    )
    report: dict[str, Any] = {
        **describe_loaded(pointer, model, scoring.dtype),
        "sentences_sha256": hash_file(arguments.sentences),
        "stopwords_sha256": hash_file(arguments.wordlists / "stopwords.txt"),
        "bos": uses_bos(tokenizer, pointer.add_bos),
        "k": chosen.k,
        "list_length": chosen.list_length,
        "content_tokens": int(content.sum()),
        "keywords": len(rates),
        "lists_shorter_than_k": int((rates["list_length"] < chosen.k).sum()),
        "attribute_rate": rates["rate"].mean(),
    }
    log.info(
        "%s: attribute rate %.3f over %s keywords, %s with a token list shorter than k",
        *(report[key] for key in ("model", "attribute_rate", "keywords", "lists_shorter_than_k")),
    )
    write_table(arguments.token_lists, lists, TOKEN_LISTS)
    write_table(arguments.output, rates, ATTRIBUTE_RATES)
    write_json(arguments.report, report)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="model pointer (JSON) or model folder")
    parser.add_argument("--sentences", type=Path, required=True, help="matched sentences (parquet)")
    parser.add_argument("--wordlists", type=Path, required=True, help="folder with stopwords.txt")
    parser.add_argument("--output", type=Path, required=True, help="rates by keyword (parquet)")
    parser.add_argument("--token-lists", type=Path, required=True, help="token lists by keyword (parquet)")
    parser.add_argument("--report", type=Path, required=True, help="report with counts (JSON)")
    parser.add_argument("--threads", type=int, default=1, help="PyTorch threads; reference results use 1")
    add_settings(parser, Settings)
    run_program(parser, main)
