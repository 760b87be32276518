"""Match the sentences of one part and domain with the domain's keywords by cosine [RawCorpora, Sec. 2.3]."""

import argparse
from pathlib import Path

import polars as pl

from fathom.config.benchmark import Embedding, Matches
from fathom.config.section import Section
from fathom.io.contracts.benchmark import MATCHES
from fathom.io.contracts.corpus import SENTENCES
from fathom.io.files import read_delimited
from fathom.io.row_groups import select_rows
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.running.program import add_settings, log, read_settings, run_program


class Settings(Section):
    """What matching obeys."""

    embedding: Embedding = Embedding()
    matches: Matches = Matches()


def main(arguments: argparse.Namespace) -> None:
    """Read sentences, embeddings and keywords, write the matches."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.gathering import GROUP
    from fathom.benchmark.matches import check_embeddings, load_embeddings, match_sentences

    settings = read_settings(arguments.settings, Settings)
    sentences = read_table(arguments.sentences, SENTENCES)
    embeddings = load_embeddings(arguments.embeddings)
    check_embeddings(sentences, embeddings, str(arguments.embeddings))
    here = pl.col("doc_id").is_in(sentences["doc_id"].unique().implode())
    inside = pl.col("domains").list.contains(arguments.domain)
    wanted = select_rows(arguments.index, ["doc_id"], here & inside)
    keywords = [row["keyword"] for row in read_delimited(arguments.keywords)]
    domain = sentences.join(wanted, on="doc_id", how="semi")
    if domain.is_empty():
        matches = make_empty_table(MATCHES)
    else:
        encoder = SentenceEncoder(settings.embedding)
        matches = match_sentences(domain, embeddings, keywords, encoder, settings.matches.min_cosine)
    log.info(
        "%s matches of %s sentences and %s keywords", f"{len(matches):,}", f"{len(domain):,}", len(keywords)
    )
    write_table(arguments.output, matches, MATCHES, GROUP)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True, help="table of sentences")
    parser.add_argument("--embeddings", type=Path, required=True, help="their embeddings, .npy")
    parser.add_argument("--index", type=Path, required=True, help="the corpus's index")
    parser.add_argument("--domain", required=True, help="name of the domain")
    parser.add_argument("--keywords", type=Path, required=True, help="the domain's keywords.tsv")
    add_settings(parser, Settings)
    parser.add_argument("--output", type=Path, required=True, help="table of matches")
    run_program(parser, main)
