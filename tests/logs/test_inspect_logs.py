"""Logs of Inspect become items; samples that do not count are left out, damaged ones end with one message."""

import io
import json
import warnings
import zipfile

import pytest
from tests.refusals import refuses

from fathom.logs.items import read_logs


@pytest.fixture(scope="module")
def inspect_logs(tmp_path_factory):
    """Return logs of Inspect, as `.eval` and JSON: two models, two epochs, a scorer with several keys."""
    inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install .[inspect]")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import Score, Target, accuracy, match, mean, scorer
    from inspect_ai.solver import TaskState, generate

    @scorer(metrics={"*": [mean()]})
    def sizes():
        async def judge(state: TaskState, target: Target) -> Score:
            return Score(value={"letters": len(state.output.completion), "open": float("nan")})

        return judge

    @scorer(metrics=[accuracy()])
    def letters():
        async def judge(state: TaskState, target: Target) -> Score:
            return Score(value={0: "P", 1: "yes"}.get(state.sample_id, "1"), answer="long " * 300 + "end")

        return judge

    folder = tmp_path_factory.mktemp("inspect")
    samples = [Sample(id=number, input=f"{number} + 1?", target=str(number + 1), metadata={"subject": "sums"})
               for number in range(3)]  # fmt: skip
    for name, kind in (("one", "eval"), ("two", "json")):
        usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        output = ModelOutput.from_content(f"mockllm/{name}", "2" if name == "one" else "33")
        output.usage = usage  # counting would ask the network
        model = get_model(f"mockllm/{name}", custom_outputs=[output] * 6, memoize=False)
        task = inspect_ai.Task(name="sums", dataset=samples, solver=generate(), epochs=2,
                               scorer=[match(), sizes(), letters()])  # fmt: skip
        (log,) = inspect_ai.eval(task, model=model, log_dir=str(folder), log_format=kind, display="none")
        assert log.status == "success", log.error
    return folder


def test_logs_of_inspect_are_read_with_epochs_and_scorers(inspect_logs):
    items, notes = read_logs([inspect_logs])
    assert set(items["metric"]) == {"match", "sizes/letters", "letters"}
    assert set(items["model"]) == {"mockllm/one", "mockllm/two"}
    assert len(items) == 2 * 3 * 3
    one = items.filter(model="mockllm/one")
    assert one.filter(metric="match")["score"].to_list() == [0, 1, 0]
    assert one.filter(metric="letters")["score"].to_list() == [0.5, 1, 1]
    assert items.filter(model="mockllm/two", metric="sizes/letters")["score"].to_list() == [2, 2, 2]
    assert set(items["group"]) == {"sums"}
    assert items.filter(metric="letters")["answer"].str.starts_with("long long").all()
    assert any("up to 2 repetitions" in note for note in notes)
    assert any("12 scores that sizes/open left open" in note for note in notes)


def test_local_models_of_inspect_are_called_by_their_folders(inspect_logs, tmp_path):
    log = json.loads(next(inspect_logs.glob("*.json")).read_text())
    for name, model in (("x", "hf/local"), ("y", "vllm/local"), ("z", "hf/mine")):
        log["eval"] |= {"model": model, "model_args": {"model_path": f"/m/{name}"}}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    found = read_logs([tmp_path / f"{name}.json" for name in "xyz"])
    assert set(found.items["model"]) == {"x", "y", "hf/mine"}


def test_samples_of_inspect_that_are_invalid_or_scored_in_words_are_left_out(inspect_logs, tmp_path):
    log = json.loads(next(inspect_logs.glob("*.json")).read_text())
    log["samples"][0]["invalidation"] = {
        "author": "someone", "reason": "wrong", "timestamp": "2026-05-05T10:11:12+00:00"
    }  # fmt: skip
    log["samples"][1]["scores"]["match"]["value"] = "refused to say"
    (tmp_path / "a.json").write_text(json.dumps(log))
    items, notes = read_logs([tmp_path / "a.json"])
    count = len(log["samples"])
    assert any("1 sample marked invalid (the first: " in note and "sample 1)" in note for note in notes)
    assert any("1 value of match" in note for note in notes)
    assert len({sample["id"] for sample in log["samples"]}) == 3 and count == 6
    assert len(items.filter(metric="match")) == 3  # each has another epoch that counts


def test_words_of_inspect_are_scores(inspect_logs, tmp_path):
    log = json.loads(next(inspect_logs.glob("*.json")).read_text())
    words = {"letters": ["C", "p", "I", "N", "True", "no"], "match": ["false", "0.25", "yes", "i", "c", "n"]}
    for place, sample in enumerate(log["samples"]):
        sample["id"] = f"item {place}"
        for scorer, values in words.items():
            sample["scores"][scorer]["value"] = values[place]
    (tmp_path / "a.json").write_text(json.dumps(log))
    items, notes = read_logs([tmp_path / "a.json"])
    assert items.filter(metric="letters")["score"].to_list() == [1, 0.5, 0, 0, 1, 0]
    assert items.filter(metric="match")["score"].to_list() == [0, 0.25, 1, 0, 1, 0]
    (note,) = notes
    assert note.startswith("Left out: 6 scores that sizes/open left open")


def test_samples_of_inspect_tell_options_and_why_they_do_not_count(inspect_logs, tmp_path):
    log = json.loads(next(inspect_logs.glob("*.json")).read_text()) | {"status": "cancelled"}
    for place, sample in enumerate(log["samples"]):
        sample["id"] = f"item {place}"
    first, second, third, fourth, *_ = log["samples"]
    first["input"] = [{"role": "user", "content": f"{'word ' * 400}end?"}]
    first |= {"target": ["2", "two"], "choices": ["1", "2", "3"]}
    second |= {"scores": {}, "error": {"message": "no", "traceback": "no", "traceback_ansi": "no"}}
    third["scores"] = {}
    fourth["scores"]["match"]["value"] = ["C", "I"]
    (tmp_path / "a.json").write_text(json.dumps(log))
    items, notes = read_logs([tmp_path / "a.json"])
    shown = items.filter(item="item 0").row(0, named=True)
    assert (shown["target"], shown["options"]) == ("2; two", 3)
    assert shown["prompt"].startswith("... ") and shown["prompt"].endswith("word end?")
    assert set(items.filter(item="item 4")["options"]) == {0}
    for reason in ("1 sample that ended in an error", "1 sample without a score", "1 value of match, ",
                   "1 evaluation cut short (status 'cancelled')"):  # fmt: skip
        assert [note for note in notes if note.startswith(f"Left out: {reason}")], reason


def test_damaged_logs_of_inspect_end_with_one_message(inspect_logs, tmp_path):
    whole = next(inspect_logs.glob("*.eval")).read_bytes()
    (tmp_path / "cut.eval").write_bytes(whole[: len(whole) // 2])
    with refuses("cut.eval", "zip archive"):
        read_logs([tmp_path / "cut.eval"])
    with zipfile.ZipFile(tmp_path / "empty.eval", "w") as archive:
        archive.writestr("a.txt", "nothing")
    with refuses("empty.eval", "cannot be read"):
        read_logs([tmp_path / "empty.eval"])
    sample = next(name for name in zipfile.ZipFile(io.BytesIO(whole)).namelist() if "samples/" in name)
    for name, change, word in (
        ("twice", lambda entries: [*entries.items(), (sample, entries[sample])], "twice"),
        ("half", lambda entries: (entries | {sample: entries[sample][:-9]}).items(), "cannot be read"),
        ("value", lambda entries: (entries | {sample: b"{}"}).items(), "id"),
    ):
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            entries = {each: archive.read(each) for each in archive.namelist()}
        with warnings.catch_warnings(), zipfile.ZipFile(tmp_path / f"{name}.eval", "w") as archive:
            warnings.simplefilter("ignore")  # Python says itself that a name stands twice
            for each, content in change(entries):
                archive.writestr(each, content)
        with refuses(f"{name}.eval", word):
            read_logs([tmp_path / f"{name}.eval"])
    content = (tmp_path / "value.eval").read_bytes()
    (tmp_path / "bit.eval").write_bytes(content.replace(b"inspect", b"insqect", 1))
    with refuses("bit.eval", "is damaged"):
        read_logs([tmp_path / "bit.eval"])
    text = next(inspect_logs.glob("*.json")).read_text()
    (tmp_path / "cut.json").write_text(text[: len(text) // 2])
    with refuses("cut.json", "cannot be read"):
        read_logs([tmp_path / "cut.json"])


@pytest.mark.parametrize("limit", ["LARGEST_GB", "LARGEST_ENTRY_GB"])
def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(f"fathom.logs.readers.{limit}", 1e-6)
    with zipfile.ZipFile(tmp_path / "bomb.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", "0" * 100_000)
    assert (tmp_path / "bomb.eval").stat().st_size < 1_000
    with refuses("bomb.eval", "unpacks to"):
        read_logs([tmp_path / "bomb.eval"])
