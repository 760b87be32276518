"""Time the removal of LaTeX from sentences against pylatexenc, and check that results are identical.

Uses the sentences of a finished run's documents, duplicates included. The baseline cleans each sentence with
a new converter; a second one reuses one converter. Runs on one thread, alternates between the ways, and
reports median processor times.
"""

import argparse
import logging
import re
from functools import partial
from pathlib import Path
from unittest.mock import patch

from perf.turns import DEMO, note, print_table, read_texts, take_turns

from fathom.config.benchmark import Sentences
from fathom.corpus import latex
from fathom.corpus.sentences import load_splitter, split_document
from fathom.jobs.program import run_program


def clean_plainly(sentences: list[str], keep: bool) -> list[str | None]:
    """Clean every sentence by pylatexenc; `keep` one converter, or make one per sentence."""
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import LatexWalkerError

    kept = LatexNodes2Text()

    def convert(text: str) -> str:
        try:
            return (kept if keep else LatexNodes2Text()).latex_to_text(text)
        except LatexWalkerError as error:
            raise ValueError(str(error)) from error

    every = patch.object(latex, "_LATEX", re.compile(""))
    with every, patch.object(latex, "_run_converter", convert):
        return [latex.clean_sentence(sentence) for sentence in sentences]


def clean_distinct(sentences: list[str]) -> list[str | None]:
    """Clean each distinct sentence once, as splitting does."""
    cleaned = {sentence: latex.clean_sentence(sentence) for sentence in dict.fromkeys(sentences)}
    return [cleaned[sentence] for sentence in sentences]


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    splitter = load_splitter("rules")
    texts = [text for text in read_texts(arguments.run, arguments.characters) if "\\" in text]
    documents = [{"title": "", "abstract": "", "text": text} for text in texts]
    every = [sentence for document in documents for sentence in split_document(document, splitter)]
    sentences = [sentence for sentence in every if len(sentence) <= Sentences().max_characters]
    step = max(1, len(sentences) // arguments.sentences)
    sentences = sentences[::step]
    with_latex = [s for s in sentences if latex._LATEX.search(s)]
    print(f"{len(sentences):,} sentences, {len(set(sentences)):,} distinct, {len(with_latex):,} with LaTeX\n")
    rows = []
    for what, some in {"all": sentences, "with LaTeX": with_latex}.items():
        plain = "pylatexenc on each"
        ways = {
            plain: partial(clean_plainly, some, keep=False),
            "pylatexenc on each, one converter": partial(clean_plainly, some, keep=True),
            "ours": partial(clean_distinct, some),
        }
        seconds, found = take_turns(ways, arguments.rounds)
        for name, spent in seconds.items():
            same = sum(one == other for one, other in zip(found[plain], found[name], strict=True))
            exact = "" if name == plain else f"{same:,} of {len(some):,}"
            ratio = seconds[plain] / spent
            rows.append([what, name, f"{len(some) / spent:,.0f}", f"{ratio:.1f}", exact])
            if name == "ours":
                equal = ratio >= 1.2 and same == len(some)
                note(f"LaTeX to text, {what}", plain, f"{ratio:.1f}", ">= 1.2", equal, exact=exact)
    print_table(["sentences", "way", "sentences/s", "ratio", "equal"], rows)
    print("\nParts are cleaned side by side, one job each; the limit is pylatexenc's Python.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="run with the texts")
    parser.add_argument("--characters", type=int, default=20_000_000)
    parser.add_argument("--sentences", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    run_program(parser, main)
