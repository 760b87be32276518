"""The answer of a run in a sentence: which models know a domain best, and which hardly differ."""

import math
from collections.abc import Sequence
from typing import Any

from fathom.explorer.run import Compared, Order, Ranked, Ranking, Ranks
from fathom.explorer.wording import Piece, Sentence, choose_words, compose, join_names, spell_number, to_text
from fathom.models.origins import Origins
from fathom.statistics.clusters import explain_clusters

LABELS = {"tf": "TF", "tfidf": "TF-IDF", "reference": "reference"}
"""What variants are called."""


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


def answer(benchmark: Ranks, order_name: str) -> Sentence:
    """Return the answer that one benchmark, or task, gives in one of its orders."""
    order = benchmark.orders[order_name]
    words, title = choose_words(order), [Piece(benchmark.title, name=True)]
    if order_name not in benchmark.rankings:
        return compose(words.nothing, title=title)
    models, comparisons, _ = benchmark.rankings[order_name]
    if len(models) == 1:
        value = [Piece(order.show(models[0].value))]
        only = join_names([models[0].model])
        return compose(words.only, models=only, title=title, label=[Piece(order.label)], value=value)
    return _name_leaders(models, comparisons, title, order)


def _name_leaders(
    models: Sequence[Ranked], compared: Sequence[Compared], title: Sentence, order: Order
) -> Sentence:
    """Return who is best of two models or more, as far as they are apart."""
    words, names = choose_words(order), [each.model for each in models]
    tied = [each.model for each in models if each.value == models[0].value]
    parts = {
        "count": [Piece(spell_number(len(names)))],
        "title": title,
        "label": [Piece(order.label)],
        "value": [Piece(order.show(models[0].value))],
        "first": join_names(tied),
        "has": [Piece("has" if len(tied) == 1 else "have")],
    }
    if not any(math.isfinite(each.p) for each in compared):
        return compose(words.single if compared else words.uncompared, **parts)
    if len(tied) == len(names):
        return compose(words.tied, **parts)
    leaders, alike = find_leaders(names, compared)
    if len(leaders) == 1:
        return compose(words.one, **parts)
    if not alike:
        others = [model for model in leaders if model not in tied] or leaders[1:]
        verb = [Piece("is" if len(others) == 1 else "are")]
        return compose(words.some, **parts, others=join_names(others), verb=verb)
    if len(leaders) == len(names):
        return compose(words.every, **parts)
    return compose(words.several, **parts, leaders=join_names(leaders))


def explain(benchmark: Ranks, order_name: str, benchmarks: Sequence[Ranks]) -> list[Sentence]:
    """Return how far the best model is ahead, and whether other targets and statistics name the same one.

    Clusters that are not keywords are named, too.
    """
    ranking, order = benchmark.rankings[order_name], benchmark.orders[order_name]
    if len(ranking.models) < 2:
        return []
    found = [_describe_lead(ranking, order)]
    if drawn := explain_clusters(ranking.clusters):
        found.append([Piece(drawn)])
    same: list[str] = []
    different: list[tuple[str, str]] = []
    for other in (each for each in benchmarks if each.domain == benchmark.domain):
        for way in _list_others(order, other, same_pairs=other.variant == benchmark.variant):
            if way.name not in other.rankings:
                continue
            label = choose_words(way).name(way, LABELS.get(other.variant, other.variant))
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


def _list_others(order: Order, benchmark: Ranks, same_pairs: bool) -> list[Order]:
    """Return the orders that one is held against: on the same pairs all others, else those by its metric."""
    return [
        each
        for each in benchmark.orders.values()
        if (each != order if same_pairs else each.metric == order.metric)
    ]


def _describe_lead(ranking: Ranking, order: Order) -> Sentence:
    """Return the values of the two best models and the interval of their difference."""
    first, second, *_ = ranking.models
    article = "an" if order.label[0].lower() in "aeiou" else "a"
    pieces = [
        Piece(first.model, name=True),
        Piece(f" has {article} {order.label} of {order.show(first.value)}, "),
        Piece(second.model, name=True),
        Piece(f" one of {order.show(second.value)}"),
    ]
    for each in ranking.comparisons:
        if (each.better, each.worse) == (first.model, second.model) and math.isfinite(each.low):
            low, high = order.show_differences(each.low, each.high)
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


def describe_answers(benchmark: Ranks, benchmarks: Sequence[Ranks], origins: Origins) -> dict[str, Any]:
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
        for name in benchmark.orders
        if name in benchmark.rankings
    }
    alone = {} if found else {"answer": list_pieces(answer(benchmark, next(iter(benchmark.orders))))}
    return {"statistics": found, **alone}


def list_pieces(sentence: Sentence) -> list[list[Any]]:
    """Return a sentence as JSON: text, and whether it is a name."""
    return [[piece.text, piece.name] for piece in sentence]
