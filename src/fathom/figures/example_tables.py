"""Examples of the parts of benchmarks: keywords, vocabularies, tokens, pairs.

The tables of the papers, side by side for all domains of a run [RawCorpora, Tables 1-5, 7, 8],
[BeyondBenchmarks, Tables 1 and 2]. Keywords that the configuration names come first, then those that come
first in the run; terms and tokens are the first ones; a hash draws the pairs.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from fathom.config.benchmark import VARIANTS
from fathom.config.examples import Examples as Named
from fathom.config.short_names import References, label_variant, name_set
from fathom.figures.ranking_tables import render_markdown
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, PAIRS, VOCABULARY
from fathom.io.contracts.questions import QUESTIONS
from fathom.io.contracts.scoring import TOKEN_LISTS
from fathom.io.delimited import read_rows
from fathom.io.files import hash_text
from fathom.io.tables import read_table
from fathom.questions.shown import FORMS

KEYWORDS, DETAILED, TERMS, TOKENS, EACH = 10, 3, 10, 15, 3
"""Fewest keywords of a domain, and with terms and pairs; terms, tokens of each, pairs by variant."""

Row = tuple[Any, ...]
Terms = Mapping[str, Sequence[str]]
"""Terms, or tokens, of each keyword in their order."""


@dataclass(frozen=True)
class Examples:
    """Data of one domain.

    Attributes
    ----------
    keywords : sequence of (str, int)
        Keywords in their order, with their number of documents.
    vocabularies : dict
        Terms of each keyword, by variant.
    tokens : dict
        Tokens of each keyword, by the models whose tokenizers have them.
    pairs : dict
        Pairs that meet the contract PAIRS, by variant.
    references : dict
        Names of references by variant.
    named : fathom.config.examples.Examples
        What is shown by name; categories by the variant of their reference.
    """

    domain: str
    title: str
    keywords: Sequence[tuple[str, int]]
    vocabularies: dict[str, Terms] = field(default_factory=dict)
    tokens: dict[str, Terms] = field(default_factory=dict)
    pairs: dict[str, pl.DataFrame] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    named: Named = field(default_factory=Named)

    @property
    def listed(self) -> list[tuple[str, int]]:
        """Keywords that are shown, with their number of documents."""
        documents = dict(self.keywords)
        return [(name, documents[name]) for name in self._pick_listed()]

    @property
    def detailed(self) -> list[str]:
        """Keywords whose terms and pairs are shown."""
        return pick(self.named.detailed.get(self.domain, ()), self._list_usable(), DETAILED)

    def list_shown(self, variant: str) -> list[str]:
        """Return the keywords whose pairs are shown, or the categories of a reference."""
        if variant in VARIANTS:
            return self.detailed
        return pick(self._name_categories(variant), self._list_categories(variant), DETAILED)

    def list_left_out(self) -> list[tuple[str, list[str], int]]:
        """Return keys with names that this run lacks, these names, and how many were named."""
        named, domain = self.named, self.domain
        every: list[tuple[str, Sequence[str], Sequence[str]]] = [
            ("keywords", named.keywords.get(domain, ()), [name for name, _ in self.keywords]),
            ("detailed", named.detailed.get(domain, ()), self._list_usable()),
        ]
        every += [
            (f"categories, {variant}", self._name_categories(variant), self._list_categories(variant))
            for variant in self.pairs
            if variant not in VARIANTS
        ]
        found = []
        for key, names, known in every:
            there = {name.casefold() for name in known}
            lost = [name for name in names if name.casefold() not in there]
            if lost:
                found.append((key, lost, len(names)))
        return found

    def _pick_listed(self) -> list[str]:
        names = [name for name, _ in self.keywords]
        return pick(self.named.keywords.get(self.domain, ()), names, KEYWORDS)

    def _list_usable(self) -> list[str]:
        """Return the keywords that have terms and pairs in every vocabulary, those that are listed first."""
        kept = [set(terms) for terms in self.vocabularies.values()]
        kept += [set(self.pairs[name]["keyword"]) for name in VARIANTS if name in self.pairs]
        names = dict.fromkeys([*self._pick_listed(), *(name for name, _ in self.keywords)])
        return [name for name in names if all(name in some for some in kept)]

    def _name_categories(self, variant: str) -> Sequence[str]:
        return self.named.categories.get(self.domain, {}).get(variant, ())

    def _list_categories(self, variant: str) -> list[str]:
        return sorted(set(self.pairs[variant]["keyword"]))


def pick(named: Iterable[str], known: Sequence[str], least: int) -> list[str]:
    """Return the named ones that are known, whatever their case, filled up with the first known ones.

    Examples
    --------
    >>> pick(["C", "lost"], ["a", "b", "c"], 2)
    ['c', 'a']
    """
    by_case = {name.casefold(): name for name in known}
    found = dict.fromkeys(by_case[name.casefold()] for name in named if name.casefold() in by_case)
    others = (name for name in known if name not in found)
    return [*found, *islice(others, max(0, least - len(found)))]


def read_examples(
    domains: Iterable[tuple[str, str, str]],
    vocabularies: Iterable[tuple[str, str, str]],
    tokens: Iterable[tuple[str, str, str]],
    pairs: Iterable[tuple[str, str, str]],
    named: Named | None = None,
    references: Mapping[str, References] | None = None,
) -> list[Examples]:
    """Read what the tables show; raise `InputError` if a table lacks a column.

    Parameters
    ----------
    domains : iterable of (name, title, path)
        Paths of keywords.tsv.
    vocabularies, pairs : iterable of (domain, variant, path)
        Paths of vocabulary.tsv and pairs.parquet.
    tokens : iterable of (domain, model, path)
        Tables under TOKEN_LISTS. Models with the same tokens share a list.
    named : fathom.config.examples.Examples, optional
        What is shown by name.
    references : mapping of str to references, optional
        Variants and names of the references of each domain.
    """
    found = {
        name: Examples(
            name,
            title or name,
            _read_keywords(path),
            references=dict((references or {}).get(name, {})),
            named=named or Named(),
        )
        for name, title, path in domains
    }
    for domain, variant, path in vocabularies:
        rows = read_rows(path, VOCABULARY, ("keyword", "term"))
        found[domain].vocabularies[variant] = _gather((row["keyword"], row["term"].strip()) for row in rows)
    for domain, model, path in tokens:
        # most tokenizers have a word with and without the blank before it, which is one word to a reader
        listed = dict.fromkeys(read_table(path, TOKEN_LISTS, ["keyword", "token"]).iter_rows())
        lists = _gather(listed)
        known = found[domain].tokens
        same = next((name for name, other in known.items() if other == lists), None)
        if same:
            known[f"{same}, {model}"] = known.pop(same)
        else:
            known[model] = lists
    for domain, variant, path in pairs:
        found[domain].pairs[variant] = read_table(path, PAIRS)
    return list(found.values())


def _read_keywords(path: Path | str) -> list[tuple[str, int]]:
    rows = read_rows(path, DOMAIN_KEYWORDS, ("keyword", "documents"))
    return [(row["keyword"], row["documents"]) for row in rows]


def _gather(rows: Iterable[tuple[str, ...]]) -> dict[str, list[str]]:
    """Return the entries of each keyword, in their order."""
    found: dict[str, list[str]] = {}
    for keyword, entry in rows:
        found.setdefault(keyword, []).append(entry)
    return found


def list_keywords(domains: Iterable[Examples]) -> list[Row]:
    """Return some keywords of each domain, under EXAMPLE_KEYWORDS."""
    return [
        (each.domain, place, *keyword)
        for each in domains
        for place, keyword in enumerate(each.listed, start=1)
    ]


def list_terms(domains: Iterable[Examples]) -> list[Row]:
    """Return the first terms and tokens of some keywords, under EXAMPLE_VOCABULARIES."""
    return [
        (each.domain, keyword, name, place, entry)
        for each in domains
        for keyword in each.detailed
        for name, entries in _list_entries(each, keyword)
        for place, entry in enumerate(entries, start=1)
    ]


def _list_entries(examples: Examples, keyword: str) -> list[tuple[str, Sequence[str]]]:
    """Return the lists of a keyword by name: terms of each vocabulary, tokens of each tokenizer."""
    found = [(label_variant(name), terms[keyword][:TERMS]) for name, terms in examples.vocabularies.items()]
    return found + [
        (f"tokens of {name}", lists.get(keyword, [])[:TOKENS]) for name, lists in examples.tokens.items()
    ]


def list_pairs(domains: Iterable[Examples]) -> list[Row]:
    """Return some pairs of each variant, under EXAMPLE_PAIRS."""
    found: list[Row] = []
    for each in domains:
        for variant, pairs in each.pairs.items():
            for keyword in each.list_shown(variant):
                rows = pairs.filter(keyword=keyword).to_dicts()
                drawn = sorted(rows, key=lambda row: hash_text("example", row["pair_id"]))[:EACH]
                place = (each.domain, variant, label_variant(variant, each.references), keyword)
                found += [(*place, row["prompt"], row["target"].strip()) for row in drawn]
    return found


def list_benchmarks(domains: Iterable[Examples]) -> list[Row]:
    """Return kind and size of each benchmark, under EXAMPLE_BENCHMARKS [CompComp, Table 1]."""
    counted = ("keyword", "target", "doc_id")
    return [
        (
            each.domain,
            each.title,
            variant,
            label_variant(variant, each.references),
            "completion",
            len(pairs),
            *(pairs[name].n_unique() for name in counted),
        )
        for each in domains
        for variant, pairs in each.pairs.items()
    ]


def list_question_sets(sets: Iterable[tuple[str, Path | str]]) -> list[Row]:
    """Return kind and size of each set of questions, under EXAMPLE_BENCHMARKS; `sets`: name and path."""
    found: list[Row] = []
    for name, path in sets:
        questions = read_table(path, QUESTIONS, ["form", "chunks"])
        forms = ", ".join(form for form in FORMS if form in set(questions["form"]))
        records = questions["chunks"].explode().drop_nulls().n_unique()
        found.append((name, name_set(name), "", "questions", forms, len(questions), "", "", records))
    return found


def render_page(domains: Sequence[Examples], sizes: Iterable[Row]) -> str:
    """Render all tables in Markdown: keywords of all domains beside each other, the others by domain.

    `sizes`: rows under EXAMPLE_BENCHMARKS.
    """
    columns = [[f"{name} ({count:,})" for name, count in each.listed] for each in domains]
    lines = max(map(len, columns), default=0)
    beside = [tuple(some[place] if place < len(some) else "" for some in columns) for place in range(lines)]
    parts = [render_markdown("Keywords, and documents that have them", [d.title for d in domains], beside)]
    header = ["domain", "benchmark", "kind", "pairs", "keywords", "targets", "documents"]
    parts.append(render_markdown("Benchmarks", header, [(row[1], *row[3:]) for row in sizes]))
    pairs = list_pairs(domains)
    for each in domains:
        lists = [dict(_list_entries(each, keyword)) for keyword in each.detailed]
        names = list(lists[0]) if lists else []
        rows = [
            (keyword, *(", ".join(own[name]) for name in names))
            for keyword, own in zip(each.detailed, lists, strict=True)
        ]
        parts.append(render_markdown(f"{each.title}: targets and tokens", ["keyword", *names], rows))
        own = [row[2:] for row in pairs if row[0] == each.domain]
        header = ["benchmark", "keyword", "prompt", "target"]
        parts.append(render_markdown(f"{each.title}: pairs", header, own))
    return "\n".join(["# Examples\n", *parts])
