"""Chat models behind a service answer in writing: each question once, and no key in any file."""

import json
import logging
from pathlib import Path

import pytest
from tests.answering.chat_stub import SECRET, VARIABLE, Chat, serve
from tests.answering.conftest import CAPITALS, make_item
from tests.refusals import refuses

from fathom.answering.prompts import Style, make_prompt
from fathom.answering.speaking import SpeakingAnswerer, SpeakingModel
from fathom.answering.variation_files import ChoiceFiles, plan_choices
from fathom.config.choices import Choices
from fathom.config.served import Served, Speaker
from fathom.config.whole import read_config
from fathom.io.contracts.answering import CHOICE_ANSWERS, CHOICE_QUESTIONS
from fathom.io.files import read_json
from fathom.io.tables import make_empty_table, read_table, write_table
from fathom.jobs import services
from fathom.models.open_model import measure_all

PROMPTS = [
    make_prompt(make_item(country), Style("Reply with a letter.", "{question}")) for country in CAPITALS
]


@pytest.fixture
def chat(monkeypatch):
    monkeypatch.setattr(services, "_WAIT", 0.01)
    with serve(monkeypatch) as stub:
        yield stub


def open_talker(chat: Chat, folder: Path, served: Served | None = None, **more) -> SpeakingModel:
    values = {"service": chat.url, "model": "talk", "key_variable": VARIABLE} | more
    return SpeakingModel("talker", Speaker(**values), served or Served(retries=2), folder / "replies.jsonl")


def test_each_prompt_is_asked_once_as_a_chat_with_the_key(chat, tmp_path):
    chat.rule = lambda body: f" {body['messages'][1]['content'][24:26]}\nmore"
    talker = open_talker(chat, tmp_path)
    texts = SpeakingAnswerer(talker).generate([*PROMPTS, PROMPTS[0]], 8, "\n")
    assert texts == [
        *(prompt.question[24:26].strip() for prompt in PROMPTS),
        PROMPTS[0].question[24:26].strip(),
    ]
    assert len(chat.asked) == len(set(chat.messages)) == len(PROMPTS)
    assert chat.keys == {f"Bearer {SECRET}"}
    body = chat.asked[chat.messages.index(json.dumps([
        {"role": "system", "content": "Reply with a letter."},
        {"role": "user", "content": PROMPTS[2].question}]))]  # fmt: skip
    assert {name: body[name] for name in ("model", "max_tokens", "temperature")} == {
        "model": "talk", "max_tokens": 8, "temperature": 0}  # fmt: skip
    said = talker.description
    assert (said["requests"], said["input_tokens"], said["output_tokens"]) == (5, 35, 210)
    assert said["server_says"] == "talker-2099"
    # again, and with a longer limit, which is another request
    SpeakingAnswerer(open_talker(chat, tmp_path)).generate(PROMPTS, 8)
    assert len(chat.asked) == 5
    SpeakingAnswerer(open_talker(chat, tmp_path)).generate(PROMPTS, 9)
    assert len(chat.asked) == 10


def test_after_a_fault_only_what_is_left_is_asked(chat, tmp_path):
    answered = []

    def rule(body):
        if len(answered) == 3:
            return 401, {"error": {"message": f"wrong key {SECRET}"}}
        answered.append(json.dumps(body["messages"]))
        return f"A {SECRET}"

    chat.rule = rule
    one = Served(in_flight=1, retries=2)
    with refuses("talker", "answers 401: wrong key ***", f"check the key in {VARIABLE}") as found:
        SpeakingAnswerer(open_talker(chat, tmp_path, one)).generate(PROMPTS, 8)
    assert SECRET not in str(found.value)
    assert len(chat.asked) == 4  # a refused key is not tried again
    # a kill may cut the last line
    file = tmp_path / "replies.jsonl"
    assert len(file.read_text().splitlines()) == 3
    file.write_bytes(file.read_bytes()[:-20])
    chat.rule, chat.asked = lambda _: "B", []
    texts = SpeakingAnswerer(open_talker(chat, tmp_path)).generate(PROMPTS, 8)
    assert texts == ["A ***", "A ***", "B", "B", "B"]
    assert not {*chat.messages} & {*answered[:2]} and len(chat.asked) == 3
    assert SECRET not in file.read_text()
    assert SpeakingAnswerer(open_talker(chat, tmp_path)).generate(PROMPTS, 8) == texts
    assert len(chat.asked) == 3


def test_a_busy_service_is_asked_again(chat, tmp_path):
    busy = [429, 503, 500]
    chat.rule = lambda _: (busy.pop(), {"error": {"message": "busy"}}) if busy else "C"
    talker = open_talker(chat, tmp_path, Served(retries=3))
    assert SpeakingAnswerer(talker).generate(PROMPTS[:2], 8) == ["C", "C"]
    assert len(chat.asked) == 5


def test_what_a_service_does_not_take_is_left_out_from_then_on(chat, tmp_path):
    def rule(body):
        if "max_tokens" in body:
            return 400, {"error": {"message": "use 'max_completion_tokens' instead"}}
        if "temperature" in body:
            return 400, {"error": {"message": "'temperature' does not support 0"}}
        return "D"

    chat.rule = rule
    talker = open_talker(chat, tmp_path, Served(in_flight=1), thinking=100)
    assert SpeakingAnswerer(talker).generate(PROMPTS, 8) == ["D"] * 5
    assert len(chat.asked) == 7 and chat.asked[-1]["max_completion_tokens"] == 108


def test_empty_answers_are_said(chat, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(logging.getLogger("fathom"), "propagate", True)
    chat.rule = lambda body: "" if "France" in body["messages"][-1]["content"] else "A"
    assert SpeakingAnswerer(open_talker(chat, tmp_path)).generate(PROMPTS, 8).count("") == 1
    assert "talker: 1 of 5 answers are empty" in caplog.text and "talker.thinking" in caplog.text


def test_without_its_key_nothing_is_asked(chat, tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE)
    with refuses("no key for talker", VARIABLE, "export"):
        SpeakingAnswerer(open_talker(chat, tmp_path)).generate(PROMPTS, 8)
    assert not chat.asked
    SpeakingAnswerer(open_talker(chat, tmp_path, key_variable=None)).generate(PROMPTS, 8)
    assert chat.keys == {None}


def test_probabilities_are_refused(chat, tmp_path):
    with refuses("talker gives no probabilities", "choices.ways: [text]"):
        SpeakingAnswerer(open_talker(chat, tmp_path)).score(PROMPTS, [[" A"]] * 5)


def test_requests_tokens_and_price_are_said_before(chat, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(logging.getLogger("fathom"), "propagate", True)
    caplog.set_level(logging.INFO)
    answerer = SpeakingAnswerer(open_talker(chat, tmp_path, input_price=1000, output_price=5000))
    answerer.generate(PROMPTS[:1], 8)
    chat.asked = []
    answerer.announce([*PROMPTS, PROMPTS[1]], [8] * 6)
    characters = sum(len(prompt.question) + len(prompt.system) for prompt in PROMPTS[1:])
    price = (1000 * characters / 4 + 5000 * 32) / 1e6
    assert (
        f"talker: 4 requests, about {characters / 4:,.0f} tokens in, at most 32 out,"
        f" price at most about {price:,.2f}; 1 are answered already" in caplog.text
    )
    assert not chat.asked


def test_letters_are_read_and_what_is_none_is_counted(chat, tmp_path):
    rows = [{"split": split, "item_id": f"{split}-{name}", "question": item.question,
             "options": list(item.options), "right": item.right[0]}
            for split in ("dev", "test") for name in CAPITALS for item in [make_item(name)]]  # fmt: skip
    table = make_empty_table(CHOICE_QUESTIONS)
    write_table(tmp_path / "q.parquet", type(table)(rows, schema=table.schema), CHOICE_QUESTIONS)
    chat.rule = lambda body: "I would say B." if "France" in body["messages"][-1]["content"] else "Who knows?"
    files = ChoiceFiles("capitals", "geography", tmp_path / "q.parquet", tmp_path / "out" / "talker.parquet")
    settings = Choices(ways=["text"], chat_factors=["styles"], orders=False)
    styles = {"standard": Style("Reply.", "{question}"), "minimal": Style("", "{question}")}
    talker = open_talker(chat, tmp_path)
    measure_all(talker, [plan_choices(files, settings, styles)], tmp_path / "finished")
    answers, report = read_table(files.answers, CHOICE_ANSWERS), read_json(files.answers.with_suffix(".json"))
    assert answers["way"].unique().to_list() == ["text"] and len(answers) == 10
    assert report["no_letter"] == 8 and report["chat_template"] and report["requests"] == 10
    assert answers.filter(answers["chosen"] >= 0)["chosen"].to_list() == [1, 1]
    every = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert every and all(SECRET.encode() not in path.read_bytes() for path in every)


@pytest.mark.parametrize(
    ("values", "said"),
    [({"service": f"http://me:{SECRET}@host/v1"}, "only server and path"),
     ({"service": f"http://host/v1?key={SECRET}"}, "only server and path"),
     ({"service": "host"}, "no address"), ({"key_variable": SECRET}, "belongs in no file"),
     ({"input_price": 1}, "both input_price and output_price")],
)  # fmt: skip
def test_a_wrong_speaker_is_refused_without_its_key(values, said):
    speaker = {"service": "http://host/v1", "model": "m"} | values
    with refuses("models.speaking.talker", said) as found:
        read_config({"scores": "x", "models": {"speaking": {"talker": speaker}}}, "test")
    assert SECRET not in str(found.value)


def test_a_speaker_has_a_name_of_its_own_and_is_asked_in_writing():
    talker = {"service": "http://host/v1", "model": "m"}
    models = {"speaking": {"talker": talker}}
    choices = {"questions": {"own": {"folder": "here"}}, "models": ["talker"]}
    values = {"scores": "x", "models": models, "choices": choices}
    found = read_config(values, "test")
    assert found.asked_speakers == found.asked_models == ["talker"]
    with refuses("choices.ways", "talker", "add text"):
        read_config(values | {"choices": choices | {"ways": ["letter"]}}, "test")
    with refuses("models.speaking.talker", "another model has this name"):
        read_config(values | {"models": models | {"score": ["talker"]}}, "test")
    with refuses("choices.models.0", "walker"):
        read_config(values | {"choices": choices | {"models": ["walker"]}}, "test")
