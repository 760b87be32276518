"""Domain ranks during a training: the numbers of `fathom.score`, and a training that does not notice."""

import copy
import re
import runpy
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from tests.programs import MODELS, run_program
from tests.refusals import refuses
from tests.scores import score_pairs
from tests.test_notebook import PLACE, write_benchmark, write_model
from transformers import (
    AutoModelForCausalLM,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    default_data_collator,
)

import fathom
from fathom.config.scoring import Summary
from fathom.models.folders import load_tokenizer, save_model
from fathom.scoring import domain_rank
from fathom.scoring.domain_rank import DomainRank, DomainRankCallback, DomainRankPoint, draw_pairs
from fathom.scoring.pair_files import complete_pairs
from fathom.statistics.aggregates import MEAN
from fathom.statistics.metrics import BITS
from fathom.statistics.summaries import summarize_values

WORDS = ("agent", "policy", "reward", "state", "learns", "maximizes")
PAIRS = pl.DataFrame([
    {"keyword": f"k{number % 5}", "prompt": f"The {first} of the {second}", "target": f" {third}"}
    for number, (first, second, third) in enumerate(
        (x, y, z) for x in WORDS for y in WORDS for z in WORDS[:2]
    )
])  # fmt: skip
TEXT = "The agent learns a policy of the state . It maximizes the expected reward . "


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny model with dropout."""
    folder = tmp_path_factory.mktemp("domain-rank")
    write_model(folder)
    write_benchmark(folder / PLACE / "tf", "tf")
    return folder / "gpt2"


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Any:
    return load_tokenizer(folder)


@pytest.fixture
def model(folder: Path) -> Any:
    found = AutoModelForCausalLM.from_pretrained(folder)
    assert any(module.p > 0 for module in found.modules() if isinstance(module, torch.nn.Dropout))
    return found


def train(model: Any, tokenizer: Any, folder: Path, callback: Any = None, **changes: Any) -> Trainer:
    """Train for some steps with dropout."""
    ids = tokenizer(TEXT * 3, add_special_tokens=False)["input_ids"][:24]
    rows = [{"input_ids": ids[shift:], "labels": ids[shift:]} for shift in (0, 1, 2)]
    rows = [{name: values[:20] for name, values in row.items()} for row in rows] * 4
    chosen = {"max_steps": 6, "learning_rate": 1e-2, "use_cpu": True, "report_to": "none", **changes}
    arguments = TrainingArguments(
        str(folder), per_device_train_batch_size=2, save_strategy="no", disable_tqdm=True, logging_steps=2,
        **chosen,
    )  # fmt: skip
    trainer = Trainer(
        model, arguments, train_dataset=rows, processing_class=tokenizer, data_collator=default_data_collator,
        callbacks=[] if callback is None else [callback],
    )  # fmt: skip
    trainer.train()
    return trainer


@pytest.mark.parametrize("bf16", [False, True])
def test_training_is_the_same_bit_for_bit_and_scores_are_of_the_checkpoint(model, tokenizer, tmp_path, bf16):
    plain = copy.deepcopy(model)
    train(plain, tokenizer, tmp_path, bf16=bf16)
    callback = DomainRankCallback(PAIRS, every=2, count=20)
    trainer = train(model, tokenizer, tmp_path, callback, bf16=bf16)
    for (name, weight), other in zip(plain.named_parameters(), model.parameters(), strict=True):
        assert torch.equal(weight, other), name
    points = callback.domain.points
    assert [point.step for point in points] == [0, 2, 4, 6]
    save_model(tmp_path / "saved", model.eval(), tokenizer)
    scores = fathom.score(tmp_path / "saved", callback.domain.pairs)
    assert scores.equals(points[-1].scores)
    assert not scores["rank"].equals(points[0].scores["rank"])
    history = [row for row in trainer.state.log_history if "domain_geometric_mean_rank" in row]
    assert [row["step"] for row in history] == [0, 2, 4, 6]
    assert history[-1]["domain_log_probability"] == pytest.approx(scores["log_probability"].mean())
    assert 0 < callback.share < 1


class Reporter(TrainerCallback):
    """Keeps what reaches the places that a Trainer reports to."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    def on_log(self, args, state, control, logs=None, **given):
        self.seen.append({**logs, "step": state.global_step})


def tune(
    folder: Path, tokenizer: Any, out: Path, callback: DomainRankCallback | None
) -> tuple[Any, Reporter]:
    """Tune adapters by TRL with gradient checkpointing and mixed precision."""
    trl = pytest.importorskip("trl", reason="TRL is not installed")
    from datasets import Dataset
    from peft import LoraConfig

    ids = tokenizer(TEXT * 3, add_special_tokens=False)["input_ids"][:30]
    rows = [{"input_ids": ids[at : at + 20], "labels": ids[at : at + 20]} for at in range(8)]
    arguments = trl.SFTConfig(
        str(out), max_steps=4, learning_rate=1e-1, use_cpu=True, report_to="none", save_strategy="no",
        per_device_train_batch_size=2, disable_tqdm=True, logging_steps=2, bf16=True,
        gradient_checkpointing=True,
    )  # fmt: skip
    adapter = LoraConfig(r=4, target_modules=["c_attn"], lora_dropout=0.1, task_type="CAUSAL_LM")
    torch.manual_seed(3)
    reporter = Reporter()
    trainer = trl.SFTTrainer(
        AutoModelForCausalLM.from_pretrained(folder), arguments, train_dataset=Dataset.from_list(rows),
        processing_class=tokenizer, peft_config=adapter, callbacks=[reporter],
    )  # fmt: skip
    if callback is not None:
        callback.attach(trainer)
    trainer.train()
    return trainer, reporter


def keep_own(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a Trainer logs by itself, without times."""
    return [{name: value for name, value in row.items() if not name.startswith("train_")}
            for row in rows if "domain_log_probability" not in row]  # fmt: skip


def test_trl_with_adapters_checkpointing_and_mixed_precision_does_not_notice(folder, tokenizer, tmp_path):
    plain, without = tune(folder, tokenizer, tmp_path, None)
    callback = DomainRankCallback(PAIRS, every=1, count=20)
    trainer, reporter = tune(folder, tokenizer, tmp_path, callback)
    weights = (each.model.named_parameters() for each in (plain, trainer))
    for (name, weight), (_, other) in zip(*weights, strict=True):
        assert torch.equal(weight, other), name
    # also where both log at one step: the loss, and TRL's means of the steps before
    assert keep_own(reporter.seen) == keep_own(without.seen)
    assert keep_own(trainer.state.log_history) == keep_own(plain.state.log_history)
    assert [row["step"] for row in reporter.seen if "loss" in row] == [2, 4]
    reported = [row["step"] for row in reporter.seen if "domain_log_probability" in row]
    assert reported == [0, 1, 2, 3, 4]
    trainer.save_model(str(tmp_path / "saved"))
    tokenizer.save_pretrained(tmp_path / "saved")
    first, last = (callback.domain.points[place].scores for place in (0, -1))
    scores = fathom.score(tmp_path / "saved", callback.domain.pairs)
    assert scores["rank"].equals(last["rank"]) and not last["rank"].equals(first["rank"])
    # a saved adapter is merged before it is scored
    assert (scores["log_probability"] - last["log_probability"]).abs().max() < 1e-5


TOGETHER = """
import os, sys
from pathlib import Path
import fathom
from fathom.models.folders import load_tokenizer
from tests.scoring.test_domain_rank import PAIRS, train
from transformers import AutoModelForCausalLM

folder, out = map(Path, sys.argv[1:])
first = os.environ["RANK"] == "0"

def run(callback):
    model = AutoModelForCausalLM.from_pretrained(folder)
    return model, train(model, load_tokenizer(folder), out, callback)

callback = fathom.DomainRankCallback(PAIRS, every=3, count=20)
(plain, _), (model, trainer) = run(None), run(callback)
assert trainer.args.world_size == 2 and type(trainer.model_wrapped).__name__ == "DistributedDataParallel"
assert all(bool((one == two).all()) for one, two in zip(plain.parameters(), model.parameters(), strict=True))
callback.domain.points[-1].scores.write_parquet(out / f"{os.environ['RANK']}.parquet")
# one that stopped alone would leave the other waiting
patience = 2 if first else 99
_, trainer = run(fathom.DomainRankCallback(PAIRS, every=1, count=9, patience=patience, min_change=0.99))
assert trainer.state.global_step == 2, trainer.state.global_step
if first:
    model.save_pretrained(out / "saved")
    load_tokenizer(folder).save_pretrained(out / "saved")
"""


def test_two_processes_measure_alike_and_stop_together(folder, tmp_path):
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "together.py").write_text(TOGETHER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def train_as(rank: str) -> None:  # what torchrun sets
        variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
        variables |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        variables["PYTHONPATH"] = f"{root / 'src'}:{root}"
        program = tmp_path / "together.py"
        run_program(program, folder, tmp_path, imports=MODELS, environment=variables)

    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(train_as, rank) for rank in "01"]
    assert [run.result() for run in runs] == [None, None]
    first, second = (pl.read_parquet(tmp_path / f"{rank}.parquet") for rank in (0, 1))
    assert first.equals(second)
    assert fathom.score(tmp_path / "saved", draw_pairs(complete_pairs(PAIRS), 20)).equals(first)


def test_divided_weights_are_refused_with_a_way_out(model, tokenizer, tmp_path):
    from torch import distributed
    from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        older = FullyShardedDataParallel(copy.deepcopy(model), device_id=torch.device("cpu"))
        newer = fully_shard(copy.deepcopy(model))
        for each in (newer, older, older.module):
            with refuses("FSDP", "fathom watch"):
                DomainRank(PAIRS, tokenizer, count=5).measure(each, 0)
    finally:
        distributed.destroy_process_group()
    next(model.parameters()).ds_id = 0  # as ZeRO-3 marks its parts
    with refuses("ZeRO-3", "fathom watch"):
        train(model, tokenizer, tmp_path, DomainRankCallback(PAIRS, count=5))


def test_a_plain_loop_is_bit_for_bit_the_same(model, tokenizer):
    ids = torch.tensor([tokenizer(TEXT * 2, add_special_tokens=False)["input_ids"][:20]])

    def run(model: Any, domain: DomainRank | None) -> list[float]:
        torch.manual_seed(1)
        optimizer, losses = torch.optim.AdamW(model.parameters(), 1e-2), []
        model.train()
        model.transformer.drop.eval()  # frozen
        for step in range(4):
            with torch.autocast("cpu", torch.bfloat16):  # measured inside, and between backward and step
                loss = model(input_ids=ids, labels=ids).loss
                loss.backward()
                if domain is not None:
                    domain(model, step)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        return losses

    plain, domain = copy.deepcopy(model), DomainRank(PAIRS, tokenizer, every=1, count=9)
    assert run(plain, None) == run(model, domain)
    assert all(torch.equal(*two) for two in zip(plain.parameters(), model.parameters(), strict=True))
    assert len(domain.points) == 4 and model.training and not model.transformer.drop.training
    assert model.config.use_cache == plain.config.use_cache
    first, *_, last = (point.as_log() for point in domain.points)
    assert last["domain_log_probability"] != first["domain_log_probability"]


def test_training_stops_once_the_rank_is_flat_and_says_so(model, tokenizer, tmp_path, caplog):
    logged: list[dict[str, float]] = []
    callback = DomainRankCallback(PAIRS, every=1, count=20, patience=3, log=logged.append)
    trainer = train(model, tokenizer, tmp_path, callback, learning_rate=0.0)
    assert trainer.state.global_step == 3
    assert "step 3: knowledge of the domain no longer grows" in caplog.text
    assert [point.improved for point in callback.domain.points] == [True, False, False, False]
    assert len(logged) == 4 and not any("domain" in key for row in trainer.state.log_history for key in row)


def follow_scores(monkeypatch: Any, domain: DomainRank, **columns: Any) -> list[DomainRankPoint]:
    """Return measurements of a domain for which a model has these scores, one row of each for each step."""
    same = {"rank": 1.0, "rival_rank": 2.0, "bits": 0.5, "log_probability": -1.0}
    frame = domain.pairs.with_columns(**{name: pl.lit(value) for name, value in same.items()})
    steps = len(next(iter(columns.values())))
    rows = [{name: pl.Series(values[step]) for name, values in columns.items()} for step in range(steps)]
    frames = [frame.with_columns(**each) for each in rows]
    monkeypatch.setattr(domain_rank, "leave_undisturbed", nullcontext)
    monkeypatch.setattr(domain_rank, "unwrap_model", lambda model: model)
    given = iter(frames)
    monkeypatch.setattr(domain_rank, "score_benchmarks", lambda *_: [next(given)])
    return [domain.measure(None, step) for step in range(steps)]


def test_early_stopping_follows_knowledge_and_not_the_rank(tokenizer, monkeypatch):
    count = len(PAIRS)
    base = np.linspace(0.0, 1.0, count)
    bits = [base, base + 0.5, base + 0.5]
    ranks = [np.full(count, rank) for rank in (100.0, 50.0, 25.0)]
    domain = DomainRank(PAIRS, tokenizer, patience=1)
    points = follow_scores(monkeypatch, domain, bits=bits, rank=ranks)
    assert [point.improved for point in points] == [True, True, False] and domain.flat
    assert points[1].change == pytest.approx((0.5, 0.5, 0.5))
    assert points[1].as_log()["domain_bits"] == pytest.approx(1.0)
    keywords = points[0].scores["keyword"].to_list()
    expected = summarize_values(base, keywords, Summary(), [MEAN.name], BITS.fitted_on)[MEAN.name]
    assert points[0].bits == expected, "the interval of summary.csv"
    domain = DomainRank(PAIRS, tokenizer, patience=1, lead="rank")
    points = follow_scores(monkeypatch, domain, bits=bits, rank=ranks)
    assert [point.improved for point in points] == [True, True, True] and not domain.flat
    with refuses("lead", "'bits' or 'rank'"):
        DomainRank(PAIRS, tokenizer, lead="probability")


def test_pairs_that_have_no_bits_go_by_rank(tokenizer, monkeypatch):
    pairs = PAIRS.with_columns(keyword=pl.lit(""), doc_id=pl.int_range(pl.len()).cast(pl.String))
    unknown = [np.full(len(pairs), np.nan)] * 2
    ranks = [np.full(len(pairs), rank) for rank in (100.0, 50.0)]
    points = follow_scores(monkeypatch, DomainRank(pairs, tokenizer), bits=unknown, rank=ranks)
    assert points[1].improved and points[1].bits is None and "domain_bits" not in points[1].as_log()


def test_only_a_proven_change_is_an_improvement(tokenizer, monkeypatch):
    def follow(*changes: Any) -> list[tuple[Any, bool]]:
        domain = DomainRank(PAIRS, tokenizer, patience=1, min_change=0.05, lead="rank")
        ranks = 100.0 + np.arange(len(PAIRS))
        points = follow_scores(monkeypatch, domain, rank=[ranks * change for change in (1.0, *changes)])
        return [(point.change, point.improved) for point in points]

    (first, proven), (same, still), (less, enough) = follow(1.0, 0.9)
    assert first == same == (0, 0, 0) and proven and not still
    assert less == pytest.approx((0.1, 0.1, 0.1)) and enough
    assert [improved for _, improved in follow(0.96)] == [True, False], "less than min_change"
    slow = [improved for _, improved in follow(0.96, 0.92, 0.88)]
    assert slow == [True, False, True, False], "small changes add up"
    one = np.where(np.array(draw_pairs(complete_pairs(PAIRS), 200)["keyword"]) == "k0", 0.01, 1.0)
    change, improved = follow(one)[1]
    assert change.value > 0.2 and not improved, "all of it on one keyword of five"

    alone = DomainRank(PAIRS, tokenizer, lead="rank")
    points = follow_scores(monkeypatch, alone, rank=[np.full(len(PAIRS), rank) for rank in (100.0, 99.9)])
    assert [point.improved for point in points] == [True, True]


def test_a_bos_token_comes_first_where_it_is_asked_for(model, tokenizer):
    nine = draw_pairs(complete_pairs(PAIRS), 9)
    found = [DomainRank(PAIRS, tokenizer, count=9, add_bos=each).measure(model, 0) for each in (True, None)]
    for point, add_bos in zip(found, (True, None), strict=True):
        assert point.scores.equals(score_pairs(model, tokenizer, nine, add_bos=add_bos))
    assert not found[0].scores.equals(found[1].scores)


def follow_training(callback: DomainRankCallback, model: Any, *steps: int) -> None:
    """Tell a callback of a training from the first of some steps to the last, where it stops."""
    state, control = SimpleNamespace(global_step=steps[0]), SimpleNamespace(should_training_stop=False)
    callback.on_train_begin(None, state, control, model=model)
    for step in steps[1:]:
        state.global_step, control.should_training_stop = step, step == steps[-1]
        callback.on_step_end(None, state, control, model=model)
    callback.on_train_end(None, state, control, model=model)


def test_a_resumed_training_is_measured_where_it_begins_and_where_it_ends(model, tokenizer):
    callback = DomainRankCallback(PAIRS, tokenizer, every=5, count=5, log=lambda found: None)
    follow_training(callback, model, *range(7, 12))
    assert [point.step for point in callback.domain.points] == [7, 10, 11]


@pytest.mark.parametrize(("last", "said"), [(100, 1), (200, 0)])
def test_expensive_measurements_are_said_once_at_the_third(model, tokenizer, last, said, monkeypatch, caplog):
    """One second each, of so many seconds up to the third."""
    clock = iter([0, 0, 1, 9, 10, last - 1, last, last, last + 1, 999])
    monkeypatch.setattr(domain_rank, "time", SimpleNamespace(perf_counter=lambda: float(next(clock))))
    callback = DomainRankCallback(PAIRS, tokenizer, every=1, count=5, log=lambda found: None)
    follow_training(callback, model, 0, 1, 2, 3)
    assert callback.share == pytest.approx(4 / (last + 1))
    told = [
        record.getMessage()
        for record in caplog.records
        if "measuring the domain takes" in record.getMessage()
    ]
    assert len(told) == said and all("3.0 %" in each for each in told)


def test_pairs_are_drawn_equally_from_keywords_whatever_their_order():
    pairs = complete_pairs(PAIRS)
    drawn = draw_pairs(pairs, 12)
    assert sorted(drawn["keyword"].value_counts()["count"]) == [2, 2, 2, 3, 3]
    assert drawn.equals(draw_pairs(pairs.sample(fraction=1, shuffle=True, seed=3), 12))
    assert set(draw_pairs(pairs, 7)["pair_id"]) < set(drawn["pair_id"])
    assert len(draw_pairs(pairs, 999)) == len(pairs)
    assert drawn.columns == pairs.columns


def test_pairs_without_keywords_are_drawn_alone(model, tokenizer):
    domain = DomainRank(PAIRS.drop("keyword"), tokenizer, count=15)
    low, high = domain.measure(model, 0).ranks["geometric_mean"][1:]
    assert low < high


def test_bad_input_gets_one_message_before_the_first_step(model, tokenizer, tmp_path):
    with refuses("pair"):
        DomainRankCallback([])
    with refuses("tokenizer"):
        DomainRankCallback(PAIRS).on_train_begin(None, None, None, model=model, processing_class=None)
    with refuses("target", "space"):
        DomainRank([{"prompt": "The agent", "target": "learns"}], tokenizer)
    with refuses("every = 0"):
        DomainRank(PAIRS, tokenizer, every=0)
    long = [{"prompt": "The agent learns " * 40 + "a", "target": " policy"}]
    callback = DomainRankCallback(long, tokenizer)
    with refuses("64"):
        train(model, tokenizer, tmp_path, callback)
    with pytest.raises(TypeError, match="evry"):
        DomainRankCallback(PAIRS, tokenizer, evry=3)


def test_the_examples_of_the_documentation_run_as_they_stand(folder, tmp_path, monkeypatch):
    page = Path(__file__).resolve().parents[2] / "docs" / "training-callback.md"
    first, second = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for path in ("gpt2", "results"):
        (tmp_path / path).symlink_to(folder.parent / path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "first.py").write_text(first, encoding="utf-8")
    names = runpy.run_path("first.py")
    steps = [point.step for point in names["callback"].domain.points]
    assert steps[:2] == [0, 10] and len(steps) > 2
    logged = [row for row in names["trainer"].state.log_history if "domain_geometric_mean_rank" in row]
    assert [row["step"] for row in logged] == steps
    (tmp_path / "second.py").write_text(second, encoding="utf-8")
    names = runpy.run_path("second.py", names)
    assert [point.step for point in names["domain"].points] == [0, 10, 20]
