"""A model's name means the same wherever it is typed: in a configuration, and at commands and notebooks."""

import json
from pathlib import Path

import pytest
from tests.models.gguf_model import make_llama, write_gguf
from tests.refusals import refuses
from tests.tables import write_models
from tests.tiny import make_byte_tokenizer, make_config, make_model

from fathom.errors import InputError
from fathom.models import fetching, named
from fathom.models.fetching import find_pointer, find_tokenizer, locate_pointer
from fathom.models.loading import Pointer, check_fingerprint
from fathom.models.named import resolve_models
from fathom.models.registry import read_registry
from fathom.planning.builds import examine
from fathom.planning.run import read_checked
from fathom.planning.run_models import find_table

ROOT = Path(__file__).resolve().parents[2]
NEWEST, TAGGED, PINNED = "a" * 40, "b" * 40, "c" * 40
COMMITS = {"": NEWEST, "main": NEWEST, "v2": TAGGED} | {each: each for each in (NEWEST, TAGGED, PINNED)}
TEMPLATE = "{{ messages[0].content }}"


def save(folder: Path, kind: str, template: str = "") -> None:
    tokenizer = make_byte_tokenizer(["the policy of the"] * 5, 290)
    tokenizer.chat_template = template or None
    make_model(make_config(kind, len(tokenizer), 64)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def save_adapter(folder: Path, base: str) -> None:
    folder.mkdir()
    values = {"peft_type": "LORA", "base_model_name_or_path": base}
    (folder / "adapter_config.json").write_text(json.dumps(values))
    (folder / "adapter_model.safetensors").write_bytes(b"not read here")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of models with a table; repositories of the hub are below `hub`."""
    place = tmp_path_factory.mktemp("models")
    hub = place / "hub" / "org"
    save(hub / "gpt2", "gpt2")
    save(hub / "Base", "mistral")
    save(hub / "Model-Instruct", "mistral", TEMPLATE)
    save(hub / "Early", "llama", TEMPLATE)  # a base model with a template, as many have
    save(hub / "Carded", "llama", TEMPLATE)
    (hub / "Carded" / "README.md").write_text("---\nbase_model: org/Early\n---\n")
    (hub / "files").mkdir()
    write_gguf(hub / "files" / "b.gguf", *make_llama())
    save_adapter(hub / "lora", "org/Base")
    save_adapter(hub / "short", "gpt2")
    save(place / "mine-instruct", "mistral", TEMPLATE)
    save(place / "plain", "gpt2")
    write_gguf(place / "a.gguf", *make_llama())
    save_adapter(place / "tuned", "../mine-instruct")
    save_adapter(place / "far", "org/Base")
    (place / "pointer.json").write_text("{}")
    (place / "texts").mkdir()
    (place / "texts" / "one.txt").write_text("The court hears the appeal.\n")
    rows = [
        {"name": "gpt2", "source": "org/gpt2", "revision": PINNED},
        {"name": "Other-Instruct", "source": "org/Model-Instruct", "revision": PINNED, "kind": "chat"},
        {"name": "Early", "source": "org/Early", "family": "llama-3"},
    ]
    write_models(place / "config" / "models.tsv", *rows)
    return place


@pytest.fixture(autouse=True)
def asked(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Put folders in the hub's place, and links to all models in a new working folder."""
    found: list[str] = []

    def fetch(identifier: str, revision: str, _: object, what: str, where: str, *__: object) -> object:
        found.append(f"{identifier}@{revision}")
        folder = models / "hub" / identifier
        if not folder.is_dir() or revision not in COMMITS:
            raise InputError(f"{identifier} {revision} is not on the hub", where, "check it")
        return folder, COMMITS[revision]

    for module in (named, fetching):
        monkeypatch.setattr(module, "fetch_snapshot", fetch)
    for each in models.iterdir():
        (tmp_path / each.name).symlink_to(each)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HOME", str(tmp_path / "cache"))
    return found


def plan(typed: str) -> Pointer:
    """Return the pointer of a model that a configuration names, in the run and in its jobs."""
    values = {
        "run": "small",
        "corpus": {"source": "jsonl", "files": ["pointer.json"]},
        "domains": {"near": {"categories": ["near"]}},
        "pairs": {"tokenizer": "gpt2"},
        "models": {"score": [typed]},
    }
    config, _ = read_checked(values, ["my.yaml"], ROOT)
    assert read_checked(values, ["my.yaml"], ROOT, say=None)[0] == config, "a job reads the same"
    (name,) = config.models.score
    return locate_pointer(name, find_table(config, ROOT))


def build(typed: str) -> Pointer:
    """Return the pointer of a model that `fathom build` gets."""
    (name,) = examine("texts", [typed], {}, "small").models
    return plan(name)


def describe(pointer: Pointer) -> tuple[object, ...]:
    adapter = pointer.adapter and pointer.adapter.resolve()
    return (check_fingerprint(pointer), pointer.path.resolve(), adapter, pointer.revision,
            pointer.chat_template, pointer.add_bos)  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "source", "revision", "add_bos"),
    [("gpt2", "hub/org/gpt2", PINNED, None),
     ("org/gpt2", "hub/org/gpt2", PINNED, None),
     ("org/gpt2@v2", "hub/org/gpt2", TAGGED, None),
     (f"org/gpt2@{PINNED}", "hub/org/gpt2", PINNED, None),
     ("other-i", "hub/org/Model-Instruct", PINNED, True),
     ("other-i@chat", "hub/org/Model-Instruct", PINNED, True),
     ("Other-Instruct@chat", "hub/org/Model-Instruct", PINNED, True),
     ("org/Model-Instruct@chat", "hub/org/Model-Instruct", PINNED, True),
     ("org/Model-Instruct@v2@chat", "hub/org/Model-Instruct", TAGGED, True),
     ("org/Base", "hub/org/Base", NEWEST, True),
     ("org/Base@v2", "hub/org/Base", TAGGED, True),
     ("early", "hub/org/Early", NEWEST, True),
     ("org/Carded", "hub/org/Carded", NEWEST, None),
     ("org/Carded@chat", "hub/org/Carded", NEWEST, None),
     ("org/files/b.gguf", "", NEWEST, None),
     ("plain", "plain", "", None),
     ("./plain", "plain", "", None),
     ("mine-instruct", "mine-instruct", "", True),
     ("./mine-instruct@chat", "mine-instruct", "", True),
     ("a.gguf", "", "", None),
     ("tuned", "mine-instruct tuned", "", True),
     ("tuned@chat", "mine-instruct tuned", "", True),
     ("far", "hub/org/Base far", "", True),
     ("org/lora", "hub/org/Base hub/org/lora", NEWEST, True),
     ("org/short", "hub/org/gpt2 hub/org/short", NEWEST, None)],
)  # fmt: skip
def test_a_name_is_read_alike_at_every_door(models, typed, source, revision, add_bos):
    found = find_pointer(typed)
    assert describe(build(typed)) == describe(plan(typed)) == describe(found)
    assert (found.revision, found.add_bos) == (revision, add_bos)
    assert found.chat_template == typed.endswith("@chat") == found.name.endswith("@chat")
    folder, _, adapter = source.partition(" ")
    if folder:  # not unpacked from a file
        assert found.path.resolve() == models / folder
    assert (found.adapter and found.adapter.resolve()) == (models / adapter if adapter else None)


@pytest.mark.parametrize(
    ("typed", "said"),
    [("gtp2", ["gtp2", "gpt2"]),
     ("gpt2@v2", ["gpt2@v2", "org/gpt2@v2"]),
     ("gpt2@chat", ["gpt2", "not a chat model"]),
     ("./plain@chat", ["plain", "not a chat model"]),
     ("org/Base@", ["org/Base@", "OWNER/NAME@REVISION"]),
     ("org/none.gguf", ["org/none.gguf", "check the path"]),
     ("org/none.json", ["org/none.json", "check the path"]),
     ("none.gguf", ["none.gguf", "check the path"]),
     ("none.json", ["none.json", "check the path"]),
     ("./none", ["./none", "check the path"]),
     ("a/b/c", ["a/b/c", "check the path"]),
     ("ftp://me:secret@host/x", ["ftp://host/x", "http://"])],
)  # fmt: skip
def test_a_name_is_refused_alike_at_every_door(asked, typed, said):
    for door in (plan, build, find_pointer):
        with refuses(*said) as caught:
            door(typed)
        assert caught.value.hint and "secret" not in str(caught.value)
    assert not asked and not Path("results").exists(), "nothing is sought on the hub, nothing written"


@pytest.mark.parametrize(
    ("typed", "said"),
    [("org/Base@chat", "Base' is not a chat model"),
     ("org/Early@chat", "Early' is not a chat model"),
     ("far@chat", "not a chat model"),
     ("org/Base@v9", "org/Base v9"),
     ("org/nothing", "org/nothing")],
)  # fmt: skip
def test_what_the_hub_lacks_is_refused_alike_at_every_door(typed, said):
    for door in (plan, build, find_pointer):
        with refuses(said) as caught:
            door(typed)
        assert caught.value.hint and not Path("results").exists()


def test_a_model_to_describe_or_add_may_be_typed_with_chat(asked):
    known = read_registry("config/models.tsv")
    found = resolve_models(["org/Carded@chat", "other-i@chat"], known, "x")
    assert found.names == ["Carded", "Other-Instruct"] and found.new[0].asked == "org/Carded"
    assert asked == ["org/Carded@"]


def test_an_adapter_takes_a_base_named_in_the_same_ways(models):
    found = find_pointer("far", "other-i")
    assert (found.path, found.base, found.add_bos) == (
        models / "hub/org/Model-Instruct",
        "Other-Instruct",
        True,
    )
    found = find_pointer("far@chat", "org/Model-Instruct")
    assert (found.name, found.base, found.chat_template) == ("far@chat", "Other-Instruct", True)
    with refuses("'tuned'", "far", "is an adapter too"):
        find_pointer("far", "tuned")


def test_a_tokenizer_is_named_as_its_model_is(models, asked):
    assert find_tokenizer("other-i")[0] == models / "hub/org/Model-Instruct"
    assert find_tokenizer("org/Base@v2")[0] == models / "hub/org/Base"
    assert find_tokenizer("org/Early") == (models / "hub/org/Early", True)
    assert asked == [f"org/Model-Instruct@{PINNED}", "org/Base@v2", "org/Early@"]
    assert find_tokenizer("./plain")[0].samefile(models / "plain")
    for typed in ("gtp2", "org/files/b.gguf", "http://localhost:1/v1#gpt2"):
        with refuses("--tokenizer", typed):
            find_tokenizer(typed)
