"""The answer of a run in a sentence: which models know a domain best, and which do not differ.

Has the phrases and terms for models by knowledge, by rank and by score.
"""

import math
from collections.abc import Callable, Sequence
from string import Formatter
from typing import Any, NamedTuple

from fathom.config.short_names import label_variant
from fathom.explorer.item_tasks import Task
from fathom.explorer.run import Benchmark, Compared, Order, Ranked, Ranking
from fathom.models.origins import Origins
from fathom.statistics.aggregates import GEOMETRIC_MEAN, TRIMMED_MEAN
from fathom.statistics.clusters import explain_clusters
from fathom.statistics.metrics import BITS, RANK, RIVAL_RANK

_NUMBERS = (
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip


Ranks = Benchmark | Task
"""Subject of sentences: a benchmark of a run, or a task of logs."""


class Piece(NamedTuple):
    """A piece of a sentence; names of models and domains are marked."""

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


def to_text(sentence: Sentence) -> str:
    """Return a sentence without marks."""
    return "".join(piece.text for piece in sentence)


def compose(template: str, **parts: Sentence) -> Sentence:
    """Return a template with each field replaced by a sentence; fields that it lacks are left out."""
    pieces: Sentence = []
    for text, field, _, _ in Formatter().parse(template):
        pieces += [Piece(text)] if text else []
        pieces += parts[field] if field else []
    return pieces


class Words(NamedTuple):
    """Templates of the answer, by the state of the models.

    `nothing`: no model has a value; `only`: one has. `single`: there is one pair, or item; `uncompared`:
    models are not compared. `one`: one model is best; `several` are and do not differ; `every`: no two of all
    differ. `some`: one leads, and those that are not apart from it differ among each other. `tied`: all have
    the same value. `name` returns the name of a further order, given it and the label of the variant.
    """

    nothing: str
    only: str
    single: str
    uncompared: str
    one: str
    several: str
    every: str
    some: str
    tied: str
    name: Callable[[Order, str], str]


def _name_ranks(order: Order, variant: str) -> str:
    return f"the {order.statistic.label} of {variant} {order.metric.label.replace('rank', 'ranks')}"


_OPEN = "; whether the models really differ cannot be said"
_FIRST = "Of {count} models, {first} {ranks} first on {title}"
_EVERY = "The {count} models are not significantly different on {title}; {first} "
_NOT_FROM_IT = "{others} {verb} not significantly different from it."
_OF_RANKS = Words(
    nothing="No model has been ranked on {title} yet.",
    only="{models} is the only model that was scored on {title}: its {label} is {value}.",
    single=f"{_FIRST}{_OPEN} with a single pair.",
    uncompared=f"{_FIRST}{_OPEN} before they are compared.",
    one="Of {count} models, {first} predicts the words of {title} best.",
    several="Of {count} models, {leaders} predict the words of {title} best; they are not significantly"
    " different.",
    every=f"{_EVERY}{{ranks}} first.",
    some=f"{_FIRST}; {_NOT_FROM_IT}",
    tied="The {count} models have the same {label} on {title}: {value}.",
    name=_name_ranks,
)


def _speak_of_scores(best: str) -> Words:
    first = f"Of {{count}} models, {{first}} {{has}} the {best} {{label}} on {{title}}"
    return Words(
        nothing="No model has a score on {title}.",
        only=_OF_RANKS.only,
        single=f"{first}{_OPEN} with a single item.",
        uncompared=f"{first}{_OPEN} before they are compared.",
        one=f"{first}.",
        several=f"Of {{count}} models, {{leaders}} have the {best} {{label}} on {{title}}; they are not"
        " significantly different.",
        every=f"{_EVERY}{{has}} the {best} {{label}}.",
        some=f"{first}; {_NOT_FROM_IT}",
        tied=_OF_RANKS.tied,
        name=lambda order, variant: f"{order.label} of {variant} targets" if variant else order.label,
    )


_LEADS = "Of {count} models, {first} {leads} on {title} with {value}"
_OF_KNOWLEDGE = Words(
    nothing="No model has been scored on {title} yet.",
    only="{models} is the only model that was scored on {title}, with {value}.",
    single=f"{_LEADS}{_OPEN} with a single pair.",
    uncompared=f"{_LEADS}{_OPEN} before they are compared.",
    one="Of {count} models, {first} knows {title} best: {value}.",
    several="Of {count} models, {leaders} know {title} best; they are not significantly different.",
    every=f"{_EVERY}{{leads}} with {{value}}.",
    some=f"{_LEADS}; {_NOT_FROM_IT}",
    tied="The {count} models know as much of {title}: {value}.",
    name=lambda _, variant: f"knowledge of {variant} targets",
)
NO_KNOWLEDGE = "No model shows knowledge of {title}."
"""Where no interval lies above 0."""
ONLY_WITHOUT = "{models} is the only model that was scored on {title}, and shows no knowledge of it: {why}."
FIRST_WITHOUT = (
    "Of {count} models, only {others} {show} knowledge of {title}; {first} has the highest mean, {value},"
    " but {why}."
)
"""Where the interval of the first model holds 0 and that of another one does not."""
WITHOUT = "{models} {show} no knowledge of it: {why}."
"""The sentence after an answer, on the models whose intervals contain 0."""


_OF_SCORES = {low: _speak_of_scores("lowest" if low else "highest") for low in (False, True)}


def choose_words(order: Order) -> Words:
    """Return the templates for models in an order."""
    if order.is_knowledge:
        return _OF_KNOWLEDGE
    return _OF_RANKS if order.metric.is_factor else _OF_SCORES[order.metric.low_is_best]


MOST_NAMED = 3
"""Most models without knowledge to name; more are counted."""


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
    """Return a sentence on models without knowledge, to follow the answer; empty if that says it."""
    ranking, order = benchmark.rankings[order_name], benchmark.orders[order_name]
    without = find_without_knowledge(ranking, order)
    said = len(without) == len(ranking.models) or ranking.models[0] in without
    return [] if said or not without else _name_without(without)


def find_without_knowledge(ranking: Ranking, order: Order) -> list[Ranked]:
    """Return models whose interval of knowledge in bits does not lie above 0; none in other orders."""
    return [each for each in ranking.models if order.is_knowledge and each.low <= 0]


def _explain_without(models: Sequence[Ranked]) -> Sentence:
    holds = all(each.high >= 0 for each in models)
    if len(models) == 1:
        return [Piece("its interval contains 0" if holds else "its interval lies below 0")]
    return [Piece("their intervals contain 0" if holds else "their intervals do not lie above 0")]


def _name_without(models: Sequence[Ranked]) -> Sentence:
    names = join_names([each.model for each in models])
    if len(models) > MOST_NAMED:
        names = [Piece(f"{spell_number(len(models)).capitalize()} models")]
    show = [Piece("shows" if len(models) == 1 else "show")]
    return compose(WITHOUT, models=names, show=show, why=_explain_without(models))


def _name_knowing(ranking: Ranking, title: Sentence, order: Order, without: Sequence[Ranked]) -> Sentence:
    """Return who shows knowledge if the model with the highest mean does not."""
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
    shown = order.show(ranking.models[0].value)
    if not order.is_knowledge:
        return [Piece(shown)]
    most = "" if ranking.ceiling is None else f" of at most {order.show(ranking.ceiling)}"
    return [Piece(f"{shown}{most} bits")]


def _name_leaders(ranking: Ranking, title: Sentence, order: Order, without: set[str]) -> Sentence:
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
        alike = False  # a model without knowledge does not know best
    if not alike:
        others = [model for model in leaders if model not in tied] or leaders[1:]
        verb = [Piece("is" if len(others) == 1 else "are")]
        return compose(words.some, **parts, others=join_names(others), verb=verb)
    if len(leaders) == len(names):
        return compose(words.every, **parts)
    return compose(words.several, **parts, leaders=join_names(leaders))


def explain(benchmark: Ranks, order_name: str, benchmarks: Sequence[Ranks]) -> list[Sentence]:
    """Return the lead of the best model, and whether other targets and statistics agree.

    Clusters that are not keywords are named, too.
    """
    ranking, order = benchmark.rankings[order_name], benchmark.orders[order_name]
    if len(ranking.models) < 2:
        return []
    found = [_describe_lead(ranking, order)]
    if between := _explain_between(ranking):
        found.append(between)
    if drawn := explain_clusters(ranking.clusters):
        found.append([Piece(drawn)])
    if not _has_leader(ranking):
        return found
    return [*found, *_compare_orders(benchmark, order, ranking.models[0].model, benchmarks)]


def _has_leader(ranking: Ranking) -> bool:
    return len(ranking.models) < 2 or ranking.models[0].value != ranking.models[1].value


def _compare_orders(
    benchmark: Ranks, order: Order, leader: str, benchmarks: Sequence[Ranks]
) -> list[Sentence]:
    papers: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}
    for other in (each for each in benchmarks if each.domain == benchmark.domain):
        for way in _list_others(order, other, same_pairs=other.variant == benchmark.variant):
            ranking = other.rankings.get(way.name)
            if not ranking or len(find_without_knowledge(ranking, way)) == len(ranking.models):
                continue
            if not _has_leader(ranking):
                continue
            label = choose_words(way).name(way, other.label)
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
    """Return the orders to compare one with: all others on the same pairs, else those by its metric."""
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


def _explain_between(ranking: Ranking) -> Sentence:
    """Return why models between those that are not apart from the best are; empty if there are none."""
    names = [each.model for each in ranking.models]
    leaders, _ = find_leaders(names, ranking.comparisons)
    last = leaders[-1]
    between = [model for model in names[: names.index(last)] if model not in leaders]
    if not between:
        return []
    verb, they = ("is", "it is") if len(between) == 1 else ("are", "they are")
    return compose(
        f"{{between}} {verb} ahead of {{last}}, but not among the best: {they} closer to {{first}} than"
        " {last} is, and more surely behind it.",
        between=join_names(between),
        last=join_names([last]),
        first=join_names(names[:1]),
    )


def describe_origins(origins: Origins) -> Sentence:
    """Return which models a run has trained from scratch, and which not; empty if it trained none."""
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
            "unit": order.metric.unit,
            "low": order.metric.low_is_best,
            "ceiling": benchmark.rankings[name].ceiling,
            "ranking": [list(ranked) for ranked in benchmark.rankings[name].models],
            "comparisons": [list(compared) for compared in benchmark.rankings[name].comparisons],
            "answer": list_pieces(answer(benchmark, name)),
            "further": list_pieces(add_to_answer(benchmark, name)),
            "details": [list_pieces(detail) for detail in [*explain(benchmark, name, benchmarks), *last]],
        }
        for name, order in benchmark.orders.items()
        if name in benchmark.rankings
    }
    alone = {} if found else {"answer": list_pieces(answer(benchmark, next(iter(benchmark.orders))))}
    return {"statistics": found, **alone}


def list_pieces(sentence: Sentence) -> list[list[Any]]:
    """Return a sentence as JSON: text, and whether it is a name."""
    return [[piece.text, piece.name] for piece in sentence]


_METRICS = {
    BITS.name: (
        "how much a prompt tells the model of the author’s word, among the benchmark’s other targets;"
        " 0: nothing{ceiling}"
    ),
    RANK.name: (
        "the place of the author’s word in a model’s list of next words; 1 is best, and style counts, too"
    ),
    RIVAL_RANK.name: "the place of the author’s word among the benchmark’s other targets; 1 is best",
}
_STATISTICS = {
    TRIMMED_MEAN.name: "the mean without the lowest and the highest {trim:.0%} of the ranks",
    GEOMETRIC_MEAN.name: "the mean in which a factor of two counts the same at every rank",
}
_VARIANTS = {
    "tf": "the author’s words are frequent in texts on their keyword",
    "tfidf": "frequent there, and rare on other keywords",
}


def define_terms(order: Order, trim: float, ceiling: float | None = None) -> list[tuple[str, str]]:
    """Return the terms of an order's name with their meanings; none for scores of items."""
    meaning, way = _METRICS.get(order.metric.name, ""), _STATISTICS.get(order.statistic.name, "")
    most = "" if ceiling is None else f", {order.show(ceiling)}: always sure"
    found = [
        (order.metric.label, meaning.format(ceiling=most)),
        (order.statistic.label, way.format(trim=trim).replace("%", " %")),
    ]
    return [each for each in found if meaning and each[1]]


def define_variants(variants: list[str]) -> list[tuple[str, str]]:
    """Return the name of each kind of benchmark of a domain, with its meaning."""
    return [(label_variant(each), _VARIANTS[each]) for each in _VARIANTS if each in variants]


def warn_of_vocabularies(benchmark: Benchmark, order: Order) -> Sentence:
    """Return how vocabularies differ in size; empty if not, or if the order does not depend on it."""
    groups: dict[int, list[str]] = {}
    for model, entries in sorted(benchmark.vocabularies.items()):
        groups.setdefault(entries, []).append(model)
    if len(groups) < 2 or order.metric is not RANK:
        return []
    pieces = [Piece("Vocabularies differ in entries: ")]
    for place, (entries, models) in enumerate(sorted(groups.items())):
        names = join_names(models[:1])
        if len(models) == 2:
            names = join_names(models)
        elif len(models) > 2:
            names.append(Piece(f" and {spell_number(len(models) - 1)} others"))
        have = " has" if len(models) == 1 else " have"
        pieces += [Piece(", " if place else ""), *names, Piece(f"{have} {entries:,}")]
    named = {"knowledge in bits": BITS, "the rank among rivals": RIVAL_RANK}
    known = {benchmark.orders[name].metric for name in benchmark.rankings}
    others = [name for name, metric in named.items() if metric in known]
    listed = to_text(join_names([*others, "bits per byte"]))
    end = ". A rank counts among all of them, so it can be higher for this alone"
    return [*pieces, Piece(f"{end}; {listed} do not depend on it.")]
