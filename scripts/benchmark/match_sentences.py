"""Match the sentences of one slice and domain with the domain's keywords by cosine.

Loads the embedding model only if the sentences were embedded in bfloat16 and some are close to a keyword.
"""

import argparse
from functools import cache
from pathlib import Path

import polars as pl

from fathom.config.benchmark import Embedding, Matches
from fathom.config.section import Section
from fathom.io.contracts.benchmark import CANDIDATES
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.files import read_delimited, read_json
from fathom.io.row_groups import select_rows
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs.program import add_settings, log, read_settings, run_program


class Settings(Section):
    """Sections of the configuration that this program reads."""

    embedding: Embedding = Embedding()
    matches: Matches = Matches()


def main(arguments: argparse.Namespace) -> None:
    """Read sentences, embeddings and keywords; write the candidates."""
    from fathom.benchmark.draw import keep_drawn
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.gathered_matches import GROUP
    from fathom.benchmark.matches import (
        check_embeddings,
        load_embeddings,
        load_keyword_vectors,
        match_sentences,
    )
    from fathom.benchmark.refinement import refine_embeddings

    settings = read_settings(arguments.settings, Settings)
    min_cosine = settings.matches.min_cosine
    sentences = keep_drawn(read_table(arguments.sentences, SENTENCES), arguments.drawn)
    embeddings = load_embeddings(arguments.embeddings)
    check_embeddings(sentences, embeddings, str(arguments.embeddings))
    here = pl.col("doc_id").is_in(sentences["doc_id"].unique().implode())
    inside = pl.col("domains").list.contains(arguments.domain)
    wanted = select_rows(arguments.drawn or arguments.index, ["doc_id"], here & inside)
    keywords = [row["keyword"] for row in read_delimited(arguments.keywords)]
    vectors = load_keyword_vectors(arguments.vectors, keywords)
    domain = sentences.join(wanted, on="doc_id", how="semi")
    load_encoder = cache(lambda: SentenceEncoder(settings.embedding))
    precision = read_json(arguments.embeddings_report)["precision"]
    if domain.is_empty():
        found = make_empty_table(CANDIDATES)
    elif precision == "float32":
        found = match_sentences(domain, embeddings, keywords, vectors, min_cosine)
    else:
        near = refine_embeddings(
            domain, embeddings, vectors, min_cosine, lambda texts: load_encoder().encode(texts)
        )
        found = match_sentences(near.sentences, near.embeddings, keywords, vectors, min_cosine)
    log.info(
        "%s matches of %s sentences and %s keywords; %s lie on a border",
        f"{len(found):,}",
        f"{len(domain):,}",
        len(keywords),
        f"{(found['uncertain'] != '').sum():,}",
    )
    write_table(arguments.output, found, CANDIDATES, GROUP)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True, help="table of sentences")
    parser.add_argument("--embeddings", type=Path, required=True, help="their embeddings (.npy)")
    parser.add_argument("--embeddings-report", type=Path, required=True, help="report of the embeddings")
    parser.add_argument("--index", type=Path, required=True, help="index of the corpus")
    parser.add_argument(
        "--drawn", type=Path, help="table of drawn documents, with sentences.limit, in place of the index"
    )
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--keywords", type=Path, required=True, help="the domain's keywords.tsv")
    parser.add_argument("--vectors", type=Path, required=True, help="keywords.npy, written with keywords.tsv")
    add_settings(parser, Settings)
    parser.add_argument("--output", type=Path, required=True, help="table of candidates")
    run_program(parser, main)
