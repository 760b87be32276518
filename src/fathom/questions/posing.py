"""From results of a template's query to questions: candidates, then options drawn by hashes."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, cycle, zip_longest
from typing import Any, NamedTuple

import polars as pl

from fathom.config.questions import OPTIONS
from fathom.errors import InputError
from fathom.io.files import hash_text
from fathom.questions.graph import PREFIXES, Asker, OntologyGraph
from fathom.questions.ontology import Entity


class Candidate(NamedTuple):
    """A question that may be asked.

    `asked_about`: variable and IRI of the entities in its text, but for the answer. `answers`: IRIs of all
    right answers, sorted, but for entities that it is about. `is_true`: whether a binary question names a
    right answer, as every other one of its template does.
    """

    template: str
    asked_about: tuple[tuple[str, str], ...]
    answers: tuple[str, ...]
    records: tuple[str, ...]
    is_true: bool = True

    @property
    def key(self) -> str:
        """Hash by which questions are drawn."""
        return hash_text("question", self.template, *(iri for _, iri in self.asked_about))

    @property
    def never_wrong(self) -> set[str]:
        """Entities excluded as wrong options: right answers, and the question's subjects."""
        return {*self.answers, *(iri for _, iri in self.asked_about)}


class Entities:
    """The table of entities (ENTITIES), looked up by IRI and by class."""

    def __init__(self, table: pl.DataFrame) -> None:
        columns = ("iri", "class", "label", "source", "likeness")
        self._found = {iri: Entity(*row) for iri, *row in table.select(columns).iter_rows()}
        self.records = set(table.filter(pl.col("text") != "")["iri"])
        usable = table.filter(pl.col("usable")).select("iri", "class")
        self._usable = set(usable["iri"])
        self._classes: dict[str, list[str]] = defaultdict(list)
        for iri, kind in usable.sort("iri").iter_rows():
            self._classes[kind].append(iri)

    def __getitem__(self, iri: str) -> Entity:
        return self._found[iri]

    def tell_class(self, iri: str) -> str | None:
        """Return the class of an entity; None for what is none."""
        return self._found[iri].kind if iri in self._found else None

    def list_class(self, kind: str) -> list[str]:
        """Return the entities of a class that questions may name, sorted."""
        return self._classes.get(kind, [])

    def can_be_named(self, iris: Iterable[str]) -> bool:
        """Say whether questions may name all of some entities."""
        return all(iri in self._usable for iri in iris)


def find_candidates(
    askers: Iterable[Asker], graph: OntologyGraph, entities: Entities, chunks: Collection[str] | None = None
) -> tuple[list[Candidate], dict[str, dict[str, Any]]]:
    """Return what templates can ask, sorted by their hash, and counts by template.

    Each SELECT is evaluated once, over the whole graph. Raise `InputError` if a query gives something else
    than entities, or nothing is left of any template.

    Returns
    -------
    candidates : list of Candidate
    counts : dict
        By template: `possible` questions, those `about_chunks`, and those `left_out` by reason.
    """
    found: list[Candidate] = []
    counts: dict[str, dict[str, Any]] = {}
    for asker in askers:
        left_out: Counter[str] = Counter()
        possible, about = 0, []
        graph.check_unknown(asker.ask, f"{asker.where}.ask")
        graph.check_order(asker.ask, f"{asker.where}.ask")
        for candidate in _group(asker, graph, entities):
            reason = _find_obstacle(candidate, asker, entities)
            left_out[reason] += 1
            possible += not reason
            if not reason and (chunks is None or any(iri in chunks for iri in candidate.records)):
                about.append(candidate)
        del left_out[""]
        counts[asker.name] = {
            "possible": possible, "about_chunks": len(about), "left_out": dict(sorted(left_out.items()))
        }  # fmt: skip
        found += about
    if not found:
        reasons = "; ".join(f"{name}: {each['left_out'] or 'no rows'}" for name, each in counts.items())
        raise InputError(
            f"no template gives a question ({reasons})", hint="check the queries, and the tables"
        )
    ordered = sorted(found, key=lambda candidate: (candidate.key, candidate))
    turns: dict[str, Iterator[bool]] = defaultdict(lambda: cycle([True, False]))
    return [each._replace(is_true=next(turns[each.template])) for each in ordered], counts


def _group(asker: Asker, graph: OntologyGraph, entities: Entities) -> Iterator[Candidate]:
    answer = asker.template.answer
    about = [name for name in asker.template.placeholders if name != answer]
    answers: dict[tuple[str, ...], set[str]] = defaultdict(set)
    records: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in graph.select(asker.select):
        unknown = next((v for v in (*about, answer) if entities.tell_class(row.get(v, "")) is None), None)
        if unknown or entities.tell_class(row[answer]) != asker.template.kind:
            name = unknown or answer
            needed = "an entity" if unknown else f"of the class {asker.template.kind}"
            raise InputError(
                f"?{name} is {row.get(name)!r}, which is not {needed}", f"{asker.where}.select",
                "questions name entities; plain values serve to compare",
            )  # fmt: skip
        key = tuple(row[variable] for variable in about)
        answers[key].add(row[answer])
        records[key].update(iri for iri in row.values() if iri in entities.records)
    for key, right in answers.items():
        pairs = tuple(zip(about, key, strict=True))
        yield Candidate(asker.name, pairs, tuple(sorted(right - {*key})), tuple(sorted(records[key])))


def _find_obstacle(candidate: Candidate, asker: Asker, entities: Entities) -> str:
    if not entities.can_be_named([iri for _, iri in candidate.asked_about] + list(candidate.answers)):
        return "ambiguous names"
    form, right = asker.template.form, len(candidate.answers)
    if not right:
        return "no answer besides the question's subject"
    if form == "multiple-answer" and right > OPTIONS[form]:
        return "more than eight answers"
    shown = right if form == "multiple-answer" else 1
    wrong = 1 if form == "binary" else OPTIONS[form] - shown
    kind = asker.template.kind
    excluded = sum(entities.tell_class(iri) == kind for iri in candidate.never_wrong)
    if len(entities.list_class(kind)) - excluded < wrong:
        return "class too small for wrong answers"
    return ""


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
        "sources": [entities[iri].source for iri in candidate.records],
        "query": PREFIXES + template.ask.strip(),
    }
    if template.form == "binary":
        about[template.answer] = (wrong or shown)[0]
        row |= {"options": [YES, NO], "right": [not wrong, bool(wrong)], "answer": NO if wrong else YES}
        row |= {"asked": "", "option_iris": []}
    else:
        options = sorted([*shown, *wrong], key=lambda iri: hash_text("option", key, iri))
        names = [entities[iri].label for iri in options]
        truth = [iri in shown for iri in options]
        answer = "; ".join(name for name, is_right in zip(names, truth, strict=True) if is_right)
        row |= {"options": names, "right": truth, "answer": answer}
        row |= {"asked": template.answer, "option_iris": options}
    row["question"] = _fill(template.text, {name: entities[iri].label for name, iri in about.items()})
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
    likenesses = {entities[iri].likeness for iri in taken}
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
        likeness = entities[iri].likeness
        if iri in taken or likeness in likenesses:
            continue
        bindings = {**about, template.answer: iri}
        # true ones are drawn as well: if SELECT and ASK differ, the proof reports it
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
    return _GAP.sub(lambda gap: names[gap[1]], text)
