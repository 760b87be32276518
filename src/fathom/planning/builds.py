"""From a source of texts to a run: the common part of `fathom build` and `fathom.build`.

The content of a folder of documents, a table or a data set of the hub decides a configuration, which users
can read and edit.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from typing import TYPE_CHECKING, Any, NamedTuple

from fathom.config.corpus import Columns, Corpus
from fathom.config.language import ENGLISH
from fathom.config.whole import read_config
from fathom.config.yaml_files import parse_yaml
from fathom.corpus.own_texts import EVERYTHING, HUB, find_door, name_dataset, stream_dataset
from fathom.errors import InputError
from fathom.io import paths
from fathom.io.files import read_plain_text, write_text
from fathom.io.names import NAME, NAME_FORM, show_count
from fathom.io.places import RUNS
from fathom.io.reports import Join, read_report
from fathom.jobs.program import require_extra
from fathom.models.named import find_rows
from fathom.models.registry import CHAT, split_chat
from fathom.planning.caches import place_caches
from fathom.planning.failures import FILE, find_obstacles
from fathom.planning.folder_names import drop_nameless
from fathom.planning.plans import Request, find_snakefile, require_space
from fathom.planning.run_models import PinnedModels, locate_models
from fathom.planning.starting import run_to_end

if TYPE_CHECKING:
    from fathom.corpus.corpus_files import FoundFile
    from fathom.corpus.documents.reading_process import ReadingProcess
    from fathom.corpus.documents.sections import FileContent


_SAMPLE_FILES, _SAMPLE_ROWS = 24, 200
_SAMPLED_GROUPS, _FEWEST_SAMPLED = 12, 8
"""The largest sub-folders, and how many files of each are read at least."""
_SHOWN, _SHOWN_COLUMNS = 3, 12
_LOCALE = re.compile(r"(?P<code>[a-z]{2})(?P<region>[-_][A-Z]{2}|[-_][A-Z][a-z]{3})?")
_FEWEST_LOCALES = 3


@dataclass
class Found:
    """The content of a source.

    `count`, `words`: numbers of units and words; words are estimated from a sample. `groups`: documents by
    the outermost distinguishing sub-folder or category; of files, English sections. `translations`: groups
    that are translations, by their names; not in `groups`. `nameless`: files by sub-folders with meaningless
    names, such as numbers and hashes, which count as their parents. `languages`: codes of other languages in
    the sample, by documents; "en" for the rest.
    """

    corpus: dict[str, Any]  # section `corpus` of the configuration
    unit: str  # unit of `count`: files or rows
    count: int = 0
    words: int = 0
    exact: bool = True
    documents: int = 0  # rows, or sections of files, which are estimated from a sample
    groups: Counter[str] = field(default_factory=Counter)
    translations: Counter[str] = field(default_factory=Counter)
    nameless: Counter[str] = field(default_factory=Counter)
    above: str = ""  # pattern of categories above the groups, with its dot
    languages: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)  # unreadable files of the sample, with reasons
    unused: list[str] = field(default_factory=list)  # unused columns of a table

    def describe(self) -> list[str]:
        """Return lines that say what was found."""
        from fathom.corpus.records import clean_line

        others = ", ".join(f"{code} {count}" for code, count in self.languages.most_common() if code != "en")
        share = f" in {self.languages['en']:,} of {self.languages.total():,}, else {others}"
        sections = f", about {show_count(self.documents, 'section')}" if self.unit == "files" else ""
        size = show_count(self.count, self.unit.removesuffix("s"))
        lines = [
            f"{'' if self.exact else 'at least '}{size}{sections}, about {show_count(self.words, 'word')}",
            f"language of the sample: English{share if others else ''}",
        ]
        if columns := self.corpus.get("columns"):
            used = ", ".join(f"{purpose} from {clean_line(name)}" for purpose, name in columns.items())
            more = ", ..." if len(self.unused) > _SHOWN_COLUMNS else ""
            unused = ", ".join(map(clean_line, self.unused[:_SHOWN_COLUMNS]))
            lines.append(f"columns: {used}{f'; not used: {unused}{more}' if unused else ''}")
        if self.unread:
            more = ", ..." if len(self.unread) > _SHOWN else ""
            lines.append(f"left out: {', '.join(self.unread[:_SHOWN])}{more}")
        if len(self.groups) > 1:
            shown = ", ".join(f"{name} ({count:,})" for name, count in self.groups.most_common(8))
            lines.append(f"could be domains: {shown}")
        if self.translations:
            lines.append(f"translations, by their names: {', '.join(sorted(self.translations))}")
        if self.nameless:
            more = f" and {len(self.nameless) - _SHOWN:,} more" if len(self.nameless) > _SHOWN else ""
            shown = ", ".join(sorted(self.nameless)[:_SHOWN])
            lines.append(f"sub-folders with meaningless names, which count as their parents: {shown}{more}")
        return lines


def look_at(source: str, columns: Mapping[str, str]) -> Found:
    """Inspect a folder or file of documents, a table, or a data set of the hub.

    Parameters
    ----------
    source : str
        A path, or `hub:NAME[:CONFIGURATION][@COMMIT]`.

    Raises
    ------
    InputError
        If it does not exist, is empty, or cannot be read.
    """
    from fathom.corpus.table_rows import read_rows_of_table

    if source.startswith(HUB):
        dataset = name_dataset(source)
        values = dataset.model_dump(exclude_none=True)
        found = Found({"source": "dataset", "dataset": values}, "rows", exact=False)
        sample = islice(stream_dataset(dataset, source), 1 + _SAMPLE_ROWS)
        return _look_at_rows(found, [(source, sample)], columns)
    door, files = find_door(source)
    if door != "table":
        return _look_at_folder(source)
    tables = ((file, read_rows_of_table(Path(file), EVERYTHING)[0]) for file in files)
    return _look_at_rows(Found({"source": "table", "files": list(files)}, "rows"), tables, columns)


def _look_at_folder(source: str) -> Found:
    from fathom.corpus.chosen import find_other_languages
    from fathom.corpus.corpus_files import list_documents
    from fathom.corpus.documents.reading_process import ReadingProcess

    files, _ = list_documents([source])
    found = Found({"source": "folder", "files": [source]}, "files", len(files))
    categories, found.nameless = drop_nameless(file.categories for file in files)
    counts, found.above = _group(categories)
    sampled = {name for name, _ in counts.most_common(_SAMPLED_GROUPS)}
    level, groups = found.above.count("."), defaultdict(list)
    for file, labels in zip(files, categories, strict=True):
        parts = ".".join(labels).split(".")
        groups[parts[level] if len(parts) > level and parts[level] in sampled else ""].append(file)
    with ReadingProcess(Corpus().max_file_mb) as process:
        for name, members in sorted(groups.items()):
            count = max(_FEWEST_SAMPLED, _SAMPLE_FILES // len(groups))
            contents = list(_read_sample(members, count, process, found))
            sections = [[section.text for section in content.sections] for content in contents]
            scale = len(members) / max(len(contents), 1)
            found.words += round(scale * sum(len(text.split()) for texts in sections for text in texts))
            found.documents += round(scale * sum(map(len, sections)))
            for texts in sections:
                _judge(" ".join(texts), found)
            if name:
                english = sum(find_other_languages(texts).count("") for texts in sections)
                found.groups[name] = round(scale * english)
    _set_translations_aside(found)
    if not found.documents:
        what = f"no prose in any sampled file, of {len(found.unread):,} tried"
        raise InputError(what, source, "; ".join(found.unread[:_SHOWN]))
    return found


def _read_sample(
    files: Sequence["FoundFile"], count: int, process: "ReadingProcess", found: Found
) -> Iterator["FileContent"]:
    ordered = sorted(files, key=lambda file: (file.size, file.name))
    count = min(count, len(files))
    for number in range(count):
        file = ordered[(2 * number + 1) * len(files) // (2 * count)]
        try:
            yield process.read(file.path)
        except InputError as error:  # the others are read; the run counts and names it as well
            found.unread.append(f"{file.name} ({error.what})")


def _look_at_rows(
    found: Found, tables: Iterable[tuple[str, Iterator[Mapping[str, Any]]]], columns: Mapping[str, str]
) -> Found:
    """Count rows, words and categories of tables; judge the language of the first rows of each."""
    from fathom.corpus.table_rows import find_columns, read_labels, take_names

    labels: list[list[str]] = []
    for where, table in tables:
        there, rows = take_names(table)
        if there is None:
            raise InputError("the table has no rows", where, "give one with rows")
        names = find_columns(there, Columns.model_validate(dict(columns)), where)
        # if tables differ, each finds its own
        known = found.corpus.get("columns", names)
        found.corpus["columns"] = {each: name for each, name in known.items() if names.get(each) == name}
        used = {*names.values(), *found.unused}
        found.unused += [name for name in there if name not in used]
        for number, row in enumerate(rows):
            found.count = found.documents = found.count + 1
            text = str(row.get(names.get("text") or names["abstract"]) or "")
            found.words += len(text.split())
            labels.append(read_labels(row.get(names["categories"])) if "categories" in names else [])
            if number < _SAMPLE_ROWS:
                _judge(text, found)
    found.groups, found.above = _group(labels)
    _set_translations_aside(found)
    return found


def _judge(text: str, found: Found) -> None:
    from fathom.corpus.chosen import find_other_language

    found.languages[find_other_language(text) or "en"] += 1


def _set_translations_aside(found: Found) -> None:
    """Remove groups named like languages (`es-ES`, `fr`) if there is also one for English."""
    from fathom.corpus.chosen import list_languages

    codes = {
        name: match["code"]
        for name in found.groups
        if (match := _LOCALE.fullmatch(name)) and (match["region"] or match["code"] in list_languages())
    }
    if len(codes) >= _FEWEST_LOCALES and ENGLISH.code in codes.values():
        for name in [name for name, code in codes.items() if code != ENGLISH.code]:
            found.translations[name] = found.groups.pop(name)


def _group(categories: Iterable[Sequence[str]]) -> tuple[Counter[str], str]:
    """Return documents by the outermost distinguishing part of their categories, and the part above."""
    known = [[each.split(".") for each in labels] for labels in categories]
    above: list[str] = []
    while True:
        level = len(above)
        fitting = [{parts[level] for parts in labels if len(parts) > level} for labels in known]
        counts = Counter(name for names in fitting for name in names)
        if len(counts) != 1 or any(not names for names in fitting):
            return counts, "".join(f"{name}." for name in above)
        above.append(next(iter(counts)))


_FEWEST = 200
"""Fewest documents of a separate domain; of a folder, sections."""
_MOST_DOMAINS = 3
_MOST_OUTSIDE = 0.1
"""Share of documents outside sub-folders above which these form one domain, such as `api` and `news`."""
_SMALL = 5000
_NAMED = 12  # number of left-out groups to name
_WHOLE = "all"
KEYWORDS, PER_KEYWORD = 60, 10
PERPLEXITY_CHARACTERS = 50_000
_PROGRESS = re.compile(r"\d+ of \d+ steps \(\d+%\) done")
_LAST_LINES = 30


def choose_domains(found: Found) -> tuple[dict[str, list[str]], str]:
    """Return the patterns of categories by domain, and the reason for the choice."""
    kind = "sections" if found.unit == "files" else "rows"
    large = [name for name, count in found.groups.most_common() if count >= _FEWEST]
    outside = found.documents - sum((found.groups + found.translations).values())
    if len(large) == 1 and found.translations:
        why = "the one large sub-folder or category that is not a translation"
        return {_WHOLE: [f"{found.above}{large[0]}.*"]}, why
    if len(large) < 2:
        return {_WHOLE: ["*"]}, f"fewer than two sub-folders or categories have {_FEWEST} {kind}"
    if outside > _MOST_OUTSIDE * found.documents:
        share = f"{outside:,} of {found.documents:,} {kind}"
        return {_WHOLE: ["*"]}, f"one domain: {share} are outside large sub-folders and categories"
    domains = _name_domains(large[:_MOST_DOMAINS], found.above)
    others = (
        (name, count) for name, count in found.groups.most_common() if name not in large[:_MOST_DOMAINS]
    )
    left = [f"{name} ({count:,})" for name, count in others]
    more = f" and {len(left) - _NAMED:,} more" if len(left) > _NAMED else ""
    without = f": {', '.join(left[:_NAMED])}{more}" if left else ""
    return domains, (
        f"the largest sub-folders or categories with at least {_FEWEST} {kind}, at most"
        f" {_MOST_DOMAINS}; what is in none of them is left out and counted{without}"
    )


def _name_domains(groups: Sequence[str], above: str) -> dict[str, list[str]]:
    domains: dict[str, list[str]] = {}
    for name in groups:
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_") or f"domain-{len(domains) + 1}"
        domains[slug if slug not in domains else f"{slug}-{len(domains) + 1}"] = [f"{above}{name}.*"]
    return domains


def write_configuration(path: Path, run: str, found: Found, models: Sequence[str]) -> bool:
    """Write the configuration of a run; return whether the same one existed already.

    Raises
    ------
    InputError
        If a different one exists, such as an edited one; or a value is wrong, or it cannot be written.
    """
    text = make_configuration(run, found, models)
    values = parse_yaml(text, str(path))
    read_config(values, str(path))  # validate before writing anything
    if path.exists():
        if parse_yaml(read_plain_text(path), str(path)) == values:
            return True
        hint = f"run it: fathom run -c2 --configfile {path}; or take another name: --run NAME"
        raise InputError("a different or edited configuration exists and is kept", str(path), hint)
    write_text(path, text)
    return False


def make_configuration(run: str, found: Found, models: Sequence[str]) -> str:
    """Return the text of a configuration, with the reasons for its values."""

    def write(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)  # which is also YAML on one line

    domains, why = choose_domains(found)
    # several domains: the largest groups
    fewest = found.groups.most_common(len(domains))[-1][1] if len(domains) > 1 else found.documents
    small = fewest < _SMALL
    thresholds = {"min_count": 2, "threshold": 5} if small else {"min_count": 5, "threshold": 10}
    lines = [
        "# Written by `fathom build`. Edit it and start it again: fathom run -c2 --configfile THIS_FILE",
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
        f"# {'lower than the papers have, 5 and 10: a domain is small' if small else 'as in the papers'}",
        f"keywords: {write({'count': KEYWORDS, **thresholds})}",
        "",
        f"# at most {KEYWORDS} keywords times {PER_KEYWORD} pairs in each domain: minutes on two"
        " cores; the papers take 300 times 50",
        f"pairs: {write({'tokenizer': models[0], 'per_keyword': PER_KEYWORD})}",
        "",
        f"models: {write({'score': list(models)})}",
        "",
        "# a look at held-out text; the default, 1,000,000, takes longest of all on a processor",
        f"perplexity: {write({'max_characters': PERPLEXITY_CHARACTERS})}",
    ]
    return "\n".join(lines) + "\n"


def name_run(source: str) -> str:
    """Return a run's name from its source's, in characters allowed for folders."""
    path = Path(source) if Path(source).name not in ("", "..") else Path(source).resolve()
    last = path.name if path.exists() else source.removeprefix(HUB).partition("@")[0].rpartition("/")[2]
    stem = last.partition(".")[0] if path.is_file() else last
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_") or "own"


class Source(NamedTuple):
    """A source of texts that was looked at.

    `snakefile`: the workflow that will run. `models`: as in the configuration: rows of the table of models,
    else as the user named them. `rows`: their known rows.
    """

    name: str
    found: Found
    snakefile: Path
    models: Sequence[str]
    rows: PinnedModels | None = None

    @property
    def configuration(self) -> Path:
        """Path of the configuration."""
        return Path(f"{self.name}.yaml")

    @property
    def page(self) -> Path:
        """Path of the page."""
        return Path(RUNS, self.name, paths.PAGE.below)

    def write(self) -> bool:
        """Write the configuration; return whether the same one existed already."""
        there = write_configuration(self.configuration, self.name, self.found, self.models)
        if self.rows:
            self.rows.write()
        return there


def examine(
    source: str,
    models: Sequence[str],
    columns: Mapping[str, str],
    name: str | None,
    found: Found | None = None,
) -> Source:
    """Find the models, then inspect the source.

    Parameters
    ----------
    source : str
        A path, or `hub:NAME[:CONFIGURATION][@COMMIT]`.
    models : sequence of str
        As people name them, see :func:`fathom.models.named.resolve_models`.

    Raises
    ------
    InputError
        If packages, a model or the source are missing.
    """
    require_extra("workflow", "fathom build")
    request = Request(find_snakefile(None))
    name, registry = name or name_run(source), request.find("config/models.tsv")
    if not re.fullmatch(NAME, name):
        raise InputError("this is not a valid name of a run", f"--run {name}", NAME_FORM.about)
    rows = PinnedModels(registry, locate_models(name))
    named = [_name_model(each, rows) for each in models]
    found = found or look_at(source, columns)
    return Source(name, found, request.snakefile, list(dict.fromkeys(named)), rows)


def _name_model(asked: str, rows: PinnedModels) -> str:
    """Return a model's name in a configuration; add a missing row to the table."""
    found = find_rows(asked, rows.rows, f"--models, {rows.table}")
    for row in found:
        rows.add(row)
    name = found[-1].name
    if name not in rows.known:
        return asked
    return f"{name}{CHAT}" if split_chat(asked)[1] else name


def run_workflow(source: Source, cores: int, show: Callable[[str], None] | None = None) -> None:
    """Run the workflow on a source whose configuration is written.

    Parameters
    ----------
    show : callable, optional
        Gets each line on progress, and the last lines of a failed run. By default Snakemake and its jobs
        write to this process's own streams.

    Raises
    ------
    InputError
        If a job fails.
    """
    place_caches()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(source.snakefile), f"-c{cores}"]
    command += ["--quiet", "rules", "host", "reason", "--configfile", str(source.configuration)]
    with tempfile.TemporaryDirectory() as folder:
        failures = Path(folder, "failures.txt")
        variables = os.environ | {FILE: str(failures)}
        code = run_to_end(command, variables) if show is None else _run_shown(command, variables, show)
        said = failures.read_text(encoding="utf-8") if failures.is_file() else ""
    if code:
        raise _explain(source, said)


def describe_corpus(source: Source) -> list[str]:
    """Return lines on parts of the source that became no documents; none before the workflow has read it."""
    from fathom.corpus.join_report import describe_reading

    report = Path(RUNS, source.name, paths.JOIN_REPORT.below)
    lines = describe_reading(read_report(report, Join)) if report.is_file() else []
    return ["Read:", *(f"  {line}" for line in lines)] if lines else []


def _explain(source: Source, said: str) -> InputError:
    if said:
        return InputError(
            f"{said}\nOnce this is fixed, the same command resumes the run.", str(source.configuration)
        )
    require_space()
    for obstacle in find_obstacles(Path(RUNS, source.name)):
        return obstacle
    hint = "see the messages above; the same command resumes the run"
    return InputError("the run failed", str(source.configuration), hint)


def _run_shown(command: Sequence[str], variables: Mapping[str, str], show: Callable[[str], None]) -> int:
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        command, env=variables, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, text=True, errors="replace"
    ) as process:
        output = process.stdout or ()
        try:
            for line in output:
                last.append(line.rstrip())
                if _PROGRESS.search(line):
                    show(last[-1])
        except KeyboardInterrupt:
            process.terminate()  # it ends when its running jobs end
            last.extend(output)
            raise
    if process.returncode:
        for line in last:
            show(line)
    return process.returncode
