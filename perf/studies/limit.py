"""Measure what `sentences.limit` changes: a benchmark from a share of a domain's sentences, against all.

Reads a finished run without a limit. For each share documents are drawn as the workflow draws them; matches,
vocabularies and pairs are made of their sentences alone. Nothing is embedded but terms and keywords: a share
of sentences is a share of the cost of embedding. Models are scored on the pairs of every share, each pair
once. Prints a table of the benchmarks and one of the models.

    python -m perf.studies.limit --run results/arxiv --domain cs.AI --settings config/arxiv.yaml
        --tokenizer results/arxiv/models/toy-gpt2/tokenizer --models results/arxiv/models/*/weights
"""

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import yaml
from perf.turns import DEMO, ROOT, print_table
from scipy.stats import kendalltau, trim_mean

import fathom
from fathom.benchmark.draw import draw_documents
from fathom.benchmark.embedding import SentenceEncoder
from fathom.benchmark.gathered_matches import divide_by_keyword, gather_matches
from fathom.benchmark.matches import decide_matches, load_keyword_vectors
from fathom.benchmark.pairs import make_pairs
from fathom.benchmark.vocabulary import build_vocabulary
from fathom.benchmark.wordlists import read_word_list
from fathom.config.benchmark import VARIANTS, Embedding, Matches, Pairs, Variant, Vocabulary
from fathom.config.scoring import Summary
from fathom.io.contracts.benchmark import CANDIDATES, DOMAIN_KEYWORDS
from fathom.io.delimited import read_rows
from fathom.io.tables import read_table, write_table
from fathom.jobs.program import log, run_program
from fathom.models.folders import load_tokenizer


class Remembering:
    """An encoder that embeds no text twice."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def encode(self, sentences: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors in float32."""
        new = sorted(set(sentences) - set(self._known))
        if new:
            self._known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.stack([self._known[each] for each in sentences])

    def encode_exactly(self, sentences: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return unit vectors in float64."""
        return self._encoder.encode_exactly(sentences)


class Made(NamedTuple):
    """A benchmark of a share: its sentences, matches, and terms and pairs by variant."""

    sentences: int
    matches: int
    terms: dict[Variant, set[tuple[str, str]]]
    pairs: dict[Variant, pl.DataFrame]


class Run:
    """What a finished run holds of one domain.

    `arguments`: the options of this program.
    """

    def __init__(self, arguments: argparse.Namespace) -> None:
        folder, corpus = arguments.run / arguments.domain, arguments.run / "corpus"
        settings: dict[str, Any] = (
            yaml.safe_load(arguments.settings.read_text()) if arguments.settings else {}
        )
        self.matches = Matches(**settings.get("matches", {}))
        self.vocabulary = Vocabulary(**settings.get("vocabulary", {}))
        self.pairs = Pairs(**{"tokenizer": "any", **settings.get("pairs", {})})
        self.encoder = Remembering(SentenceEncoder(Embedding(**settings.get("embedding", {}))))
        self.keywords = [
            row["keyword"] for row in read_rows(folder / "keywords.tsv", DOMAIN_KEYWORDS, ["keyword"])
        ]
        vectors = load_keyword_vectors(folder / "keywords.npy", self.keywords)
        self.vectors = dict(zip(self.keywords, vectors, strict=True))
        tables = sorted((folder / "matches").glob("*.parquet"))
        self.candidates = pl.concat([read_table(path, CANDIDATES) for path in tables])
        index = pl.read_parquet(corpus / "index.parquet", columns=["doc_id", "date", "domains"])
        self.dates = dict(index.select("doc_id", "date").iter_rows())
        paths = sorted((corpus / "splits").glob("*.parquet"))
        splits = pl.concat([pl.read_parquet(path, columns=["doc_id", "kept"]) for path in paths])
        inside = index.filter(pl.col("domains").list.contains(arguments.domain))
        self.documents = splits.join(inside, on="doc_id", how="semi")
        self.tokenizer = load_tokenizer(arguments.tokenizer)
        self.stopwords = read_word_list(arguments.wordlists / "stopwords.txt")

    def measure(self, share: float) -> Made:
        """Return the benchmark of a share of the sentences."""
        drawn = draw_documents(self.documents, round(share * int(self.documents["kept"].sum())))
        matches = self._gather(drawn["doc_id"])
        built = {variant: self._build(matches, variant) for variant in VARIANTS}
        log.info("%.0f %%: %s matches", 100 * share, f"{len(matches):,}")
        return Made(
            int(drawn["kept"].sum()),
            len(matches),
            {variant: terms for variant, (terms, _) in built.items()},
            {variant: pairs for variant, (_, pairs) in built.items()},
        )

    def _gather(self, documents: pl.Series) -> pl.DataFrame:
        """Return the matches of some documents, as the workflow gathers them."""
        rows = self.candidates.filter(pl.col("doc_id").is_in(documents.implode()))
        found: list[pl.DataFrame] = []
        with TemporaryDirectory() as folder:
            path = Path(folder) / "drawn.parquet"
            write_table(path, rows.sort("keyword", "doc_id", "position"), CANDIDATES)
            gather_matches([path], self.keywords, self._decide, found.append)
        return pl.concat(found)

    def _decide(self, keyword: str, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the candidates of a keyword that match."""
        encode = self.encoder.encode_exactly
        return decide_matches(rows, self.vectors[keyword], encode, self.matches.min_cosine)

    def _build(self, matches: pl.DataFrame, variant: Variant) -> tuple[set[tuple[str, str]], pl.DataFrame]:
        """Return the keywords and terms of a vocabulary, and the pairs."""
        groups = list(divide_by_keyword(matches))
        entries = build_vocabulary(groups, variant, self.vocabulary, self.stopwords, self.encoder)
        terms: dict[str, set[str]] = {}
        for entry in entries:
            terms.setdefault(entry.keyword, set()).add(entry.term.strip())
        words = {keyword: frozenset(own) for keyword, own in terms.items()}
        groups.sort(key=lambda each: len(each[1]))
        pairs = make_pairs(groups, words, self._find_dates, variant, self.pairs, self._encode_offsets).pairs
        return {(entry.keyword, entry.term) for entry in entries}, pairs

    def _find_dates(self, documents: Collection[str]) -> dict[str, str]:
        """Return the dates of documents by id."""
        return {doc_id: self.dates[doc_id] for doc_id in documents}

    def _encode_offsets(self, sentences: list[str]) -> list[list[tuple[int, int]]]:
        """Tokenise sentences for the smallest model."""
        encoded = self.tokenizer(sentences, add_special_tokens=False, return_offsets_mapping=True)
        offsets: list[list[tuple[int, int]]] = encoded["offset_mapping"]
        return offsets


def describe_benchmarks(made: Mapping[float, Made], run: Run) -> Iterator[list[str]]:
    """Yield a row for each share and variant: what it gives, against everything."""
    for share, found in made.items():
        for variant in VARIANTS:
            terms, pairs, reference = found.terms[variant], found.pairs[variant], made[1.0].terms[variant]
            counts = pairs["keyword"].value_counts()["count"]
            both = len(terms & reference)
            yield [
                f"{share:.0%}", f"{found.sentences:,}", f"{found.matches:,}", variant, f"{len(terms):,}",
                f"{both / len(reference):.0%}", f"{both / max(1, len(terms)):.0%}", f"{len(pairs):,}",
                f"{len(counts) / len(run.keywords):.0%}",
                f"{(counts >= run.pairs.per_keyword).sum() / len(run.keywords):.0%}",
            ]  # fmt: skip


def score_models(made: Mapping[float, Made], models: Sequence[Path]) -> dict[Path, pl.DataFrame]:
    """Return the rank of every pair of any share, by model."""
    tables = [found.pairs[variant] for found in made.values() for variant in VARIANTS]
    pairs = pl.concat(tables).unique("pair_id", maintain_order=True)
    log.info("%s different pairs", f"{len(pairs):,}")
    return {path: fathom.score(path, pairs, device="cpu").select("pair_id", "rank") for path in models}


def describe_models(made: Mapping[float, Made], ranks: Mapping[Path, pl.DataFrame]) -> Iterator[list[str]]:
    """Yield a row for each share and variant: trimmed mean ranks of models, and their order against all."""
    trim, whole = Summary().trim, dict[Variant, list[float]]()
    for share, found in sorted(made.items(), reverse=True):
        for variant in VARIANTS:
            ids = found.pairs[variant].select("pair_id")
            means = [
                float(trim_mean(ids.join(each, on="pair_id")["rank"].to_numpy(), trim))
                for each in ranks.values()
            ]
            reference = whole.setdefault(variant, means)
            change = max(abs(mean / other - 1) for mean, other in zip(means, reference, strict=True))
            tau = kendalltau(means, reference).statistic
            yield [f"{share:.0%}", variant, *(f"{mean:.1f}" for mean in means), f"{change:.1%}", f"{tau:.2f}"]


def main(arguments: argparse.Namespace) -> None:
    """Measure each share; print the tables."""
    run = Run(arguments)
    made = {share: run.measure(share) for share in sorted({*arguments.shares, 1.0})}
    header = ["share", "sentences", "matches", "variant", "terms", "of all terms", "also terms of all"]
    header += ["pairs", "keywords with pairs", f"with {run.pairs.per_keyword}"]
    print_table(header, list(describe_benchmarks(made, run)))
    if arguments.models:
        ranks = score_models(made, arguments.models)
        names = [path.name for path in arguments.models]
        print()
        print_table(["share", "variant", *names, "largest change", "tau"], list(describe_models(made, ranks)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", type=Path, default=DEMO, help="a finished run")
    parser.add_argument("--domain", default="machine-learning", help="one of its domains")
    parser.add_argument("--settings", type=Path, help="the run's configuration; none: defaults")
    parser.add_argument(
        "--tokenizer", type=Path, required=True, help="folder of the smallest model's tokenizer"
    )
    parser.add_argument("--wordlists", type=Path, default=ROOT / "config" / "wordlists")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 0.25, 0.5])
    parser.add_argument("--models", type=Path, nargs="*", default=[], help="folders of models to score")
    run_program(parser, main)
