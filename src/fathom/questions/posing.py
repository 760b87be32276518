"""From a candidate to a question: right and wrong options, drawn by hashes."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fathom.config.questions import OPTIONS
from fathom.io.files import hash_text
from fathom.questions.candidates import Candidate, Entities
from fathom.questions.graph import PREFIXES
from fathom.questions.templates import Asker

_GAP = re.compile(r"\{([^{}]*)\}")
_TRIES = 200
YES, NO = "yes", "no"


def pose_question(candidate: Candidate, asker: Asker, entities: Entities) -> dict[str, Any] | None:
    """Return a question, without its round and chunks; None if its class has too few unlike wrong answers.

    A wrong option is of the answers' class, is no right answer, and is like none of them (see ENTITIES).
    What the question is about is no option.

    Parameters
    ----------
    candidate : Candidate
    asker : Asker
        Its template.
    entities : Entities
    """
    template = asker.template
    about, key = dict(candidate.asked_about), candidate.key
    right = sorted(candidate.answers, key=lambda iri: hash_text("right", key, iri))
    shown = right if template.form == "multiple-answer" else right[:1]
    needed = OPTIONS[template.form] - len(shown)
    if template.form == "binary":
        needed = int(hash_text("binary", key), 16) % 2
    wrong = _draw_wrong(candidate, template.kind, entities, needed)
    if wrong is None:
        return None
    row: dict[str, Any] = {
        "template": asker.name,
        "level": template.level,
        "form": template.form,
        "sources": [entities.tell_source(iri) for iri in candidate.records],
        "query": PREFIXES + template.ask.strip(),
    }
    if template.form == "binary":
        about[template.answer] = (wrong or shown)[0]
        row |= {"options": [YES, NO], "right": [not wrong, bool(wrong)], "answer": NO if wrong else YES}
        row |= {"asked": "", "option_iris": []}
    else:
        options = sorted([*shown, *wrong], key=lambda iri: hash_text("option", key, iri))
        names = [entities.tell_label(iri) for iri in options]
        truth = [iri in shown for iri in options]
        answer = "; ".join(name for name, is_right in zip(names, truth, strict=True) if is_right)
        row |= {"options": names, "right": truth, "answer": answer}
        row |= {"asked": template.answer, "option_iris": options}
    row["question"] = _fill(template.text, {name: entities.tell_label(iri) for name, iri in about.items()})
    row["bindings"] = [f"{name}={iri}" for name, iri in sorted(about.items())]
    row["question_id"] = name_question(row)
    return row


def name_question(row: Mapping[str, Any]) -> str:
    """Return the id of a question: a hash of what is asked, and where it comes from."""
    return hash_text(row["template"], row["question"], *row["options"], *row["sources"])[:16]


def _draw_wrong(candidate: Candidate, kind: str, entities: Entities, count: int) -> list[str] | None:
    """Return so many wrong answers, each unlike all others and the right ones; None if there are too few."""
    taken = candidate.never_wrong
    found: list[str] = []
    likenesses = {entities.tell_likeness(iri) for iri in taken}
    for iri in _shuffle(entities.list_class(kind), candidate.key):
        if len(found) == count:
            break
        likeness = entities.tell_likeness(iri)
        if iri not in taken and likeness not in likenesses:
            found.append(iri)
            taken.add(iri)
            likenesses.add(likeness)
    return found if len(found) == count else None


def _shuffle(members: list[str], key: str) -> Iterator[str]:
    """Yield members in an order that a hash decides: some that it picks, then all by their own hashes."""
    for number in range(_TRIES if members else 0):
        yield members[int(hash_text("wrong", key, str(number)), 16) % len(members)]
    yield from sorted(members, key=lambda iri: hash_text("wrong", key, iri))


def _fill(text: str, names: Mapping[str, str]) -> str:
    """Return a text with names in its gaps."""
    return _GAP.sub(lambda gap: names[gap[1]], text)
