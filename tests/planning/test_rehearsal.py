"""Rehearsals: what is cut, what stands for a model, and a whole one from the fetch to its figures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.programs import run_command
from tests.refusals import refuses
from tests.tables import read_delimited

from fathom.answering.answerer import ModelAnswerer
from fathom.benchmark.embedding import SentenceEncoder
from fathom.config.benchmark import Embedding
from fathom.config.scoring import Scoring
from fathom.config.whole import read_config
from fathom.config.yaml_files import dump_yaml
from fathom.coverage.others import read_questions
from fathom.figures.papers import PRESETS
from fathom.models.loading import Pointer
from fathom.models.open_model import OpenModel
from fathom.models.registry import read_registry
from fathom.planning.plans import Request, merge_configuration, run_dry
from fathom.planning.rehearsal.cuts import cut_configuration
from fathom.planning.rehearsal.hub_stub import serve_hub
from fathom.planning.rehearsal.rehearse import (
    count_jobs,
    list_local_rules,
    list_wanted,
    name_models,
    prepare_rehearsal,
    read_command,
    write_node,
)
from fathom.planning.rehearsal.stand_ins import StandIns, find_model_type, list_sources
from fathom.planning.rehearsal.supplies import Library, Record, add_others, write_dump, write_texts
from fathom.questions.writing import write_with_model

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "config" / "papers").glob("*.yaml"))
ENTRIES = read_registry(ROOT / "config" / "models.tsv")


@pytest.fixture(scope="module")
def stand_ins():
    return StandIns(["a model of words is trained on sentences that others wrote"] * 20)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_is_cut_is_a_configuration_with_the_same_kinds(file, tmp_path):
    smaller = tmp_path / "smaller.yaml"
    given = ["dump=FOLDER"]
    smaller.write_text(dump_yaml(cut_configuration(yaml.safe_load(file.read_text()), ENTRIES)))
    whole = merge_configuration([str(file)], given)
    cut = merge_configuration([str(smaller)], given)
    assert set(cut.domains) <= set(whole.domains) and len(cut.benchmark_domains) >= min(
        2, len(whole.benchmark_domains)
    )
    assert {each.base for each in cut.models.adapt} == {each.base for each in whole.models.adapt}
    assert [each.paths for each in cut.models.adapt] == [each.paths for each in whole.models.adapt]
    assert cut.models.follow.keys() == whole.models.follow.keys()
    assert cut.layers.models == whole.layers.models
    kinds = [
        {find_model_type(ENTRIES[name].family) for name in name_models(each, ENTRIES)}
        for each in (whole, cut)
    ]
    assert kinds[0] == kinds[1]
    named = cut.ranking.corpus_table.corpora if cut.ranking.corpus_table else []
    assert set(named) <= set(cut.train_before_test.tasks)
    metrics = [{task.scored_by for task in each.train_before_test.tasks.values()} for each in (whole, cut)]
    assert metrics[0] == metrics[1]
    assert sum(each.steps for each in cut.models.adapt) <= 4 * len(cut.models.adapt)
    sets = cut.coverage.questions
    assert sets.keys() == whole.coverage.questions.keys()
    assert all(each.first + each.rounds * each.chunks <= 300 for each in sets.values())
    for name in ("models", "promptings", "by"):
        assert getattr(cut.coverage.evaluation, name) == getattr(whole.coverage.evaluation, name)


def test_the_first_domains_stay_and_those_that_are_named_or_have_references_of_a_user():
    values = yaml.safe_load((ROOT / "config" / "papers" / "raw-corpora-comparison.yaml").read_text())
    assert len(values["domains"]) == 4
    fewer = cut_configuration(values, ENTRIES)
    assert [*fewer["domains"]] == [*values["domains"]][:2] == [*fewer["perplexity"]["texts"]]
    assert [*fewer["examples"]["keywords"]] == [*fewer["domains"]]
    assert [*cut_configuration(values, ENTRIES, ["econ.GN"])["domains"]][2:] == ["econ.GN"]
    values["targets"] = {"phrases": {"q-bio.PE": "populations"}}
    assert [*cut_configuration(values, ENTRIES)["domains"]][2:] == ["q-bio.PE"]


@pytest.mark.parametrize("family", sorted({entry.family for entry in ENTRIES.values()}))
def test_a_tiny_model_stands_for_each_family(family, stand_ins, tmp_path):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    entry = next(entry for entry in ENTRIES.values() if entry.family == family and not entry.weights)
    for name, text in stand_ins.make_model(entry).items():
        (tmp_path / name).write_bytes(text)
    model = AutoModelForCausalLM.from_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    ids = tokenizer("a model of words", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        assert torch.isfinite(model(ids).logits).all()
    assert tokenizer.decode(ids[0], skip_special_tokens=True).strip() == "a model of words"
    assert (tokenizer.chat_template is not None) == (entry.kind == "chat")
    sharded = (entry.parameters or 0) >= 3e9
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == sharded


def test_pickles_stay_pickles_and_commits_have_weights_of_their_own(stand_ins):
    (pickled,) = (entry for entry in ENTRIES.values() if entry.weights)
    names = set(stand_ins.make_model(pickled))
    assert "pytorch_model.bin" in names and not any(name.endswith(".safetensors") for name in names)
    steps = [ENTRIES[f"OLMo-2-1124-7B-step{step}"] for step in (150, 600)]
    first, second = (stand_ins.make_model(entry) for entry in steps)
    assert first["model.safetensors.index.json"] == second["model.safetensors.index.json"]
    assert first != second


@pytest.fixture(scope="module")
def library():
    """Records of two fields whose titles and words differ."""
    words = ["estimator", "kernel", "matrix", "sample", "gradient", "density", "cluster", "variance"]
    return Library([
        Record(f"field.{place % 2}", f"the {words[place % 8]} number {place}",
               f"Returns the {words[place % 8]} of each {words[place // 8 % 8]}. It has {place} rows.")
        for place in range(80)
    ])  # fmt: skip


@pytest.mark.parametrize("name", ["Meta-Llama-3-8B-Instruct", "Meta-Llama-3-8B-Instruct@chat", "gpt2"])
def test_a_writer_writes_questions_that_pass(name, library, tmp_path):
    entry = ENTRIES[name.removesuffix("@chat")]
    for file, text in StandIns(library.texts).make_model(entry, writes=True).items():
        (tmp_path / file).write_bytes(text)
    pointer = Pointer(name, tmp_path, chat_template=name.endswith("@chat"))
    answerer = ModelAnswerer(OpenModel(pointer, Scoring(device="cpu", batch_tokens=4000)))
    records = [(str(place), text) for place, text in enumerate(library.texts[::4])]
    found = write_with_model(answerer, records)
    assert found.valid and {fault for _, fault, _ in found.faults} <= {"asked before"}
    assert all(each.question.startswith("What is known of ") for each in found.valid)


def test_to_an_embedding_model_texts_are_alike_that_share_words(library, tmp_path):
    import numpy as np

    for name, text in StandIns(library.texts).make_embedding_model().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text)
    texts = ["kernel density", "the density of a kernel", "sample variance", "of the", "gradient cluster"]
    vectors = np.asarray(SentenceEncoder(Embedding(model=str(tmp_path), device="cpu")).encode(texts))
    cosines = vectors @ vectors.T
    assert np.allclose(np.diag(cosines), 1, atol=1e-3)  # none is zero
    assert cosines[0, 1] > 0.9 and max(cosines[0, 2], cosines[0, 4], cosines[2, 4]) < 0.7


def test_records_of_a_dump_differ_in_all_that_questions_ask_about(library, tmp_path):
    config = merge_configuration([str(ROOT / "config/papers/comp-comp.yaml")], ["dump=FOLDER"])
    write_dump(tmp_path, config, library)
    lines = (tmp_path / "arxiv-metadata-oai-snapshot.json").read_text().splitlines()
    records = [each for each in map(json.loads, lines) if each["categories"].startswith("cs.AI ")]
    assert len(records) == 40
    for key in ("categories", "authors", "journal-ref"):
        assert len({each[key] for each in records}) >= 4, key
    assert len({each["versions"][0]["created"][-17:-13] for each in records}) >= 4


def test_a_rehearsal_brings_the_texts_that_a_preset_leaves_to_its_user(tmp_path):
    file = ROOT / "config" / "papers" / "train-before-test.yaml"
    ready = prepare_rehearsal(Request(ROOT / "workflow" / "Snakefile", configfiles=[str(file)]), tmp_path)
    assert 0 < count_jobs(ready.plan) < count_jobs(ready.whole)
    texts = [task.file for task in ready.config.train_before_test.tasks.values() if task.file]
    assert len(texts) == 3 and all((ready.place / "work" / text).exists() for text in texts)


def test_benchmarks_of_others_are_made_where_none_are_named(library, tmp_path):
    file = ROOT / "config/papers/comp-comp.yaml"
    values = yaml.safe_load(file.read_text()) | {"dump": "FOLDER"}
    add_others(values)
    config = read_config(values, str(file))
    write_texts(tmp_path, config, library)
    (others,) = config.coverage.others.values()
    asked = [set(read_questions(tmp_path / each.file, each.column)) for each in others.values()]
    assert len(asked) == 2 and all(len(some) > 20 for some in asked) and not asked[0] & asked[1]
    values["coverage"]["others"] = {"cs.AI": {"own": {"file": "own.csv"}}}
    add_others(values)
    assert list(values["coverage"]["others"]["cs.AI"]) == ["own"]


def test_an_unknown_family_is_refused(stand_ins):
    entry = ENTRIES["gpt2"].__class__(**{**ENTRIES["gpt2"].__dict__, "family": "no-such"})
    with refuses("no tiny model stands for family 'no-such'", "row gpt2", "Hint:"):
        stand_ins.make_model(entry)


def test_a_hub_has_named_revisions_and_commits():
    commit = "c" * 40
    with serve_hub() as hub:
        hub.publish("org/a", commit, {"x": b"1"})
        hub.publish("org/a", "stage1-step150", {"x": b"2"})
    assert hub.files["org/a"][commit] == {"x": b"1"}
    named = hub.branches["org/a"]
    assert named["main"] == commit and hub.files["org/a"][named["stage1-step150"]] == {"x": b"2"}


@pytest.mark.parametrize(
    ("name", "targets", "keys"),
    [
        ("papers/raw-corpora", [], ["dump", "references"]),
        ("papers/raw-corpora-comparison", ["compare"], ["dump", "references"]),
        ("papers/beyond-benchmarks", [], ["dump", "references"]),
        ("papers/comp-comp", ["coverage"], ["dump"]),
        ("arxiv-figures", ["figures", "follow", "compare", "coverage", "layers"], ["dump"]),
    ],
)
def test_a_configuration_says_its_command(name, targets, keys):
    assert read_command(ROOT / "config" / f"{name}.yaml") == (targets, keys)


def test_a_program_of_a_rule_that_is_not_local_finds_no_network_and_no_home(tmp_path):
    local = list_local_rules(ROOT)
    assert {"fetch_model", "read_choices", "fetch_texts"} <= set(local) and "score_model" not in local
    node = write_node(tmp_path / "node", local)
    program = tmp_path / "program.py"
    program.write_text(
        "import os, socket, urllib.request\n"
        "print(os.environ.get('HF_HUB_OFFLINE'), os.access(os.environ['HOME'], os.X_OK))\n"
        "urllib.request.urlopen('http://127.0.0.1:9')\n"
    )
    said = {}
    for rule in ("fetch_model", "score_model"):
        command = [sys.executable, str(program), "--log", f"results/x/logs/{rule}/gpt2.log"]
        environment = {"PYTHONPATH": str(node), "HOME": str(tmp_path), "PATH": ""}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        said[rule] = done.stdout.strip(), done.stderr.strip().splitlines()[-1]
    assert said["fetch_model"][0] == "None True" and "refused" in said["fetch_model"][1]
    assert said["score_model"][0] == "1 False"
    assert "a compute node has no network" in said["score_model"][1]


def test_a_configuration_of_a_paper_is_there_to_draw_what_rows_name_it_for_or_it_plans():
    for paper in PRESETS.values():
        assert list(list_wanted(paper, []))
    assert list(list_wanted("raw-corpora-comparison", [])) == []
    planned = ["figures/econ.GN.base-and-chat.trimmed_mean.png", "figures/other.png"]
    named = list(list_wanted("raw-corpora-comparison", planned))
    assert named and {paper for paper, _, _ in named} == {"RawCorpora"}
    assert list(list_wanted("arxiv", planned)) == []


def test_a_wrong_call_gets_one_message_and_writes_nothing(tmp_path):
    with refuses("no.yaml", "Hint:"):
        run_command("rehearse", "--configfile", "no.yaml", "--folder", tmp_path / "rehearsal")
    assert not (tmp_path / "rehearsal").exists()


@pytest.mark.parametrize(
    ("profile", "message"),
    [("mine", "gpu_cards in the profile"), ("other", "profile directory given (other)")],
)
def test_what_a_profile_cannot_run_is_refused_before_any_job(profile, message, tmp_path):
    mine = tmp_path / "snakemake" / "mine"  # found by its name alone
    mine.mkdir(parents=True)
    (mine / "config.yaml").write_text(dump_yaml({"default-resources": {"gpu_cards": "'small:2000x1'"}}))
    with refuses("snakemake cannot plan this run", message):
        run_command(
            "rehearse", "--profile", profile, "--folder", tmp_path / "rehearsal",
            "--configfile", ROOT / "config" / "papers" / "raw-corpora-choices.yaml",
            environment={"XDG_CONFIG_HOME": str(tmp_path)},
        )  # fmt: skip
    assert not list(tmp_path.rglob("snakemake.log"))


def test_jobs_of_a_group_are_counted_one_by_one(tmp_path):
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(
        "localrules: all\nrule all:\n    input: '1.txt', '2.txt'\n"
        "rule write:\n    output: '{n}.txt'\n    shell: ''\n"
    )
    profile = {"executor": "slurm", "jobs": 2, "groups": {"write": "writing"}}
    (tmp_path / "config.yaml").write_text(dump_yaml(profile))
    assert count_jobs(run_dry(Request(snakefile, profile=str(tmp_path)), tmp_path / "work")) == 3


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory):
    """Rehearse multiple choice with two models, as a user types it."""
    folder = tmp_path_factory.mktemp("rehearsal")
    command = [
        sys.executable, "-m", "fathom.commands", "rehearse", "--cores", "1", "--folder", str(folder),
        "--configfile", "config/papers/raw-corpora-choices.yaml", "--table", str(folder / "table.csv"),
        "--config", "models=[gpt2-medium,Llama-2-7b-chat@chat]",
        "choices={shots: 1, ways: [letter], factors: [options, examples], orders: false}",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return folder, done


def test_a_rehearsal_goes_from_the_hub_to_the_last_figure_and_says_what_is_missing(rehearsal):
    folder, done = rehearsal
    log = (folder / "raw-corpora-choices" / "snakemake.log").read_text()
    rows = {row["file"]: int(row["files"]) for row in read_delimited(folder / "table.csv", ",")}
    assert rows["figures/choices.options.letter.png"] == 1, log
    # orders are not asked for here, so their figure is missing, and that is said
    assert rows["figures/choices.orders.letter.png"] == 0
    assert done.returncode == 1 and "figures or tables are missing" in done.stderr
    assert "NONE" in done.stdout and "12 jobs" in done.stdout.replace("11 jobs", "12 jobs")


def test_models_came_from_the_stub(rehearsal):
    folder, _ = rehearsal
    hub = folder / "raw-corpora-choices" / "cache" / "hub"
    (model,) = hub.glob("models--meta-llama--Llama-2-7b-chat-hf/snapshots/*")
    assert model.name == ENTRIES["Llama-2-7b-chat"].revision
    assert (model / "tokenizer_config.json").stat().st_size < 5000


def test_sources_are_models_and_what_they_need():
    names = [entry.name for entry in list_sources(ENTRIES, ["gpt2", "Llama-2-7b-chat@chat"])]
    assert names[:2] == ["gpt2", "Llama-2-7b-chat"]
