"""Log-probabilities of letters and greedy decoding, against the model's own logits."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.answering.conftest import CAPITALS, make_item
from tests.refusals import refuses

from fathom.answering.answerer import ModelAnswerer, _generate_batch, ask_items
from fathom.answering.prompts import EXAM, Style, make_prompt, spell_letters
from fathom.config.scoring import Scoring
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel

STYLE = Style("Answer with a letter.", "About {subject}:\n{question}")


def _prompts(shots: int = 0):
    items = [make_item(country) for country in CAPITALS]
    items = [item._replace(examples=tuple(items[:shots])) for item in items]
    return items, [make_prompt(item, head=EXAM) for item in items]


def _next(opened, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        return opened.model(torch.tensor([ids])).logits[0, -1].double().log_softmax(0)


def _write(opened, ids: list[int], tokens: int) -> str:
    """Decode greedily, token by token."""
    written: list[int] = []
    for _ in range(tokens):
        token = int(_next(opened, [*ids, *written]).argmax())
        if opened.tokenizer.convert_ids_to_tokens(token) in ("<|end|>", "<|turn|>"):
            break
        written.append(token)
    return opened.tokenizer.decode(written, skip_special_tokens=True)


def test_letters_of_plain_text_have_the_models_own_log_probabilities(plain):
    items, prompts = _prompts(shots=1)
    found = ModelAnswerer(plain).score(prompts, [spell_letters(item) for item in items])
    for prompt, logs in zip(prompts, found, strict=True):
        ids = plain.tokenizer(prompt.render(chat=False), add_special_tokens=False)["input_ids"]
        expected = _next(plain, ids)
        letters = [plain.tokenizer.convert_tokens_to_ids(f"Ġ{letter}") for letter in "ABCD"]
        assert None not in letters
        assert logs == pytest.approx(expected[letters].numpy(), abs=1e-5)


def test_letters_of_a_chat_count_with_and_without_a_blank(chat):
    item = make_item("Italy")
    prompt = make_prompt(item, STYLE)
    (logs,) = ModelAnswerer(chat).score([prompt], [spell_letters(item)])
    text = (
        "<|start|>system\nAnswer with a letter.<|turn|>\n<|start|>user\nAbout geography:\n"
        f"{item.question}\nA. {item.options[0]}\nB. {item.options[1]}\nC. {item.options[2]}\n"
        f"D. {item.options[3]}<|turn|>\n<|start|>assistant\n"
    )
    expected = _next(chat, chat.tokenizer(text, add_special_tokens=False)["input_ids"])
    for letter, log in zip("ABCD", logs, strict=True):
        both = [chat.tokenizer.convert_tokens_to_ids(name) for name in (letter, f"Ġ{letter}")]
        assert log == pytest.approx(float(torch.logsumexp(expected[both], 0)), abs=1e-5)


def test_what_is_written_is_greedy_whatever_the_batch_and_the_models_settings(plain, chat):
    _, prompts = _prompts()
    answerer = ModelAnswerer(plain)
    written = answerer.generate(prompts, 6)
    assert written == answerer.generate(prompts[::-1], 6)[::-1]
    assert written == [answerer.generate([prompt], 6)[0] for prompt in prompts]
    ids = [plain.tokenizer(prompt.render(chat=False), add_special_tokens=False)["input_ids"]
           for prompt in prompts]  # fmt: skip
    assert written == [_write(plain, each, 6) for each in ids]
    assert len({len(each) for each in ids}) > 1, "nothing was padded"
    assert plain.model.generation_config.do_sample, "the model's own settings are gone"
    end = written[0][2]
    assert answerer.generate(prompts[:1], 6, until=end) == [written[0].partition(end)[0]]
    asked = make_prompt(make_item("Spain"), STYLE)
    text = chat.tokenizer.apply_chat_template(
        [{"role": "system", "content": asked.system}, {"role": "user", "content": asked.question}],
        add_generation_prompt=True, tokenize=False,
    )  # fmt: skip
    ids = [chat.tokenizer(text, add_special_tokens=False)["input_ids"]]
    assert ModelAnswerer(chat).generate([asked], 6) == [_write(chat, ids[0], 6)]


def test_a_batch_that_does_not_fit_a_gpu_is_halved(plain, monkeypatch):
    _, prompts = _prompts()
    answerer, write, sizes = ModelAnswerer(plain), _generate_batch, []
    expected = answerer.generate(prompts, 6)

    def fill_memory(opened, batch, until):
        sizes.append(len(batch))
        if len(batch) > 1 or until == "full":
            raise torch.cuda.OutOfMemoryError("no memory")
        return write(opened, batch, until)

    monkeypatch.setattr("fathom.answering.answerer._generate_batch", fill_memory)
    assert answerer.generate(prompts, 6) == expected
    assert max(sizes) > 1
    with refuses("GPU"):
        answerer.generate(prompts, 6, until="full")


def test_a_long_prompt_loses_its_last_examples_then_its_beginning_and_both_are_counted(plain):
    items, prompts = _prompts(shots=4)
    answerer = ModelAnswerer(plain)
    fitted = answerer.fit(prompts)
    assert all(0 < len(each.prompt.examples) < 4 and each.cut == 0 for each in fitted)
    assert fitted[0].prompt.examples == prompts[0].examples[: len(fitted[0].prompt.examples)]
    longest = items[0]._replace(question="How? " * 200, examples=())
    answers = ask_items(answerer, [longest, items[1]], [make_prompt(longest), prompts[1]])
    assert answers["shots"].to_list() == [0, len(fitted[1].prompt.examples)] * 2
    assert answers["cut"][0] > 0
    assert answers["cut"][1] == 0
    assert answers["way"].to_list() == ["letter", "letter", "text", "text"]
    assert [len(logs) for logs in answers["log_probabilities"]] == [4, 4, 0, 0]
    with refuses("context"):
        answerer.score([make_prompt(longest)], [[" " + "word " * 200]])


def test_answers_do_not_depend_on_the_order_of_questions(plain):
    items, prompts = _prompts()
    answerer = ModelAnswerer(plain)
    there = answerer.score(prompts, [spell_letters(item) for item in items])
    back = answerer.score(prompts[::-1], [spell_letters(item) for item in items[::-1]])
    assert np.array_equal(there, back[::-1])


def test_a_template_that_refuses_a_system_message_has_it_in_the_users(folder):
    opened = OpenModel(Pointer("other", folder, chat_template=True), Scoring(device="cpu"))
    template = opened.tokenizer.chat_template
    silent = template.replace("{% for m in messages %}", "{% for m in messages if m['role'] != 'system' %}")
    refusing = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        + template
    )
    texts = []
    for each in (silent, refusing):
        opened.tokenizer.chat_template = each
        prompt = make_prompt(make_item("France"), STYLE)
        joined = prompt._replace(system="", question=f"{prompt.system}\n\n{prompt.question}")
        found = [ModelAnswerer(opened).score([one], [[" A", " B"]])[0].tolist() for one in (prompt, joined)]
        assert found[0] == found[1]
        texts.append(found[0])
    assert texts[0] == texts[1]


def test_a_chat_needs_a_template(folder):
    opened = OpenModel(Pointer("no-template", folder, chat_template=True), Scoring(device="cpu"))
    opened.tokenizer.chat_template = None
    with refuses("chat", "template"):
        ask_items(ModelAnswerer(opened), [make_item("France")], [make_prompt(make_item("France"))])


def test_a_context_must_hold_more_than_an_answer(plain):
    answerer = ModelAnswerer(OpenModel(replace(plain.pointer), plain.settings))
    with refuses("224 tokens", "224"):
        answerer.generate([make_prompt(make_item("France"))], 224)
