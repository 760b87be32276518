"""Open questions that a language model writes about records, and their checks.

Either by a local model with greedy decoding, or by requests sent by hand or by `fathom request send`.
Answers are never executed. Questions that pass enter a set like questions by people.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from fathom.answering.answerer import Answerer
from fathom.answering.prompts import Prompt
from fathom.corpus.records import clean_line
from fathom.errors import InputError
from fathom.io.contracts.questions import WRITTEN_FAULTS
from fathom.io.delimited import write_rows
from fathom.io.files import write_json_lines
from fathom.io.names import show_count
from fathom.jobs.program import log

MAX_TOKENS = 96
"""Longest question with answer of a local model."""
_LONGEST = 2000  # characters of a record in a prompt
_REQUEST = """\
Below are {count} records. Please write one question about each, and its answer.

1. A person who knows the field, but has not seen the record, may ask it: it names what it is about, and never
   says "this text" or "the record".
2. The record alone answers it, in one or two sentences.
3. Answer with one line of JSON for each record and nothing else, in the order of the records:
{{"record": 1, "question": "...?", "answer": "..."}}

{records}
"""
_TASK = "Write one question that the text answers, then the answer, each on one line."
_EXAMPLE = """\
Text: The reading room of the library; opens: 8:00; closes: 20:00; needs: library card.
Question: What does one need to enter the reading room of the library?
Answer: One needs a library card.

"""
_CUE = "\nQuestion:"
_WRITTEN = re.compile(r"\s*(?:Question:)?\s*(?P<question>[^\n]*)\s*\n+\s*Answer:\s*(?P<answer>[^\n]*)")
_REFUSED = re.compile(
    r"(?:i['’]?m sorry|sorry\b|i (?:can(?:no|['’])?t|am (?:not able|unable)|do not know|don['’]t know)"
    r"|as an ai\b|unfortunately\b|the (?:text|record) does not|n/?a\W*$"
    r"|not (?:stated|mentioned|specified|given|known)\b)",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:this|the) (?:text|record|passage)\b", re.IGNORECASE)


class Written(NamedTuple):
    """A question with its answer, as a model wrote it, and where it stands."""

    source: str
    question: str
    answer: str


class Checked(NamedTuple):
    """Questions that pass, and rows under WRITTEN_FAULTS of all others."""

    valid: list[Written]
    faults: list[tuple[str, str, str]]


def write_with_model(answerer: Answerer, records: Sequence[tuple[str, str]]) -> Checked:
    """Have a model write a question with its answer about each record, by greedy decoding.

    Raise `InputError` if no question passes.
    """
    texts = answerer.generate(make_prompts([text for _, text in records]), MAX_TOKENS, "\n\n")
    found, faults = [], []
    for (name, _), text in zip(records, texts, strict=True):
        written = _WRITTEN.match(text.strip())
        if written:
            found.append(Written(name, written["question"], written["answer"]))
        else:
            faults.append((name, "empty" if not text.strip() else "no question with an answer", text))
    return _check(found, faults)


def make_prompts(texts: Sequence[str]) -> list[Prompt]:
    """Return a local model's prompt for a question about each text."""
    return [
        Prompt(f"Text: {text[:_LONGEST]}", cue=_CUE, examples=(_EXAMPLE,), system=_TASK) for text in texts
    ]


def write_requests(records: Sequence[tuple[str, str]], each: int) -> list[str]:
    """Return requests for a question about each record, with so many records in each.

    Raise `InputError` if there are no records, or fewer than one is wanted in each.
    """
    if not records or each < 1:
        raise InputError(
            f"{show_count(len(records), 'record')}, {each} in each request", "--count, --each", "1 or more"
        )
    parts = [records[start : start + each] for start in range(0, len(records), each)]
    return [
        _REQUEST.format(
            count=len(part),
            records="\n\n".join(
                f"Record {number}:\n{text[:_LONGEST]}" for number, (_, text) in enumerate(part, start=1)
            ),
        )
        for part in parts
    ]


def read_answers(answers: Iterable[tuple[str, str]]) -> Checked:
    """Read the answers to requests: lines of JSON; leave out and list the rest.

    Raise `InputError` if an answer is empty, or no question passes.
    """
    found, faults = [], []
    for name, text in answers:
        if not text.strip():
            raise InputError("the answer is empty", name, "send the request again")
        for number, line in enumerate(text.splitlines(), start=1):
            where = f"{name}, line {number}"
            if not line.strip() or line.strip().startswith("```"):
                continue
            try:
                values = orjson.loads(line.strip().rstrip(","))
            except orjson.JSONDecodeError:
                faults.append(
                    (where, "refused" if _REFUSED.match(line.strip()) else "not a line of JSON", line)
                )
                continue
            values = values if isinstance(values, dict) else {}
            question, answer = values.get("question"), values.get("answer")
            if isinstance(question, str) and isinstance(answer, str):
                found.append(Written(where, question, answer))
            else:
                faults.append((where, "no question with an answer", line))
    return _check(found, faults)


def write_checked(checked: Checked, output: Path, faults: Path) -> None:
    """Write questions that pass as JSON lines, and a table of what was left out."""
    rows = [
        {"question": each.question, "answer": each.answer, "source": each.source} for each in checked.valid
    ]
    write_rows(
        faults, [(where, what, clean_line(text)) for where, what, text in checked.faults], WRITTEN_FAULTS
    )
    write_json_lines(output, rows)
    log.info("%s questions pass, %s do not: see %s", len(rows), len(checked.faults), faults)


def _check(written: Iterable[Written], faults: list[tuple[str, str, str]]) -> Checked:
    valid: dict[str, Written] = {}
    for each in written:
        cleaned = Written(each.source, clean_line(each.question), clean_line(each.answer))
        fault = _find_fault(cleaned, valid)
        if fault:
            faults.append((each.source, fault, f"{cleaned.question} {cleaned.answer}"))
        else:
            valid[cleaned.question.casefold()] = cleaned
    if not valid:
        kinds = ", ".join(sorted({fault for _, fault, _ in faults})) or "nothing was written"
        raise InputError(
            f"no question passes: {kinds}",
            faults[0][0] if faults else "",
            "ask another model, or read its text",
        )
    return Checked(list(valid.values()), faults)


def _find_fault(written: Written, known: Iterable[str]) -> str:
    if not written.question or not written.answer:
        return "empty"
    if _REFUSED.match(written.answer) or _REFUSED.match(written.question):
        return "refused"
    if not written.question.endswith("?"):
        return "no question"
    if _POINTING.search(written.question):
        return "points to the text"
    return "asked before" if written.question.casefold() in known else ""
