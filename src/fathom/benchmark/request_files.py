"""Requests for a benchmark that a language model writes, and its answers, from files to files.

Source: [RawCorpora, Sec. 3.2, Fig. 14].
"""

from collections.abc import Sequence
from pathlib import Path

from fathom.benchmark.reference import read_plain_text
from fathom.benchmark.reference_request import Answer, read_answers, write_request
from fathom.benchmark.wordlists import read_word_list
from fathom.errors import InputError
from fathom.io.files import read_delimited, write_delimited, write_json_lines, write_text

FAULT_COLUMNS = ("file", "line", "entry", "rule", "text")
"""Header of the table of broken rules."""


def choose_categories(keywords: Path, count: int) -> list[str]:
    """Return the keywords of most documents.

    Parameters
    ----------
    keywords : Path
        keywords.tsv of a domain.
    count : int
        How many.

    Raises
    ------
    InputError
        If that is less than 1, or there are fewer keywords.
    """
    if count < 1:
        raise InputError("this is 1 or more", f"--categories {count}")
    rows = read_delimited(keywords)
    if not rows or not {"keyword", "documents"} <= set(rows[0]):
        raise InputError("there are no keywords with documents", str(keywords), "give keywords.tsv")
    rows.sort(key=lambda row: (-int(row["documents"]), row["keyword"]))
    if len(rows) < count:
        raise InputError(f"there are {len(rows)} keywords", str(keywords), "lower --categories")
    return [row["keyword"] for row in rows[:count]]


def write_requests(
    output: Path, title: str, categories: Sequence[str], each: int, per_request: int | None = None
) -> list[Path]:
    """Write one request with all categories, or several with some categories each.

    Parameters
    ----------
    output : Path
        The request; several are numbered `-01`, `-02`, ... before the ending.
    title : str
        Name of the domain in text.
    categories : sequence of str
    each : int
        Pairs to ask for in each category.
    per_request : int, optional
        Categories in each request; all in one if absent.

    Returns
    -------
    list of Path
        The requests.

    Raises
    ------
    InputError
        If a number is too small, or requests of another division lie there.
    """
    size = len(categories) if per_request is None else per_request
    if min(each, size) < 1:
        raise InputError("these are 1 or more", "--each, --per-request")
    parts = [categories[start : start + size] for start in range(0, len(categories), size)]
    paths = _name_parts(output, len(parts))
    for path, part in zip(paths, parts, strict=True):
        write_text(path, write_request(title, part, each))
    return paths


def _name_parts(output: Path, count: int) -> list[Path]:
    """Return the name of each request, numbered if there are several; refuse to mix two divisions."""
    names = [f"{output.stem}-{number:02d}{output.suffix}" for number in range(1, count + 1)]
    paths = [output] if count == 1 else [output.with_name(name) for name in names]
    others = {*output.parent.glob(f"{output.stem}-[0-9][0-9]{output.suffix}"), output} - set(paths)
    old = sorted(str(path) for path in others if path.exists())
    if old:
        raise InputError(
            f"requests of another division are there: {', '.join(old)}", str(output), "remove them first"
        )
    return paths


def read_answer_files(answers: Sequence[Path], categories: Path, each: int, wordlists: Path) -> Answer:
    """Read the answers to all requests and check them against the rules; nothing in them is run.

    Parameters
    ----------
    answers : sequence of Path
        Text files, as they came.
    categories : Path
        The categories of all requests, one a line.
    each : int
        Pairs that were asked for in each category.
    wordlists : Path
        Folder with `stopwords.txt`.

    Raises
    ------
    InputError
        If a file cannot be read, or two answers have the same name.
    """
    names = [line.strip() for line in read_plain_text(categories).splitlines() if line.strip()]
    texts = {path.name: read_plain_text(path) for path in answers}
    if len(texts) < len(answers):
        raise InputError("two answers have the same name", "--answer", "rename one, or name each once")
    return read_answers(texts, names, each, read_word_list(wordlists / "stopwords.txt"))


def write_answer(answer: Answer, source: str, output: Path, faults: Path) -> None:
    """Write the entries that keep all rules as JSON lines, and every broken rule as a line of a CSV table.

    Parameters
    ----------
    answer : Answer
        From :func:`read_answer_files`.
    source : str
        The model that answered; kept with each pair.
    output, faults : Path
        The two files.
    """
    entries = (
        {"category": entry.category, "prompt": entry.prompt, "target": entry.target, "source": source}
        for entry in answer.kept
    )
    write_json_lines(output, entries)
    rows = [
        (fault.file, fault.line or "", fault.entry or "", fault.rule, fault.text) for fault in answer.faults
    ]
    write_delimited(faults, FAULT_COLUMNS, rows, delimiter=",")
