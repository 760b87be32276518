"""The same pairs in EleutherAI's lm-evaluation-harness: the same log-probabilities, or it is shown who errs.

Runs where the harness is installed: it is among the locked requirements, and an extra of the package.
"""

import math
from typing import Any

import polars as pl
import pytest
import torch
from tests.encoding import encode_pair
from tests.scores import score_pairs
from tests.tiny import make_byte_tokenizer, make_config
from tests.tiny import make_model as make_tiny_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from fathom.benchmark.exported_tasks import export_task, name_task

lm_eval = pytest.importorskip("lm_eval", reason="the harness is not installed: pip install .[harness]")

SENTENCES = [
    "the agent learns a policy from reward in a world of states and actions",
    "deep networks learn a value function of states from samples of the policy",
    "a policy gradient follows the reward of an agent through many states",
    "samples from the world improve the value function and the policy of agents",
]


def sentence_piece(template: str) -> PreTrainedTokenizerFast:
    """Return a tokenizer like Llama-2's, with what it puts around a text."""
    core = Tokenizer(models.BPE(unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=60, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False)
    core.train_from_iterator(SENTENCES, trainer)
    core.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def make_model(name: str, tokenizer: Any) -> Any:
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return make_tiny_model(make_config(name, len(tokenizer), 128, initializer_range=0.3, **ends))


def make_pairs(*more: tuple[str, str]) -> pl.DataFrame:
    """Return pairs cut out of sentences, targets of one and two words, and further ones."""
    rows = list(more)
    for sentence in SENTENCES:
        words = sentence.split()
        for cut in (3, 6, 8):
            for size in (1, 2):
                rows.append((" ".join(words[:cut]), "".join(f" {word}" for word in words[cut : cut + size])))
    return pl.DataFrame([
        {"pair_id": f"p{number:02d}", "keyword": f"k{number % 5}", "prompt": prompt, "target": target}
        for number, (prompt, target) in enumerate(rows)
    ])  # fmt: skip


def ask_harness(model, tokenizer, pairs, folder, add_bos=None) -> tuple[list[float], Any]:
    """Return the log-probabilities and metrics that the harness gives on the exported task."""
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    export_task(pairs, "ai", "tf", "AI", folder)
    task = name_task("ai", "tf")
    found = lm_eval.simple_evaluate(
        model=HFLM(pretrained=model, tokenizer=tokenizer, batch_size=4, add_bos_token=add_bos), tasks=[task],
        task_manager=TaskManager(include_path=str(folder), include_defaults=False), bootstrap_iters=0,
    )  # fmt: skip
    samples = sorted(found["samples"][task], key=lambda sample: sample["doc"]["pair_id"])
    assert [sample["doc"]["pair_id"] for sample in samples] == pairs["pair_id"].to_list()
    return [sample["filtered_resps"][0][0] for sample in samples], found["results"][task]


def score_plainly(model: Any, ids: list[int], start: int) -> float:
    """Return the log-probability of tokens from `start` on, one at a time."""
    total = 0.0
    with torch.no_grad():
        for place in range(start, len(ids)):
            logits = model(torch.tensor([ids[:place]])).logits[0, -1].double()
            total += float(logits.log_softmax(0)[ids[place]])
    return total


@pytest.mark.parametrize("name", ["gpt2", "llama", "gemma2"])
def test_the_exported_task_gives_our_log_probabilities(name, tmp_path):
    tokenizer = make_byte_tokenizer(SENTENCES, 290) if name == "gpt2" else sentence_piece("<s> $A")
    model, pairs = make_model(name, tokenizer), make_pairs()
    ours = score_pairs(model, tokenizer, pairs)
    theirs, results = ask_harness(model, tokenizer, pairs, tmp_path / "task")
    assert not ours["backed_off"].any()
    assert (ours["log_probability"] - pl.Series(theirs)).abs().max() < 1e-4
    assert ours["tokens"].max() > 2 and ours["log_probability"].n_unique() > 20
    # right where every token is the most likely one; perplexity is over targets, whole
    assert results["acc,none"] == pytest.approx((ours["rank"] == 1).mean())
    assert results["perplexity,none"] == pytest.approx(math.exp(-ours["log_probability"].mean()), rel=1e-4)


def test_a_bos_token_that_the_tokenizer_forgets_is_missing_there(tmp_path):
    """Copies of tokenizers lose their BOS setting; Gemma fails without it. The table of models knows."""
    tokenizer, pairs = sentence_piece("$A"), make_pairs()
    model = make_model("gemma2", tokenizer)
    ours = score_pairs(model, tokenizer, pairs, add_bos=True)["log_probability"]
    without = score_pairs(model, tokenizer, pairs, add_bos=False)["log_probability"]
    for told in (None, True):  # its option asks the tokenizer, too
        theirs, _ = ask_harness(model, tokenizer, pairs, tmp_path / "task", told)
        assert (ours - pl.Series(theirs)).abs().min() > 1e-3
        assert (without - pl.Series(theirs)).abs().max() < 1e-4
    mended, _ = ask_harness(model, sentence_piece("<s> $A"), pairs, tmp_path / "task")
    assert (ours - pl.Series(mended)).abs().max() < 1e-4


def test_an_end_token_after_every_text_shifts_the_target_there(tmp_path):
    """Its context ends in the end token, and the target's first token is lost for it."""
    tokenizer, pairs = sentence_piece("<s> $A </s>"), make_pairs()
    model = make_model("llama", tokenizer)
    ours = score_pairs(model, tokenizer, pairs)["log_probability"]
    theirs, _ = ask_harness(model, tokenizer, pairs, tmp_path / "task")
    for pair, mine, other in zip(pairs.iter_rows(named=True), ours, theirs, strict=True):
        ids, start, _ = encode_pair(tokenizer, pair["prompt"], pair["target"])
        shifted = [*ids[:start], 2, *ids[start + 1 :], 2]
        assert mine == pytest.approx(score_plainly(model, ids, start), abs=1e-4)
        assert other == pytest.approx(score_plainly(model, shifted, start + 1), abs=1e-4)
        assert abs(mine - other) > 1e-3


def test_text_that_looks_like_an_end_token_ends_the_text_there(tmp_path):
    tokenizer = make_byte_tokenizer(SENTENCES, 290)
    model, pairs = make_model("gpt2", tokenizer), make_pairs(("the text <|end|> of the", " policy"))
    ours = score_pairs(model, tokenizer, pairs)["log_probability"]
    theirs, _ = ask_harness(model, tokenizer, pairs, tmp_path / "task")
    special = tokenizer("the text <|end|> of the policy")["input_ids"]
    ids, start, _ = encode_pair(tokenizer, "the text <|end|> of the", " policy")
    assert tokenizer.eos_token_id in special and tokenizer.eos_token_id not in ids
    more = len(ids) - len(special)
    assert theirs[0] == pytest.approx(score_plainly(model, special, start - more), abs=1e-4)
    assert ours[0] == pytest.approx(score_plainly(model, ids, start), abs=1e-4)
    assert abs(ours[0] - theirs[0]) > 1e-3
    assert (ours[1:] - pl.Series(theirs[1:])).abs().max() < 1e-4


def test_a_token_over_the_border_is_scored_in_part_there_and_marked_here(tmp_path):
    """`a` and ` b` are one token together: it scores `c` after `ca`, and the ` b` is lost."""
    core = Tokenizer(
        models.BPE({"a": 0, " ": 1, "b": 2, " b": 3, "a b": 4, "c": 5, "</s>": 6}, [(" ", "b"), ("a", " b")])
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, eos_token="</s>")
    model = make_model("gpt2", tokenizer)
    pairs = make_pairs(("ca", " bc"), ("cc", " bc"))[:2]
    ours = score_pairs(model, tokenizer, pairs)
    theirs, _ = ask_harness(model, tokenizer, pairs, tmp_path / "task")
    assert ours["backed_off"].to_list() == [True, False]
    assert ours["tokens"].to_list() == [2, 2]
    assert ours["log_probability"][0] == pytest.approx(score_plainly(model, [5, 4, 5], 1), abs=1e-4)
    assert theirs[0] == pytest.approx(score_plainly(model, [5, 0, 5], 2), abs=1e-4)
    assert ours["log_probability"][1] == pytest.approx(theirs[1], abs=1e-4)
    # and where nothing is left, it stops the whole run
    with pytest.raises(AssertionError):
        ask_harness(model, tokenizer, make_pairs(("ca", " b"))[:1], tmp_path / "task")
    assert score_pairs(model, tokenizer, make_pairs(("ca", " b"))[:1])["backed_off"].all()
