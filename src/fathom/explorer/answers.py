"""The answer of a run in a sentence: which models know a domain best, and which hardly differ."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from fathom.explorer.run import NAN, ORDERS, Benchmark, Compared, Order, Ranking
from fathom.models.origins import Origins
from fathom.statistics.clusters import explain_clusters
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


def show_rank(value: float) -> str:
    """Return a rank as the page shows it: as in tables, but a whole one without decimals."""
    return format_rank(value, NAN, NAN).removesuffix(".0")


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


def find_leaders(order: Sequence[str], comparisons: Sequence[Compared]) -> tuple[list[str], bool]:
    """Return the best model, those not significantly different from it, and whether all these are alike.

    Parameters
    ----------
    order : sequence of str
        Models, best first.
    comparisons : sequence of Compared

    Returns
    -------
    leaders : list of str
        In the order of `order`.
    alike : bool
        Whether no two of them are apart.
    """
    apart = {frozenset((each.better, each.worse)) for each in comparisons if each.apart}
    best = order[0]
    leaders = [best, *(model for model in order[1:] if frozenset((best, model)) not in apart)]
    alike = not any(frozenset((a, b)) in apart for a in leaders for b in leaders if a != b)
    return leaders, alike


def answer(benchmark: Benchmark, order_name: str) -> Sentence:
    """Return the answer that one benchmark gives in one order, a name of ORDERS."""
    domain = Piece(benchmark.title, name=True)
    if order_name not in benchmark.rankings:
        return [Piece("No model has been ranked on "), domain, Piece(" yet.")]
    models, comparisons, _ = benchmark.rankings[order_name]
    order = [each.model for each in models]
    if len(order) == 1:
        return [
            *join_names(order),
            Piece(" is the only model that was scored on "),
            domain,
            Piece(f": its {ORDERS[order_name].label} is {show_rank(models[0].value)}."),
        ]
    return _name_leaders(order, comparisons, domain)


def _name_leaders(order: Sequence[str], compared: Sequence[Compared], domain: Piece) -> Sentence:
    """Return who is best of two models or more, as far as they are apart."""
    first, count = join_names(order[:1]), spell_number(len(order))
    start = Piece(f"Of {count} models, ")
    if not any(math.isfinite(each.p) for each in compared):
        why = "with a single pair" if compared else "before they are compared"
        end = Piece(f"; whether the models really differ cannot be said {why}.")
        return [start, *first, Piece(" ranks first on "), domain, end]
    leaders, alike = find_leaders(order, compared)
    if len(leaders) == 1:
        return [start, *first, Piece(" knows "), domain, Piece(" best.")]
    if not alike:
        verb = "is" if len(leaders) == 2 else "are"
        end = Piece(f" {verb} not significantly different from it.")
        others = join_names(leaders[1:])
        return [start, *first, Piece(" ranks first on "), domain, Piece("; "), *others, end]
    if len(leaders) == len(order):
        whole = Piece(f"The {count} models are not significantly different on ")
        return [whole, domain, Piece("; "), *first, Piece(" ranks first.")]
    end = Piece(" best; they are not significantly different.")
    return [start, *join_names(leaders), Piece(" know "), domain, end]


def explain(benchmark: Benchmark, order_name: str, benchmarks: Sequence[Benchmark]) -> list[Sentence]:
    """Return how far the best model is ahead, and whether other targets and statistics name the same one.

    Clusters that are not keywords are named, too.
    """
    ranking, order = benchmark.rankings[order_name], ORDERS[order_name]
    if len(ranking.models) < 2:
        return []
    found = [_describe_lead(ranking, order.label)]
    if drawn := explain_clusters(ranking.clusters):
        found.append([Piece(drawn)])
    same: list[str] = []
    different: list[tuple[str, str]] = []
    for other in (each for each in benchmarks if each.domain == benchmark.domain):
        for way in _list_others(order, same_pairs=other.variant == benchmark.variant):
            if way.name not in other.rankings:
                continue
            kind = way.metric.label.replace("rank", "ranks")
            label = f"the {way.statistic.label} of {LABELS.get(other.variant, other.variant)} {kind}"
            leader = other.rankings[way.name].models[0].model
            if leader == ranking.models[0].model:
                same.append(label)
            else:
                different.append((label, leader))
    if same:
        texts = to_text(join_names(same))
        found.append([Piece(f"The same model leads by {texts}.")])
    for label, model in different:
        found.append([Piece(f"By {label}, "), Piece(model, name=True), Piece(" leads.")])
    return found


def _list_others(order: Order, same_pairs: bool) -> list[Order]:
    """Return the orders that one is held against: on the same pairs all others, else those by its metric."""
    return [
        each for each in ORDERS.values() if (each != order if same_pairs else each.metric == order.metric)
    ]


def _describe_lead(ranking: Ranking, label: str) -> Sentence:
    """Return the ranks of the two best models and the interval of their difference."""
    first, second, *_ = ranking.models
    values = [show_rank(each.value) for each in (first, second)]
    pieces = [
        Piece(first.model, name=True),
        Piece(f" has a {label} of {values[0]}, "),
        Piece(second.model, name=True),
        Piece(f" one of {values[1]}"),
    ]
    for each in ranking.comparisons:
        if (each.better, each.worse) == (first.model, second.model) and math.isfinite(each.low):
            low, high = (show_rank(end) for end in (each.low, each.high))
            pieces.append(Piece(f" (the difference lies between {low} and {high})"))
    return [*pieces, Piece(".")]


def describe_origins(origins: Origins) -> Sentence:
    """Return which models a run has trained from scratch, and which not; nothing if it trained none."""
    if not origins.trained:
        return []
    start = [Piece("This run trained "), *join_names(origins.trained), Piece(" from scratch")]
    if not origins.pretrained:
        return [*start, Piece(".")]
    verb = " is pretrained." if len(origins.pretrained) == 1 else " are pretrained."
    return [*start, Piece("; "), *join_names(origins.pretrained), Piece(verb)]


def to_text(sentence: Sentence) -> str:
    """Return a sentence without marks."""
    return "".join(piece.text for piece in sentence)


def describe_answers(
    benchmark: Benchmark, benchmarks: Sequence[Benchmark], origins: Origins
) -> dict[str, Any]:
    """Return rankings, comparisons and sentences of one benchmark by order; without any, the answer."""
    known = describe_origins(origins)
    last = [known] if known else []
    found = {
        name: {
            "ranking": [list(ranked) for ranked in benchmark.rankings[name].models],
            "comparisons": [list(compared) for compared in benchmark.rankings[name].comparisons],
            "answer": list_pieces(answer(benchmark, name)),
            "details": [list_pieces(detail) for detail in [*explain(benchmark, name, benchmarks), *last]],
        }
        for name in ORDERS
        if name in benchmark.rankings
    }
    alone = {} if found else {"answer": list_pieces(answer(benchmark, next(iter(ORDERS))))}
    return {"statistics": found, **alone}


def list_pieces(sentence: Sentence) -> list[list[Any]]:
    """Return a sentence as JSON: text, and whether it is a name."""
    return [[piece.text, piece.name] for piece in sentence]
