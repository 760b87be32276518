"""From a source of texts to a configuration that one can read and edit: what `fathom build` decides."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from fathom.config.corpus import Columns, DataSet, Selection
from fathom.config.section import suggest
from fathom.config.yaml_files import parse_yaml
from fathom.errors import InputError
from fathom.io.files import write_text

HUB = "hub:"
_HUB_NAME = re.compile(r"hub:([^:@]+)(?::([^:@]+))?(?:@([0-9a-f]{40}))?")
_SAMPLE_FILES, _SAMPLE_ROWS = 12, 200
_FEWEST = {"files": 50, "rows": 200}
"""Of a domain of its own; a file holds several documents, one for each heading."""
_MOST_DOMAINS = 3
_SMALL = 5000
_WHOLE = "all"
KEYWORDS, PER_KEYWORD = 60, 10


@dataclass
class Found:
    """What is in a source.

    Attributes
    ----------
    corpus : dict
        Section `corpus` of the configuration.
    unit : str
        What documents are counted in: files or rows.
    documents, words : int
        How many there are; words are estimated from a sample.
    exact : bool
        Whether documents were counted, not estimated.
    groups : Counter
        Documents by sub-folder or category, the outermost that tells them apart.
    above : str
        Pattern of categories above the groups, with its dot.
    languages : Counter
        Codes of other languages in the sample, by documents; "en" for the rest.
    """

    corpus: dict[str, Any]
    unit: str
    documents: int = 0
    words: int = 0
    exact: bool = True
    groups: Counter[str] = field(default_factory=Counter)
    above: str = ""
    languages: Counter[str] = field(default_factory=Counter)

    def describe(self) -> list[str]:
        """Return lines that say what was found."""
        others = ", ".join(f"{code} {count}" for code, count in self.languages.most_common() if code != "en")
        size = (
            f"{'' if self.exact else 'at least '}{self.documents:,} {self.unit}, about {self.words:,} words"
        )
        lines = [size, f"language of the sample: {'English' if not others else f'not English: {others}'}"]
        if len(self.groups) > 1:
            shown = ", ".join(f"{name} ({count:,})" for name, count in self.groups.most_common(8))
            lines.append(f"could be domains: {shown}")
        return lines


def look_at(source: str, columns: Mapping[str, str]) -> Found:
    """Return what is in a folder or file of documents, a table, or a data set of the hub.

    Parameters
    ----------
    source : str
        A path, or `hub:NAME[:CONFIGURATION][@COMMIT]`.
    columns : mapping of str to str
        Columns of a table that the user names, by what they hold.

    Raises
    ------
    InputError
        If it does not exist, is empty, or cannot be read.
    """
    from fathom.corpus.corpus_files import is_table

    if source.startswith(HUB):
        return _look_at_dataset(source, columns)
    path = Path(source)
    if not path.exists():
        raise InputError("there is no such file or folder", source, "a data set of the hub is hub:OWNER/NAME")
    if path.is_dir():
        tables = sorted(each.name for each in path.iterdir() if each.is_file() and is_table(each.name))
        if tables and len(tables) == len([each for each in path.iterdir() if not each.name.startswith(".")]):
            files = [str(path / name) for name in tables]
            return _look_at_tables(files, columns)
        return _look_at_folder(source)
    return _look_at_tables([source], columns) if is_table(path.name) else _look_at_folder(source)


def _look_at_folder(source: str) -> Found:
    """Return what is in a folder or file of documents."""
    from fathom.corpus.documents.reading import read_document
    from fathom.corpus.folder_files import list_documents

    files, _ = list_documents([source])
    found = Found({"source": "folder", "files": [source]}, "files", len(files))
    found.groups, found.above = _group(file.categories for file in files)
    step = max(1, len(files) // _SAMPLE_FILES)
    sizes = words = 0
    for file in files[::step][:_SAMPLE_FILES]:
        try:
            sections = read_document(file.path, 20).sections
        except InputError:  # counted and named when the corpus is read
            continue
        text = " ".join(section.text for section in sections)
        sizes, words = sizes + file.size, words + len(text.split())
        _judge(text, found)
    total = sum(file.size for file in files)
    found.words = round(words * total / sizes) if sizes else 0
    return found


def _look_at_tables(files: Sequence[str], columns: Mapping[str, str]) -> Found:
    """Return what is in tables; their rows are counted."""
    from fathom.corpus.table_rows import find_columns, read_rows_of_table

    selection = Selection.model_validate({"domains": {"all": {"categories": ["*"]}}})
    found = Found({"source": "table", "files": list(files)}, "rows")
    labels: list[list[str]] = []
    for file in files:
        rows, _ = read_rows_of_table(Path(file), selection)
        first = next(rows, None)
        if first is None:
            raise InputError("the table has no rows", file, "give one that has")
        names = find_columns(first, Columns.model_validate(dict(columns)), file)
        _count_rows(first, rows, names, found, labels)
    found.corpus |= {"columns": names}
    found.groups, found.above = _group(labels)
    return found


def _look_at_dataset(source: str, columns: Mapping[str, str]) -> Found:
    """Return what is in the first rows of a data set; its commit is resolved."""
    from fathom.config.corpus import TextSource
    from fathom.corpus.table_rows import find_columns
    from fathom.corpus.text_sources import read_rows

    match = _HUB_NAME.fullmatch(source)
    if match is None:
        raise InputError(
            "not the name of a data set", source, "write hub:OWNER/NAME[:CONFIGURATION][@COMMIT]"
        )
    name, configuration, commit = match.groups()
    commit = commit or _resolve(name, source)
    dataset = DataSet(name=name, configuration=configuration, revision=commit)
    values = dataset.model_dump(exclude_none=True)
    found = Found({"source": "dataset", "dataset": values}, "rows", exact=False)
    rows = read_rows(TextSource(dataset=name, subset=configuration, revision=commit), source)
    first = next(rows)
    names = find_columns(first, Columns.model_validate(dict(columns)), source)
    labels: list[list[str]] = []
    _count_rows(first, islice(rows, _SAMPLE_ROWS), names, found, labels)
    found.corpus |= {"columns": names}
    found.groups, found.above = _group(labels)
    return found


def _resolve(name: str, source: str) -> str:
    """Return the newest commit of a data set; the key of a private one comes from the environment."""
    import httpx2
    from huggingface_hub import HfApi, errors

    try:
        return str(HfApi().dataset_info(name).sha)
    except (errors.RepositoryNotFoundError, errors.HFValidationError) as error:
        raise InputError(
            "the data set is not on the hub, or is private", source, "check the name; HF_TOKEN holds a key"
        ) from error
    except (OSError, httpx2.HTTPError, errors.HfHubHTTPError) as error:
        what = f"the hub cannot be reached: {(str(error).strip() or type(error).__name__).splitlines()[0]}"
        raise InputError(what, source, "check the network; @COMMIT names a commit that is cached") from error


def _count_rows(
    first: Mapping[str, Any],
    rows: Iterator[Mapping[str, Any]],
    names: Mapping[str, str],
    found: Found,
    labels: list[list[str]],
) -> None:
    """Count rows, words and categories; judge the language of the first ones."""
    from fathom.corpus.table_rows import read_labels

    for number, row in enumerate([first, *rows]):
        found.documents += 1
        text = str(row.get(names.get("text") or names["abstract"]) or "")
        found.words += len(text.split())
        labels.append(read_labels(row.get(names["categories"])) if "categories" in names else [])
        if number < _SAMPLE_ROWS:
            _judge(text, found)


def _judge(text: str, found: Found) -> None:
    """Count the language of a text of the sample."""
    from fathom.corpus.detection import find_other_language

    found.languages[find_other_language(text) or "en"] += 1


def _group(categories: Iterable[Sequence[str]]) -> tuple[Counter[str], str]:
    """Return documents by the outermost part of their categories that tells them apart, and what is above."""
    known = [[each.split(".") for each in labels] for labels in categories]
    above: list[str] = []
    while True:
        level = len(above)
        fitting = [{parts[level] for parts in labels if len(parts) > level} for labels in known]
        counts = Counter(name for names in fitting for name in names)
        if len(counts) != 1 or any(not names for names in fitting):
            return counts, "".join(f"{name}." for name in above)
        above.append(next(iter(counts)))


def resolve_models(asked: Sequence[str], known: Iterable[str], where: str) -> list[str]:
    """Return rows of the table of models for names as people type them: `smollm2` for `SmolLM2-135M-...`.

    Raises
    ------
    InputError
        If a name fits no row or several.
    """
    names = list(known)
    found: list[str] = []
    for name in asked:
        plain = _simplify(name)
        same = [each for each in names if each == name] or [
            each for each in names if _simplify(each) == plain
        ]
        fitting = same or [each for each in names if plain and _simplify(each).startswith(plain)]
        if not fitting:
            raise InputError(f"there is no model {name!r}", where, suggest(name, names))
        if len(fitting) > 1:
            raise InputError(f"several models fit {name!r}", where, f"one of {', '.join(fitting[:8])}")
        found += fitting if fitting[0] not in found else []
    return found


def _simplify(name: str) -> str:
    """Return a name in lower case, letters and digits only."""
    return "".join(each for each in name.casefold() if each.isalnum())


def choose_domains(found: Found) -> tuple[dict[str, list[str]], str]:
    """Return the patterns of categories by domain, and the reason for the choice."""
    fewest = _FEWEST[found.unit]
    large = [name for name, count in found.groups.most_common() if count >= fewest]
    if len(large) < 2:
        return {_WHOLE: ["*"]}, f"fewer than two sub-folders or categories have {fewest} {found.unit}"
    domains: dict[str, list[str]] = {}
    for name in large[:_MOST_DOMAINS]:
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_") or f"domain-{len(domains) + 1}"
        domains[slug if slug not in domains else f"{slug}-{len(domains) + 1}"] = [f"{found.above}{name}.*"]
    return domains, (
        f"the largest sub-folders or categories with at least {fewest} {found.unit}, at most"
        f" {_MOST_DOMAINS}; what is in none of them is left out and counted"
    )


def write_configuration(path: Path, run: str, found: Found, models: Sequence[str]) -> bool:
    """Write the configuration of a run; return whether it was there already, saying the same.

    Raises
    ------
    InputError
        If another one is there, such as one that was edited; or it cannot be written.
    """
    text = make_configuration(run, found, models)
    if path.exists():
        if parse_yaml(path.read_text(encoding="utf-8"), str(path)) == parse_yaml(text, str(path)):
            return True
        raise InputError(
            "there is another configuration, or it was edited; it stays as it is",
            str(path),
            f"run it: snakemake -c2 --configfile {path}; or take another name: --run NAME",
        )
    write_text(path, text)
    return False


def make_configuration(run: str, found: Found, models: Sequence[str]) -> str:
    """Return the text of a configuration, with the reasons for its values."""

    def write(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)  # which is YAML in one line, too

    domains, why = choose_domains(found)
    small = found.documents < _SMALL
    thresholds = {"min_count": 2, "threshold": 5} if small else {"min_count": 5, "threshold": 10}
    lines = [
        "# Written by `fathom build`. Edit it and start it again: snakemake -c2 --configfile THIS_FILE",
        "# Every key: config/README.md. Found:",
        *(f"# - {line}" for line in found.describe()),
        f"run: {run}",
        "",
        "corpus:",
        *(f"  {key}: {write(value)}" for key, value in found.corpus.items()),
        "  # nothing is trained here: a tenth is held out for perplexity, the rest is for the benchmark",
        "  splits: {benchmark: 0.9, adapt-train: 0.0, adapt-valid: 0.0, adapt-test: 0.1}",
        "",
        f"# {why}",
        "domains:",
        *(
            f"  {name}: {{categories: {write(patterns)}, title: {write(run if name == _WHOLE else name)}}}"
            for name, patterns in domains.items()
        ),
        "",
        f"# {'lower than the papers have, 5 and 10: the corpus is small' if small else 'as in the papers'}",
        f"keywords: {write({'count': KEYWORDS, **thresholds})}",
        "",
        f"# at most {KEYWORDS} keywords times {PER_KEYWORD} pairs in each domain: minutes on two"
        " cores; the papers take 300 times 50",
        f"pairs: {write({'tokenizer': models[0], 'per_keyword': PER_KEYWORD})}",
        "",
        f"models: {{score: {write(list(models))}}}",
    ]
    return "\n".join(lines) + "\n"


def name_run(source: str) -> str:
    """Return a name for the run of a source: its own, with what a folder may be called."""
    last = source.removeprefix(HUB).partition("@")[0].rstrip("/").rpartition("/")[2]
    stem = last.partition(".")[0] if Path(source).is_file() else last
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_") or "own"
