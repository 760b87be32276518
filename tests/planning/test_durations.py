"""What is planned beside plain calculation: 2 operations a parameter and token, over the card's rate."""

from pathlib import Path
from typing import Any

import pytest
from tests.planning.test_needs import RATES, ROOT, VALUES
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.jobs.resources import Job, Sizes, estimate
from fathom.models.memory import count_adapter
from fathom.planning.model_memory import read_cards
from fathom.planning.needs import ATTEMPTS, Needs

SIZES = {"7B": 6.74e9, "13B": 13.0e9, "70B": 69.0e9}
WIDTHS = {"7B": 4096, "13B": 5120, "70B": 8192}
PAIRS, FIELDS = 100_000, 4
# peaks as their makers say them: float32, bfloat16
PEAKS = {"a100": (19.5e12, 312e12), "h100": (67e12, 989e12)}
LIMIT = 2880


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lines = (ROOT / "config" / "models.tsv").read_text().splitlines()
    columns = lines[0].split("\t")
    for name, size in SIZES.items():
        row = {"name": name, "family": "llama-2", "source": f"owner/{name}", "kind": "base",
               "parameters": f"{size:.0f}", "dtype": "bfloat16"}  # fmt: skip
        lines.append("\t".join(row.get(column, "") for column in columns))
    path = tmp_path_factory.mktemp("registry") / "models.tsv"
    path.write_text("\n".join([*lines, ""]))
    return path


def make_needs(registry: Path, cards: str, limit: int | None = None, **changes: Any) -> Needs:
    """Return the needs of a run with 100,000 pairs of four fields."""
    domains = {f"field{number}": {"categories": ["numpy"]} for number in range(FIELDS)}
    pairs = {"tokenizer": "gpt2", "per_keyword": PAIRS // FIELDS // 2 // 250}
    values = {**VALUES, "domains": domains, "pairs": pairs, "keywords": {"count": 250}, "models": {}}
    config = read_config({**values, **changes}, "test")
    return Needs(config, registry, RATES, read_cards(cards), str(registry.parent / "none"), limit)


def plan(needs: Needs, rule: str, model: str) -> float:
    """Return the seconds that a job is planned at."""
    lines, _ = estimate([Job(rule, {"model": model}, gpu=1)], RATES, Sizes({}, 0.0), {}, needs.calculate)
    return lines[rule].longest


def adapt(base: str, **more: Any) -> dict[str, Any]:
    entry = {"base": base, "paths": [["field0"]], "steps": 2000, "sequence": 1024, "batch": 16}
    return {"adapt": [{**entry, **more}]}


@pytest.mark.parametrize(
    ("size", "card", "dtype"),
    [("7B", "a100", "bfloat16"), ("7B", "a100", "float32"), ("7B", "h100", "bfloat16"),
     ("13B", "a100", "bfloat16"), ("13B", "h100", "float32"), ("70B", "h100", "bfloat16")],
)  # fmt: skip
def test_scoring(registry, size, card, dtype):
    needs = make_needs(registry, f"{card}:80000x8", scoring={"dtype": dtype})
    single, half = PEAKS[card]
    characters, window, stride = 1_000_000, 1024, 512
    scored = FIELDS * characters / 4
    tokens = PAIRS * 40 + scored * window / stride
    head = WIDTHS[size] * 32_000
    products = 2 * (SIZES[size] - 2 * head) * tokens / (half if dtype == "bfloat16" else single)
    products += 2 * head * (scored + 2 * PAIRS) / single
    loading = SIZES[size] * (2 if dtype == "bfloat16" else 4) / 1e9
    expected = 30 + loading + PAIRS / 1000 + products / 0.45
    assert plan(needs, "score_model", size) == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize(
    ("size", "card", "lora", "passes"),
    [("7B", "a100", {"dtype": "bfloat16"}, 3), ("13B", "h100", {"dtype": "bfloat16"}, 3),
     ("7B", "h200", None, 4)],
)  # fmt: skip
def test_adapting(registry, size, card, lora, passes):
    # forward, backward once or twice, and once more because activations are not kept
    needs = make_needs(registry, f"{card}:141000x8", models=adapt(size, lora=lora))
    _, half = PEAKS["h100" if card == "h200" else card]
    products = passes * 2 * SIZES[size] * 2000 * 16 * 1024 / half / 0.28
    moved = 0 if lora else 2000 * 28 * SIZES[size] / 4.8e12
    loading = 2 * SIZES[size] * (2 if lora else 4) / 1e9
    expected = 30 + products + moved + loading
    assert plan(needs, "adapt_model", f"{size}+field0") == pytest.approx(expected, rel=0.3)


def test_tuning(registry):
    needs = make_needs(registry, "a100:80000x8")
    tokens = 5 * 22_753 * 100
    products = 3 * 2 * 6.74e9 * tokens / 312e12 / 0.28
    # seven matrices in each of 32 blocks, forward and once more, in steps of eight examples
    launches = 5 * 22_753 / 8 * 2 * 7 * 32 * 1.3e-3
    assert products < launches
    assert plan(needs, "tune_model", "7B") == pytest.approx(30 + 6.74 * 2 + launches, rel=0.1)


def test_a_small_corpus_has_few_pairs_and_little_held_out_text(registry):
    """4 MB: 2,000 pairs of 40 tokens; 200,000 held-out characters, 50,000 tokens, each read twice."""
    small, none = (make_needs(registry, "a100:80000x4") for _ in range(2))
    small.bound_text(4.0)
    none.bound_text(0.0)
    expected = 2 * SIZES["7B"] * (80_000 + 100_000) / PEAKS["a100"][0] / 0.45
    seconds = plan(small, "score_model", "7B") - plan(none, "score_model", "7B")
    assert seconds == pytest.approx(expected, rel=0.1)


def test_the_pairs_that_are_there_count(registry, tmp_path):
    few = make_needs(registry, "a100:80000x8", pairs={"tokenizer": "gpt2", "per_keyword": 1})
    many = make_needs(registry, "a100:80000x8", pairs={"tokenizer": "gpt2", "per_keyword": 400})
    assert plan(many, "score_chat", "7B@chat") > 100 * (plan(few, "score_chat", "7B@chat") - 60)


def test_pairs_that_are_damaged_are_named(registry):
    damaged = registry.parent / "none/field1/benchmark/tf/pairs.parquet"
    damaged.parent.mkdir(parents=True)
    damaged.touch()
    with refuses(damaged, "parquet"):
        plan(make_needs(registry, "a100:80000x8"), "score_model", "7B")
    damaged.unlink()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_request_is_within_the_partition(registry, size, dtype):
    needs = make_needs(registry, "a100:40000x4 h100:80000x8", LIMIT, scoring={"dtype": dtype})
    needs.check()
    for attempt in (1, 2, 3):
        assert needs.find("score_model", size, attempt).minutes <= LIMIT
    first = needs.find("score_model", size)
    assert 60 * first.minutes > plan(needs, "score_model", size)
    unlimited = make_needs(registry, "a100:40000x4 h100:80000x8", scoring={"dtype": dtype})
    assert unlimited.find("score_model", size, 3).minutes == 4 * unlimited.find("score_model", size).minutes


def test_what_three_attempts_cannot_finish_is_refused(registry):
    values = {"scoring": {"device": "cpu"}, "models": {"score": ["70B"]}}
    hours = plan(make_needs(registry, "", **values), "score_model", "70B") / 3600
    assert hours > ATTEMPTS * LIMIT / 60
    with refuses("'70B'", f"{hours:,.0f} hours", "max_minutes", "pairs.per_keyword"):
        make_needs(registry, "", LIMIT, **values).check()


@pytest.mark.parametrize("size", SIZES)
def test_host_memory_and_disk_of_an_adaptation(registry, size):
    cards = "b200:2000000x8"  # as if a GPU held any of them
    shapes = make_needs(registry, cards)
    whole, adapter = (
        make_needs(registry, cards, models=adapt(size, lora=lora, checkpoints=1000))
        for lora in (None, {"dtype": "bfloat16"})
    )
    name = f"{size}+field0"
    # at each save: weights and two moments; of an adapter: the weights of the base, once
    assert whole.find("adapt_model", name).host_mb == pytest.approx(12 * SIZES[size] / 1e6, rel=0.1)
    assert adapter.find("adapt_model", name).host_mb == pytest.approx(2 * SIZES[size] / 1e6 + 4100, rel=0.1)
    shape = shapes.find_shape(size)
    assert shape is not None
    disk = []
    for needs, trained in ((whole, shape.parameters), (adapter, count_adapter(shape, 8))):
        work = needs.calculate(Job("adapt_in_steps", {"model": name}))
        assert work is not None
        assert work.disk_mb == pytest.approx((2 * 4 + 12) * trained / 1e6)
        disk.append(work.disk_mb)
    assert disk[0] > 100 * disk[1]


def test_a_fetched_model_takes_its_weights_of_disk(registry):
    work = make_needs(registry, "").calculate(Job("fetch_model", {"model": "7B"}))
    assert work is not None and work.disk_mb == pytest.approx(2 * 6740)
    deleted = make_needs(registry, "", models={"score": ["7B"], "on_disk": 1})
    for rule in ("fetch_model", "fetch_weights"):
        work = deleted.calculate(Job(rule, {"model": "7B"}))
        assert work is not None and work.disk_mb == 0 < work.seconds
