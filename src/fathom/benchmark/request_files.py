"""Files around requests to a language model: keywords in, requests out; answers in, checked pairs out.

Source: [RawCorpora, Sec. 3.2, Fig. 14].
"""

from collections.abc import Sequence
from pathlib import Path

from fathom.benchmark.reference_request import CheckedAnswers, check_answers, write_request
from fathom.benchmark.wordlists import read_word_list
from fathom.errors import InputError
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, REQUEST_FAULTS
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import read_plain_text, write_json_lines, write_text


def choose_categories(keywords: Path, count: int) -> list[str]:
    """Return the keywords that occur in most documents."""
    if count < 1:
        raise InputError("must be 1 or more", f"--categories {count}")
    rows = read_rows(keywords, DOMAIN_KEYWORDS, ("keyword", "documents"))
    rows.sort(key=lambda row: (-row["documents"], row["keyword"]))
    if len(rows) < count:
        raise InputError(f"only {len(rows)} keywords", str(keywords), "lower --categories")
    return [row["keyword"] for row in rows[:count]]


def write_requests(
    output: Path,
    title: str,
    categories: Sequence[str],
    each: int,
    per_request: int | None = None,
    template: str | None = None,
) -> list[Path]:
    """Write one request with all categories, or several requests with some categories each.

    Parameters
    ----------
    output : Path
        The request; several are numbered `-01`, `-02`, ... before the suffix.

    Raises
    ------
    InputError
        If a number is too small, or the folder has requests with another number of categories.
    """
    size = len(categories) if per_request is None else per_request
    if min(each, size) < 1:
        raise InputError("must be 1 or more", "--each, --per-request")
    parts = [categories[start : start + size] for start in range(0, len(categories), size)]
    paths = _name_parts(output, len(parts))
    for path, part in zip(paths, parts, strict=True):
        write_text(path, write_request(title, part, each, template))
    return paths


def _name_parts(output: Path, count: int) -> list[Path]:
    """Return the name of each request, numbered if there are several; refuse to mix old and new ones."""
    names = [f"{output.stem}-{number:02d}{output.suffix}" for number in range(1, count + 1)]
    paths = [output] if count == 1 else [output.with_name(name) for name in names]
    others = {*output.parent.glob(f"{output.stem}-[0-9][0-9]{output.suffix}"), output} - set(paths)
    old = sorted(str(path) for path in others if path.exists())
    if old:
        raise InputError(
            f"requests of an earlier division exist: {', '.join(old)}", str(output), "remove them first"
        )
    return paths


def read_answer_files(
    answers: Sequence[Path], categories: Path, each: int, wordlists: Path
) -> CheckedAnswers:
    """Read the answers to all requests and check them against the rules; nothing in them is executed."""
    names = [line.strip() for line in read_plain_text(categories).splitlines() if line.strip()]
    texts = {path.name: read_plain_text(path) for path in answers}
    if len(texts) < len(answers):
        raise InputError("two answers have the same name", "--answer", "rename one, or name each once")
    return check_answers(texts, names, each, read_word_list(wordlists / "stopwords.txt"))


def write_answer(answer: CheckedAnswers, source: str, output: Path, faults: Path) -> None:
    """Write valid entries as JSON lines, and every broken rule as a row of a CSV table."""
    entries = (
        {"category": entry.category, "prompt": entry.prompt, "target": entry.target, "source": source}
        for entry in answer.valid
    )
    write_json_lines(output, entries)
    rows = [
        (fault.file, fault.line or None, fault.entry or None, fault.rule, fault.text)
        for fault in answer.faults
    ]
    write_rows(faults, rows, REQUEST_FAULTS)
