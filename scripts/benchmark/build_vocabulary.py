"""Choose each keyword's target vocabulary from its matched sentences [RawCorpora, Sec. 2.4]."""

import argparse
from pathlib import Path

from fathom.config.benchmark import VARIANTS, Embedding, Vocabulary
from fathom.config.section import Section
from fathom.io.row_groups import scan_groups
from fathom.jobs.program import add_settings, read_settings, run_program


class Settings(Section):
    """Settings of this program."""

    vocabulary: Vocabulary = Vocabulary()
    embedding: Embedding = Embedding()


def main(arguments: argparse.Namespace) -> None:
    """Read sentences and word lists; write vocabulary.tsv."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.vocabulary import build_vocabulary, write_vocabulary
    from fathom.benchmark.wordlists import read_word_list

    settings = read_settings(arguments.settings, Settings)
    entries = build_vocabulary(
        scan_groups(arguments.sentences, "keyword", ["clean"]),
        arguments.variant,
        settings.vocabulary,
        read_word_list(arguments.wordlists / "stopwords.txt"),
        SentenceEncoder(settings.embedding),
    )
    write_vocabulary(arguments.output, entries)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True, help="matched sentences of the domain")
    parser.add_argument("--variant", choices=VARIANTS, required=True, help="how terms are scored")
    parser.add_argument("--wordlists", type=Path, required=True, help="folder with stopwords.txt")
    parser.add_argument("--output", type=Path, required=True, help="vocabulary.tsv to write")
    add_settings(parser, Settings)
    run_program(parser, main)
