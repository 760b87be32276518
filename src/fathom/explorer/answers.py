"""The answer of a run in a sentence: which models know a domain best, and which hardly differ."""

import math
from collections.abc import Sequence
from typing import Any

from fathom.explorer.run import Compared, Order, Ranked, Ranking, Ranks, choose_order
from fathom.explorer.wording import (
    FIRST_WITHOUT,
    NO_KNOWLEDGE,
    ONLY_WITHOUT,
    WITHOUT,
    Piece,
    Sentence,
    choose_words,
    compose,
    join_names,
    spell_number,
    to_text,
)
from fathom.models.origins import Origins
from fathom.statistics.clusters import explain_clusters

LABELS = {"tf": "TF", "tfidf": "TF-IDF", "reference": "reference"}
"""What variants are called."""
MOST_NAMED = 3
"""Models without knowledge that are named; more are counted."""


def find_leaders(order: Sequence[str], comparisons: Sequence[Compared]) -> tuple[list[str], bool]:
    """Return the best model, those not significantly different from it, and whether all these are alike.

    Models are in the order of `order`, best first; `alike` says that no two of them are apart.
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
    ranking = benchmark.rankings[order_name]
    without = find_without_knowledge(ranking, order)
    if len(ranking.models) == 1:
        template = ONLY_WITHOUT if without else words.only
        only = join_names([ranking.models[0].model])
        value, label = _show_best(ranking, order), [Piece(order.label)]
        why = _explain_without(without)
        return compose(template, models=only, title=title, label=label, value=value, why=why)
    if len(without) == len(ranking.models):
        return compose(NO_KNOWLEDGE, title=title)
    if ranking.models[0] in without:
        return _name_knowing(ranking, title, order, without)
    return _name_leaders(ranking, title, order, {each.model for each in without})


def add_to_answer(benchmark: Ranks, order_name: str) -> Sentence:
    """Return which models show no knowledge, a sentence that follows the answer; nothing if that says it."""
    ranking, order = benchmark.rankings[order_name], benchmark.orders[order_name]
    without = find_without_knowledge(ranking, order)
    said = len(without) == len(ranking.models) or ranking.models[0] in without
    return [] if said or not without else _name_without(without)


def find_without_knowledge(ranking: Ranking, order: Order) -> list[Ranked]:
    """Return models whose interval of knowledge in bits does not lie above 0; none in other orders."""
    return [each for each in ranking.models if order.is_knowledge and each.low <= 0]


def _explain_without(models: Sequence[Ranked]) -> Sentence:
    """Return why models are said to show no knowledge."""
    holds = all(each.high >= 0 for each in models)
    if len(models) == 1:
        return [Piece("its interval holds 0" if holds else "its interval lies below 0")]
    return [Piece("their intervals hold 0" if holds else "their intervals do not lie above 0")]


def _name_without(models: Sequence[Ranked]) -> Sentence:
    """Return which models show no knowledge: a few by name, more as a number."""
    names = join_names([each.model for each in models])
    if len(models) > MOST_NAMED:
        names = [Piece(f"{spell_number(len(models)).capitalize()} models")]
    show = [Piece("shows" if len(models) == 1 else "show")]
    return compose(WITHOUT, models=names, show=show, why=_explain_without(models))


def _name_knowing(ranking: Ranking, title: Sentence, order: Order, without: Sequence[Ranked]) -> Sentence:
    """Return who shows knowledge where the model with the highest mean does not."""
    knowing = [each.model for each in ranking.models if each not in without]
    return compose(
        FIRST_WITHOUT,
        count=[Piece(spell_number(len(ranking.models)))],
        others=join_names(knowing),
        show=[Piece("shows" if len(knowing) == 1 else "show")],
        title=title,
        first=join_names([ranking.models[0].model]),
        value=_show_best(ranking, order),
        why=_explain_without(ranking.models[:1]),
    )


def _show_best(ranking: Ranking, order: Order) -> Sentence:
    """Return the value of the first model, of knowledge with its ceiling and its unit."""
    shown = order.show(ranking.models[0].value)
    if not order.is_knowledge:
        return [Piece(shown)]
    most = "" if ranking.ceiling is None else f" of at most {order.show(ranking.ceiling)}"
    return [Piece(f"{shown}{most} bits")]


def _name_leaders(ranking: Ranking, title: Sentence, order: Order, without: set[str]) -> Sentence:
    """Return who is best of two models or more, as far as they are apart."""
    models, compared = ranking.models, ranking.comparisons
    words, names = choose_words(order), [each.model for each in models]
    tied = [each.model for each in models if each.value == models[0].value]
    verbs = {"has": "have", "ranks": "rank", "leads": "lead"}
    parts = {
        "count": [Piece(spell_number(len(names)))],
        "title": title,
        "label": [Piece(order.label)],
        "value": _show_best(ranking, order),
        "first": join_names(tied),
        **{one: [Piece(one if len(tied) == 1 else many)] for one, many in verbs.items()},
    }
    if not any(math.isfinite(each.p) for each in compared):
        return compose(words.single if compared else words.uncompared, **parts)
    if len(tied) == len(names):
        return compose(words.tied, **parts)
    leaders, alike = find_leaders(names, compared)
    if len(leaders) == 1:
        return compose(words.one, **parts)
    if len(leaders) < len(names) and not without.isdisjoint(leaders):
        alike = False  # who shows no knowledge does not know best
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
    return [*found, *_compare_orders(benchmark, order, ranking.models[0].model, benchmarks)]


def _compare_orders(
    benchmark: Ranks, order: Order, leader: str, benchmarks: Sequence[Ranks]
) -> list[Sentence]:
    """Return which model leads in other orders; of knowledge, those of the papers together."""
    papers: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for other in (each for each in benchmarks if each.domain == benchmark.domain):
        for way in _list_others(order, other, same_pairs=other.variant == benchmark.variant):
            ranking = other.rankings.get(way.name)
            if not ranking or len(find_without_knowledge(ranking, way)) == len(ranking.models):
                continue
            label = choose_words(way).name(way, LABELS.get(other.variant, other.variant))
            kind = papers if order.is_knowledge and not way.is_knowledge else others
            kind.setdefault(ranking.models[0].model, []).append(label)
    if [*papers] == [leader]:
        others[leader] = ["the papers’ metrics", *others.get(leader, [])]
        papers = {}
    found = []
    for model, labels in sorted(papers.items(), key=lambda each: each[0] != leader):
        many = f"{spell_number(len(labels))} of the papers’ metrics: {to_text(join_names(labels))}"
        by = "the papers’ metrics" if len(papers) == 1 else many
        start = [Piece("The same model" if model == leader else model, name=model != leader)]
        found.append([*start, Piece(f" leads by {by}.")])
    if same := others.pop(leader, []):
        found.append([Piece(f"The same model leads by {to_text(join_names(same))}.")])
    for model, labels in others.items():
        for label in labels:
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
    """Return the values of the two best models, and the interval of their difference if they are apart."""
    first, second, *_ = ranking.models
    article = "an" if order.label[0].lower() in "aeiou" else "a"
    values = (
        f" has {article} {order.label} of {order.show(first.value)}, ",
        f" one of {order.show(second.value)}",
    )
    if order.is_knowledge:
        values = (f" has {order.show(first.value)} bits, ", f" {order.show(second.value)}")
    pieces = [
        Piece(first.model, name=True),
        Piece(values[0]),
        Piece(second.model, name=True),
        Piece(values[1]),
    ]
    for each in ranking.comparisons:
        same = (each.better, each.worse) == (first.model, second.model)
        if same and each.apart and math.isfinite(each.low):
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
            "ceiling": benchmark.rankings[name].ceiling,
            "ranking": [list(ranked) for ranked in benchmark.rankings[name].models],
            "comparisons": [list(compared) for compared in benchmark.rankings[name].comparisons],
            "answer": list_pieces(answer(benchmark, name)),
            "further": list_pieces(add_to_answer(benchmark, name)),
            "details": [list_pieces(detail) for detail in [*explain(benchmark, name, benchmarks), *last]],
        }
        for name in benchmark.orders
        if name in benchmark.rankings
    }
    alone = {} if found else {"answer": list_pieces(answer(benchmark, choose_order(benchmark)))}
    return {"statistics": found, **alone}


def list_pieces(sentence: Sentence) -> list[list[Any]]:
    """Return a sentence as JSON: text, and whether it is a name."""
    return [[piece.text, piece.name] for piece in sentence]
