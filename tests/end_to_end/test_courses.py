"""The course catalogue of docs/questions.md: the commands of the page, run as they stand there."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.end_to_end.project import HASH_SEED, ROOT, copy_project, run_snakemake
from tests.programs import MODELS, find_python, run_command
from tests.tables import MODEL_COLUMNS, read_delimited

from fathom.io.files import hash_file

SET = Path("results") / "courses" / "questions" / "courses"
FORMS = {"binary": 2, "multiple-choice": 4, "multiple-answer": 8, "open": 0}
WRITER = ["coverage={questions: {courses: {writer: writer, written: 3}}}",
          "models={registry: config/writer.tsv, score: [writer]}"]  # fmt: skip
"""The page's `writer: NAME`, given beside its command."""
WRITTEN = ("Which room?", "The largest.")
SAME = ("ontology.nt", "entities.parquet", "chunks.parquet", "chunks.npy", "written.jsonl",
        "written-faults.csv", "questions.parquet", "questions.npy", "questions.json", "proof.json",
        "lm-eval")  # fmt: skip
"""Files of questions that any run gives the same bytes of."""


def list_commands():
    """Return the commands of the page, split as a shell splits them."""
    page = (ROOT / "docs" / "questions.md").read_text()
    blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


def write_writer(project):
    """Add a model to a project that goes from each word to the next of one question with its answer."""
    import torch
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    # each word is one token, so that the last one alone says which is next
    words = [pre_tokenizers.Split(Regex(r" ?\S+|\n"), "isolated"),
             pre_tokenizers.ByteLevel(False, use_regex=False)]  # fmt: skip
    core.pre_tokenizer = pre_tokenizers.Sequence(words)
    core.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    settings = {"special_tokens": ["<|end|>"], "initial_alphabet": alphabet, "show_progress": False}
    text = "Question: {}\nAnswer: {}".format(*WRITTEN)
    core.train_from_iterator([text], trainers.BpeTrainer(vocab_size=1000, **settings))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<|end|>", eos_token="<|end|>")
    tokens = [*tokenizer(text)["input_ids"], tokenizer.eos_token_id]
    assert len(tokens) == len(set(tokens)) == 8
    size = len(tokenizer)
    ends = {"bos_token_id": tokenizer.eos_token_id, "eos_token_id": tokenizer.eos_token_id}
    config = GPT2Config(vocab_size=size, n_embd=size, n_layer=1, n_head=1, tie_word_embeddings=False, **ends)
    model = GPT2LMHeadModel(config)
    with torch.no_grad():
        for name, values in model.named_parameters():
            values.fill_(float("ln_" in name and name.endswith("weight")))
        model.transformer.wte.weight.copy_(torch.eye(size))
        model.lm_head.weight[tokens[1:], tokens[:-1]] = 1.0
    model.save_pretrained(project / "config" / "writer")
    tokenizer.save_pretrained(project / "config" / "writer")
    row = {"name": "writer", "source": "writer", "family": "writer", "kind": "base", "dtype": "float32"}
    lines = ["\t".join(MODEL_COLUMNS), "\t".join(row.get(column, "") for column in MODEL_COLUMNS)]
    (project / "config" / "writer.tsv").write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run the page's first command, with a model that writes questions."""
    folder = copy_project(tmp_path_factory.mktemp("courses"))
    write_writer(folder)
    _, *arguments = list_commands()[0]
    run_snakemake(folder, *arguments, "--config", *WRITER)
    return folder


@pytest.fixture(scope="module")
def questions(finished):
    """Return the questions as they were written."""
    return pl.read_parquet(finished / SET / "questions.parquet")


def hash_files(folder):
    """Return the hashes of the files that any run gives the same bytes of."""
    found = [folder / SET / name for name in SAME]
    files = [path for each in found for path in (sorted(each.iterdir()) if each.is_dir() else [each])]
    return {str(path.relative_to(folder)): hash_file(path) for path in files if path.is_file()}


def test_the_page_names_what_the_command_makes(finished):
    page = (ROOT / "docs" / "questions.md").read_text()
    rows = re.findall(r"^\| (`[^|]*`) \| [^|]*\|$", page.split("## 1.")[0], re.M)
    named = [name for row in rows for name in re.findall(r"`(.*?)`", row)]
    assert len(named) == 9
    for name in named:
        assert (finished / SET / name).exists(), name
    tables = [
        f"{name}.csv" for name in ("sizes", "question-scores", "question-differences", "question-thresholds")
    ]
    figures = [
        f"figures/courses.{name}.png" for name in ("examples", "scores", "radar", "answers-by-threshold")
    ]
    for name in (*tables, *figures):
        assert f"`{name}`" in page and (finished / "results" / "courses" / name).is_file(), name


def test_every_question_is_proved_by_its_query_from_the_written_files(finished, questions):
    from rdflib import Graph, URIRef

    graph = Graph().parse(finished / SET / "ontology.nt", format="nt")
    proved = dict.fromkeys(FORMS, 0)
    for row in questions.iter_rows(named=True):
        assert len(row["options"]) == len(set(row["options"])) == FORMS[row["form"]]
        if row["form"] == "open":
            continue
        known = dict(each.split("=", 1) for each in row["bindings"])
        tries = (
            [known]
            if row["form"] == "binary"
            else [known | {row["asked"]: iri} for iri in row["option_iris"]]
        )
        told = [
            graph.query(
                row["query"], initBindings={name: URIRef(iri) for name, iri in each.items()}
            ).askAnswer
            for each in tries
        ]
        assert told == (row["right"][:1] if row["form"] == "binary" else row["right"]), row["question"]
        assert any(row["right"]) and (row["form"] == "multiple-answer" or sum(row["right"]) == 1)
        proved[row["form"]] += 1
    report = json.loads((finished / SET / "proof.json").read_text())
    assert {form: each["questions"] for form, each in report["proved"].items()} == {
        form: count for form, count in proved.items() if form != "open"
    }
    assert min(count for form, count in proved.items() if form != "open") > 10


def test_answers_are_those_of_the_tables(questions):
    tables = ROOT / "config" / "questions" / "courses"
    names = {row["code"]: row["name"] for row in read_delimited(tables / "departments.csv", ",")}
    of_course = {row["title"]: names[row["department"]]
                 for row in read_delimited(tables / "courses.csv", ",")}  # fmt: skip
    asked = questions.filter(template="department")
    found = {row["question"].split('"')[1]: row["answer"] for row in asked.iter_rows(named=True)}
    assert len(found) > 10
    assert found == {title: of_course[title] for title in found}


def test_what_a_model_writes_joins_as_an_open_question(finished, questions):
    (line,) = (finished / SET / "written.jsonl").read_text().splitlines()
    assert (json.loads(line)["question"], json.loads(line)["answer"]) == WRITTEN
    faults = read_delimited(finished / SET / "written-faults.csv", ",")
    assert [row["fault"] for row in faults] == ["asked before"] * 2
    row = questions.filter(template="written.jsonl").row(0, named=True)
    assert (row["question"], row["answer"], row["form"], row["level"]) == (*WRITTEN, "open", "create")
    answers = pl.read_parquet(finished / SET / "answers" / "small.parquet")
    varied = pl.read_parquet(finished / SET / "percentiles-questions.parquet")
    assert set(answers["question_id"]) <= {*questions["question_id"], *varied["question_id"]}
    assert set(answers["question_id"]) & set(questions["question_id"])


def test_records_become_requests_and_their_answers_questions(finished):
    commands = [each for each in list_commands() if each[:2] == [".venv/bin/fathom", "request"]]
    assert [command[2] for command in commands] == ["questions", "send", "read-questions"]
    (finished / "requests").mkdir()
    run_command(*commands[0][1:], folder=finished)
    requests = "".join(path.read_text() for path in sorted((finished / "requests").iterdir()))
    assert "Record 1:" in requests and "Linear Algebra" in requests
    (finished / "answers").mkdir()
    (finished / "answers" / "one.txt").write_text('{"record": 1, "question": "Who?", "answer": "Ada."}\n')
    read = [argument.replace("*.txt", "one.txt") for argument in commands[2][1:]]
    run_command(*read, folder=finished)
    assert json.loads((finished / "written.jsonl").read_text())["answer"] == "Ada."


def test_another_folder_one_core_and_another_hash_seed_give_the_same_bytes(finished, tmp_path):
    assert HASH_SEED != "0", "not that of the first run"
    folder = copy_project(tmp_path)
    write_writer(folder)
    _, _, *arguments = list_commands()[0]
    wanted = [str(SET / name) for name in ("proof.json", "lm-eval")]
    python = find_python(MODELS)
    run_snakemake(folder, "-c1", *arguments, "--config", *WRITER, "--", *wanted, python=python)
    assert len(np.load(folder / SET / "questions.npy")) > 50
    assert hash_files(folder) == hash_files(finished)
