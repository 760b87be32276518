"""What jobs ask for follows from the model that they load, and on a retry from what ran out."""

from pathlib import Path

import pytest
from tests.refusals import refuses
from tests.tables import write_models

from fathom.config.whole import read_config
from fathom.errors import InputError
from fathom.jobs.resources import read_rates
from fathom.models.memory import Memory
from fathom.planning.model_memory import Card, choose_card, read_cards
from fathom.planning.needs import Needs

ROOT = Path(__file__).resolve().parents[2]
RATES = read_rates(ROOT / "config" / "rates.tsv")
CARDS = "h100:80000x8 a100:40000x4"
SMALL, LARGE = Card("a100", 40_000, 4), Card("h100", 80_000, 8)
VALUES = {"run": "x",
          "corpus": {"source": "docstrings", "packages": ["numpy"]},
          "domains": {"near": {"categories": ["numpy"]}},
          "pairs": {"tokenizer": "gpt2"},
          "models": {"score": ["Llama-3.2-1B", "Llama-2-7b", "Qwen2.5-14B"],
                     "adapt": [{"base": "Llama-3.2-1B", "paths": [["near"]], "sequence": 1024}],
                     "train": {"tiny": {"domain": "near"}}}}  # fmt: skip


class Wildcards(list[str]):
    """Stands for Snakemake's: values in order, the model by name."""

    @property
    def model(self) -> str:
        return self[-1]


def make_needs(folder, cards=CARDS, registry=ROOT / "config" / "models.tsv", limit=None, **changes):
    """Return the needs of a run with these settings in place of its own."""
    config = read_config({**VALUES, **changes}, "test")
    return Needs(config, registry, RATES, read_cards(cards), str(folder), limit)


def adapt(base, **more):
    """Return settings of models of which one is adapted."""
    entry = {"base": base, "paths": [["near"]], "sequence": 1024, **more}
    return {**VALUES["models"], "score": [], "adapt": [entry]}


def test_a_model_behind_a_server_needs_no_gpu(tmp_path):
    row = {"name": "far", "source": "http://host/v1#x", "original": "near", "parameters": "70000000000"}
    registry = write_models(tmp_path / "m.tsv", row, {"name": "near", "source": "org/near"})
    needs = make_needs(tmp_path, registry=registry, models={"score": ["far"]})
    needs.check()
    need = needs.find("score_model", "far")
    assert (need.gpus, need.gpu_mb, need.model) == (0, 0, None) and need.host_mb < 16_000


def test_cards_are_read_smallest_first():
    assert read_cards(CARDS) == [SMALL, LARGE]
    assert read_cards(None) == []
    with refuses("a100", "gpu_cards", "GPU"):
        read_cards("a100")


@pytest.mark.parametrize(
    ("divided", "whole", "several", "chosen"),
    [
        (20e9, 1e9, True, (SMALL, 1)),
        (60e9, 1e9, True, (LARGE, 1)),  # one large card rather than two small ones
        (60e9, 1e9, False, (LARGE, 1)),
        (100e9, 1e9, True, (LARGE, 2)),
        (100e9, 1e9, False, None),
        (900e9, 1e9, True, None),
        (1e9, 90e9, True, None),
    ],
)
def test_as_few_gpus_as_possible_and_then_the_smallest(divided, whole, several, chosen):
    assert choose_card(Memory({"a": divided}, {"b": whole}), [SMALL, LARGE], several) == chosen


def test_larger_models_get_larger_cards_and_more_time(tmp_path):
    needs = make_needs(tmp_path)
    assert needs.find("score_model", "Llama-3.2-1B").model == "a100"
    assert needs.find("score_model", "Llama-2-7b").model == "a100"
    assert needs.find("score_model", "Qwen2.5-14B").model == "h100"
    assert needs.find("tune_model", "Llama-2-7b").model == "a100"
    assert needs.find("measure_layers", "Qwen2.5-14B").model == "h100"
    trained = needs.find("train_model", "tiny")
    assert (trained.model, trained.gpus) == ("a100", 1)
    assert trained.gpu_mb < 2000
    assert trained.host_mb < 6000
    needs = make_needs(tmp_path)
    assert needs.find("adapt_model", "Llama-3.2-1B+near").minutes == 480
    needs = make_needs(tmp_path, train_before_test={"lora": {"epochs": 20}})
    assert needs.find("tune_model", "Qwen2.5-14B").minutes > needs.find("tune_model", "tiny").minutes == 720


def test_a_laptop_runs_the_small_models(tmp_path):
    needs = make_needs(tmp_path, cards=None)
    found = needs.find("score_model", "tiny")
    assert (found.model, found.gpus) == (None, 1)
    assert found.host_mb < 4000
    assert needs.find("train_model", "tiny").host_mb < 4000
    # without a GPU the model lies in host memory, in float32
    assert needs.find("score_model", "Llama-2-7b").host_mb > 27_000
    assert make_needs(tmp_path).find("score_model", "Llama-2-7b").host_mb < 16_000


@pytest.mark.parametrize("cards", ["", CARDS])
def test_host_memory_of_what_trains_follows_the_cap_of_its_text(tmp_path, cards):
    small, large = (
        make_needs(tmp_path, cards, models={**VALUES["models"], "max_characters": size}, lens={"steps": 5})
        for size in (10**6, 10**9)
    )
    more = large.text_mb - small.text_mb
    assert 8_000 < more < 11_000  # 8.6 bytes a character were measured: perf/studies/training_text.py
    read = {"adapt_model": "Llama-3.2-1B+near", "train_model": "tiny", "measure_layers": "Llama-3.2-1B"}
    for rule, model in read.items():
        assert large.find(rule, model).host_mb - small.find(rule, model).host_mb == more, rule
    assert large.find("score_model", "tiny").host_mb == small.find("score_model", "tiny").host_mb


@pytest.mark.parametrize(
    ("model", "card"), [("Llama-2-7b", "a100"), ("OLMo-2-1124-7B", "a100"), ("Qwen2.5-14B", "h100")]
)
def test_an_adapter_is_tuned_on_the_smallest_card_that_holds_it(tmp_path, model, card):
    found = make_needs(tmp_path).find("tune_model", model)
    assert (found.model, found.gpus) == (card, 1)


def test_a_micro_batch_holds_the_longest_example(tmp_path):
    lora = {"batch_tokens": 256, "max_tokens": 1024}
    needs = make_needs(tmp_path, train_before_test={"lora": lora})
    longest = make_needs(tmp_path, train_before_test={"lora": lora | {"batch_tokens": 1024}})
    assert needs.find("tune_model", "Llama-2-7b") == longest.find("tune_model", "Llama-2-7b")


def test_files_in_another_number_format_lie_in_host_memory_while_they_are_read(tmp_path):
    scored = {**VALUES["models"], "score": ["gpt2-xl"]}
    asked = {
        dtype: make_needs(tmp_path, None, models=scored, scoring={"dtype": dtype}).find(
            "score_model", "gpt2-xl"
        )
        for dtype in ("float32", "bfloat16")
    }
    # 6.2 GB in float32 and a GB of copies for the processor; 6.2 GB of files beside 3.1 GB in bfloat16
    assert 9_000 < asked["float32"].host_mb < 10_000
    assert 11_000 < asked["bfloat16"].host_mb < 12_000


def test_without_a_gpu_host_memory_is_for_the_whole_micro_batch(tmp_path):
    # on a GPU of 80 GB a micro-batch would be halved; a processor's memory gives no such chance
    needs = make_needs(tmp_path, None, models=adapt("Qwen2.5-14B", lora={}))
    found = needs.find("adapt_model", "Qwen2.5-14B+near")
    assert found.gpu_mb < 80_000 < found.host_mb


def test_scoring_on_processors_asks_for_no_gpu_and_training_still_does(tmp_path):
    for cards in (CARDS, None):
        needs = make_needs(tmp_path, cards, scoring={"device": "cpu"})
        for rule in ("score_model", "score_chat", "measure_layers", "answer_choices"):
            found = needs.find(rule, "Llama-2-7b")
            assert (found.gpus, found.gpu_mb, found.model) == (0, 0, None)
            assert found.host_mb > 27_000
            assert needs.find(rule, "unheard-of").gpus == 0
        for rule, model in (("tune_model", "tiny"), ("train_model", "tiny"),
                            ("adapt_model", "Llama-3.2-1B+near")):  # fmt: skip
            other = make_needs(tmp_path, cards).find(rule, model)
            assert needs.find(rule, model) == other
            assert other.gpus == 1


@pytest.fixture(scope="module")
def special(tmp_path_factory):
    """Return the needs of a run whose registry has a model as it is, quantised, and with adapters."""
    folder = tmp_path_factory.mktemp("registry")
    table = (ROOT / "config" / "models.tsv").read_text().splitlines()
    base = next(line for line in table if line.startswith("Llama-2-7b\t"))
    rest = base.partition("\t")[2]
    rows = [f"{name}\t{rest}\t\t{name}" for name in ("bitsandbytes-4bit", "bitsandbytes-8bit", "gptq", "fp8")]
    columns = [*table[0].split("\t"), "adapter_of", "quantization"]
    adapter = {"family": "llama-2", "kind": "base", "dtype": "float32", "adapter_of": "Llama-2-7b"}
    rows += ["\t".join({**adapter, "name": source, "source": source}.get(column, "") for column in columns)
             for source in ("lora", "here")]  # fmt: skip
    text = "\n".join([f"{table[0]}\tadapter_of\tquantization", f"{base}\t\t", *rows])
    (folder / "models.tsv").write_text(f"{text}\n")
    (folder / "here").mkdir()
    (folder / "here" / "adapter_model.safetensors").write_bytes(bytes(3_000_000))

    def make(cards):
        config = read_config(
            {**VALUES, "models": {"score": ["Llama-2-7b"]}, "scoring": {"dtype": "bfloat16"}}, "test"
        )
        return Needs(config, folder / "models.tsv", RATES, read_cards(cards), str(folder))

    return make


def test_quantised_weights_need_less(special):
    needs = special(CARDS)
    plain, four, eight, stored, unpacked = (
        needs.find("score_model", name)
        for name in ("Llama-2-7b", "bitsandbytes-4bit", "bitsandbytes-8bit", "gptq", "fp8")
    )
    # of 6.7 billion weights in 2 bytes 6.5 are in blocks; what is not weights stays
    assert plain.gpu_mb - four.gpu_mb == pytest.approx(1.08 * 6_476 * (2 - 0.5625), rel=0.01)
    assert plain.gpu_mb - eight.gpu_mb == pytest.approx(1.08 * 6_476, rel=0.01)
    assert stored == four and unpacked == plain
    assert needs.find_shape("gptq") == needs.find_shape("Llama-2-7b")
    assert four.host_mb == plain.host_mb, "files of weights are as large as before"
    small = special("t4:11000x1 a100:40000x4")
    assert (small.find("score_model", "Llama-2-7b").model, small.find("score_model", "gptq").model) == (
        "a100",
        "t4",
    )
    assert (
        special(None).find("score_model", "gptq").host_mb
        < special(None).find("score_model", "Llama-2-7b").host_mb
    )


def test_an_adapter_needs_its_base_and_itself(special):
    needs = special(CARDS)
    plain, unknown, known = (needs.find("score_model", name) for name in ("Llama-2-7b", "lora", "here"))
    assert needs.find_shape("here") == needs.find_shape("Llama-2-7b")
    merging = 1.08 * 8 * 4096 * 11008 / 1e6
    assert known.gpu_mb - plain.gpu_mb == pytest.approx(merging + 1.08 * 3, abs=2)
    assert unknown.gpu_mb - known.gpu_mb > 500
    assert (
        special(None).find("score_model", "here").host_mb
        > special(None).find("score_model", "Llama-2-7b").host_mb
    )


def test_a_model_of_unknown_size_gets_one_gpu(tmp_path):
    found = make_needs(tmp_path).find("score_model", "unheard-of")
    assert (found.gpus, found.model, found.host_mb) == (1, None, 16_000)


def test_a_retry_gets_more_of_what_ran_out(tmp_path):
    needs = make_needs(tmp_path)
    log = tmp_path / "logs" / "score_model" / "Llama-2-7b.log"
    log.parent.mkdir(parents=True)
    wildcards = Wildcards(["Llama-2-7b"])

    def ask(attempt):
        found = {name: needs.of("score_model", name)(wildcards, attempt)
                 for name in ("host_mb", "model", "gpu_mb")}  # fmt: skip
        return found["host_mb"], found["model"], found["gpu_mb"]

    host, model, gpu = ask(1)
    assert model == "a100"
    log.write_text(
        "[score_model] Error: scoring: a single pair does not fit into GPU memory\nHint: use a larger GPU\n"
    )
    second = ask(2)
    assert second[0] == host
    assert second[1] == "h100"
    assert second[2] > 1.7 * gpu
    log.write_text("[score_model] 100 pairs\n")  # killed: no message, and the first attempt's log is gone
    third = ask(3)
    assert third == (2 * host, "h100", second[2])


def test_a_fetched_model_says_itself_how_large_it_is(tmp_path):
    folder = tmp_path / "models" / "gpt2"
    (folder / "weights").mkdir(parents=True)
    (folder / "model.json").write_text('{"name": "gpt2", "path": "weights"}')
    (folder / "weights" / "config.json").write_text(
        '{"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 2, "vocab_size": 100}'
    )
    assert make_needs(tmp_path).find_shape("gpt2").layers == 2


def test_a_model_that_fits_no_gpus_is_refused_with_how_many_would_do(tmp_path):
    with refuses("'Qwen2.5-14B'", "3 GPUs of t4", "scoring.dtype: bfloat16"):
        make_needs(tmp_path, "t4:24000x2").check()
    make_needs(tmp_path, "t4:24000x4").check()
    make_needs(tmp_path, None).check()


HINT = r"lora in its entry of models.adapt: \{dtype: bfloat16\} trains an adapter in 1\d+ GB; several GPUs"


@pytest.mark.parametrize(
    ("base", "lora", "message"),
    [
        (
            "Llama-2-7b",
            None,
            rf"all weights of 'Llama-2-7b\+near' needs 1\d\d GB on one GPU; h100 has 80\nHint: {HINT}",
        ),
        ("OLMo-2-1124-7B", None, r"training all weights of 'OLMo-2-1124-7B\+near' needs 1\d\d GB"),
        (
            "huge",
            {},
            rf"training an adapter of 'huge\+near' needs 3\d\d GB on one GPU; h100 has 80\nHint: {HINT}",
        ),
        (
            "huge",
            {"dtype": "bfloat16"},
            r"an adapter of 'huge\+near' needs 1\d\d GB .*\nHint: several GPUs share",
        ),
        ("OLMo-2-1124-7B", {"dtype": "bfloat16"}, None),
        ("Qwen2.5-14B", {}, None),  # with smaller micro-batches
    ],
)
def test_training_that_fits_no_gpu_is_refused_with_what_an_adapter_takes(tmp_path, base, lora, message):
    registry = tmp_path / "models.tsv"
    lines = (ROOT / "config" / "models.tsv").read_text().splitlines()
    huge = {"name": "huge", "family": "llama-2", "source": "owner/huge", "kind": "base", "dtype": "float32"}
    huge["parameters"] = "69000000000"
    row = "\t".join(huge.get(column, "") for column in lines[0].split("\t"))
    registry.write_text("\n".join([*lines, row, ""]))
    needs = make_needs(tmp_path, registry=registry, models=adapt(base, lora=lora))
    if message is None:
        needs.check()
        return
    with pytest.raises(InputError, match=message):
        needs.check()


def test_a_model_that_cannot_be_tuned_is_refused(tmp_path):
    tasks = {"choice": {"kind": "choice", "domain": "near"}}
    models = {**VALUES["models"], "score": ["Qwen2.5-14B"], "adapt": []}
    make_needs(tmp_path, models=models, train_before_test={"tasks": tasks}).check()
    with refuses("'Qwen2.5-14B'", "a10 has 24"):
        make_needs(tmp_path, "a10:24000x4", models=models, train_before_test={"tasks": tasks}).check()
    # it can be scored there
    make_needs(tmp_path, "a10:24000x4", models=models).check()
