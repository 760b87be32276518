"""A run made in code: benchmarks, scores and tables as the workflow writes them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from tests.scores import tabulate_scores
from tests.tables import write_delimited

from fathom.config.scoring import Summary
from fathom.explorer.reader import compute_tables
from fathom.explorer.run import Benchmark, Run, rank_models
from fathom.io.contracts.answering import CHOICE_ACCURACY, CHOICE_DIAGNOSIS
from fathom.io.contracts.benchmark import OVERLAP, PAIRS
from fathom.io.contracts.coverage import COVERAGE_MAP
from fathom.io.contracts.jobs import TUNING
from fathom.io.contracts.layers import LAYER_SUMMARY
from fathom.io.contracts.questions import ANSWERED, QUESTION_SCORES, QUESTIONS
from fathom.io.contracts.ranking import AGREEMENT
from fathom.io.contracts.scoring import SCORES
from fathom.io.contracts.statistics import COMPARISONS, CORRELATIONS, GROUPS, SUMMARY
from fathom.io.delimited import write_rows
from fathom.io.files import hash_file, write_json
from fathom.io.tables import make_empty_table, write_table
from fathom.statistics.comparisons import resample_scores, tabulate_comparisons
from fathom.statistics.left_out import leave_out_overlap
from fathom.statistics.summaries import read_scores, summarize_scores

SETTINGS = Summary(rounds=100)
SCRIPT = "</script><script>window.planted = 1</script><img src=x onerror=window.planted=1>"
"""What a paper could say to break a page."""
MODELS = {"alpha": 10.0, "beta": 10.2, "gamma+fine-tuned": 60.0}
"""Models by the factor on their ranks."""


def write_run(
    folder: Path,
    models: dict[str, float] = MODELS,
    keywords: int = 12,
    each: int = 10,
    variants: Sequence[str] = ("tf", "tfidf"),
    planted: str = "",
) -> Path:
    """Write a run with one domain, tables included.

    The first pair of the first keyword occurs in training text; `planted` is put into its prompt and target,
    the first keyword and the title.
    """
    domain, files = folder / "physics", []
    names = [f"keyword {number:03d}{planted if number == 0 else ''}" for number in range(keywords)]
    random = np.random.default_rng(3)
    vectors = (
        random.normal(size=(keywords, 8)) * 0.3 + np.repeat(np.eye(8), -(-keywords // 8), axis=0)[:keywords]
    )
    domain.mkdir(parents=True)
    np.save(domain / "keywords.npy", vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    write_delimited(domain / "keywords.tsv", ["keyword", "words"], [[name, 2] for name in names])
    for variant in variants:
        pairs = make_pairs(names, each, variant, planted)
        benchmark = domain / "benchmark" / variant
        write_table(benchmark / "pairs.parquet", pairs, PAIRS)
        flags = pl.Series(range(len(pairs))) == 0
        overlap = pairs.select("pair_id").with_columns(sentence=flags, ending=flags)
        write_table(benchmark / "overlap.parquet", overlap, OVERLAP)
        write_json(benchmark / "manifest.json", make_manifest(f"Physics {planted}".strip(), benchmark))
        hard = random.lognormal(0, 1, size=len(pairs))
        for model, factor in models.items():
            path = domain / "scores" / variant / f"{model}.parquet"
            ranks = 1 + factor * hard * random.lognormal(0, 0.5, len(pairs))
            said = ["" if place % 3 else f"rival{place % 2}" for place in range(len(pairs))]
            scores = tabulate_scores(pairs["pair_id"], pairs["keyword"], ranks, rival=said)
            write_table(path, scores, SCORES)
            files.append(("physics", variant, model, str(path)))
    write_summary(
        folder,
        files,
        [("physics", name, str(domain / "benchmark" / name / "overlap.parquet")) for name in variants],
    )
    return folder


def make_pairs(names: Sequence[str], each: int, variant: str, planted: str) -> pl.DataFrame:
    """Return pairs under contract PAIRS, sorted by keyword."""
    said, day = {(0, 0): planted}, "2024-{:02d}-01"
    rows = [
        {"pair_id": f"{variant}{number:03d}{place:04d}", "keyword": name, "variant": variant,
         "prompt": f"Sentence {place} on {name} says{said.get((number, place), '')} the",
         "target": f" target{place % 7}{said.get((number, place), '')}",
         "doc_id": f"{1000 + place:04d}.{number:05d}", "date": day.format(1 + place % 12), "cosine": 0.6,
         "target_in_prompt": False, "target_in_keyword": place % 2 == 0, "association": 2.5}
        for number, name in enumerate(names)
        for place in range(each)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def make_manifest(title: str, benchmark: Path | None = None) -> dict[str, object]:
    """Return what a page reads of a manifest, with the hash of a benchmark's pairs."""
    return {"files": {"pairs.parquet": hash_file(benchmark / "pairs.parquet") if benchmark else "0" * 64},
            "inputs": [{"file": "metadata.json", "sha256": "1" * 64}],
            "packages": {"fathom": "0.1.0"},
            "reports": {"held_out_overlap": {"words": 2000, "words_in_training_text": 300}},
            "parameters": {"corpus": {"source": "arxiv"}, "domain": {"title": title}}}  # fmt: skip


def write_summary(
    folder: Path, files: Sequence[tuple[str, str, str, str]], overlap: Sequence[tuple[str, str, str]]
) -> None:
    """Write summary.csv, comparisons.csv, groups.csv and correlations.csv as the workflow does.

    Bits per byte put the models in the reverse of their names' order.
    """
    scores = leave_out_overlap(read_scores(files), overlap, SETTINGS)
    summary = [tuple(map(str, row)) for row in summarize_scores(scores, SETTINGS)]
    models = sorted({file[2] for file in files})
    for place, model in enumerate(models):
        value = 2.0 - 0.1 * place
        numbers = (f"{value}", f"{value - 0.01:.3f}", f"{value + 0.01:.3f}", "20", "documents")
        summary.append(("physics", "text", model, "bits_per_byte", "mean", *numbers))
    comparisons, groups = tabulate_comparisons(resample_scores(scores, SETTINGS), SETTINGS)
    for name, columns, rows in (
        ("summary", SUMMARY.names, summary),
        ("comparisons", COMPARISONS.names, comparisons),
        ("groups", GROUPS.names, groups),
        ("correlations", CORRELATIONS.names, []),
    ):
        write_delimited(folder / f"{name}.csv", columns, rows, ",")


def write_analyses(
    folder: Path, models: Sequence[str] = tuple(MODELS), planted: str = "", depth: int = 4
) -> None:
    """Write the tables of multiple choice, layers, tuning and coverage into a run of `write_run`.

    `planted` is put into a task and a set of questions. The last model always answers B where the right
    option is moved; the others have no favourite letter.
    """
    _write_choices(folder / "choices", models, planted)
    layers = [
        (model, "normed", *setting, layer, metric, *_around(value))
        for place, model in enumerate(models)
        for layer in range(depth + 1)
        for setting, metric, value in ((("", ""), "rank", 2000.0 / (1 + layer) ** (2 - place / len(models))),
                                       (("", ""), "probability", 0.02 * (1 + layer)),
                                       ((50, 1200), "rate", 0.2 + 0.1 * layer - 0.02 * place),
                                       ((50, 1200), "outside", 0.5))
    ]  # fmt: skip
    rows = [(*row, 12) for row in layers]
    write_rows(folder / "physics/layers/layers.csv", rows, LAYER_SUMMARY)
    tuned = [
        {"model": model, "task": f"{task}{planted}", "metric": metric, "direct": start - step * place,
         "chosen": start / 2 + step * place, "direct_error": 0.01, "chosen_error": 0.02}
        for place, model in enumerate(models)
        for task, metric, start, step in (("physics-tf", "trimmed_mean_rank", 900.0, 60.0),
                                          ("exam", "acc", 0.5, 0.02))
    ]  # fmt: skip
    lines = [[row.get(name, "") for name in TUNING.names] for row in tuned]
    write_delimited(folder / "tuning.csv", TUNING.names, lines, ",")
    taus = [("direct", "mean_tau", 0.1, 0.0, 0.2, 3), ("train-before-test", "mean_tau", 0.4, 0.3, 0.5, 3)]
    write_rows(folder / "ranking/agreement.csv", taus, AGREEMENT)
    random = np.random.default_rng(5)
    count, pairs = 4000, 60
    places = random.normal(size=(count + pairs, 2)).round(4)
    gaps = np.arange(count + pairs) % 4 == 0
    gaps[count:] = False
    kinds = np.repeat(["sentence", "pair"], [count, pairs])
    table = pl.DataFrame({"kind": kinds, "id": [f"{number}:0" for number in range(count + pairs)]})
    table = table.with_columns(
        x=pl.Series(places[:, 0]), y=pl.Series(places[:, 1]), gap=pl.Series(gaps),
        difference=pl.Series(np.where(kinds == "pair", np.nan, 0.5)),
        large=pl.Series(gaps & (places[:, 0] > 1)),
    )  # fmt: skip
    where = folder / "physics/benchmark/tf"
    write_table(
        where / "coverage.parquet", table.select([column.name for column in COVERAGE_MAP]), COVERAGE_MAP
    )
    write_json(where / "coverage.json", {"coverage": 0.75, "coverage_at_random": 0.8, "bandwidth": 5.0})


def _write_choices(folder: Path, models: Sequence[str], planted: str) -> None:
    """Write accuracy.csv and diagnosis.csv of a set of 40 questions, answered in two ways."""
    rows: list[dict[str, object]] = []
    ways = [("", "as-shipped"), *(("options", f"right-{letter}") for letter in "ABCD"),
            ("options", "options-shuffled-1"),
            *(("orders", f"order-{number}") for number in (1, 2, 3))]  # fmt: skip
    for place, model in enumerate(models):
        for way in ("letter", "text"):
            for number, (factor, variation) in enumerate(ways):
                value = 0.22 + 0.02 * ((place + number) % 4)
                if place == len(models) - 1 and variation.startswith("right"):
                    value = float(variation == "right-B")
                change = value - 0.25 if factor else None
                names = ("change", "change_low", "change_high")
                changes = ["" if change is None else round(change + step, 3) for step in (0, -0.05, 0.05)]
                rows.append(
                    {"model": model, "questions": f"set{planted}", "way": way, "factor": factor,
                     "variation": variation, "accuracy": round(value, 3),
                     "ci_low": round(max(0, value - 0.06), 3), "ci_high": round(min(1, value + 0.06), 3),
                     "baseline": "as-shipped", **dict(zip(names, changes, strict=True)),
                     "relative_change": "" if change is None else round(change / 0.25, 3),
                     "relative_low": "" if change is None else round(change / 0.25 - 0.2, 3),
                     "relative_high": "" if change is None else round(change / 0.25 + 0.2, 3),
                     "p": "" if change is None else 0.01, "p_adjusted": "" if change is None else 0.04,
                     "apart": "yes" if change and abs(change) > 0.05 else "no", "items": 40, "no_letter": 0,
                     "shots": 0, "cut": 0}
                )  # fmt: skip
    write_rows(folder / "accuracy.csv", rows, CHOICE_ACCURACY)
    found = [{"model": models[-1], "way": "letter", "finding": "verdict", "detail": "favours letter B",
              "found": "yes"}]  # fmt: skip
    verdicts = [[row.get(name, "") for name in CHOICE_DIAGNOSIS.names] for row in found]
    write_rows(folder / "diagnosis.csv", verdicts, CHOICE_DIAGNOSIS)


QUESTIONS_ASKED = (
    ("q0", "binary", "memorise", "Is Ada here?", ("yes", "no"), (True, False)),
    ("q1", "binary", "memorise", "Is Bob here?", ("yes", "no"), (False, True)),
    ("q2", "multiple-choice", "understand", "Who is here?", ("Ada", "Bob", "Cy", "Di"),
     (False, False, True, False)),
    ("q3", "multiple-answer", "apply", "Who of these?", tuple("abcdefgh"), (True, True, *[False] * 6)),
    ("q4", "open", "create", "Why?", (), ()),
)  # fmt: skip
"""Id, form, level, question, options and which are right; no model is asked the first one."""
CHOSEN = {
    ("alpha", "plain"): {"q1": (False, True), "q2": (False, False, True, False),
                         "q3": (True, False, True, *[False] * 5)},
    ("alpha", "rag"): {"q1": (False, True), "q2": (False, False, True, False),
                       "q3": (True, True, *[False] * 6)},
    ("beta", "plain"): {"q1": (True, False), "q2": (False, True, False, False), "q3": (False,) * 8},
    ("beta", "rag"): {"q1": (False, True), "q2": (False, True, False, False), "q3": (False,) * 8},
}  # fmt: skip
"""What models choose by prompting and question."""


def write_questions(folder: Path, planted: str = "", name: str = "courses") -> Path:
    """Write a set of five questions, the answers of two models, and question-scores.csv.

    `planted` is put into the last question, its answer, and an option.
    """
    rows = []
    for number, (key, form, level, text, options, right) in enumerate(QUESTIONS_ASKED):
        shown = [f"{option}{planted if option == 'Di' else ''}" for option in options]
        answer = "; ".join(option for option, is_right in zip(shown, right, strict=True) if is_right)
        rows.append(
            {"question_id": key, "round": 0, "template": form, "level": level, "form": form,
             "question": text + (planted if form == "open" else ""), "options": shown,
             "right": list(right), "answer": answer or f"Because{planted}",
             "sources": [f"courses.csv, line {number + 2}"], "chunks": [], "bindings": [], "asked": "",
             "query": "" if form == "open" else f"ASK {{ ?{form[:2]} :here true }}", "option_iris": []}
        )  # fmt: skip
    where = folder / "questions" / name
    write_table(where / "questions.parquet", pl.DataFrame(rows), QUESTIONS)
    for model in ("alpha", "beta"):
        given = [
            {"question_id": key, "prompting": prompting, "corpus": corpus, "chosen": list(chosen),
             "text": f"of {who}" if key == "q4" else "", "answered": True, "shots": 0, "cut": 0}
            for (who, prompting), answers in CHOSEN.items() if who == model
            for corpus in (("all", "0.3") if prompting == "rag" else ("all",))
            for key, chosen in [*answers.items(), ("q4", ())]
        ]  # fmt: skip
        table = pl.DataFrame(given, schema=make_empty_table(ANSWERED).schema)
        write_table(where / "answers" / f"{model}.parquet", table, ANSWERED)
    scores = [
        (name, model, prompting, form, level, template, metric, value, value / 2, value / 2 + 0.5, count, 0)
        for model, half in (("alpha", 1.0), ("beta", 0.5))
        for prompting in ("plain", "rag")
        for form, level, metric, value, count in (("binary", "memorise", "accuracy", half, 1),
                                                  ("multiple-choice", "understand", "accuracy", half, 1),
                                                  ("multiple-answer", "apply", "f1", half / 2, 1),
                                                  ("multiple-answer", "apply", "recall", half / 4, 1),
                                                  ("open", "create", "bleu_4", half / 50, 1))
        for template in ("", "one")
    ]  # fmt: skip
    write_rows(folder / "question-scores.csv", scores, QUESTION_SCORES)
    return folder


def _around(value: float) -> tuple[float, float, float]:
    """Return a value with an interval of a tenth on either side."""
    return value, 0.9 * value, 1.1 * value


def make_large(models: int = 20, keywords: int = 300, each: int = 100) -> Run:
    """Return a ranked run of 30,000 pairs and 20 models, made in memory."""
    random = np.random.default_rng(0)
    pairs = make_pairs([f"keyword number {number}" for number in range(keywords)], each, "tf", "")
    words = np.array([f"{'abcdefghij'[number % 10]}{number:x}word" for number in range(5000)])
    prompts = [" ".join(words[random.integers(5000, size=24)]) for _ in range(len(pairs))]
    pairs = pairs.with_columns(prompt=pl.Series(prompts))
    hard = random.lognormal(3, 2, len(pairs))
    ranks = {f"model-{number:02d}": 1 + 1.01**number * hard * random.lognormal(0, 1, len(pairs))
             for number in range(models)}  # fmt: skip
    left_out = np.zeros(len(pairs), dtype=bool)
    benchmark = Benchmark("physics", "tf", pairs, left_out, ranks, make_manifest("Physics"))
    rows = compute_tables([benchmark], Summary(rounds=2))
    return Run("large", [replace(benchmark, rankings=rank_models(benchmark, rows))], rows)
