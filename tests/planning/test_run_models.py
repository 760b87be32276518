"""Models of a configuration by any of their names: found once, pinned in the run's own table."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.models.gguf_model import make_llama, write_gguf
from tests.planning.test_run import job, make_jobs
from tests.programs import SNAKEMAKE, run_command
from tests.refusals import refuses
from tests.tables import write_models

from fathom.models import named
from fathom.models.registry import read_registry
from fathom.planning.plans import merge_configuration
from fathom.planning.rehearsal.hub_stub import serve_hub
from fathom.planning.run import Run, RunJobs, read_checked
from fathom.planning.run_models import PinnedModels, find_table, pin_models

ROOT = Path(__file__).resolve().parents[2]
LLAMA = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 8, "num_attention_heads": 2,
         "vocab_size": 100, "intermediate_size": 16}  # fmt: skip
VALUES = {
    "run": "small",
    "corpus": {"source": "jsonl", "files": ["mine.jsonl"]},
    "domains": {"near": {"categories": ["near"]}},
    "pairs": {"tokenizer": "org/Base-1B"},
}
OWN = Path("results/small/models.tsv")


@pytest.fixture(autouse=True)
def asked(tmp_path, monkeypatch):
    """Put folders in the hub's place, whose commit is that of the day; return what was asked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text("{}\n")
    found = []
    files = {
        "org/Base-1B": {"config.json": json.dumps(LLAMA)},
        "org/Chat": {"config.json": json.dumps(LLAMA), "chat_template.jinja": "{{ messages }}",
                     "README.md": "---\nbase_model: org/Base-1B\n---\n"},
        "org/lora": {"adapter_config.json": json.dumps({"base_model_name_or_path": "org/Base-1B"})},
    }  # fmt: skip

    def fetch(identifier, revision, *_):
        found.append(f"{identifier}@{revision}")
        folder = tmp_path / "hub" / identifier
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files[identifier].items():
            (folder / name).write_text(text)
        return folder, f"{len(found):040}"

    monkeypatch.setattr(named, "fetch_snapshot", fetch)
    return found


def check(say=print, **changes):
    return read_checked(VALUES | changes, ["my.yaml"], ROOT, say=say)


def test_any_name_stands_for_a_row_wherever_a_configuration_has_it(tmp_path, asked):
    folder = tmp_path / "my model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    write_gguf(tmp_path / "tiny.gguf", *make_llama())
    models = {
        "score": ["org/Base-1B", "org/Chat@chat", "org/Base-1B@main", "./my model", "tiny.gguf", "org/lora",
                  "gpt2", "http://localhost:8000/v1#org/Base-1B", "smollm2-135m-i"],
        "adapt": [{"base": "org/Base-1B", "paths": [["near"]], "seeds": 2, "checkpoints": 50}],
        "optional": ["org/lora"],
    }  # fmt: skip
    config, _ = check(
        models=models,
        layers={"models": ["org/Base-1B+near", "gpt2"], "against": {"gpt2": "org/Base-1B"}},
        targets={"against": {"org/Base-1B+near": "org/Chat@chat"}},
        coverage={"evaluation": {"models": ["tiny.gguf"]}},
    )
    rows = ["Base-1B", "Chat@chat", "Base-1B-main", "my-model", "tiny", "lora", "gpt2", "Base-1B-served",
            "SmolLM2-135M-Instruct-Q4_1"]  # fmt: skip
    assert config.models.score == rows
    assert config.models.adapt[0].base == config.pairs.tokenizer == "Base-1B"
    assert config.models.optional == ["lora"] and "Base-1B+near" in config.models.scored
    assert config.layers.models == ["Base-1B+near", "gpt2"] and config.layers.against == {"gpt2": "Base-1B"}
    assert config.targets.against == {"Base-1B+near": "Chat@chat"}
    assert config.coverage.evaluation.models == ["tiny"]
    found = read_registry(OWN)
    assert (found["lora"].adapter_of, found["Chat"].base_of) == ("Base-1B", "Base-1B")
    assert found["Base-1B-served"].original == "Base-1B"
    assert asked == ["org/Base-1B@", "org/Chat@", "org/Base-1B@main", "org/lora@"]
    assert {**found, **read_registry(ROOT / "config/models.tsv")} == found, "and all other rows"


def test_what_was_pinned_stays_and_the_hub_is_asked_once(asked):
    models = {"score": ["org/Base-1B", "org/Base-1B@main"]}
    first, _ = check(models=models)
    before = OWN.read_bytes(), OWN.stat().st_mtime_ns
    again, _ = check(models=models)
    assert again == first and (OWN.read_bytes(), OWN.stat().st_mtime_ns) == before
    more, _ = check(models={"score": ["org/Chat", *models["score"]]})
    assert more.models.score == ["Chat", "Base-1B", "Base-1B-main"]
    rows = read_registry(OWN)
    assert [int(rows[name].revision) for name in ("Base-1B", "Base-1B-main", "Chat")] == [1, 2, 3]
    assert len(asked) == 3


def test_a_job_reads_what_was_pinned_and_looks_nothing_up(tmp_path, asked):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(LLAMA))
    models = {"score": ["./mine", "org/Chat@chat", "smollm2-135m-i"]}
    planned, _ = check(models=models)
    (tmp_path / "mine").rename(tmp_path / "elsewhere")  # a node that does not have it
    before, count = OWN.read_bytes(), len(asked)
    assert check(say=None, models=models)[0] == planned
    assert OWN.read_bytes() == before and len(asked) == count
    with refuses("org/Base-1B@v2", "models.score.0, my.yaml", str(OWN)):
        check(say=None, models={"score": ["org/Base-1B@v2"]})


def test_a_folder_that_moved_is_found_anew(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "model").mkdir(parents=True)
        (tmp_path / name / "model" / "config.json").write_text(json.dumps(LLAMA))
    check(models={"score": ["./one/model"]})
    (tmp_path / "one").rename(tmp_path / "three")
    assert "model" not in PinnedModels(ROOT / "config/models.tsv", OWN).rows
    with refuses("no folder or GGUF file ./one/model", "models.score.0"):
        check(models={"score": ["./one/model"]})
    config, _ = check(models={"score": ["./two/model"]})
    assert config.models.score == ["model"]
    assert read_registry(OWN)["model"].source == str(tmp_path / "two/model")


def test_names_of_rows_and_of_trained_models_need_no_table_of_the_run(asked, tmp_path):
    values = VALUES | {"pairs": {"tokenizer": "gpt2"}, "models": {"score": ["gpt2"]}}
    assert pin_models(values, ROOT, "my.yaml") == values
    made = {"train": {"mini": {"domain": "near"}}, "adapt": [{"base": "mini", "paths": [["near"]]}],
            "registry": "missing.tsv"}  # fmt: skip
    assert check(pairs={"tokenizer": "mini"}, models=made)[0].models.bases == ["mini"]
    assert not OWN.exists() and not asked
    (tmp_path / "gpt2").mkdir()  # a row comes first
    assert check(pairs={"tokenizer": "gpt2"})[0].pairs.tokenizer == "gpt2" and not OWN.exists()


def test_names_that_fit_nothing_are_refused_with_their_key(tmp_path):
    with refuses("my.yaml", "models.score.0: unknown model 'gtp2'; did you mean gpt2?"):
        check(models={"score": ["gtp2"]})
    with refuses("models.adapt.0.base", "there is no folder or GGUF file ./none"):
        check(models={"adapt": [{"base": "./none", "paths": [["near"]]}]})
    (tmp_path / "mini").mkdir()
    (tmp_path / "mini" / "config.json").write_text(json.dumps(LLAMA))
    with refuses("./mini would be called mini", "trained", "models.score.0, my.yaml"):
        check(models={"score": ["./mini"], "train": {"mini": {"domain": "near"}}})
    # of another kind: left for the checks of values
    for models in (
        None,
        7,
        {"score": 7},
        {"score": [7]},
        {"adapt": {"base": []}},
        {"train": 7, "score": ["gpt2"]},
    ):
        pin_models({"run": "small", "models": models}, ROOT, "my.yaml")
    assert pin_models({"run": "../up", "models": {"score": ["a/b"]}}, ROOT, "x")["models"]["score"] == ["a/b"]


def test_a_further_name_fetches_no_other_model_again(tmp_path):
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "config.json").write_text(json.dumps(LLAMA))
    write_models(tmp_path / "own.tsv", {"name": "near", "source": "near"})
    plain = {"score": ["near"], "registry": "own.tsv"}

    def plan(models, name):
        run = Run(*check(pairs={"tokenizer": "near"}, models=models), "results/small", ROOT)
        jobs: RunJobs = make_jobs(run)
        return jobs.find_registry(job(model=name)), jobs.find_entry(job(model=name))

    before = plan(plain, "near")
    more = plain | {"score": ["near", "org/Chat@chat"]}
    assert plan(more, "near") == before and before[0] == "own.tsv"
    registry, entry = plan(more, "Chat@chat")
    assert registry == str(OWN) and json.loads(entry)["source"] == "org/Chat"
    config, _ = check(pairs={"tokenizer": "near"}, models=plain)
    assert find_table(config, ROOT) == Path("own.tsv"), "all of its rows, and no others"


def test_a_run_needs_its_own_table_for_a_tokenizer_but_not_for_models_that_it_trains():
    config, _ = check(models={"score": ["gpt2"]})
    assert find_table(config, ROOT) == OWN
    made = {"train": {"mini": {"domain": "near"}}, "adapt": [{"base": "mini", "paths": [["near"]]}]}
    config, _ = check(pairs={"tokenizer": "gpt2"}, models={"score": ["gpt2"], **made})
    assert OWN.exists() and find_table(config, ROOT) == ROOT / "config/models.tsv"


def test_jobs_that_see_no_file_of_this_machine_get_the_table_of_the_run(tmp_path):
    def list_sent(**changes):
        sent = []
        apart = SimpleNamespace(
            outside=str, ship=lambda path: sent.append(str(path)), marks=SimpleNamespace(old=str)
        )
        RunJobs(Run(*check(**changes), "results/small", ROOT), apart)
        return sent

    assert list_sent(models={"score": ["org/Chat"]}) == [str(OWN)]
    assert list_sent(pairs={"tokenizer": "gpt2"}) == []


def test_the_same_rows_are_planned_for_outside_of_snakemake(tmp_path):
    (tmp_path / "my.yaml").write_text(json.dumps(VALUES | {"models": {"score": ["org/Chat@chat"]}}))
    config = merge_configuration(["my.yaml"], ["models=[org/Base-1B,gpt2]"])
    assert config.models.only == ["Base-1B", "gpt2"] and config.models.score == ["Chat@chat"]
    assert find_table(config, ROOT) == OWN


def test_snakemake_plans_with_an_id_of_the_hub_then_without_a_network(tmp_path):
    (tmp_path / "my.yaml").write_text(json.dumps(VALUES | {"models": {"score": ["org/Base-1B"]}}))
    words = ("run", "-n", "-c1", "--configfile", "my.yaml")
    with serve_hub() as hub:
        (commit,) = hub.add("org/Base-1B", {"config.json": json.dumps(LLAMA).encode()})
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1",
                  "HF_HOME": str(tmp_path / "cache")}  # fmt: skip
        first = run_command(*words, folder=tmp_path, environment=online, imports=SNAKEMAKE)
        assert f"org/Base-1B: row Base-1B of {OWN}, {commit}" in first.stdout
        assert read_registry(tmp_path / OWN)["Base-1B"].revision == commit
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "empty")}
    again = run_command(*words, folder=tmp_path, environment=offline, imports=SNAKEMAKE)
    planned = [done.stdout.partition("Job stats")[2].partition("[")[0] for done in (first, again)]
    assert planned[0] == planned[1] and "fetch_model" in planned[0] and "row Base-1B" not in again.stdout
    (tmp_path / OWN).unlink()
    with refuses("pairs.tokenizer, ", "my.yaml", "org/Base-1B", "HF_HUB_OFFLINE is set"):
        run_command(*words, folder=tmp_path, environment=offline, imports=SNAKEMAKE)
