"""Benchmarks written by a language model: the requests, and the check of its answers against the rules.

The rules follow [RawCorpora, Fig. 14]. An answer is a Python-like listing or JSON, with or without text
around it. It is never executed: each dictionary in it is located and read as a literal.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.benchmark.reference import Fault, ReferencePair, find_faults
from fathom.benchmark.wordlists import read_word_list
from fathom.errors import InputError
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, REQUEST_FAULTS
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import read_plain_text, write_json_lines, write_text

MIN_WORDS, MAX_WORDS = 15, 40

_TEMPLATE = """\
Please write a benchmark of completions about {domain}.

I need {total:,} items: {each} for {which} below, no more and no fewer.
Every item is the beginning of a sentence (the prompt) and the word or short term that must come
next (the target).

Categories:
{categories}

What each item has to satisfy:
1. The prompt has {least} to {most} words and can be understood without other items. It is easy or of
   medium difficulty for a person who knows the field.
2. The prompt stops right before the answer and holds every small word that belongs before it, its
   article above all: it ends such as "is called a", "is known as an", "are termed", "refers to the".
   It does not end in a blank, and the article fits the target ("a" or "an").
3. The target begins with exactly one blank and is a term of the category, though not always the
   category's own name. It holds no stopwords: no article, no preposition, no pronoun.
4. Only one answer is right. The prompt does not hold the answer, and no item stands twice.
5. Sentences are built in different ways, and the items of a category together cover it well.

Answer with this listing only, all categories one after the other, each under its comment:

qa_pairs = [
    # Category 1: {first}
    {{"prompt": "...", "target": " ..."}},
    {{"prompt": "...", "target": " ..."}},
    {further}
]
"""

_MARKS = re.compile(
    r"""^\W*(?:\#|//|\*\*)[\#\s*/]*Category\s*\d*\s*[:.)-]\s*(?P<comment>[^\n]*?)[\s*]*$
      | ["']category["']\s*:\s*(?P<key>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<list>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')\s*:\s*\[""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_ARTICLES = {"a", "an", "the"}
# last words, besides stopwords, after which the answer can follow
_NAMING = frozenset(
    ("called", "named", "termed", "known", "labeled", "labelled", "dubbed", "denoted", "defined", "described",
     "referred")
)  # fmt: skip
_VOWEL, _SOUNDS_OTHERWISE = set("aeio"), ("one", "once", "eu", "ewe")


PLACES = ("{domain}", "{categories}", "{total}", "{each}")
"""What a template of the user's own has for the domain's name, the numbered categories, and the counts."""


def write_request(domain: str, categories: Sequence[str], each: int = 50, template: str | None = None) -> str:
    """Return the text of the request for a benchmark.

    Parameters
    ----------
    template : str, optional
        Words of the user's own, such as those of [RawCorpora, Fig. 14], with :data:`PLACES`; other braces
        stay as they are. By default ours.
    """
    if not categories or len(set(categories)) != len(categories):
        raise InputError("missing or duplicate categories", "categories", "name each category once")
    numbered = "\n".join(f"{number}. {name}" for number, name in enumerate(categories, start=1))
    if template is not None:
        for place in PLACES[:2]:
            if place not in template:
                raise InputError(f"there is no {place} in it", "the template", "say where it belongs")
        values = (domain, numbered, f"{each * len(categories):,}", str(each))
        by_place = dict(zip(PLACES, values, strict=True))
        return re.sub("|".join(map(re.escape, PLACES)), lambda found: by_place[found[0]], template)
    return _TEMPLATE.format(
        domain=domain,
        total=each * len(categories),
        each=each,
        which=f"each of the {len(categories)} categories" if len(categories) > 1 else "the category",
        further="# Category 2: ..." if len(categories) > 1 else "...",
        categories=numbered,
        first=categories[0],
        least=MIN_WORDS,
        most=MAX_WORDS,
    )


@dataclass(frozen=True)
class CheckedAnswers:
    """A checked answer: entries that keep all rules, entries that break one, and all faults."""

    valid: list[ReferencePair]
    invalid: list[ReferencePair]
    faults: list[Fault]


def check_answers(
    texts: Mapping[str, str], categories: Sequence[str], each: int, stopwords: Collection[str]
) -> CheckedAnswers:
    """Find the entries of the answers and check them against the rules of the request.

    Returns
    -------
    CheckedAnswers
        `faults` has every broken rule, by file and line; line 0 stands for the count of a whole category.
    """
    entries: list[ReferencePair] = []
    faults: list[Fault] = []
    for file, text in texts.items():
        found = parse_answer(text)
        entries += [entry._replace(file=file) for entry in found[0]]
        faults += [fault._replace(file=file) for fault in found[1]]
    faults += find_faults(entries)
    known = {_split(name): name for name in categories}
    for number, entry in enumerate(entries, start=1):
        broken = _find_broken(entry, known, stopwords)
        faults += [Fault(entry.line, rule, about, number, entry.file) for rule, about in broken]
    wrong = {fault.entry for fault in faults}
    faults += _check_counts(entries, known, each)
    sides: tuple[list[ReferencePair], list[ReferencePair]] = ([], [])
    for number, entry in enumerate(entries, start=1):
        name = known.get(_split(entry.category), entry.category)
        sides[number in wrong].append(entry._replace(category=name))
    return CheckedAnswers(*sides, sorted(faults, key=lambda fault: (fault.file, *fault)))


def _split(category: str) -> str:
    return " ".join(category.lower().split())


def parse_answer(text: str) -> tuple[list[ReferencePair], list[Fault]]:
    """Find the innermost dictionaries of an answer, and read each as a literal.

    An entry's category is named by its own key `"category"`, or by the nearest mark before it: a comment
    `# Category 1: name`, a key `"category"`, or a key whose value is a list of entries. Missing and surplus
    commas do no harm.
    """
    entries: list[ReferencePair] = []
    faults: list[Fault] = []
    category = ""
    gap = place = 0
    while (start := text.find("{", place)) >= 0:
        end, closed = _find_end(text, start)
        if closed is None:  # a nested dictionary begins
            place = end
            continue
        line = text.count("\n", 0, start) + 1
        category = _find_category(text[gap:start]) or category
        values = _read_literal(text[start:end]) if closed else None
        if not closed:
            faults.append(
                Fault(line, "unreadable", f"the dictionary does not end: {text[start : start + 60]!r}")
            )
        elif values is None:
            faults.append(Fault(line, "unreadable", f"not a literal: {text[start : start + 60]!r}"))
        else:
            strings = [values.get(name) for name in ("prompt", "target", "category")]
            if isinstance(strings[0], str) and isinstance(strings[1], str):
                own = strings[2] if isinstance(strings[2], str) else category
                entries.append(ReferencePair(line, own, strings[0], strings[1]))
            else:
                about = f"prompt or target is not text: {text[start : start + 60]!r}"
                faults.append(Fault(line, "unreadable", about))
        gap = place = max(end, start + 1)
    return entries, faults


def _find_end(text: str, start: int) -> tuple[int, bool | None]:
    """Find the end of the dictionary that begins at `start`.

    Returns
    -------
    place : int
        Where to continue.
    closed : bool or None
        True if the dictionary ends; None if a nested one begins first; False if the text, or a line within a
        string, ends first.
    """
    quote = ""
    place = start + 1
    while place < len(text):
        letter = text[place]
        if quote:
            if letter == "\\":
                place += 1
            elif letter == quote:
                quote = ""
            elif letter == "\n":
                return place, False
        elif letter in "\"'":
            quote = letter
        elif letter == "{":
            return place, None
        elif letter == "}":
            return place + 1, True
        place += 1
    return len(text), False


def _read_literal(text: str) -> dict[str, object] | None:
    """Return the dictionary that a JSON or Python literal denotes, or None; nothing is executed."""
    try:
        values = json.loads(text)
    except ValueError:
        try:
            values = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    return values if isinstance(values, dict) else None


def _find_category(gap: str) -> str:
    """Return the category that the text between two entries names last, or an empty string.

    A comment takes precedence over a key `"category"`, which takes precedence over the key of a list.
    """
    found: dict[str, str] = {}
    for match in _MARKS.finditer(gap):
        kind = match.lastgroup or ""
        if kind == "comment":
            found[kind] = match[kind].strip()
        else:
            values = _read_literal(f"{{'name': {match[kind]}}}") or {}
            found[kind] = str(values.get("name", "")).strip()
    return next((found[kind] for kind in ("comment", "key", "list") if found.get(kind)), "")


def _find_broken(
    entry: ReferencePair, known: Collection[str], stopwords: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the rules of the request that an entry breaks; those of every reference benchmark come on top."""
    if entry.category.strip() and _split(entry.category) not in known:
        yield "category", f"{entry.category!r} was not requested"
    words = [word.lower() for word in _WORD.findall(entry.prompt)]
    if not MIN_WORDS <= len(words) <= MAX_WORDS:
        yield "length", f"the prompt has {len(words)} words, not {MIN_WORDS} to {MAX_WORDS}"
    target = [word.lower() for word in _WORD.findall(entry.target)]
    contained = [word for word in target if word in stopwords]
    if contained:
        yield "stopword", f"the target {entry.target!r} contains {', '.join(contained)}"
    if not words or not target:
        return
    if not entry.prompt.rstrip().endswith(tuple("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")):
        yield "ending", f"the prompt ends in {entry.prompt.rstrip()[-1]!r}, not in a letter"
    elif words[-1] not in _ARTICLES | _NAMING and words[-1] not in stopwords:
        yield "ending", f"the prompt ends in {words[-1]!r}, after which no answer can follow"
    elif _has_wrong_article(words[-1], entry.target.strip()):
        yield "article", f"{words[-1]!r} before {entry.target!r}"


def _has_wrong_article(article: str, target: str) -> bool:
    """Say whether `a` or `an` is certainly wrong; words that may begin with either sound pass."""
    first = target[0]
    if article not in {"a", "an"} or not (first.isascii() and first.isalpha()):
        return False
    if not target[1:2].islower() or first in "uhUH":  # abbreviations; `unit`, `hour`
        return False
    vowel = first.lower() in _VOWEL and not target.lower().startswith(_SOUNDS_OTHERWISE)
    if target.lower().startswith(_SOUNDS_OTHERWISE):
        return article == "an"
    return vowel == (article == "a")


def _check_counts(entries: Sequence[ReferencePair], known: dict[str, str], each: int) -> Iterator[Fault]:
    counts = Counter(_split(entry.category) for entry in entries)
    for folded, name in known.items():
        if counts[folded] != each:
            yield Fault(0, "count", f"category {name!r} has {counts[folded]} entries, not {each}")
    if len(entries) != each * len(known):
        yield Fault(0, "count", f"there are {len(entries)} entries, not {each * len(known)}")


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
