"""What a rehearsal reads: a dump, training text, questions, tasks, references, all made on the spot.

Data sets of tasks have rows in the form that lm-evaluation-harness reads, by id and subset on the hub.
"""

import gzip
import io
import itertools
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from fathom.config.corpus import Domain, TextSource
from fathom.config.model_names import ModelName
from fathom.config.whole import Config
from fathom.errors import InputError
from fathom.io.files import make_folder
from fathom.models.registry import ModelRow
from fathom.planning.rehearsal.hub_stub import Hub
from fathom.planning.rehearsal.stand_ins import StandIns

PACKAGES = ("sklearn", "scipy")
"""Packages whose docstrings are the text of a rehearsal: real sentences that every installation has."""
_ALL, _EACH, _LONGEST = 700, 110, 1000  # documents, those of a category at least, characters of one
_OTHER = "math.HO"  # a category that domains of all other fields have
_SECOND = ("eess.IV", "hep-lat", "nlin.CD", "q-fin.ST", "gr-qc", "math.KT", "physics.ao-ph", "stat.CO")
_ESCAPED = str.maketrans({mark: f"\\{mark}" for mark in "&%$#_{}"})
_NAMES = ("Abel", "Bode", "Crick", "Dirac", "Euler", "Frege", "Gauss", "Hilbert", "Ito", "Jordan", "Kepler")


class Record(NamedTuple):
    """A document: its field, title and text."""

    field: str
    title: str
    text: str


def read_records(folder: Path) -> list[Record]:
    """Return docstrings of installed packages, from a file in a folder where an earlier rehearsal left it."""
    import polars as pl

    from fathom.config.corpus import Selection
    from fathom.corpus.docstrings import read_docstrings

    found: list[Record] = []
    for package in PACKAGES:
        file = folder / f"{package}.parquet"
        if not file.exists():
            read_docstrings(package, Selection(domains={"all": Domain(categories=[f"{package}.*"])}), file)
        columns = ("categories", "title", "text")
        rows = pl.read_parquet(file, columns=list(columns)).select(columns).rows()
        found += [Record(fields[0], title, text[:_LONGEST]) for fields, title, text in rows]
    return found


class Library:
    """Documents by field, dealt out to categories: each category has fields of its own."""

    def __init__(self, records: Sequence[Record]) -> None:
        fields: dict[str, list[Record]] = {}
        for record in records:
            fields.setdefault(record.field, []).append(record)
        large = sorted(fields.values(), key=lambda some: (-len(some), some[0].field))
        self.texts = [record.text for record in records]
        self._fields = [some for some in large if len(some) >= 20]

    def choose(self, categories: Sequence[str]) -> dict[str, list[Record]]:
        """Return documents for each category."""
        dealt: dict[str, list[Record]] = {name: [] for name in categories}
        limit = max(_EACH, _ALL // max(1, len(categories)))
        for name, field in zip(itertools.cycle(dealt), self._fields, strict=False):
            dealt[name] += field[: max(0, limit - len(dealt[name]))]
        # more categories than fields: they have documents that others have, too
        spare = itertools.cycle(itertools.chain.from_iterable(self._fields))
        return {name: some or list(itertools.islice(spare, _EACH)) for name, some in dealt.items()}

    def write_words(self, count: int) -> Iterator[list[str]]:
        """Yield lists of eight words."""
        every = (word for text in self.texts for word in text.lower().split())
        words = [word for word in every if word.isalpha() and len(word) > 3]
        for place in range(count):
            yield words[8 * place : 8 * place + 8]


def write_dump(folder: Path, config: Config, library: Library) -> None:
    """Write an arXiv dump: metadata, and full texts of two thirds of the documents in two shards."""
    # of each domain a category that no other domain takes first
    plain = ([name for name in domain.categories if "*" not in name] for domain in config.domains.values())
    chosen = library.choose([*dict.fromkeys([*(names[0] if names else _OTHER for names in plain), _OTHER])])
    metadata: list[dict[str, Any]] = []
    shards: tuple[list[dict[str, Any]], ...] = ([], [])
    number = itertools.count()
    for category, records in chosen.items():
        for record in records:
            place = next(number)
            identifier = f"{2001 + place // 10_000:04d}.{place % 10_000:05d}"
            metadata.append({
                "id": identifier, "title": record.title.replace(".", " "), "abstract": record.text[:600],
                **_make_details(place, category, _SECOND if len(chosen) == 2 else ()),
            })  # fmt: skip
            if place % 3:
                text = f"\\section{{{record.title}}}\n\n{record.text.translate(_ESCAPED)}\n"
                shards[place % 2].append({"text": text, "meta": {"arxiv_id": identifier}})
    make_folder(folder / "redpajama")
    _write_lines(folder / "arxiv-metadata-oai-snapshot.json", metadata)
    for name, rows in zip("ab", shards, strict=True):
        _write_lines(folder / "redpajama" / f"arxiv_{name}.jsonl", rows)


def _make_details(place: int, category: str, second: Sequence[str]) -> dict[str, Any]:
    """Return what metadata say beside title and abstract; questions are asked about it."""
    year, month = 2008 + place % 12, 1 + place % 9
    authors = dict.fromkeys(
        f"{'ABCDE'[step % 5]}. {_NAMES[step % len(_NAMES)]}" for step in (place, place * 7 + 3, place * 3 + 5)
    )
    others = second[place % len(second) :][:1] if second else ()
    return {
        "categories": " ".join([category, *others]), "authors": ", ".join(authors),
        "journal-ref": f"Journal of {_NAMES[place % 6]} Studies {1 + place % 30} ({year + 1})",
        "update_date": f"{year}-{month:02d}-02",
        "versions": [{"version": "v1", "created": f"Wed, {1 + place % 28} Jan {year} 00:00:00 GMT"}],
    }  # fmt: skip


def write_texts(work: Path, config: Config, library: Library) -> None:
    """Write the files of tasks and of others' benchmarks, unless they are there, as JSON lines."""
    for task in config.train_before_test.tasks.values():
        file = work / (task.file or "")
        if task.file and not file.exists():
            make_folder(file.parent)
            _write_lines(file, [{"text": text} for text in library.texts[:40]])
    named = [each for some in config.coverage.others.values() for each in some.values()]
    for start, other in enumerate(named):
        file = work / other.file
        if not file.exists():
            make_folder(file.parent)
            texts = library.texts[start :: len(named)][:60]
            _write_lines(file, [{other.column: f"What is {text.partition('.')[0]}?"} for text in texts])


def add_others(values: dict[str, Any]) -> None:
    """Name two benchmarks that others made of the first domain, in place: a user brings those of a paper."""
    domain = next(iter(values["domains"]))
    made = {name: {"file": f"made/{name}.jsonl"} for name in ("others-a", "others-b")}
    values["coverage"].setdefault("others", {domain: made})


def write_references(folder: Path, domains: Sequence[str], library: Library) -> None:
    """Write what stands for the benchmarks of an expert and of a language model, unless it is there."""
    make_folder(folder)
    chosen = library.choose(domains)
    for place, (domain, records) in enumerate(chosen.items()):
        rows = list(_write_questions(records))
        files = {folder / f"{domain}.claude.jsonl": rows}
        if place == 0:
            files[folder / f"{domain}.expert.jsonl"] = rows[::-1]
        for file, some in files.items():
            if not file.exists():
                _write_lines(file, some)


def remove_references(folder: Path, domains: Sequence[str]) -> None:
    """Remove the made references of domains that a smaller configuration goes without."""
    for domain in domains:
        for name in ("claude", "expert"):
            (folder / f"{domain}.{name}.jsonl").unlink(missing_ok=True)


def _write_questions(records: Sequence[Record]) -> Iterator[dict[str, str]]:
    seen = set()
    for record in records:
        sentence = record.text.partition(". ")[0].split()
        target = sentence[-1].strip(".,:") if sentence else ""
        prompt = " ".join(sentence[:-1])
        fits = len(sentence) > 6 and target.isalpha() and prompt[-1].isalnum()
        key = (prompt.lower(), target.lower())
        if fits and key[1] not in key[0] and key not in seen:
            seen.add(key)
            yield {"category": record.field, "prompt": prompt, "target": f" {target}"}


def fill_hub(hub: Hub, config: Config, sources: Sequence[ModelRow], library: Library) -> None:
    """Put onto a stub of the hub whatever a configuration fetches."""
    stand_ins = StandIns(library.texts)
    sets = config.coverage.questions.values()
    writers = {ModelName.parse(each.writer).plain for each in sets if each.writer}
    for entry in sources:
        if _is_hub_id(entry.source):
            files = stand_ins.make_model(entry, writes=entry.name in writers)
            hub.publish(entry.source, entry.revision, files)
    if _is_hub_id(config.embedding.model):
        hub.publish(config.embedding.model, "", stand_ins.make_embedding_model())
    texts = [*config.models.texts.items(), *config.perplexity.texts.items()]
    _publish_texts(hub, texts, library)
    for name, questions in config.choices.questions.items():
        if questions.hub:
            _publish_parts(hub, questions.hub, questions.revision or "", name, _make_choices(library))
    for task in config.train_before_test.tasks.values():
        if task.kind == "harness" and task.task and not task.task.endswith((".yaml", ".yml")):
            _publish_task(hub, task.task, library)


def _is_hub_id(source: str) -> bool:
    return (
        source.count("/") == 1 and ":" not in source and not Path(source).exists() and source[0] not in "./~"
    )


def _publish_texts(hub: Hub, sources: Sequence[tuple[str, TextSource]], library: Library) -> None:
    """Publish data sets of text, each file with all members that are asked of it."""
    chosen = library.choose(list(dict.fromkeys(name for name, _ in sources)))
    files: dict[tuple[str, str], dict[str, dict[str, bytes]]] = {}
    for name, source in sources:
        if not source.is_fetched:
            continue
        # lines as short as sentences: some of them are for validation
        sentences = (text for record in chosen[name] for text in record.text.split(". "))
        lines = "".join(" ".join(text.split()) + ".\n" for text in sentences if text.strip())
        key = str(source.dataset), str(source.revision)
        for file in source.files:
            files.setdefault(key, {}).setdefault(file, {})[source.member or ""] = lines.encode()
        if not source.files:
            rows = [{source.column: record.text} for record in chosen[name]]
            _publish_parts(hub, *key, source.subset or "default", {source.split: rows})
    for (identifier, revision), named in files.items():
        hub.publish(identifier, revision, {file: _pack(file, members) for file, members in named.items()})


def _pack(file: str, members: Mapping[str, bytes]) -> bytes:
    if "" in members:
        if file.endswith((".parquet", ".csv", ".zip")):
            raise InputError(
                f"no stand-in for {file}", "models.texts", "a rehearsal writes .txt, .jsonl and .tar"
            )
        text = members[""].decode()
        if ".jsonl" in file:
            text = "".join(json.dumps({"text": line}) + "\n" for line in text.splitlines())
        return gzip.compress(text.encode(), mtime=0) if file.endswith(".gz") else text.encode()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz" if file.endswith("gz") else "w") as archive:
        for name, data in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    return buffer.getvalue()


def _publish_parts(
    hub: Hub, identifier: str, revision: str, subset: str, parts: Mapping[str, Sequence[Mapping[str, Any]]]
) -> None:
    """Add a subset to a data set: a Parquet file for each split, and the card that names them."""
    import polars as pl

    commits = hub.files.get(identifier, {})
    known = commits.get(revision or hub.branches.get(identifier, {}).get("main", ""), {})
    files = dict(known)
    for split, rows in parts.items():
        buffer = io.BytesIO()
        pl.DataFrame(rows).write_parquet(buffer)
        files[f"{subset}/{split}-00000-of-00001.parquet"] = buffer.getvalue()
    named = sorted({name.split("/")[0] for name in files if name.endswith(".parquet")})
    card = ["---", "configs:"]
    for each in named:
        card.append(f"- config_name: {each}\n  data_files:")
        splits = [name.split("/")[1].split("-")[0] for name in files if name.startswith(f"{each}/")]
        card += [f"  - split: {split}\n    path: {each}/{split}-*" for split in splits]
    hub.publish(identifier, revision, files | {"README.md": "\n".join([*card, "---", ""]).encode()})


def _make_choices(library: Library) -> dict[str, list[dict[str, Any]]]:
    rows = [
        {"question": f"What comes after {' '.join(words[:4])} ({place})?", "subject": "x",
         "choices": words[4:8], "answer": place % 4}
        for place, words in enumerate(library.write_words(24))
        if len({*words[4:8]}) == 4
    ]  # fmt: skip
    return {"test": rows[5:], "dev": rows[:5]}


@cache  # it reads thousands of files
def _read_tasks() -> Mapping[str, Any]:
    from lm_eval.tasks import TaskManager

    return cast(Mapping[str, Any], TaskManager().task_index)


def _publish_task(hub: Hub, name: str, library: Library) -> None:
    from lm_eval.tasks._yaml_loader import load_yaml

    entry = _read_tasks()[name]
    about = load_yaml(entry.yaml_path, resolve_func=False)
    key = str(about["dataset_path"]), str(about.get("dataset_name") or "")
    if key not in DATA_SETS:
        what = f"nothing stands for the data set of task {name}: {' '.join(key).strip()}"
        hint = "leave the task out of the rehearsal, or add its rows to planning/rehearsal/supplies.py"
        raise InputError(what, "train_before_test.tasks", hint)
    made = DATA_SETS[key]
    parts = {
        split: [made.make(words, place) for place, words in enumerate(library.write_words(40))]
        for split in made.splits
    }
    _publish_parts(hub, key[0], "", key[1] or "default", parts)


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


Row = dict[str, Any]
Maker = Callable[[list[str], int], Row]
"""Takes eight words and a number, and returns a row."""


class DataSet(NamedTuple):
    """How the rows of a data set are made, and which splits it has."""

    make: Maker
    splits: tuple[str, ...] = ("train", "validation", "test")


def _sentence(words: list[str]) -> str:
    return f"The {' '.join(words[:6])}."


def _pair(first: str, second: str) -> Maker:
    def make(words: list[str], number: int) -> Row:
        return {first: _sentence(words), second: _sentence(words[2:]), "label": number % 2, "idx": number}

    return make


def _judge(words: list[str], number: int) -> Row:
    return {"sentence": _sentence(words), "label": number % 2, "idx": number}


def _infer(words: list[str], number: int) -> Row:
    premise, hypothesis = _sentence(words), _sentence(words[1:])
    return {"premise": premise, "hypothesis": hypothesis, "label": number % 3, "idx": number}


def _choose(question: str, count: int) -> Maker:
    def make(words: list[str], number: int) -> Row:
        options = {"text": words[:count], "label": list("ABCDE"[:count])}
        answer = "ABCDE"[number % count]
        return {"id": str(number), question: _sentence(words), "choices": options, "answerKey": answer}

    return make


def _word_in_context(words: list[str], number: int) -> Row:
    return {
        "word": words[0], "sentence1": _sentence(words), "sentence2": _sentence(words[::-1]), "start1": 4,
        "start2": 4, "end1": 4 + len(words[0]), "end2": 6, "idx": number, "label": number % 2,
    }  # fmt: skip


def _social(words: list[str], number: int) -> Row:
    answers = {f"answer{letter}": word for letter, word in zip("ABC", words, strict=False)}
    return {
        "context": _sentence(words),
        "question": "What comes next?",
        **answers,
        "label": str(number % 3 + 1),
    }


def _ending(words: list[str], number: int) -> Row:
    return {
        "ind": number, "activity_label": words[0], "ctx_a": _sentence(words), "ctx_b": words[1],
        "ctx": f"{_sentence(words)} {words[1]}", "endings": words[2:6], "source_id": str(number),
        "split": "train", "split_type": "indomain", "label": str(number % 4),
    }  # fmt: skip


def _math(words: list[str], number: int) -> Row:
    listed = " , ".join(f"{letter} ) {number + place}" for place, letter in enumerate("abcde"))
    return {
        "Problem": f"What is {number} plus {words[0]}?", "Rationale": _sentence(words), "options": listed,
        "correct": "abcde"[number % 5], "annotated_formula": "", "linear_formula": "", "category": "general",
    }  # fmt: skip


def _medical(words: list[str], number: int) -> Row:
    options = {f"op{letter}": word for letter, word in zip("abcd", words, strict=False)}
    return {
        "id": str(number), "question": _sentence(words), **options, "cop": number % 4,
        "choice_type": "single", "exp": _sentence(words), "subject_name": "x", "topic_name": "x",
    }  # fmt: skip


def _head(words: list[str], number: int) -> Row:
    answers = [{"aid": place + 1, "atext": word} for place, word in enumerate(words[:4])]
    return {
        "name": "x", "year": "2013", "category": "x", "qid": number, "qtext": _sentence(words),
        "ra": number % 4 + 1, "answers": answers,
    }  # fmt: skip


DATA_SETS: Mapping[tuple[str, str], DataSet] = {
    ("nyu-mll/glue", "cola"): DataSet(_judge),
    ("nyu-mll/glue", "sst2"): DataSet(_judge),
    ("nyu-mll/glue", "mnli"): DataSet(
        _infer, ("train", "validation_matched", "validation_mismatched", "test_matched", "test_mismatched")
    ),
    ("nyu-mll/glue", "qnli"): DataSet(_pair("question", "sentence")),
    ("nyu-mll/glue", "rte"): DataSet(_pair("sentence1", "sentence2")),
    ("nyu-mll/glue", "mrpc"): DataSet(_pair("sentence1", "sentence2")),
    ("nyu-mll/glue", "qqp"): DataSet(_pair("question1", "question2")),
    ("aps/super_glue", "wic"): DataSet(_word_in_context),
    ("aps/super_glue", "boolq"): DataSet(
        lambda words, number: {
            "question": _sentence(words),
            "passage": _sentence(words[::-1]),
            "idx": number,
            "label": number % 2,
        }
    ),
    ("facebook/anli", ""): DataSet(
        lambda words, number: {"uid": str(number), "reason": "", **_infer(words, number)},
        tuple(f"{split}_r{number}" for number in (1, 2, 3) for split in ("train", "dev", "test")),
    ),
    ("tau/commonsense_qa", ""): DataSet(
        lambda words, number: _choose("question", 5)(words, number) | {"question_concept": words[0]}
    ),
    ("lighteval/siqa", ""): DataSet(_social, ("train", "validation")),
    ("allenai/winogrande", "winogrande_xl"): DataSet(
        lambda words, number: {
            "sentence": f"The {words[0]} met the {words[1]} because _ was {words[2]}.",
            "option1": words[0],
            "option2": words[1],
            "answer": str(number % 2 + 1),
        }
    ),
    ("Rowan/hellaswag", ""): DataSet(_ending),
    ("allenai/openbookqa", "main"): DataSet(_choose("question_stem", 4)),
    ("allenai/ai2_arc", "ARC-Easy"): DataSet(_choose("question", 4)),
    ("allenai/ai2_arc", "ARC-Challenge"): DataSet(_choose("question", 4)),
    ("google-research-datasets/nq_open", ""): DataSet(
        lambda words, _: {"question": " ".join(words[:5]), "answer": [words[5]]}, ("train", "validation")
    ),
    ("allenai/sciq", ""): DataSet(
        lambda words, _: {
            "question": _sentence(words),
            "distractor3": words[3],
            "distractor1": words[1],
            "distractor2": words[2],
            "correct_answer": words[0],
            "support": _sentence(words),
        }
    ),
    ("baber/piqa", ""): DataSet(
        lambda words, number: {
            "goal": _sentence(words),
            "sol1": words[0],
            "sol2": words[1],
            "label": number % 2,
        }
    ),
    ("regisss/math_qa", ""): DataSet(_math),
    ("openai/gsm8k", "main"): DataSet(
        lambda words, number: {
            "question": f"{_sentence(words)} What is {number} plus 1?",
            "answer": f"One more.\n#### {number + 1}",
        },
        ("train", "test"),
    ),
    ("openlifescienceai/medmcqa", ""): DataSet(_medical),
    ("EleutherAI/headqa", "en"): DataSet(_head),
}
"""Data sets by id and subset; empty: the only one. Columns are those of the data sets' cards."""
