"""`fathom best` and `fathom watch` with the address of a server: as with the weights, or one message."""

from pathlib import Path

import polars as pl
import pytest
from tests.scoring.served.stub_server import NAME, Stub, serve
from tests.scoring.word_pairs import make_known_pairs, save_word_model

from fathom.commands.main import main
from fathom.io.files import read_json, write_json_lines
from fathom.models.loading import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two models, `first` and `tiny`, and pairs that `tiny` knows something of."""
    path = tmp_path_factory.mktemp("commands")
    for seed, name in enumerate(("tiny", "first")):
        save_word_model(path / name, seed)
    pairs = make_known_pairs(*load_model(path / "tiny"))
    write_json_lines(path / "pairs.jsonl", pairs.iter_rows(named=True))
    return path


@pytest.fixture(params=["vllm", "llamacpp"])
def stub(folder, monkeypatch, request):
    names = {"vllm": request.param == "vllm", "llamacpp": request.param == "llamacpp"}
    with serve(Stub(*load_model(folder / "tiny"), **names), monkeypatch) as served:
        yield served


def find_best(folder: Path, output: Path, other: str, *more: str) -> dict[str, dict[str, object]]:
    models = [str(folder / "first"), other]
    main(["best", str(folder / "pairs.jsonl"), *models, "--output", str(output), *more])
    return {each["model"]: each for each in read_json(output / "best.json")["models"]}


def test_a_server_is_compared_as_its_weights_are(stub, folder, tmp_path):
    tokenizer = ("--tokenizer", str(folder / "tiny"))
    found = find_best(folder, tmp_path / "served", f"{stub.url}#{NAME}", *tokenizer)
    plain = find_best(folder, tmp_path / "here", str(folder / "tiny"))
    assert found["tiny"]["verdict"] == "best" and plain["tiny"]["bits"] > 0.3
    for name, each in plain.items():
        assert found[name]["bits"] == pytest.approx(each["bits"], abs=1e-4)
        assert {**found[name], "bits": 0, "best_bits": 0} == {**each, "bits": 0, "best_bits": 0}
    asked = len(stub.asked), len(stub.followed)
    assert find_best(folder, tmp_path / "served", f"{stub.url}#{NAME}", *tokenizer) == found
    assert sum(map(len, (stub.asked, stub.followed))) <= sum(asked) + 2  # whether it is still what it was


def refuse(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    said = capsys.readouterr()
    assert ended.value.code == 1 and said.err.count("Error:") == 1 and not said.out
    return said.err


def test_a_server_that_gives_too_little_is_refused_before_pairs_are_scored(
    folder, monkeypatch, tmp_path, capsys
):
    with serve(Stub(*load_model(folder / "tiny"), vllm=False), monkeypatch) as stub:
        words = [str(folder / "first"), f"{stub.url}#{NAME}", "--tokenizer", str(folder / "tiny")]
        words += ["--output", str(tmp_path / "out")]
        said = refuse(["best", str(folder / "pairs.jsonl"), *words], capsys)
        assert "vLLM or llama.cpp" in said and stub.url in said and stub.asked == []
    assert not (tmp_path / "out").exists()


def test_options_of_servers_without_a_server_are_refused(folder, tmp_path, capsys):
    words = [str(folder / "first"), str(folder / "tiny"), "--timeout", "3", "--output", str(tmp_path / "out")]
    assert "behind a server" in refuse(["best", str(folder / "pairs.jsonl"), *words], capsys)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["folder", "base"])
def test_a_watch_of_a_server_is_refused_at_once(folder, tmp_path, capsys, place):
    address = "http://me:secret@localhost:1/v1#x" if place == "folder" else "http://localhost:1/v1#x"
    watched = address if place == "folder" else str(tmp_path / "run")
    base = ["--base", address] if place == "base" else []
    words = ["--pairs", str(folder / "pairs.jsonl"), "--output", str(tmp_path / "out"), "--idle", "0"]
    said = refuse(["watch", watched, *words, *base], capsys)
    assert "server" in said and "`fathom score`" in said and "localhost:1" in said and "secret" not in said
    assert not (tmp_path / "out").exists()


def test_pairs_of_a_part_have_the_candidates_of_the_whole(folder, monkeypatch, tmp_path):
    """A server that is read part by part, as larger benchmarks are, ends with the bits of all pairs."""
    from fathom.scoring import best_model

    monkeypatch.setattr(best_model, "FIRST", 60)
    with serve(Stub(*load_model(folder / "tiny")), monkeypatch) as stub:
        tokenizer = ("--tokenizer", str(folder / "tiny"))
        found = find_best(folder, tmp_path / "parts", f"{stub.url}#{NAME}", *tokenizer)
    plain = find_best(folder, tmp_path / "here", str(folder / "tiny"))
    assert found["tiny"]["pairs"] == plain["tiny"]["pairs"]
    assert found["tiny"]["bits"] == pytest.approx(plain["tiny"]["bits"], abs=1e-4)
    assert len(pl.read_ndjson(folder / "pairs.jsonl")) > 60
