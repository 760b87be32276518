"""What examples sum up to: known answers, and the same numbers as elsewhere in the house."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import trim_mean
from sklearn.metrics import matthews_corrcoef
from tests.refusals import refuses
from tests.scores import score_pairs
from tests.tuning.conftest import make_model, make_sentence

from fathom.config.scoring import Perplexity
from fathom.config.tuning import Lora
from fathom.scoring.perplexity import fit_windows, score_texts
from fathom.statistics.likelihood import sum_likelihoods
from fathom.statistics.metrics import METRICS
from fathom.tuning.examples import make_completions, make_questions
from fathom.tuning.task_scores import (
    Encoder,
    compute_score,
    compute_standard_error,
    evaluate_examples,
)

SETTINGS = Lora(dtype="float32")


def make_outcomes(value, weight=None, gold=None, chosen=None, keyword=None):
    count = len(value)
    return pl.DataFrame({
        "example_id": [str(place) for place in range(count)], "keyword": keyword or [""] * count,
        "value": [float(number) for number in value], "weight": weight or [1.0] * count,
        "gold": gold or [0] * count, "chosen": chosen or [0] * count,
    })  # fmt: skip


def test_completions_have_the_ranks_of_the_scorer(pairs, tokenizer):
    model = make_model("llama")
    examples = make_completions(pairs)
    encoder, metric = Encoder(model, tokenizer, SETTINGS), "trimmed_mean_rank"
    outcomes = evaluate_examples(model, examples, encoder, metric, 300)
    scores = score_pairs(model, tokenizer, pairs)
    joined = outcomes.join(scores, left_on="example_id", right_on="pair_id")
    assert len(joined) == len(pairs)
    assert joined["value"].to_list() == joined["rank"].to_list()
    assert compute_score(outcomes, "trimmed_mean_rank", 0.2) == pytest.approx(trim_mean(scores["rank"], 0.2))


def test_questions_are_answered_by_the_most_likely_option(pairs, tokenizer):
    model = make_model("gpt2")
    examples = make_questions(pairs, 3)
    encoder = Encoder(model, tokenizer, SETTINGS)
    found = {name: evaluate_examples(model, examples, encoder, name, 300) for name in ("acc", "acc_norm")}
    for row, plain, normed in zip(
        examples.iter_rows(named=True),
        found["acc"].iter_rows(named=True),
        found["acc_norm"].iter_rows(named=True),
        strict=True,
    ):
        options = pl.DataFrame({"prompt": row["prompts"], "target": row["targets"]})
        logs = score_pairs(model, tokenizer, options)["log_probability"].to_numpy()
        assert plain["chosen"] == logs.argmax()
        assert normed["chosen"] == (logs / [len(target) - 1 for target in row["targets"]]).argmax()
        assert plain["value"] == float(plain["chosen"] == row["gold"])
    assert not found["acc"]["chosen"].equals(found["acc_norm"]["chosen"])


def test_texts_have_the_bits_of_the_perplexity(tokenizer):
    model = make_model("gpt2")
    texts = pl.DataFrame({
        "doc_id": [str(place) for place in range(6)],
        "text": [make_sentence(place, 9) for place in range(6)],
    })  # fmt: skip
    examples = texts.select(
        example_id="doc_id", keyword=pl.lit(""), split=pl.lit("test"), prompts=pl.concat_list(pl.lit("")),
        targets=pl.concat_list("text"), gold=pl.lit(0, pl.Int32),
    )  # fmt: skip
    outcomes = evaluate_examples(model, examples, Encoder(model, tokenizer, SETTINGS), "bits_per_byte", 300)
    windows = fit_windows(model, Perplexity(window=64, stride=64))
    expected = sum_likelihoods(score_texts(model, tokenizer, texts, windows, 300)).bits_per_byte
    assert compute_score(outcomes, "bits_per_byte", 0.2) == pytest.approx(expected, rel=1e-6)


def test_a_long_text_is_predicted_whole_and_once(tokenizer):
    model = make_model("gpt2")
    text = " ".join(make_sentence(place, 12) for place in range(30))
    for bos in (False, True):
        encoder = Encoder(model, tokenizer, Lora(max_tokens=16), bos)
        pieces = encoder.encode_text(text)
        assert all(len(piece.ids) <= 16 and piece.start == 1 for piece in pieces)
        ids = tokenizer(text)["input_ids"]
        assert [token for piece in pieces for token in piece.ids[1:]] == ids[0 if bos else 1 :]


def test_a_long_prompt_loses_its_beginning_and_is_counted(tokenizer):
    model = make_model("gpt2")
    encoder = Encoder(model, tokenizer, Lora(max_tokens=12), True)
    prompt = make_sentence(3, 40)
    whole = Encoder(model, tokenizer, SETTINGS, True)
    with refuses("does not fit", "12"):
        encoder.encode(["model"], [" " + make_sentence(2, 30)])
    (pair,) = encoder.encode([prompt], [" reward"])
    ids = tokenizer(prompt + " reward")["input_ids"]
    assert len(pair.ids) == 12
    assert pair.ids == [tokenizer.bos_token_id, *ids[-11:]]
    assert tokenizer.decode(pair.ids[pair.start :]) == " reward"
    assert (encoder.cut, whole.cut) == (1, 0)


def test_answers_in_a_chat_template(tokenizer):
    model = make_model("gpt2")
    tokenizer.chat_template = (
        "<|end|>{% for message in messages %}[{{ message.role }}] {{ message.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}[assistant] {% endif %}"
    )
    try:
        (pair,) = Encoder(model, tokenizer, SETTINGS, True, chat=True).encode(["state a policy"], [" reward"])
    finally:
        tokenizer.chat_template = None
    assert tokenizer.decode(pair.ids) == "<|end|>[user] state a policy\n[assistant] reward"
    assert pair.ids.count(tokenizer.bos_token_id) == 1
    assert tokenizer.decode(pair.ids[pair.start :]) == "reward"
    with refuses("chat template"):
        Encoder(model, tokenizer, SETTINGS, True, chat=True).encode(["state a policy"], [" reward"])


def test_known_sums():
    assert compute_score(make_outcomes([1, 0, 1, 1]), "acc", 0.2) == 0.75
    assert compute_score(make_outcomes([1, 2, 3, 4, 100]), "trimmed_mean_rank", 0.2) == 3
    assert compute_score(make_outcomes([1, 2, 3, 4, 100]), "trimmed_mean_rank", 0.0) == 22
    assert compute_score(make_outcomes([10, 20], weight=[5.0, 10.0]), "bits_per_byte", 0.2) == 2
    gold, chosen = [0, 1, 1, 0, 1], [0, 1, 0, 0, 0]
    outcomes = make_outcomes([0] * 5, gold=gold, chosen=chosen)
    assert compute_score(outcomes, "mcc", 0.2) == pytest.approx(matthews_corrcoef(gold, chosen))
    assert METRICS["acc"].is_better(0.5, 0.4)
    assert METRICS["trimmed_mean_rank"].is_better(4, 5)
    assert not METRICS["bits_per_byte"].is_better(1.0, 1.0)


def test_the_standard_error_is_that_of_theory_and_grows_with_clusters():
    random = np.random.default_rng(0)
    value = (random.random(400) < 0.3).tolist()
    alone = compute_standard_error(make_outcomes(value), "acc", 0.2)
    assert alone == pytest.approx(math.sqrt(0.3 * 0.7 / 400), rel=0.15)
    groups = [place // 20 for place in range(400)]
    alike = make_outcomes([value[group] for group in groups], keyword=[str(group) for group in groups])
    assert compute_standard_error(alike, "acc", 0.2) > 2 * alone
    assert compute_standard_error(alike, "acc", 0.2) == compute_standard_error(alike, "acc", 0.2)


def test_the_standard_error_of_few_examples_is_not_too_small():
    values = [1.0, 2.0, 4.0, 5.0, 9.0]
    error = compute_standard_error(make_outcomes(values), "bits_per_byte", 0.2, rounds=4000)
    assert error == pytest.approx(np.std(values, ddof=1) / math.sqrt(5), rel=0.04)


def test_a_model_that_gives_no_finite_numbers_is_named(pairs, tokenizer):
    import torch

    model = make_model("gpt2")
    with torch.no_grad():
        model.transformer.ln_f.weight[:] = float("nan")
    with refuses("not finite"):
        evaluate_examples(
            model, make_completions(pairs), Encoder(model, tokenizer, SETTINGS), "trimmed_mean_rank", 300
        )
