"""Where a target starts: byte-level BPE, SentencePiece-like tokenizers, BOS, and what cannot be encoded."""

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.encoding import encode_pair
from tests.refusals import refuses
from tests.tiny import make_byte_tokenizer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

from fathom.errors import InputError
from fathom.jobs import bounded_calls
from fathom.models.tokens import (
    CHAT_REQUEST,
    EncodedPair,
    encode_chat_prefix,
    encode_pairs,
    encode_texts,
    render_chat_prompt,
    show_vocabulary,
    uses_bos,
)

TEXT = ["the agent learns a policy from reward", "deep networks learn a value function", "states and actions"]


def unigram() -> Tokenizer:
    core = Tokenizer(models.Unigram())
    core.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=80, special_tokens=["<s>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
    )
    core.train_from_iterator(TEXT, trainer)
    return core


def wrap(core: Tokenizer, add_bos: bool) -> PreTrainedTokenizerFast:
    core = Tokenizer.from_str(core.to_str())
    if add_bos:
        core.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", core.token_to_id("<s>"))]
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def sentence_piece() -> Tokenizer:
    """Return a core like Llama-2's: BPE, a blank before the text, blanks as marks, bytes for the rest."""
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=120, special_tokens=["<unk>", "<s>"], show_progress=False)
    core.train_from_iterator(TEXT, trainer)
    values = json.loads(core.to_str())["model"]
    for byte in range(256):
        values["vocab"][f"<0x{byte:02X}>"] = len(values["vocab"])
    core = Tokenizer(
        models.BPE(
            values["vocab"], [tuple(pair) for pair in values["merges"]],
            unk_token="<unk>", byte_fallback=True, fuse_unk=True,
        )
    )  # fmt: skip
    core.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    core.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return core


def word_piece() -> PreTrainedTokenizerFast:
    """Return a tokenizer like BERT's: no blanks, no BOS token, words in lower case."""
    core = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer()
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(
        vocab_size=120, special_tokens=["[UNK]", "[CLS]", "[SEP]"], show_progress=False
    )
    core.train_from_iterator(TEXT, trainer)
    core.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def merging() -> PreTrainedTokenizerFast:
    """Return a tokenizer without word borders: `a` and ` b` become one token when they meet."""
    core = Tokenizer(
        models.BPE({"a": 0, " ": 1, "b": 2, " b": 3, "a b": 4, "c": 5}, [(" ", "b"), ("a", " b")])
    )
    return PreTrainedTokenizerFast(tokenizer_object=core)


SHARED = unigram()
BPE, UNIGRAM, UNIGRAM_BOS = make_byte_tokenizer(TEXT, 300), wrap(SHARED, False), wrap(SHARED, True)
PIECES = sentence_piece()
LLAMA, LLAMA_BOS, WORDPIECE = wrap(PIECES, False), wrap(PIECES, True), word_piece()
KINDS = {
    "byte-level": BPE, "unigram": UNIGRAM, "unigram-bos": UNIGRAM_BOS, "sentencepiece": LLAMA,
    "sentencepiece-bos": LLAMA_BOS, "wordpiece": WORDPIECE,
}  # fmt: skip
LOSSLESS = (BPE, LLAMA, LLAMA_BOS)


def test_the_table_of_models_overrules_the_tokenizer():
    assert encode_pair(UNIGRAM, "the agent", " learns", add_bos=True).ids[0] == 0
    assert 0 not in encode_pair(UNIGRAM_BOS, "the agent", " learns", add_bos=False).ids
    assert uses_bos(UNIGRAM_BOS)
    assert not uses_bos(UNIGRAM)
    assert not uses_bos(BPE)


def test_a_special_token_in_the_text_is_text():
    assert BPE.bos_token_id not in encode_pair(BPE, "before <|end|>", " learns").ids
    assert BPE.decode(encode_pair(BPE, "before <|end|>", " learns").ids) == "before <|end|> learns"


def test_what_merges_over_the_border_is_backed_off_and_marked():
    assert encode_pair(merging(), "ca", " b") == EncodedPair([5, 4], 1, True)
    assert encode_pair(merging(), "ca", " c") == EncodedPair([5, 0, 1, 5], 2, False)


def test_backing_off_to_nothing_needs_a_context_token():
    with refuses("BOS"):
        encode_pair(merging(), "a", " b")
    tokenizer = merging()
    tokenizer.add_special_tokens({"eos_token": "</s>"})
    assert encode_pair(tokenizer, "a", " b") == EncodedPair([6, 4], 1, True)


@pytest.mark.parametrize(("prompt", "target", "message"), [
    ("", " cat", "the prompt is empty"),
    (" \n", " cat", "the prompt is empty"),
    ("the", "", "the target is empty"),
    ("the", " ", "the target is empty"),
    ("the ", " cat", "the prompt ends in a space"),
    ("the", "cat", "the target does not start with one space"),
    ("the", "  cat", "the target does not start with one space"),
])  # fmt: skip
def test_texts_that_are_refused(prompt, target, message):
    with refuses(message, "Hint"):
        encode_pair(BPE, prompt, target)


def test_a_bos_that_does_not_exist_is_an_error():
    with refuses("tokenizer", "none"):
        encode_pair(merging(), "ca", " c", add_bos=True)


def test_a_target_without_tokens_is_an_error():
    core = Tokenizer(models.WordLevel({"the": 0, "<unk>": 1}, unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.normalizer = normalizers.Replace("dog", "")
    with refuses("target", "token"):
        encode_pair(PreTrainedTokenizerFast(tokenizer_object=core), "the", " dog")


def test_no_token_of_its_own_after_backing_off():
    core = Tokenizer(models.BPE({"a": 0, "c": 1, " ": 2, "b": 3}, []))
    core.normalizer = normalizers.Replace("c b", "")
    with refuses("target", "token", "' b'"):
        encode_pair(PreTrainedTokenizerFast(tokenizer_object=core), "ac", " b")


def test_a_tokenizer_without_blanks_starts_a_word():
    found = encode_pair(WORDPIECE, "The agent", " learns a value")
    assert WORDPIECE.convert_ids_to_tokens(found.ids) == ["the", "agent", "learns", "a", "value"]
    assert found.start == 2
    assert not found.backed_off
    with refuses("tokenizer", "none"):
        encode_pair(WORDPIECE, "the agent", " learns", add_bos=True)


# as Llama-2 and Mistral have it, and as ChatML has it
TEMPLATES = {
    "bos-inside": "{{ bos_token }}{% for m in messages %}[INST] {{ m['content'] }} [/INST]{% endfor %}",
    "no-bos": "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}",
    "day": "{% if not date_string is defined %}{{ raise_exception('no day') }}{% endif %}{{ date_string }}",
}


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("add_bos", [None, True, False])
@pytest.mark.parametrize("core", [LLAMA, LLAMA_BOS], ids=["plain", "adds-bos"])
def test_inside_a_chat_template_a_pair_keeps_its_tokens_and_gets_one_bos(core, template, add_bos):
    tokenizer = copy.deepcopy(core)
    tokenizer.chat_template = TEMPLATES[template]
    prefix = encode_chat_prefix(tokenizer, add_bos)
    (found,) = encode_pairs(tokenizer, ["the agent"], [" learns"], add_bos, prefix)
    alone = encode_pair(tokenizer, "the agent", " learns", add_bos=False)
    assert found.ids == [*prefix, *alone.ids] and found.start == len(prefix) + alone.start
    wanted = template == "bos-inside" or uses_bos(tokenizer, add_bos)
    assert found.ids.count(tokenizer.bos_token_id) == wanted
    assert not wanted or found.ids[0] == tokenizer.bos_token_id
    text = tokenizer.decode(prefix)
    assert template == "day" or CHAT_REQUEST in text
    assert text.strip().endswith({"bos-inside": "[/INST]", "no-bos": "assistant:", "day": "2024"}[template])


# as gpt-oss asks from a macro, Granite in an expression, Llama by a default, Mistral in a condition
DATES = {
    "{% macro head() %}{{ 'Date: ' + strftime_now('%Y-%m-%d') }}{% endmacro %}{{ head() }}": "2024-07-26",
    "{%- set s = 'Today: ' + strftime_now('%B %d, %Y') + '.' %}{{ s }}": "July 26, 2024.",
    "{{ date_string | default(strftime_now('%d %b %Y')) }}": "26 Jul 2024",
    "{% if strftime_now is defined %}{% set d = strftime_now('%A') %}{{ d }}{% endif %}": "Friday",
    "{{ strftime_now('100%%, %-d.%-m.%y %H:%M:%S %Z') }}": "100%, 26.7.24 00:00:00 UTC",
}


@pytest.mark.parametrize("template", DATES)
def test_today_never_enters_a_chat(template):
    tokenizer = copy.deepcopy(LLAMA)
    tokenizer.chat_template = template + "{% for m in messages %}|{{ m['content'] }}{% endfor %}"
    head, _, rest = render_chat_prompt(tokenizer, "x", "y").partition("|")
    assert head.endswith(DATES[template]) and rest == "y|x"


@pytest.mark.parametrize("template", ["{{ range(10 ** 5) | random }}", "{{ lipsum(n=1) }}"])
def test_a_chat_does_not_depend_on_chance(template):
    tokenizer = copy.deepcopy(LLAMA)
    tokenizer.chat_template = template + "{{ messages[0]['content'] }}"
    random.seed(7)
    next_number = random.random()
    random.seed(7)
    found = {render_chat_prompt(tokenizer, "x") for _ in range(3)}
    assert len(found) == 1 and random.random() == next_number
    random.seed(8)
    assert render_chat_prompt(tokenizer, "x") in found


def test_of_several_chat_templates_the_default_is_filled():
    tokenizer = copy.deepcopy(LLAMA)
    tokenizer.chat_template = {"default": "d{{ strftime_now('%Y') }}", "tool_use": "t"}
    assert render_chat_prompt(tokenizer, "x") == "d2024"


def test_a_tokenizer_without_a_chat_template_is_an_error():
    with refuses("tokenizer", "template"):
        encode_chat_prefix(LLAMA)


@pytest.mark.parametrize(("template", "reason"), [
    ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "does not end"),
    ("{{ 10 ** (10 ** 9) }}", "does not end"),
    ("{{ ('a' * 10 ** 10) | length }}", "too much memory"),
    ("{% for %}", "Expected an expression"),
    ("{{ 1 // 0 }}", "zero"),
    ("{{ messages[7].content.text }}", "no element 7"),
])  # fmt: skip
def test_a_template_that_cannot_be_rendered_is_one_message(monkeypatch, template, reason):
    tokenizer = copy.deepcopy(LLAMA)
    tokenizer.chat_template = template
    with monkeypatch.context() as patch:
        if reason == "does not end":
            patch.setattr(bounded_calls, "TEMPLATE_SECONDS", 0.2)
        for system in ("", "Be brief."):
            with refuses("chat template", reason):
                encode_chat_prefix(tokenizer, system=system)
    tokenizer.chat_template = TEMPLATES["no-bos"]
    assert encode_chat_prefix(tokenizer)  # neither time nor memory stay bounded


def test_what_the_text_brings_is_no_bos_to_drop_after_a_template():
    tokenizer = merging()
    (found,) = encode_pairs(tokenizer, ["c"], [" c"], prefix=[5, 0])
    assert found == EncodedPair([5, 0, 5, 1, 5], 3, False)


# any character, but the mark that stands for a blank in SentencePiece's own alphabet
characters = st.characters(exclude_categories=["Cs"], exclude_characters="▁")
words = st.text(characters, min_size=1, max_size=12).filter(lambda text: text.strip() == text != "")


@settings(max_examples=150)
@given(prompt=words, target=words, add_bos=st.sampled_from([None, True, False]))
@pytest.mark.parametrize("name", KINDS)
def test_any_text_keeps_the_invariants(name, prompt, target, add_bos):
    assume(name != "wordpiece" or not add_bos)
    check_invariants(KINDS[name], KINDS[name] in LOSSLESS, prompt, target, add_bos)


@pytest.mark.parametrize("name", ["gpt2", "llama2"])
def test_any_text_keeps_the_invariants_of_real_tokenizers(shared, name):
    tokenizer = AutoTokenizer.from_pretrained(shared / "tokenizers" / name, local_files_only=True)

    @settings(max_examples=150)
    @given(prompt=words, target=words, add_bos=st.sampled_from([None, True, False]))
    def check(prompt: str, target: str, add_bos: bool | None) -> None:
        check_invariants(tokenizer, True, prompt, target, add_bos)

    check()


def check_invariants(tokenizer: Any, lossless: bool, prompt: str, target: str, add_bos: bool | None) -> None:
    plain = encode_texts(tokenizer, [prompt + " " + target])[0]
    head = encode_texts(tokenizer, [prompt])[0]
    try:
        found = encode_pair(tokenizer, prompt, " " + target, add_bos)
    except InputError as error:
        # these tokenizers take out characters that say nothing to them
        assert not lossless
        own = plain[: len(head)] != head or len(plain) > len(head)
        assert ("no token of its own" in error.what and not own) or "no BOS token" in error.what
        return
    assert 1 <= found.start < len(found.ids)
    added = len(found.ids) - len(plain)
    assert added in (0, 1)
    assert found.ids[added:] == plain
    assert found.backed_off == (plain[: len(head)] != head)
    assert found.ids[added : found.start] == head[: found.start - added]
    if not found.backed_off:
        assert found.start == added + len(head)
    if uses_bos(tokenizer, add_bos):
        assert added == 1
        assert found.ids[0] == tokenizer.bos_token_id
    if lossless:
        whole, before = (
            tokenizer.decode(ids, clean_up_tokenization_spaces=False)
            for ids in (plain, found.ids[added : found.start])
        )
        assert whole == prompt + " " + target
        assert found.backed_off or before == prompt


def test_a_batch_is_like_one_at_a_time():
    prompts, targets = ["the agent", "deep"], [" learns", " networks learn"]
    pairs = list(zip(prompts, targets, strict=True))
    assert encode_pairs(BPE, prompts, targets) == [encode_pair(BPE, *pair) for pair in pairs]


@pytest.mark.parametrize("name", ["gpt2", "llama2"])
def test_real_tokenizers(shared, name):
    tokenizer = AutoTokenizer.from_pretrained(shared / "tokenizers" / name, local_files_only=True)
    add_bos = True if name == "llama2" else None
    for target in [" replay", " convolutional", " naïve", " 策略", " Q-learning"]:
        found = encode_pair(tokenizer, "Reinforcement learning uses an experience", target, add_bos)
        assert not found.backed_off
        assert tokenizer.decode(found.ids[found.start :]).strip() == target.strip()
        assert (found.ids[0] == tokenizer.bos_token_id) == (name == "llama2")
        pieces = tokenizer.convert_ids_to_tokens(found.ids[found.start :])
        assert pieces[0].startswith(("Ġ", "▁"))  # the blank is neither lost nor doubled
        assert pieces[0] not in ("Ġ", "▁") or target == " 策略"


def test_tokens_are_shown_with_blanks_and_parts_of_characters_as_bytes():
    names = ["Ġnet", "the", "Ċ", "â", "âĢ", "âĢľ", "lÃ©t", "lÃ", "ï¿½"]
    core = Tokenizer(models.BPE({name: place for place, name in enumerate(names)}, []))
    core.decoder = decoders.ByteLevel()
    assert show_vocabulary(PreTrainedTokenizerFast(tokenizer_object=core)) == [
        "␣net", "the", "\\n", "<0xE2>", "<0xE2><0x80>", "“", "lét", "l<0xC3>", "\ufffd",
    ]  # fmt: skip
    names = ["▁net", "the", "<0xE2>", "<0x0A>", "�"]
    core = Tokenizer(models.BPE({name: place for place, name in enumerate(names)}, [], byte_fallback=True))
    core.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    shown = ["␣net", "the", "<0xE2>", "\\n", "\ufffd"]
    assert show_vocabulary(PreTrainedTokenizerFast(tokenizer_object=core)) == shown
    core = Tokenizer(models.BPE({"▁net": 0, "▁": 1}, []))
    core.decoder = decoders.Metaspace()  # drops the first blank of a text, even if there is nothing else
    assert show_vocabulary(PreTrainedTokenizerFast(tokenizer_object=core)) == ["net", "␣"]
