"""How fast LaTeX is taken out of sentences, against pylatexenc straight on each, and whether all are equal.

Sentences are those of a finished run's documents, duplicates as they come. The plain way does what cleaning
does, for each sentence, with a converter of its own. On one thread, in turn, medians of processor time.
"""

import argparse
import logging
import re
from functools import partial
from pathlib import Path
from unittest.mock import patch

from turns import ROOT, print_table, read_texts, take_turns

from fathom.config.benchmark import Sentences
from fathom.corpus import latex
from fathom.corpus.sentences import load_splitter, split_document
from fathom.program import run_program


def clean_plainly(sentences: list[str]) -> list[str | None]:
    """Clean each sentence with a converter of its own, plain and repeated ones too."""
    every = patch.object(latex, "_LATEX", re.compile(""))
    with every, patch.object(latex, "_run_converter", convert_plainly):
        return [latex.clean_sentence(sentence) for sentence in sentences]


def convert_plainly(text: str) -> str:
    """Convert with pylatexenc's defaults, as its documentation shows it."""
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import LatexWalkerError

    try:
        return LatexNodes2Text().latex_to_text(text)
    except LatexWalkerError as error:
        raise ValueError(str(error)) from error


def clean_distinct(sentences: list[str]) -> list[str | None]:
    """Clean each distinct sentence once, as splitting does."""
    cleaned = {sentence: latex.clean_sentence(sentence) for sentence in dict.fromkeys(sentences)}
    return [cleaned[sentence] for sentence in sentences]


def main(arguments: argparse.Namespace) -> None:
    """Measure, print."""
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    splitter = load_splitter("auto")
    texts = [text for text in read_texts(arguments.run, arguments.characters) if "\\" in text]
    documents = [{"title": "", "abstract": "", "text": text} for text in texts]
    every = [sentence for document in documents for sentence in split_document(document, splitter)]
    sentences = [sentence for sentence in every if len(sentence) <= Sentences().max_characters]
    step = max(1, len(sentences) // arguments.sentences)
    sentences = sentences[::step]
    with_latex = [s for s in sentences if latex._LATEX.search(s)]
    ways = {
        "pylatexenc on each": partial(clean_plainly, sentences),
        "ours": partial(clean_distinct, sentences),
        "pylatexenc on those with LaTeX": partial(clean_plainly, with_latex),
        "ours on those with LaTeX": partial(clean_distinct, with_latex),
    }
    seconds, found = take_turns(ways, arguments.rounds)
    print(f"{len(sentences):,} sentences, {len(set(sentences)):,} distinct, {len(with_latex):,} with LaTeX\n")
    rows = []
    for plain, ours in list(zip(ways, list(ways)[1:], strict=False))[::2]:
        same = sum(one == other for one, other in zip(found[plain], found[ours], strict=True))
        for name in (plain, ours):
            rate, ratio = len(found[name]) / seconds[name], seconds[plain] / seconds[name]
            exact = f"{same:,} of {len(found[name]):,}" if name == ours else ""
            rows.append([name, f"{rate:,.0f}", f"{ratio:.1f}", exact])
    print_table(["way", "sentences/s", "ratio", "equal"], rows)
    print("\nParts are cleaned side by side, one job each; the limit is pylatexenc's Python.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=ROOT / "results" / "demo", help="whose texts are taken")
    parser.add_argument("--characters", type=int, default=20_000_000)
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    run_program(parser, main)
