"""`fathom bits`: texts and models in, a table and a folder out."""

import re

import numpy as np
import polars as pl
import pytest
import torch
from tests.programs import DATASETS, run_command
from tests.refusals import refuses
from tests.scoring.served.stub_server import NAME, Stub, serve
from tests.test_notebook import write_model

from fathom.commands.bits import describe
from fathom.commands.main import main
from fathom.corpus.own_texts import read_texts
from fathom.explorer.bits_page import write_bits_page
from fathom.io.contracts import scoring
from fathom.io.delimited import read_rows
from fathom.io.files import read_json
from fathom.models import open_model
from fathom.models.folders import save_model
from fathom.models.loading import load_copies, load_model
from fathom.planning.rehearsal.hub_stub import serve_hub
from fathom.scoring.text_bits import MeasuredText, compare_on_texts

TEXT = "The agent number {} learns a <b>policy</b> & a reward of the state .\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_model(tmp_path)
    (tmp_path / "docs").mkdir()
    for number in range(4):
        (tmp_path / "docs" / f"{number}.txt").write_text(TEXT.format(number))
    rows = [f"{number},agent {number} maximizes the reward\n" for number in (1, 2, 2)]
    (tmp_path / "table.csv").write_text("id,body\n" + "".join(rows))
    return tmp_path


def test_a_folder_of_tables_and_a_page(folder, capsys):
    main(
        [
            "bits",
            "docs",
            "table.csv",
            "--text",
            "body",
            "--models",
            "gpt2",
            "--output",
            "out",
            "--window",
            "9",
        ]
    )
    said = capsys.readouterr().out
    assert "gpt2 needs" in said and "a repeated text 1" in said and "index.html" in said
    (row,) = read_rows(folder / "out" / "bits.csv", scoring.TEXT_BITS)
    assert (row["model"], row["documents"]) == ("gpt2", 6) and row["ci_low"] < row["bits_per_byte"] < 12
    documents = read_rows(folder / "out" / "documents.csv", scoring.TEXT_DOCUMENTS)
    assert sum(each["bytes"] for each in documents) == row["bytes"]
    for name, contract in (("words", scoring.TEXT_WORDS), ("passages", scoring.TEXT_PASSAGES)):
        assert read_rows(folder / "out" / f"{name}.csv", contract) == []
    report = read_json(folder / "out" / "bits.json")
    assert report["models"]["gpt2"]["window"] == 9
    assert [each["documents"] for each in report["sources"]] == [4, 2]


def test_the_page_shows_text_as_text_and_the_same_each_time(folder):
    model, tokenizer = load_model(folder / "gpt2")
    with torch.no_grad():
        model.transformer.wte.weight.mul_(9)
    save_model(folder / "first", model, tokenizer)
    for output in ("one", "two"):
        main(["bits", "docs", "--models", "gpt2,./first", "--output", output])
    pages = [(folder / each / "index.html").read_text() for each in ("one", "two")]
    assert pages[0] == pages[1]
    assert "<b>" not in pages[0] and "&lt;" in pages[0] and "<script" not in pages[0]


def test_no_word_is_listed_with_a_difference_of_nothing(folder):
    texts = pl.DataFrame({"doc_id": ["1", "2"], "file": ["1", "2"], "text": ["policy state agent"] * 2})
    best, other = np.ones(18), np.ones(18)
    other[:6], other[7], other[13] = 2.0, 0.99, 0.8  # by two documents: +12 bits, -0.02, -0.4
    measured = {name: MeasuredText([bits] * 2, 8, {}) for name, bits in (("best", best), ("other", other))}
    write_bits_page(folder / "page.html", compare_on_texts(measured, texts), [])
    listed = re.findall(r"<li[^>]*>(\w+) <small>([^<]+)</small>", (folder / "page.html").read_text())
    assert listed == [("policy", "+12"), ("agent", "-0.4")]


def test_a_name_keeps_its_letters_where_an_interval_is_not_known():
    texts = pl.DataFrame({"doc_id": ["1"], "file": ["1"], "text": ["policy"]})
    measured = {name: MeasuredText([np.full(6, bits)], 3, {}) for name, bits in (("nano", 1.0), ("b", 2.0))}
    _, _, first, second, _ = describe(compare_on_texts(measured, texts))
    assert first.split() == ["nano", "1.0000", "-", "a"]
    assert second.split() == ["b", "2.0000", "-", "1.0000", "-", "a"]


def test_a_model_behind_a_server_is_compared_with_its_weights_here(folder, monkeypatch, capsys):
    model, tokenizer = load_model(folder / "gpt2")
    with serve(Stub(model, tokenizer), monkeypatch) as stub:
        words = ["--models", f"gpt2,{stub.url}#{NAME}", "--tokenizer", "gpt2", "--window", "9"]
        main(["bits", "docs", *words, "--output", "out"])
        with pytest.raises(SystemExit):  # its own name is no tokenizer
            main(["bits", "docs", "--models", f"{stub.url}#{NAME}"])
    assert NAME in capsys.readouterr().err
    one, other = read_rows(folder / "out" / "bits.csv", scoring.TEXT_BITS)
    assert {one["model"], other["model"]} == {"gpt2", "tiny"} and one["groups"] == other["groups"]
    assert one["bits_per_byte"] == pytest.approx(other["bits_per_byte"], abs=1e-5)
    served = read_json(folder / "out" / "bits.json")["models"]["tiny"]
    assert served["server_says"] and served["window"] == 9


def test_a_stopped_run_does_not_measure_again_what_is_finished(folder, monkeypatch, capsys):
    loaded = []

    def load(pointer, *rest):
        loaded.append(pointer.name)
        return load_copies(pointer, *rest)

    monkeypatch.setattr(open_model, "load_copies", load)
    with serve(Stub(*load_model(folder / "gpt2")), monkeypatch) as stub:
        words = ["bits", "docs", "--models", f"gpt2,{stub.url}#{NAME}", "--tokenizer", "gpt2"]
        words += ["--retries", "0", "--in-flight", "1"]
        stub.change = lambda _, answer: (503, "text/plain", "gone") if len(stub.asked) > 2 else answer
        with pytest.raises(SystemExit):
            main([*words, "--output", "out"])
        assert loaded == ["gpt2"] and not (folder / "out").exists()
        answered = [body["prompt"] for body in stub.asked[:2]]
        stub.change = lambda _, answer: answer
        stub.asked.clear()
        main([*words, "--output", "out"])
        assert loaded == ["gpt2"] and "gpt2: text was finished before" in capsys.readouterr().err
        assert stub.asked and not [each for each in stub.asked if each["prompt"] in answered]
        (folder / "docs" / "0.txt").write_text(TEXT.format("nought"))
        main([*words, "--output", "other"])
        main([*words, "--output", "anew"])
        assert loaded == ["gpt2"] * 3  # other texts; and nothing is kept of a run that ended
    assert sorted(each.name for each in folder.iterdir() if each.name.startswith(".")) == []
    for name in ("bits.csv", "documents.csv", "index.html"):
        assert (folder / "other" / name).read_bytes() == (folder / "anew" / name).read_bytes()


def test_a_data_set_of_the_hub_is_read_at_a_commit(folder, tmp_path):
    lines = "".join(f'{{"body": "The agent learns policy {number} ."}}\n' for number in range(9))
    with serve_hub() as hub:
        (commit,) = hub.add("org/opinions", {"train.jsonl": lines.encode()})
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        online["HF_HOME"] = str(tmp_path / "hub")
        words = ("bits", "hub:org/opinions", "--text", "body", "--models", "./gpt2")
        said = run_command(*words, folder=folder, environment=online, imports=DATASETS).stdout
    assert f"hub:org/opinions at {commit}: 9 documents" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["none", "--models", "gpt2"], "none: there is no such file"),
     (["docs", "--models", "gpt2,gpt2"], "two models are called"),
     (["docs", "--models", ","], "no model is named"),
     (["docs", "--models", "gpt2", "--timeout", "3"], "behind a server"),
     (["docs", "--models", "gpt2", "--window", "4", "--stride", "5"], "stride"),
     (["docs", "--models", "gpt2", "--output", "docs"], "not an empty folder")],
)  # fmt: skip
def test_bad_input_gives_one_message_and_writes_nothing(folder, capsys, arguments, message):
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as ended:
        main(["bits", *arguments])
    said = capsys.readouterr().err
    assert ended.value.code == 1 and said.count("Error:") == 1
    assert message in said
    assert sorted(folder.rglob("*")) == before


def test_texts_are_read_in_any_language_and_what_is_left_out_is_counted(folder):
    german = "Der Agent lernt eine Strategie , die den Zustand der Welt und den Lohn verändert .\n"
    (folder / "docs" / "de.txt").write_text(german)
    (folder / "docs" / "picture.png").write_bytes(b"x")
    texts, (told,) = read_texts(["docs"], {}, 1000)
    assert german.strip() in texts["text"].to_list() and texts["file"].n_unique() == 5
    assert any(".png" in reason for reason in told["left_out"])
    (folder / "empty.csv").write_text("id,text\n1,\n")
    with refuses("empty.csv", "no text"):
        read_texts(["empty.csv"], {}, 1000)
