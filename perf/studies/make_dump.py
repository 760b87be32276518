"""Write a synthetic arXiv dump of any size, in the schemas of Kaggle's metadata and RedPajama's full texts.

Words come from the docstrings of scikit-learn and scipy, with their frequencies. Each field has its own terms
of two to five words, repeated often enough for keywords and matches to be found. Texts contain LaTeX: maths,
citations, references, commands, displayed equations, sections. They are short, 0.9 kB instead of 56 kB, so
that a hundred thousand are processed in minutes. With `--spread` papers are in 42 categories, as on arXiv,
and one text in fifty repeats a sentence of an earlier paper. Equal arguments give equal bytes, and a larger
dump begins with the papers of a smaller one.
"""

import argparse
import importlib.util
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import IO, Any

import orjson
from perf.turns import ROOT

from fathom.benchmark.wordlists import read_word_lists
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.jobs.program import log, run_program, show_progress

FIELDS = ("cs.AI", "physics.soc-ph")
"""Fields; every paper is in one."""
SPREAD = {
    "cs.AI": 2.0, "physics.soc-ph": 0.7, "cs.LG": 7.0, "cs.CV": 6.0, "cs.CL": 3.5, "cs.IT": 2.0, "cs.RO": 1.5,
    "cs.CR": 1.3, "cs.DS": 1.0, "cs.SE": 1.0, "hep-ph": 6.5, "hep-th": 5.5, "quant-ph": 5.0, "gr-qc": 3.0,
    "astro-ph.GA": 3.5, "astro-ph.CO": 3.0, "astro-ph.HE": 3.0, "astro-ph.SR": 2.5, "nucl-th": 1.5,
    "cond-mat.mtrl-sci": 4.0, "cond-mat.mes-hall": 3.5, "cond-mat.str-el": 3.0, "cond-mat.stat-mech": 2.5,
    "cond-mat.supr-con": 2.0, "cond-mat.soft": 2.0, "math.AP": 2.5, "math.CO": 2.5, "math.PR": 2.5,
    "math.AG": 2.0, "math.NT": 2.0, "math.OC": 2.0, "math.DG": 1.5, "math.NA": 1.5, "math-ph": 1.5,
    "stat.ME": 1.0, "stat.ML": 1.3, "eess.SP": 1.0, "eess.SY": 0.8, "physics.optics": 2.0,
    "physics.flu-dyn": 1.3, "q-bio.PE": 0.4, "econ.EM": 0.3,
}  # fmt: skip
"""Categories of a spread dump with about their shares of arXiv in percent."""
REPEATS = 0.02
"""Share of the texts of a spread dump that repeat a sentence of an earlier paper."""
WITH_TEXT = 0.62  # 1.56 million of 2.5 million
_BLOCK = 1000
_TERMS = 800
_FUNCTION, _GENERAL, _TOPIC, _COMMON = 200, 2500, 700, 12_000
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
_WORD = re.compile(r"\b[a-z]{2,12}\b")
_MATHS = (r"$\alpha_{3} \leq 0.5$", r"$x_i \in \mathbb{R}^{n}$", r"$p(y \mid x)$", r"$\mathcal{O}(n \log n)$")
_COMMANDS = (
    r"\cite{b9a0ebd270d6}",
    r"\cite{smith2015,doe2016}",
    r"(see Section~\ref{sec:two})",
    r"\emph{%s}",
)
_EQUATION = "\\begin{equation}\\label{eq:1}\n\\sum_{i=1}^{n} \\frac{x_i}{1 + x_i^2} \\leq C\n\\end{equation}"


@dataclass(frozen=True)
class Words:
    """Common words, and the words and terms of each field, in descending frequency."""

    function: list[str]
    general: list[str]
    topic: dict[str, list[str]]
    terms: dict[str, list[str]]


def main(arguments: argparse.Namespace) -> None:
    """Write metadata and shards block by block, so that memory does not grow with the dump."""
    folder = arguments.output
    if folder.exists():
        raise InputError("this folder is there already", str(folder), "delete it, or name another")
    (folder / "redpajama").mkdir(parents=True)
    shares = SPREAD if arguments.spread else dict.fromkeys(FIELDS, 1.0)
    words = choose_words(tuple(shares))
    texts = 0
    with ExitStack() as stack:
        metadata = stack.enter_context((folder / "arxiv-metadata-oai-snapshot.json").open("wb"))
        shards = [
            stack.enter_context((folder / "redpajama" / f"arxiv_{number:03d}.jsonl").open("wb"))
            for number in range(arguments.shards)
        ]
        blocks = range(0, arguments.documents, _BLOCK)
        for start in show_progress(blocks, "thousands of papers", len(blocks)):
            stop = min(start + _BLOCK, arguments.documents)
            texts += write_block(start, stop, words, shares, metadata, shards)
    log.info("%s records, %s full texts in %s shards", f"{arguments.documents:,}", f"{texts:,}", len(shards))


def choose_words(fields: tuple[str, ...] = FIELDS) -> Words:
    """Choose words by their frequency in docstrings; a hash assigns words to fields."""
    counts: Counter[str] = Counter()
    for package in ("sklearn", "scipy"):
        found = importlib.util.find_spec(package)
        if found is None or found.origin is None:
            raise InputError(f"{package} is not installed", hint="install requirements.lock")
        for path in sorted(Path(found.origin).parent.rglob("*.py")):
            for text in _DOCSTRING.findall(path.read_text(encoding="utf-8", errors="replace")):
                counts.update(_WORD.findall(text))
    common = sorted(counts, key=lambda word: (-counts[word], word))
    lists = read_word_lists(ROOT / "config" / "wordlists")
    # words that are on no word list can be part of a keyword
    rest = [w for w in common[:_COMMON] if len(w) >= 5 and lists.find_fault(w) is None]
    size = min(_TOPIC, len(rest) // len(fields))
    rest = sorted(rest[: size * len(fields)], key=lambda word: hash_text("topic", word))
    topic = {field: rest[number * size :][:size] for number, field in enumerate(fields)}
    terms = {field: make_terms(field, own) for field, own in topic.items()}
    taken = set(rest)
    general = [word for word in common[_FUNCTION:_COMMON] if word not in taken]
    return Words(common[:_FUNCTION], general[:_GENERAL], topic, terms)


def make_terms(field: str, words: list[str]) -> list[str]:
    """Return a field's terms of two to five of its words."""
    rng = Random(f"terms {field}")
    sizes = rng.choices([2, 3, 4, 5], [0.6, 0.25, 0.1, 0.05], k=_TERMS)
    return list(dict.fromkeys(" ".join(rng.sample(words, size)) for size in sizes))


def write_block(
    start: int,
    stop: int,
    words: Words,
    shares: dict[str, float],
    metadata: IO[bytes],
    shards: list[IO[bytes]],
) -> int:
    """Write the papers from `start` to `stop`; return how many have a full text."""
    rng = Random(f"papers {start}")
    written = 0
    prose = {field: write_sentences(words, field, rng) for field in shares}
    bounds = list(accumulate(shares.values()))
    repeats = REPEATS if len(shares) > len(FIELDS) else 0.0
    earlier = next(prose[FIELDS[0]])
    for number in range(start, stop):
        place = int(hash_text("field", str(number))[:8], 16) / 2**32
        field = list(shares)[bisect(bounds, place * bounds[-1])]
        record = make_record(number, field, prose[field], words, rng)
        metadata.write(orjson.dumps(record) + b"\n")
        if rng.random() < WITH_TEXT:
            # one id in a thousand is missing from the metadata
            identifier = record["id"] if rng.random() > 0.001 else f"9912.{number % 100_000:05d}"
            text = make_text(prose[field], rng)
            if rng.random() < repeats:
                text += "\n" + earlier
            earlier = text.rpartition("\n")[2]
            line = {"text": text, "meta": make_meta(identifier, record)}
            shards[number % len(shards)].write(orjson.dumps(line) + b"\n")
            written += 1
    return written


def make_record(number: int, field: str, prose: Iterator[str], words: Words, rng: Random) -> dict[str, Any]:
    """Return one line of the metadata, with the keys and formats of the real one."""
    day = date(2015, 1, 1) + timedelta(days=number // 400)
    identifier = f"{day.year % 100:02d}{day.month:02d}.{number % 90_000 + 1:05d}"
    terms = words.terms[field]
    title = f"{terms[draw(rng, len(terms))].capitalize()} and {terms[draw(rng, len(terms))]}"
    abstract = " ".join(next(prose) for _ in range(rng.randrange(3, 6)))
    created = day.strftime("%a, %d %b %Y 12:00:00 GMT")
    return {
        "id": identifier, "submitter": "A. Author", "authors": "A. Author, B. Author", "title": title,
        "comments": "12 pages", "journal-ref": None, "doi": None, "report-no": None,
        "categories": f"{field} stat.ML" if number % 3 == 0 else field,
        "license": "http://arxiv.org/licenses/nonexclusive-distrib/1.0/", "abstract": f"  {abstract}\n",
        "versions": [{"version": "v1", "created": created}], "update_date": day.isoformat(),
        "authors_parsed": [["Author", "A.", ""], ["Author", "B.", ""]],
    }  # fmt: skip


def make_meta(identifier: str, record: dict[str, Any]) -> dict[str, str]:
    """Return `meta` of one line of RedPajama."""
    return {
        "timestamp": record["versions"][0]["created"], "yymm": identifier[:4], "arxiv_id": identifier,
        "language": "en", "url": f"https://arxiv.org/abs/{identifier}",
    }  # fmt: skip


def make_text(prose: Iterator[str], rng: Random) -> str:
    """Return a LaTeX body: two sections with an equation between them."""
    sections = []
    for name in ("Introduction", "Results"):
        sentences = [add_latex(next(prose), rng) for _ in range(rng.randrange(2, 4))]
        sections.append(f"\\section{{{name}}}\n\n" + "\n".join(sentences))
    return f"\n\n{_EQUATION}\n\n".join(sections)


def add_latex(sentence: str, rng: Random) -> str:
    """Return a sentence; two in five contain a formula or a command."""
    kind = rng.random()
    if kind > 0.4:
        return sentence
    pieces = sentence.split(" ")
    place = rng.randrange(1, len(pieces))
    added = rng.choice(_MATHS if kind < 0.25 else _COMMANDS)
    if "%s" in added:
        pieces[place] = added % pieces[place]
    else:
        pieces.insert(place, added)
    return " ".join(pieces)


def draw(rng: Random, count: int) -> int:
    """Return a random index below `count`; index k has a weight of about 1 / k."""
    return int(count ** rng.random()) - 1


def write_sentences(words: Words, field: str, rng: Random) -> Iterator[str]:
    """Yield sentences without end; three in four contain a term of the field.

    Half of the words are function words, a third general ones, the rest the field's.
    """
    terms, kinds = words.terms[field], (words.function, words.general, words.topic[field])
    shares = list(accumulate((0.5, 0.36, 0.14)))
    while True:
        length = rng.randrange(10, 26)
        chosen = [kind[draw(rng, len(kind))] for kind in rng.choices(kinds, cum_weights=shares, k=length)]
        if rng.random() < 0.75:
            chosen.insert(rng.randrange(2, length), terms[draw(rng, len(terms))])
        yield " ".join(chosen).capitalize() + "."


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, required=True, help="number of metadata records")
    parser.add_argument("--shards", type=int, required=True, help="number of full-text shards")
    parser.add_argument("--spread", action="store_true", help="42 categories in place of two")
    parser.add_argument("--output", type=Path, required=True, help="new folder of the dump")
    run_program(parser, main)
