"""The card of a benchmark in the format of the Hugging Face hub, and its Croissant metadata [Croissant]."""

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from fathom import __version__
from fathom.config.benchmark import Variant
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.files import hash_text

EXAMPLES = 10
"""Number of example pairs on a card, from different keywords as far as possible."""

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")
_TYPES = {"list<item: string>": "list of string"}
_VARIANTS = {"tf": "term frequency (TF)", "tfidf": "TF-IDF"}


@dataclass(frozen=True)
class Description:
    """Content of a card beyond the pairs.

    `variant`: vocabulary of the targets. `manifest`: from
    :func:`fathom.benchmark.benchmark_files.make_manifest`.
    """

    domain: str
    title: str
    variant: Variant
    keywords: int
    terms: int
    manifest: Mapping[str, Any]


def write_card(pairs: pl.DataFrame, about: Description) -> str:
    """Return the text of a card: what the benchmark is, how it was made, examples, fields, limits."""
    title = escape_markdown(about.title or about.domain)
    parts = [
        write_front_matter(len(pairs), name_benchmark(about), about.variant),
        f"# {title}: completion benchmark, {_VARIANTS[about.variant]} targets",
        f"Prompts that end before a term of the field *{title}*, taken from running text. A language model "
        "is scored by the rank that it gives to the term (the target). Base and chat models are scored "
        "alike, and no language model was used to make the pairs.",
        "## How it was made\n\n" + "\n".join(f"- {line}" for line in _steps(pairs, about)),
        "## Numbers of each step\n\n" + "\n".join(_numbers(about.manifest.get("reports", {}))),
        *_coverage(about.manifest.get("reports", {})),
        "## Examples\n\n" + "\n".join(_examples(pairs)),
        "## Fields\n\n" + "\n".join(_fields()),
        "## Known limits\n\n" + "\n".join(f"- {line}" for line in _limits(pairs, about)),
        "## Loading\n\n```python\nfrom datasets import load_dataset\n\n"
        'pairs = load_dataset("path/to/this/folder", split="test")\n```\n\n'
        "Put nothing between prompt and target: `prompt + target` is the beginning of the sentence. "
        "`pairs.jsonl` holds the same pairs in the same order.",
        "## Licence\n\nThe sentences belong to the authors of the source documents (`doc_id`), under the "
        "licence of each. Look these up before you pass the pairs on.",
    ]
    return "\n\n".join(parts) + "\n"


def name_benchmark(about: Description) -> str:
    """Return the display name of a benchmark."""
    return f"{about.title or about.domain}: completion benchmark ({about.variant})"


def write_front_matter(pairs: int, name: str, variant: str) -> str:
    """Return the YAML block that the hub reads; its values are JSON, which is also YAML."""
    values = {
        "language": ["en"],
        "license": "other",
        "task_categories": ["text-generation"],
        "pretty_name": name,
        "tags": ["benchmark", "completion", "domain-knowledge", variant],
        "size_categories": [next((size for limit, size in _SIZES if pairs < limit), _LARGEST)],
        "configs": [{"config_name": "default", "data_files": [{"split": "test", "path": "pairs.parquet"}]}],
    }
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items()]
    return f"---\n{''.join(lines)}---"


def _steps(pairs: pl.DataFrame, about: Description) -> Iterator[str]:
    parameters = about.manifest["parameters"]
    chosen = parameters["pairs"]
    yield f"Keywords: {about.keywords:,}, from abstracts of the domain `{about.domain}`."
    naming = "that name a keyword and have" if parameters["matches"].get("named") else "with"
    yield (
        f"Sentences: those {naming} a cosine of at least {parameters['matches']['min_cosine']} with "
        f"{'it' if parameters['matches'].get('named') else 'a keyword'} "
        f"(`{parameters['embedding']['model']}`), cleaned of LaTeX and citations."
    )
    if "draw" in about.manifest.get("reports", {}):
        draw = about.manifest["reports"]["draw"]
        left_out = draw["left_out"]
        yield (
            f"Drawn by a hash of their ids: {draw['documents']:,} documents with {draw['sentences']:,} "
            f"sentences (`sentences.limit`: {draw['limit']:,}). Not looked at: {left_out['documents']:,} "
            f"documents with {left_out['sentences']:,} sentences."
        )
    yield (
        f"Targets: {about.terms:,} entries of keyword vocabularies, by {_VARIANTS[about.variant]}; terms in "
        f"more than {parameters['vocabulary']['max_share'][about.variant]:.0%} of keyword documents are left "
        f"out, and those with a cosine below {parameters['vocabulary']['min_cosine']} with their keyword."
    )
    yield (
        f"Pairs: {len(pairs):,}, at most {chosen['per_keyword']} for each keyword, from sentences of at "
        f"least {chosen['min_characters']} characters and {chosen['min_tokens']} tokens; a prompt has at "
        f"least {chosen['min_tokens']} tokens. {pairs['target'].n_unique():,} distinct targets, "
        f"{pairs['doc_id'].n_unique():,} documents."
    )
    yield "Hashes, inputs, all parameters and package versions: `manifest.json`."


def _numbers(reports: Mapping[str, Any]) -> Iterator[str]:
    yield "| step | what | number |"
    yield "|---|---|--:|"
    for step, report in sorted(reports.items()):
        for name, value in _flatten(report):
            yield f"| {escape_markdown(step)} | {escape_markdown(name)} | {value:,} |"


def _coverage(reports: Mapping[str, Any]) -> Iterator[str]:
    if "coverage" not in reports:
        return
    found = reports["coverage"]
    correlation, near = found["correlation"], found["redundancy_of_pairs"]
    yield (
        f"## Coverage\n\nThe pairs are at least as dense as the domain at {found['coverage']:.1%} of "
        f"{found['points']:,} sentences of the domain; elsewhere there are gaps. As many sentences drawn at "
        f"random would be so at {found['coverage_at_random']:.1%}. "
        + ("" if correlation is None else f"Both densities correlate by {correlation:.2f}. ")
        + ("" if near is None else f"{near:.2%} of any two pairs are within a cosine distance of 0.2. ")
        + f"Gaussian kernel, bandwidth {found['bandwidth']:.4g} on embeddings of length {found['length']:g} "
        f"(`{found['embedding']}`)."
    )


def _flatten(report: Mapping[str, Any]) -> Iterator[tuple[str, int | float]]:
    """Yield the numbers of a report by name, and its nonzero counts of left-out items, by reason."""
    for name, value in sorted(report.items()):
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name.replace("_", " "), value
        elif name == "left_out" and isinstance(value, Mapping):
            for reason, count in sorted(value.items()):
                if isinstance(count, int) and count:
                    yield f"left out: {reason.replace('_', ' ')}", count


def _examples(pairs: pl.DataFrame) -> Iterator[str]:
    yield "| keyword | prompt | target |"
    yield "|---|---|---|"
    for row in choose_examples(pairs.to_dicts()):
        prompt, target = escape_markdown(row["prompt"]), escape_markdown(row["target"].strip())
        yield f"| {escape_markdown(row['keyword'])} | {prompt} | {target} |"


def choose_examples(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Choose the example pairs: keywords take turns, in an order by a hash of each pair."""
    turns: dict[str, int] = {}
    drawn = []
    for row in sorted(rows, key=lambda row: hash_text("example", row["pair_id"])):
        turn = turns[row["keyword"]] = turns.get(row["keyword"], 0) + 1
        drawn.append((turn, row))
    drawn.sort(key=lambda item: item[0])  # stable: keeps the order of the hashes within a turn
    return sorted((row for _, row in drawn[:EXAMPLES]), key=lambda row: (row["keyword"], row["pair_id"]))


def _fields() -> Iterator[str]:
    yield "| field | type | what |"
    yield "|---|---|---|"
    for column in PAIRS:
        kind = _TYPES.get(str(column.type), str(column.type))
        yield f"| `{column.name}` | {kind} | {escape_markdown(column.about)} |"


def _limits(pairs: pl.DataFrame, about: Description) -> Iterator[str]:
    quota = about.manifest["parameters"]["pairs"]["per_keyword"]
    counts = pairs.group_by("keyword").len().sort("keyword")
    few = counts.filter(pl.col("len") < quota)
    none = about.keywords - len(counts)
    yield (
        f"{len(few):,} of {about.keywords:,} keywords have fewer than {quota} pairs, and {max(none, 0):,} "
        "have none; they were not filled up."
    )
    if len(few):
        listed = ", ".join(f"{escape_markdown(keyword)} ({count})" for keyword, count in few.iter_rows())
        yield f"Keywords with few pairs: {listed}."
    in_prompt, in_keyword = (
        pairs[name].sum() / len(pairs) for name in ("target_in_prompt", "target_in_keyword")
    )
    yield (
        f"In {in_prompt:.1%} of the pairs the prompt has the target or another form of it "
        f"(`target_in_prompt`), in {in_keyword:.1%} the keyword has (`target_in_keyword`)."
    )
    known = pairs["association"].drop_nans().to_numpy()
    if len(known):
        least = about.manifest["parameters"]["pairs"].get("min_association", 0)
        yield (
            f"In {(known > 0).mean():.1%} of the pairs the target follows one of the field's own words in "
            "the prompt more often than chance has it (`association`); a pair needs at least "
            f"{least:g} (`pairs.min_association`)."
        )
    repeated = pairs.select("prompt", "target").is_duplicated().sum() / len(pairs)
    if repeated:
        yield f"{repeated:.1%} of the pairs stand under another keyword, too (`pairs.in_other_keyword`)."
    overlap = about.manifest.get("reports", {}).get("overlap")
    if overlap:
        yield (
            f"{overlap['in_training_text']:,} pairs occur word for word in text that models of this run are "
            f"trained on, {overlap['last_words_there']:,} by the last six words of prompt and target. "
            "`overlap.parquet` says which; `summary.overlap` leaves them out of summaries."
        )
    held_out = about.manifest.get("reports", {}).get("held_out_overlap")
    if held_out:
        yield (
            f"Perplexity leaves out {held_out['words_in_training_text']:,} of {held_out['words']:,} words of "
            f"held-out text that occur there, attribute rates {held_out['sentences_in_training_text']:,} of "
            f"{held_out['sentences']:,} matched sentences."
        )
    yield "Several words may continue a prompt well; only the one of the source text counts."
    yield "Sentences come from public documents, which a model may have been trained on; see `date`."


def escape_markdown(text: str) -> str:
    """Return text on one line that Markdown and HTML show verbatim, also inside a table."""
    return _MARKUP.sub(r"\\\1", html.escape(" ".join(text.split()), quote=False)).replace("://", ":&#47;/")


_TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet",
    "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
    "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
    "transform",
)  # fmt: skip
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}
"""The context that the specification requires verbatim."""

_FORMATS = {"pairs.parquet": "application/x-parquet", "pairs.jsonl": "application/jsonlines"}
_CROISSANT_TYPES = {"string": "sc:Text", "double": "sc:Float", "bool": "sc:Boolean"}


def describe_files(title: str, columns: list[str], hashes: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata, ready for :func:`fathom.io.files.write_json`: of equal pairs, equal bytes.

    `hashes`: sha256 of pairs.parquet and pairs.jsonl, by name; others are left out.
    """
    known = {column.name: column for column in PAIRS}
    title = " ".join(title.split())
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": title,
        "description": "Prompts from running text that end before a term of the field, and the term.",
        "creator": {"@type": "sc:Organization", "name": f"Fathom {__version__}"},
        "license": "The sentences are under the licences of the documents that they were taken from.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": kind,
                "sha256": hashes[name],
            }
            for name, kind in _FORMATS.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "pairs",
                "name": "pairs",
                "key": {"@id": "pairs/pair_id"},
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"pairs/{name}",
                        "name": name,
                        "description": known[name].about,
                        "dataType": _CROISSANT_TYPES[str(known[name].type)],
                        "source": {"fileObject": {"@id": "pairs.parquet"}, "extract": {"column": name}},
                    }
                    for name in columns
                ],
            }
        ],
    }
