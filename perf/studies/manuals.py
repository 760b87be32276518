"""Count which pairs of words the manuals of programs have, for `config/wordlists/manuals.tsv`.

Takes a folder with one sub-folder for each package of documentation, and the name of the table. The table in
the repository is of Debian 12: of the packages whose name ends in -doc, of 0.2 to 8 MB, without those of
libraries (lib*, golang*, ghc*, node*, python*, r-*, ruby*, texlive*) and without 16 that keywords are read
of, one of each family (the name up to a dash, dot or digit), and of these the 240 with the first SHA-256 of
their names.
"""

import argparse
from collections import Counter
from itertools import pairwise
from pathlib import Path

from fathom.benchmark.normalise import split_into_runs
from fathom.benchmark.wordlists import WordLists, read_word_lists
from fathom.corpus.corpus_files import list_documents
from fathom.corpus.documents.reading_process import ReadingProcess
from fathom.errors import InputError
from fathom.io.contracts.benchmark import MANUAL_PHRASES
from fathom.io.delimited import write_rows
from fathom.io.files import hash_text

MOST_FILES, MOST_MB = 400, 4
MOST_WORDS, FEWEST_WORDS = 60_000, 5_000
LEAST_SHARE = 0.05
_NO_MANUAL = (
    "changelog", "changes", "copyright", "copying", "license", "news", "authors", "genindex", "search"
)  # fmt: skip

Pairs = Counter[tuple[str, str]]


def count_pairs(folder: Path, words: WordLists) -> tuple[Pairs, int]:
    """Return how often a package has each pair of lemmas, and its number of words.

    `folder`: documentation of one package. `words`: its lemmas unite the forms of a word.
    """
    pairs: Pairs = Counter()
    total = 0
    seen: set[str] = set()
    try:
        files, _ = list_documents([str(folder)])
    except InputError:
        return pairs, 0
    names = [each for each in files if not each.path.name.lower().startswith(_NO_MANUAL)]
    with ReadingProcess(MOST_MB) as process:
        for file in sorted(names, key=lambda each: hash_text(each.name))[:MOST_FILES]:
            if total > MOST_WORDS:
                break
            try:
                content = process.read(file.path)
            except (InputError, OSError) as error:
                print(f"{file.path}: left out: {error}")
                continue
            paragraphs = [each for section in content.sections for each in section.text.split("\n\n")]
            for paragraph in paragraphs:
                if paragraph in seen:
                    continue
                seen.add(paragraph)
                for run in split_into_runs(paragraph):
                    lemmas = [words.find_lemma(word) for word in run]
                    total += len(lemmas)
                    pairs.update(pairwise(lemmas))
    return pairs, total


def main() -> None:
    """Count the packages of a folder and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("table", type=Path)
    arguments = parser.parse_args()
    words = read_word_lists("config/wordlists")
    packages = 0
    have: Pairs = Counter()
    frequency: dict[tuple[str, str], float] = {}
    for folder in sorted(path for path in arguments.folder.iterdir() if path.is_dir()):
        pairs, total = count_pairs(folder, words)
        print(f"{folder.name}: {total:,} words", flush=True)
        if total < FEWEST_WORDS:
            continue
        packages += 1
        have.update(pairs.keys())
        for pair, count in pairs.items():
            frequency[pair] = frequency.get(pair, 0.0) + count / total
    kept = sorted(
        pair
        for pair, count in have.items()
        if count >= LEAST_SHARE * packages
        and all(words.find_fault(word) in {None, "academic"} for word in pair)
    )
    write_rows(
        arguments.table,
        [(" ".join(pair), have[pair] / packages, 1e6 * frequency[pair] / packages) for pair in kept],
        MANUAL_PHRASES,
    )
    print(f"{len(kept):,} pairs of {packages} packages")


if __name__ == "__main__":
    main()
