"""From a candidate to a question: right and wrong options, drawn by hashes."""

import re
from collections.abc import Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any

from fathom.config.questions import OPTIONS
from fathom.io.files import hash_text
from fathom.questions.candidates import Candidate, Entities
from fathom.questions.graph import PREFIXES, OntologyGraph
from fathom.questions.templates import Asker

_GAP = re.compile(r"\{([^{}]*)\}")
_TRIES = 200
YES, NO = "yes", "no"


def pose_question(
    candidate: Candidate, asker: Asker, entities: Entities, graph: OntologyGraph
) -> dict[str, Any] | None:
    """Return a question, without its round and chunks; None if its class has too few wrong answers.

    A wrong option is of the answers' class, is no right answer, and is like none of them (see ENTITIES).
    What the question is about is no option, nor what would be right if a cell that is empty were not.
    """
    template = asker.template
    about, key = dict(candidate.asked_about), candidate.key
    right = sorted(candidate.answers, key=lambda iri: hash_text("right", key, iri))
    shown = right if template.form == "multiple-answer" else right[:1]
    needed = OPTIONS[template.form] - len(shown)
    if template.form == "binary":
        needed = 0 if candidate.is_true else 1
    wrong = _draw_wrong(candidate, asker, entities, needed, graph)
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


def _draw_wrong(
    candidate: Candidate, asker: Asker, entities: Entities, count: int, graph: OntologyGraph
) -> list[str] | None:
    """Return so many wrong answers, each unlike all others and the right ones; None if there are too few."""
    taken = candidate.never_wrong
    found: list[str] = []
    likenesses = {entities.tell_likeness(iri) for iri in taken}
    about, template = dict(candidate.asked_about), asker.template
    pools = [
        [iri for iri in pool if entities.tell_class(iri) == template.kind and entities.can_be_named([iri])]
        for pool in (graph.find_near_misses(asker).list_pools(about) if count else [])
    ]
    near = zip_longest(*(_shuffle(pool, candidate.key) for pool in pools))
    every = chain(chain.from_iterable(near), _shuffle(entities.list_class(template.kind), candidate.key))
    for iri in (each for each in every if each is not None):
        if len(found) == count:
            break
        likeness = entities.tell_likeness(iri)
        if iri in taken or likeness in likenesses:
            continue
        bindings = {**about, template.answer: iri}
        # what is true is drawn, too: then SELECT and ASK differ, and the proof says so
        if graph.ask(asker.ask, bindings) or not graph.could_hold(asker.ask, bindings):
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
