"""A model of the hub that is refused, pickled as it is: the others answer all questions without it."""

import json

import pytest
import yaml
from tests.end_to_end.project import HASH_SEED, copy_project, run_snakemake
from tests.plans import count_jobs
from tests.programs import MODELS, find_python
from tests.tables import read_delimited, write_models
from tests.tiny import make_config, make_model

from fathom.planning.rehearsal.hub_stub import read_folder, serve_hub

TRAINED = "+courses.records+courses.questions"
ANSWERS = "results/optional/question-scores.csv"


def save_model(folder):
    """Return the files of a random model that reads bytes."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    signs = ["<|end|>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    core = Tokenizer(models.BPE({sign: place for place, sign in enumerate(signs)}, []))
    core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(False), decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=core, eos_token="<|end|>").save_pretrained(folder)
    make_model(make_config("gpt2", len(signs), 1024)).save_pretrained(folder)
    return read_folder(folder)


def write_config(folder):
    """Write a configuration of two models, one of them optional, frozen and trained on questions."""
    write_models(
        folder / "config" / "hub.tsv",
        {"name": "good", "source": "org/good"},
        {"name": "pickled", "source": "org/pickled"},
    )
    training = {"paths": [["courses.records", "courses.questions"]], "steps": 2, "batch": 1, "sequence": 32}
    names = ["good", "pickled"]
    values = yaml.safe_load((folder / "config" / "courses.yaml").read_text())
    coverage = {name: value for name, value in values["coverage"].items() if name != "ablation"}
    coverage["questions"]["courses"]["first"] = 2
    coverage["evaluation"] = {"promptings": ["plain"], "max_tokens": 2,
                              "models": [*names, *(name + TRAINED for name in names)]}  # fmt: skip
    models = {"registry": "config/hub.tsv", "score": names, "optional": ["pickled"],
              "adapt": [{"base": name, **training} for name in names]}  # fmt: skip
    path = folder / "config" / "optional.yaml"
    path.write_text(json.dumps({"run": "optional", "coverage": coverage, "models": models}))
    return path


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Fetch both models from a stub of the hub, then let them answer; return what was planned and said."""
    folder = copy_project(tmp_path_factory.mktemp("optional"))
    with serve_hub() as hub:
        files = save_model(folder / "model")
        hub.add("org/good", files)
        hub.add("org/pickled", {"config.json": files["config.json"], "pytorch_model.bin": b"never read"})
        online = {"HF_ENDPOINT": hub.address, "HF_HUB_DISABLE_XET": "1", "HF_HUB_OFFLINE": "0"}
        online["HF_HOME"] = str(folder / "hub")
        python = find_python(MODELS, PYTHONHASHSEED=HASH_SEED, **online)
        given = ("-c2", "--configfile", write_config(folder))
        fetched = run_snakemake(folder, *given, "-k", "--", "fetch", python=python, code=1, **online)
        planned = run_snakemake(folder, *given, "-n", "--", ANSWERS, python=python)
        done = run_snakemake(folder, *given, "--", ANSWERS, python=python)
    return folder, fetched, planned, done


def test_the_refusal_says_what_to_type(project):
    _, fetched, _, _ = project
    assert "weights are pickled (pytorch_model.bin)" in fetched.stderr
    assert "name the model under models.optional" in fetched.stderr
    assert fetched.stderr.rstrip().endswith("pickled could not be fetched; continuing without it")


def test_the_others_answer_to_the_end(project):
    folder, _, planned, done = project
    jobs = count_jobs(planned)
    assert (jobs["answer_questions"], jobs["adapt_model"], jobs["fetch_model"]) == (2, 2, 0)  # two stages
    assert "left out, with all models adapted from it: pickled" in done.stderr
    assert {row["model"] for row in read_delimited(folder / ANSWERS, ",")} == {"good", "good" + TRAINED}
