"""What a page says beside its answer: its terms, and what to mind when models are compared by rank."""

from fathom.explorer.answers import LABELS
from fathom.explorer.run import Benchmark, Order
from fathom.explorer.wording import Piece, Sentence, join_names, spell_number, to_text
from fathom.statistics.aggregates import GEOMETRIC_MEAN, TRIMMED_MEAN
from fathom.statistics.metrics import BITS, RANK, RIVAL_RANK

_METRICS = {
    BITS.name: (
        "how much a prompt tells the model of the author’s word, among the benchmark’s other targets;"
        " 0: nothing{ceiling}"
    ),
    RANK.name: "the place of the author’s word in a model’s list of next words; 1 is best",
    RIVAL_RANK.name: "the place of the author’s word among the benchmark’s other targets; 1 is best",
}
_STATISTICS = {
    TRIMMED_MEAN.name: "the mean without the lowest and the highest {trim:.0%} of the ranks",
    GEOMETRIC_MEAN.name: "the mean to which a factor of two counts the same at every rank",
}
_VARIANTS = {
    "tf": "the author’s words are frequent in texts on their keyword",
    "tfidf": "frequent there, and rare on other keywords",
}


def define_terms(order: Order, trim: float, ceiling: float | None = None) -> list[tuple[str, str]]:
    """Return the terms that an order is named by, with what they mean; none for scores of items."""
    meaning, way = _METRICS.get(order.metric.name, ""), _STATISTICS.get(order.statistic.name, "")
    most = "" if ceiling is None else f", {order.show(ceiling)}: always sure"
    found = [
        (order.metric.label, meaning.format(ceiling=most)),
        (order.statistic.label, way.format(trim=trim).replace("%", " %")),
    ]
    return [each for each in found if meaning and each[1]]


def define_variants(variants: list[str]) -> list[tuple[str, str]]:
    """Return the name of each kind of benchmark of a domain, with its meaning."""
    return [(LABELS[each], _VARIANTS[each]) for each in _VARIANTS if each in variants]


def warn_of_vocabularies(benchmark: Benchmark, order: Order) -> Sentence:
    """Return how vocabularies differ in size; nothing if not, or if the order does not depend on it."""
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
