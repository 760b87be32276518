"""Benchmarks written by a language model: the requests, and the check of its answers against the rules.

The rules follow [RawCorpora, Fig. 14]. An answer is a Python-like listing or JSON, with or without text
around it. It is never executed: each dictionary in it is located and read as a literal.
"""

import ast
import json
import re
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from fathom.benchmark.chat_service import KEY_VARIABLE, ask_service, check_address
from fathom.benchmark.reference import Fault, ReferencePair, find_faults
from fathom.benchmark.wordlists import read_word_list
from fathom.errors import InputError
from fathom.io.bounded_requests import clean_text, read_key
from fathom.io.contracts.benchmark import DOMAIN_KEYWORDS, REQUEST_FAULTS
from fathom.io.delimited import read_rows, write_rows
from fathom.io.files import hash_text, read_json, read_plain_text, write_json, write_json_lines, write_text
from fathom.io.names import show_count
from fathom.jobs.program import log, show_progress
from fathom.jobs.services import RefusedRequestError, RequestLimits, Service

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

    `template`: words of the user's own, such as those of [RawCorpora, Fig. 14], with :data:`PLACES`; other
    braces stay as they are. By default ours.
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

    Returned: `faults` has every broken rule, by file and line; line 0 stands for the count of a whole
    category.
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
        yield "length", f"the prompt has {show_count(len(words), 'word')}, not {MIN_WORDS} to {MAX_WORDS}"
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
            yield Fault(
                0,
                "count",
                f"category {name!r} has {show_count(counts[folded], 'entry', 'entries')}, not {each}",
            )
    if len(entries) != each * len(known):
        yield Fault(
            0, "count", f"in all {show_count(len(entries), 'entry', 'entries')}, not {each * len(known)}"
        )


def choose_categories(keywords: Path, count: int) -> list[str]:
    """Return the keywords that occur in most documents."""
    if count < 1:
        raise InputError("must be 1 or more", f"--categories {count}")
    rows = read_rows(keywords, DOMAIN_KEYWORDS, ("keyword", "documents"))
    rows.sort(key=lambda row: (-row["documents"], row["keyword"]))
    if len(rows) < count:
        raise InputError(f"only {show_count(len(rows), 'keyword')}", str(keywords), "lower --categories")
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

    Raise `InputError` if a number is too small, or the folder has requests with another number of categories.
    `output`: the request; several are numbered `-01`, `-02`, ... before the suffix.
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
    """Write valid entries as JSON lines, and every broken rule as a row of a CSV table.

    Raise `InputError` if no entry is valid, once that table is written.
    """
    rows = [
        (fault.file, fault.line or None, fault.entry or None, fault.rule, fault.text)
        for fault in answer.faults
    ]
    write_rows(faults, rows, REQUEST_FAULTS)
    if not answer.valid:
        raise InputError("no entry of the answers follows the rules", str(faults), "this table says why")
    entries = (
        {"category": entry.category, "prompt": entry.prompt, "target": entry.target, "source": source}
        for entry in answer.valid
    )
    write_json_lines(output, entries)


ANTHROPIC, ANTHROPIC_KEY = "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"
"""The service that is asked by default, and the variable with its key."""
_CERTIFICATE = (
    "if the service's certificate is signed by your own authority, name the authority's file in SSL_CERT_FILE"
)
_AGAIN = "the answers so far are kept: run the same command again later"
_NAMES = "check the model's name under --model; the address under --service usually ends in /v1"
_REFUSED = "check --model and --max-tokens (each model has its own largest value)"
_FRAME, _BYTES, _FEWEST = 1_000_000, 1000, 20.0
"""Bytes of an answer besides its tokens and for each; tokens a second at least, for it comes whole."""
_COUNTS = ("input_tokens", "output_tokens")
_UNFINISHED = {
    "max_tokens": (
        "the answer was cut off at {limit:,} tokens",
        "raise --max-tokens, or put fewer categories into each request (fathom request write --per-request)",
    ),
    "model_context_window_exceeded": (
        "the answer was cut off at the end of the model's context",
        "put fewer categories into each request (fathom request write --per-request)",
    ),
    "refusal": ("the model refuses to answer", "check the request, ask another model, or leave it out"),
}


@dataclass(frozen=True)
class RequestSettings:
    """How requests are sent.

    `timeout`: seconds to wait for an answer, beside the time that its tokens take to be written. `retries`:
    attempts after the first one.
    """

    model: str
    max_tokens: int
    timeout: float = 600.0
    retries: int = 6
    service: str = ANTHROPIC

    def __post_init__(self) -> None:
        if self.max_tokens < 1 or not self.timeout > 0 or self.retries < 0:
            raise InputError("a number is too small", "--max-tokens, --timeout, --retries", "see --help")
        check_address(self.service)

    @property
    def key_variable(self) -> str:
        """The variable with the key of the service."""
        return ANTHROPIC_KEY if self.is_default else KEY_VARIABLE

    @property
    def is_default(self) -> bool:
        """Whether the service is Anthropic's, which has no answer without a key."""
        return check_address(self.service) == ANTHROPIC

    @property
    def limits(self) -> RequestLimits:
        """How the service is asked."""
        return RequestLimits(self.timeout + self.max_tokens / _FEWEST, self.retries, 0.0)


def send_requests(requests: Sequence[Path], folder: Path, settings: RequestSettings) -> dict[str, int]:
    """Send the requests without an answer, one after the other, and save each answer as it arrives.

    Raise `InputError` if a request is missing, empty or has another's name; if the folder holds the answer to
    a different request; if the key is missing; if the service reports an error; if an answer is refused, cut
    off or empty. Earlier answers are saved, and an incomplete answer is saved separately. `folder`: folder of
    the answers, which are named after the requests. Returned: answers `kept` from before and `received` now,
    and the `input_tokens` and `output_tokens` of these.
    """
    unanswered = _find_unanswered(requests, folder, settings.model)
    counts = {"kept": len(requests) - len(unanswered), "received": 0, "input_tokens": 0, "output_tokens": 0}
    if not unanswered:
        return counts
    key = _read_key(settings)
    _check_folder(folder)
    log.info("%s requests to %s; %s are answered already", len(unanswered), settings.model, counts["kept"])
    with Service(check_address(settings.service), settings.limits, key) as service:
        for request, text in show_progress(unanswered.items(), "requests"):
            answer = _request_answer(service, key, text, settings, request)
            _check_answer(answer, str(request))
            _save_answer(answer, request, text, folder, settings)
            used = {name: int(answer["usage"].get(name) or 0) for name in _COUNTS}
            log.info("%s: answered, %s tokens in, %s out", request.name, *(f"{n:,}" for n in used.values()))
            for name, number in {**used, "received": 1}.items():
                counts[name] += number
    return counts


def _find_unanswered(requests: Sequence[Path], folder: Path, model: str) -> dict[Path, str]:
    """Return the texts of requests without an answer; write missing text files of the other answers."""
    unanswered: dict[Path, str] = {}
    names: dict[str, Path] = {}
    for request in requests:
        other = names.setdefault(request.stem, request)
        if other is not request:
            raise InputError(f"its answer would overwrite the answer to {other}", str(request), "rename one")
        if request.resolve().parent == folder.resolve():
            raise InputError(
                "answers would be among the requests", str(request), "choose another folder for --output"
            )
        text = read_plain_text(request)
        if not text.strip():
            raise InputError("the request is empty", str(request), "write it again: fathom request write")
        path = folder / f"{request.stem}.json"
        if not path.exists():
            unanswered[request] = text
            continue
        record = read_json(path)
        found = (record.get("request_sha256"), record.get("model")) if isinstance(record, dict) else None
        if found != (hash_text(text), model):
            raise InputError(
                f"not the answer of {model} to {request}", str(path), "choose another folder for --output"
            )
        _check_answer(record.get("answer"), str(path))
        _write_missing_text(record["answer"], path)
    return unanswered


def _check_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"answers cannot be saved here: {error}", str(folder), "choose another") from error


def _read_key(settings: RequestSettings) -> str:
    variable = settings.key_variable
    key = read_key(variable)
    if not key and settings.is_default:
        raise InputError(
            "no key for the Anthropic API", variable, f"run `export {variable}=...` in this shell first"
        )
    return key


def _request_answer(
    service: Service, key: str, text: str, settings: RequestSettings, request: Path
) -> dict[str, Any]:
    """Return the answer to a request; a service's faults name the request."""
    size = _FRAME + _BYTES * settings.max_tokens
    try:
        found = ask_service(service, settings.model, text, settings.max_tokens, size)
    except InputError as error:
        hint = error.hint.replace("the key", f"the key in {settings.key_variable}")
        hint = _NAMES if "answers 404" in error.what else hint
        hint = _CERTIFICATE if "CERTIFICATE" in error.what else hint
        hint = _REFUSED if isinstance(error, RefusedRequestError) else hint
        raise InputError(error.what, f"{request}: {error.where}", hint) from error
    hidden: dict[str, Any] = _hide(found, key) if key else found
    return hidden


def _hide(value: Any, key: str) -> Any:
    """Return JSON values without the key: answers are kept in files, and a service may send it back."""
    if isinstance(value, dict):
        return {_hide(name, key): _hide(each, key) for name, each in value.items()}
    if isinstance(value, list):
        return [_hide(each, key) for each in value]
    return value.replace(key, "***") if isinstance(value, str) else value


def _check_answer(answer: Any, where: str) -> None:
    """Raise `InputError` unless a raw message has blocks of text and counts of tokens, fit to be written."""
    try:
        _join_text(answer).encode()
        numbers = [answer["usage"].get(name) or 0 for name in _COUNTS]
        fit = all(isinstance(number, int) for number in numbers)
    except (AttributeError, LookupError, TypeError, ValueError):
        fit = False
    if not fit:
        raise InputError("not an answer of the service", where, "delete this file: the request is sent again")


def _save_answer(
    answer: Mapping[str, Any], request: Path, text: str, folder: Path, settings: RequestSettings
) -> None:
    """Save an answer and its record; save an incomplete one separately, and raise `InputError`."""
    record = {
        "request": request.name,
        "request_sha256": hash_text(text),
        "model": settings.model,
        "max_tokens": settings.max_tokens,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "service": settings.service,
        "answer": answer,
    }
    if answer.get("stop_reason") == "end_turn" and _join_text(answer).strip():
        path = folder / f"{request.stem}.json"
        write_json(path, record)
        _write_missing_text(answer, path)
        return
    names = (folder / f"{request.stem}.unfinished-{number}.json" for number in count(1))
    path = next(name for name in names if not name.exists())
    write_json(path, record)
    reason = clean_text(str(answer.get("stop_reason")))
    what, hint = _UNFINISHED.get(reason, ("the answer is empty or incomplete", _AGAIN))
    what = what.format(limit=settings.max_tokens)
    raise InputError(f"{what} (stop reason {reason}); saved as {path}", str(request), hint)


def _join_text(answer: Mapping[str, Any]) -> str:
    return "".join(block["text"] for block in answer["content"] if block["type"] == "text")


def _write_missing_text(answer: Mapping[str, Any], record: Path) -> None:
    """Write the text of an answer beside its record, unless it exists: a person may have edited it."""
    path = record.with_suffix(".txt")
    if not path.exists():
        write_text(path, _join_text(answer).rstrip("\n") + "\n")
