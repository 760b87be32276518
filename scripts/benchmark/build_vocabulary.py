"""Choose each keyword's target vocabulary from its matched sentences [RawCorpora, Sec. 2.4]."""

from pathlib import Path
from typing import Annotated

from fathom.config.benchmark import Embedding, Variant, Vocabulary
from fathom.config.section import Section
from fathom.io.row_groups import scan_groups
from fathom.jobs.signature import run


class Settings(Section):
    """Settings of this program."""

    vocabulary: Vocabulary = Vocabulary()
    embedding: Embedding = Embedding()


def main(
    *,
    sentences: Annotated[Path, "matched sentences of the domain"],
    variant: Annotated[Variant, "how terms are scored"],
    wordlists: Annotated[Path, "folder with stopwords.txt"],
    vocabulary: Annotated[Path, "vocabulary.tsv to write"],
    settings: Settings,
) -> None:
    """Read sentences and word lists; write vocabulary.tsv."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.benchmark.vocabulary import build_vocabulary, write_vocabulary
    from fathom.benchmark.wordlists import read_word_list

    entries = build_vocabulary(
        scan_groups(sentences, "keyword", ["clean"]),
        variant,
        settings.vocabulary,
        read_word_list(wordlists / "stopwords.txt"),
        SentenceEncoder(settings.embedding),
    )
    write_vocabulary(vocabulary, entries)


if __name__ == "__main__":
    run(main)
