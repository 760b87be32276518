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
        files = {folder / f"{domain}.Claude.jsonl": rows}
        if place == 0:
            files[folder / f"{domain}.expert.jsonl"] = rows[::-1]
        for file, some in files.items():
            if not file.exists():
                _write_lines(file, some)


def remove_references(folder: Path, domains: Sequence[str]) -> None:
    """Remove the made references of domains that a smaller configuration goes without."""
    for domain in domains:
        for name in ("Claude", "expert"):
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


Maker = Callable[[list[str], int], Any]
"""Takes eight words and a number, and returns a row, or the value of a column."""


class DataSet(NamedTuple):
    """How the rows of a data set are made, and which splits it has."""

    make: Maker
    splits: tuple[str, ...] = ("train", "validation", "test")


def _rows(**columns: Any) -> Maker:
    """Return what makes rows of columns, each with a value or what makes one."""

    def make(words: list[str], number: int) -> dict[str, Any]:
        return {name: each(words, number) if callable(each) else each for name, each in columns.items()}

    return make


def _text(start: int = 0, step: int = 1) -> Maker:
    return lambda words, _: f"The {' '.join(words[start::step][:6])}."


def _word(place: int) -> Maker:
    return lambda words, _: words[place]


def _label(count: int) -> Maker:
    return lambda _, number: number % count


def _letter(letters: str) -> Maker:
    return lambda _, number: letters[number % len(letters)]


def _number(_: list[str], number: int) -> int:
    return number


def _name(_: list[str], number: int) -> str:
    return str(number)


def _choose(question: str, letters: str, **more: Maker) -> Maker:
    """Return what makes questions with an option for each letter, under a name of their column."""
    return _rows(
        id=_name, **{question: _text()},
        choices=lambda words, _: {"text": words[: len(letters)], "label": list(letters)},
        answerKey=_letter(letters), **more,
    )  # fmt: skip


_JUDGED = _rows(sentence=_text(), label=_label(2), idx=_number)
_INFERRED = {"premise": _text(), "hypothesis": _text(1), "label": _label(3), "idx": _number}
_PARTS = ("train", "validation_matched", "validation_mismatched", "test_matched", "test_mismatched")

DATA_SETS: Mapping[tuple[str, str], DataSet] = {
    ("nyu-mll/glue", "cola"): DataSet(_JUDGED),
    ("nyu-mll/glue", "sst2"): DataSet(_JUDGED),
    ("nyu-mll/glue", "mnli"): DataSet(_rows(**_INFERRED), _PARTS),
    **{
        ("nyu-mll/glue", name): DataSet(_rows(**{a: _text(), b: _text(2)}, label=_label(2), idx=_number))
        for name, a, b in (
            ("qnli", "question", "sentence"), ("rte", "sentence1", "sentence2"),
            ("mrpc", "sentence1", "sentence2"), ("qqp", "question1", "question2"),
        )
    },
    ("aps/super_glue", "wic"): DataSet(_rows(
        word=_word(0), sentence1=_text(), sentence2=_text(-1, -1), start1=4, start2=4,
        end1=lambda words, _: 4 + len(words[0]), end2=6, idx=_number, label=_label(2),
    )),
    ("aps/super_glue", "boolq"): DataSet(
        _rows(question=_text(), passage=_text(-1, -1), idx=_number, label=_label(2))
    ),
    ("facebook/anli", ""): DataSet(
        _rows(uid=_name, reason="", **_INFERRED),
        tuple(f"{split}_r{number}" for number in (1, 2, 3) for split in ("train", "dev", "test")),
    ),
    ("tau/commonsense_qa", ""): DataSet(_choose("question", "ABCDE", question_concept=_word(0))),
    ("lighteval/siqa", ""): DataSet(_rows(
        context=_text(), question="What comes next?", answerA=_word(0), answerB=_word(1), answerC=_word(2),
        label=_letter("123"),
    ), ("train", "validation")),
    ("allenai/winogrande", "winogrande_xl"): DataSet(_rows(
        sentence=lambda words, _: f"The {words[0]} met the {words[1]} because _ was {words[2]}.",
        option1=_word(0), option2=_word(1), answer=_letter("12"),
    )),
    ("Rowan/hellaswag", ""): DataSet(_rows(
        ind=_number, activity_label=_word(0), ctx_a=_text(), ctx_b=_word(1),
        ctx=lambda words, number: f"{_text()(words, number)} {words[1]}", endings=lambda words, _: words[2:6],
        source_id=_name, split="train", split_type="indomain", label=_letter("0123"),
    )),
    ("allenai/openbookqa", "main"): DataSet(_choose("question_stem", "ABCD")),
    ("allenai/ai2_arc", "ARC-Easy"): DataSet(_choose("question", "ABCD")),
    ("allenai/ai2_arc", "ARC-Challenge"): DataSet(_choose("question", "ABCD")),
    ("google-research-datasets/nq_open", ""): DataSet(
        _rows(question=lambda words, _: " ".join(words[:5]), answer=lambda words, _: [words[5]]),
        ("train", "validation"),
    ),
    ("allenai/sciq", ""): DataSet(_rows(
        question=_text(), distractor3=_word(3), distractor1=_word(1), distractor2=_word(2),
        correct_answer=_word(0), support=_text(),
    )),
    ("baber/piqa", ""): DataSet(_rows(goal=_text(), sol1=_word(0), sol2=_word(1), label=_label(2))),
    ("regisss/math_qa", ""): DataSet(_rows(
        Problem=lambda words, number: f"What is {number} plus {words[0]}?", Rationale=_text(),
        options=lambda _, number: " , ".join(f"{name} ) {number + at}" for at, name in enumerate("abcde")),
        correct=_letter("abcde"), annotated_formula="", linear_formula="", category="general",
    )),
    ("openai/gsm8k", "main"): DataSet(_rows(
        question=lambda words, number: f"{_text()(words, number)} What is {number} plus 1?",
        answer=lambda _, number: f"One more.\n#### {number + 1}",
    ), ("train", "test")),
    ("openlifescienceai/medmcqa", ""): DataSet(_rows(
        id=_name, question=_text(), opa=_word(0), opb=_word(1), opc=_word(2), opd=_word(3), cop=_label(4),
        choice_type="single", exp=_text(), subject_name="x", topic_name="x",
    )),
    ("EleutherAI/headqa", "en"): DataSet(_rows(
        name="x", year="2013", category="x", qid=_number, qtext=_text(),
        ra=lambda _, number: number % 4 + 1,
        answers=lambda words, _: [{"aid": at, "atext": word} for at, word in enumerate(words[:4], start=1)],
    )),
}  # fmt: skip
"""Data sets by id and subset; empty: the only one. Columns are those of the data sets' cards."""
