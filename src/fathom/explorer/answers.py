"""The answer of a run in a sentence: which models know a domain best, and which cannot be told apart."""

from collections.abc import Sequence
from typing import NamedTuple

from fathom.explorer.run_tables import Benchmark, Row, Run
from fathom.statistics.aggregates import COMPARED, STATISTICS
from fathom.statistics.rank_sentences import format_rank

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
LABELS = {"tf": "TF", "tfidf": "TF-IDF", "reference": "reference"}
"""What variants are called."""


class Piece(NamedTuple):
    """A piece of a sentence; names of models and domains are set off."""

    text: str
    name: bool = False


Sentence = list[Piece]


def spell_number(number: int) -> str:
    """Return a number as a word up to twelve, in digits beyond."""
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def join_names(names: Sequence[str]) -> Sentence:
    """Return names as `A`, `A and B`, or `A, B and C`."""
    pieces = []
    for place, name in enumerate(names):
        if place:
            pieces.append(Piece(" and " if place == len(names) - 1 else ", "))
        pieces.append(Piece(name, name=True))
    return pieces


def find_leaders(order: Sequence[str], comparisons: Sequence[Row]) -> tuple[list[str], bool]:
    """Return the best model and those that cannot be told apart from it, and whether all these are alike.

    Parameters
    ----------
    order : sequence of str
        Models, best first.
    comparisons : sequence of dict
        Rows of comparisons.csv of one benchmark, metric and statistic.

    Returns
    -------
    leaders : list of str
        In the order of `order`.
    alike : bool
        Whether no two of them are apart.
    """
    apart = {frozenset((row["better"], row["worse"])) for row in comparisons if row["apart"] == "yes"}
    best = order[0]
    leaders = [best, *(model for model in order[1:] if frozenset((best, model)) not in apart)]
    alike = not any(frozenset((a, b)) in apart for a in leaders for b in leaders if a != b)
    return leaders, alike


def answer(run: Run, benchmark: Benchmark, aggregate: str) -> Sentence:
    """Return the answer that one benchmark gives by one statistic of the ranks.

    Parameters
    ----------
    run : Run
    benchmark : Benchmark
    aggregate : str
        Name of the statistic.
    """
    rows = run.rank(benchmark, aggregate)
    order = [row["model"] for row in rows]
    domain = Piece(benchmark.title, name=True)
    if not order:
        return [Piece("No model has been ranked on "), domain, Piece(" yet.")]
    if len(order) == 1:
        rank = format_rank(float(rows[0]["value"]), float("nan"), float("nan"))
        return [
            *join_names(order),
            Piece(" is the only model that was scored on "),
            domain,
            Piece(f": its {STATISTICS[aggregate].label} rank is {rank}."),
        ]
    return _name_leaders(order, run.compare(benchmark, aggregate), domain)


def _name_leaders(order: Sequence[str], compared: Sequence[Row], domain: Piece) -> Sentence:
    """Return who is best of two models or more, as far as they are apart."""
    first, count = join_names(order[:1]), spell_number(len(order))
    start = Piece(f"Of {count} models, ")
    if not any(row["p"] for row in compared):
        why = "with a single keyword" if compared else "before they are compared"
        end = Piece(f"; whether the models really differ cannot be said {why}.")
        return [start, *first, Piece(" ranks first on "), domain, end]
    leaders, alike = find_leaders(order, compared)
    if len(leaders) == 1:
        return [start, *first, Piece(" knows "), domain, Piece(" best.")]
    if not alike:
        end = Piece(" cannot be told apart from it.")
        others = join_names(leaders[1:])
        return [start, *first, Piece(" ranks first on "), domain, Piece("; "), *others, end]
    if len(leaders) == len(order):
        whole = Piece(f"The {count} models cannot be told apart on ")
        return [whole, domain, Piece("; "), *first, Piece(" ranks first.")]
    end = Piece(" best; they cannot be told apart.")
    return [start, *join_names(leaders), Piece(" know "), domain, end]


def explain(run: Run, benchmark: Benchmark, aggregate: str) -> list[Sentence]:
    """Return how far the best model is ahead, and whether other targets and statistics name the same one."""
    rows = run.rank(benchmark, aggregate)
    if len(rows) < 2:
        return []
    first = rows[0]
    found = [_describe_lead(run, benchmark, aggregate)]
    others = [
        (other, statistic.name)
        for other in run.benchmarks
        if other.domain == benchmark.domain
        for statistic in COMPARED
        if (other.variant, statistic.name) != (benchmark.variant, aggregate)
    ]
    same: list[str] = []
    different: list[tuple[str, str]] = []
    for other, name in others:
        ranked = run.rank(other, name)
        if ranked:
            label = f"the {STATISTICS[name].label} of {LABELS.get(other.variant, other.variant)} ranks"
            leader = ranked[0]["model"]
            if leader == first["model"]:
                same.append(label)
            else:
                different.append((label, leader))
    if same:
        texts = _join_words(same)
        found.append([Piece(f"The same model leads by {texts}.")])
    for label, model in different:
        found.append([Piece(f"By {label}, "), Piece(model, name=True), Piece(" leads.")])
    return found


def _describe_lead(run: Run, benchmark: Benchmark, aggregate: str) -> Sentence:
    """Return the ranks of the two best models and the interval of their difference."""
    first, second, *_ = run.rank(benchmark, aggregate)
    nan = float("nan")
    values = [format_rank(float(row["value"]), nan, nan) for row in (first, second)]
    pieces = [
        Piece(first["model"], name=True),
        Piece(f" has a {STATISTICS[aggregate].label} rank of {values[0]}, "),
        Piece(second["model"], name=True),
        Piece(f" one of {values[1]}"),
    ]
    for row in run.compare(benchmark, aggregate):
        if (row["better"], row["worse"]) == (first["model"], second["model"]) and row["ci_low"]:
            low, high = (format_rank(float(row[name]), nan, nan) for name in ("ci_low", "ci_high"))
            pieces.append(Piece(f" (the difference lies between {low} and {high})"))
    return [*pieces, Piece(".")]


def _join_words(words: Sequence[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return "".join(piece.text for piece in join_names(words))


def to_text(sentence: Sentence) -> str:
    """Return a sentence without marks."""
    return "".join(piece.text for piece in sentence)
