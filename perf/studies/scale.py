"""Measure how time and memory grow with the corpus, on synthetic arXiv dumps.

    python -m perf.studies.scale run --documents 100000 --shards 8 --folder F1
    python -m perf.studies.scale run --documents 200000 --shards 16 --folder F2
    python -m perf.studies.scale report --folders F1 F2

With `--stages`, `run` takes a stage at a time. Every stage runs the workflow's rules by Snakemake on two
cores. Time is the processor time of all its jobs; memory is the peak of its largest job; both are the
kernel's counts. Only the embedding model is a substitute: it averages word vectors without attention, so a
million sentences take minutes. The rate of the real model is measured separately on sentences of the same
corpus, and added.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml
from perf.studies.make_dump import FIELDS, choose_words
from perf.turns import ROOT, name_program

from fathom.errors import InputError
from fathom.io.files import read_json, write_json
from fathom.jobs.program import run_program

CORES = 2
RULES = {
    "metadata": "read_metadata", "join": "join_shard", "abstracts": "collect_abstracts",
    "index": "index_documents", "texts": "train_tokenizer", "sentences": "split_sentences",
    "keywords": "extract_keywords", "embedding (stand-in)": "embed_sentences",
    "matching": "match_sentences", "gathering": "gather_matches", "vocabularies": "build_vocabulary",
    "pairs": "make_pairs",
}  # fmt: skip
"""Stages in order, each with its last rule."""
ONE_JOB = {"metadata", "abstracts", "index"}
PER_DOMAIN = {"texts", "keywords", "gathering", "vocabularies", "pairs"}
SAMPLE = 600
NODES = (1, 64)
SPLIT = 0.6  # of the documents, in the split `benchmark`


def main(arguments: argparse.Namespace) -> None:
    """Run stages, or report on them."""
    if arguments.task == "stand-in":
        write_stand_in(arguments.folder)
        return
    if arguments.task == "rate":
        print(measure_real_rate(arguments.folder))
        return
    if arguments.task == "run":
        if not (arguments.folder / "project").exists():
            prepare(arguments)
        for stage in arguments.stages or RULES:
            measure(stage, arguments.folder)
        return
    measured = [read_json(folder / "stages.json") for folder in arguments.folders]
    print_growth(measured)
    for share in arguments.benchmark_share:
        print_full(measured[-1], share, arguments)


def prepare(arguments: argparse.Namespace) -> None:
    """Write the dump, the substitute model, the configuration, and a copy of the project."""
    if not (arguments.documents and arguments.shards):
        raise InputError("a new folder needs --documents and --shards", str(arguments.folder))
    folder = arguments.folder / "project"
    copy_project(folder)
    command = [sys.executable, "-m", "perf.studies.make_dump", "--output", str(folder / "dump")]
    sizes = ["--documents", str(arguments.documents), "--shards", str(arguments.shards)]
    subprocess.run([*command, *sizes], check=True)
    run_apart("stand-in", folder / "stand-in")
    values = {
        "run": "scale", "dump": "dump",
        # keeps the parts of records without full text equally large in both corpora
        "corpus": {"source": "arxiv", "abstract_parts": max(1, arguments.shards // 4)},
        "domains": {field: {"categories": [field]} for field in FIELDS},
        "embedding": {"model": "./stand-in"},
        "pairs": {"tokenizer": "tiny", "max_tokens": 256},
        "models": {"train": {"tiny": {"domain": FIELDS[0]}}, "max_characters": 2_000_000},
    }  # fmt: skip
    (folder / "config" / "scale.yaml").write_text(yaml.safe_dump(values))
    write_json(arguments.folder / "stages.json", {"documents": arguments.documents, "stages": {}})


def copy_project(folder: Path) -> None:
    """Copy the workflow and the library, so that edits while a run lasts do not reach it."""
    for name in ("config", "envs", "scripts", "src", "workflow"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "Snakefile", folder / "Snakefile")


def run_apart(task: str, folder: Path) -> str:
    """Run a task in its own process, as a child process starts with the peak memory of its parent."""
    command = name_program(task, "--folder", folder)
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def write_stand_in(folder: Path, fields: tuple[str, ...] = FIELDS) -> None:
    """Write a sentence-transformers model of word vectors; a field's words weigh more than common ones."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    words = choose_words(fields)
    weights = dict.fromkeys(words.general, 0.3) | dict.fromkeys(words.function, 0.05)
    weights |= {word: 1.0 for own in words.topic.values() for word in own}
    padding, unknown, first = "[PAD]", "[UNK]", "[CLS]"
    vocabulary = {word: place for place, word in enumerate([padding, unknown, first, *sorted(weights)])}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    core.normalizer, core.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    # so that no text is empty
    core.post_processor = processors.TemplateProcessing(
        single=f"{first} $A", special_tokens=[(first, vocabulary[first])]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=padding, unk_token=unknown, model_max_length=256
    )
    torch.manual_seed(0)
    # no layers; a large epsilon makes the norm a mere scale
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=384, num_hidden_layers=0, layer_norm_eps=100.0
    )
    model = BertModel(config, add_pooling_layer=False)
    scale = torch.tensor([0.0, 0.0, 0.0, *(weights[word] for word in sorted(weights))])
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.copy_(torch.randn(len(vocabulary), 384) * scale[:, None])
        model.embeddings.position_embeddings.weight.zero_()
        model.embeddings.token_type_embeddings.weight.zero_()
    model.save_pretrained(folder / "bert")
    tokenizer.save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=256)
    SentenceTransformer(modules=[transformer, Pooling(384)], device="cpu").save(str(folder))
    shutil.rmtree(folder / "bert")


def measure(stage: str, folder: Path) -> None:
    """Run a stage; record seconds, processor time and the peak memory of the largest job."""
    project = folder / "project"
    command = [sys.executable, "-m", "snakemake", f"-c{CORES}", "--configfile", "config/scale.yaml"]
    command += ["--quiet", "all", "--until", RULES[stage], "--rerun-triggers", "mtime"]
    environment = os.environ | {"PYTHONPATH": str(project / "src"), "OMP_NUM_THREADS": "1"}
    start = time.monotonic()
    with (folder / "snakemake.log").open("a") as log:
        process = subprocess.Popen(command, cwd=project, env=environment, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise InputError(f"stage {stage} failed", str(folder / "snakemake.log"))
    found = read_json(folder / "stages.json")
    files = (project / "results" / "scale" / "timings").rglob("*.tsv")
    found["stages"][stage] = {
        "jobs": sum(RULES[stage] in path.relative_to(project).as_posix() for path in files),
        "seconds": time.monotonic() - start,
        "processor": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss / 1024,
    }
    if stage == "sentences":
        found |= count_text(project)
        found["real_rate"] = float(run_apart("rate", project).splitlines()[-1])
    if stage == "gathering":
        reports = [read_json(path) for path in (project / "results" / "scale").glob("*/sentences.json")]
        found["matches"] = sum(report["matches"] for report in reports)
    write_json(folder / "stages.json", found)
    took = {name: round(value, 1) for name, value in found["stages"][stage].items()}
    print(f"{stage}: {took}", flush=True)


def count_text(project: Path) -> dict[str, Any]:
    """Return bytes of input, sentences, and distinct sentences after cleaning."""
    results = project / "results" / "scale" / "corpus"
    reports = [read_json(path) for path in results.glob("sentences/*.json")]
    return {
        "metadata_bytes": sum(path.stat().st_size for path in project.glob("dump/*.json")),
        "shard_bytes": sum(path.stat().st_size for path in project.glob("dump/redpajama/*")),
        "split_documents": sum(report["documents"] for report in reports),
        "sentences": sum(report["sentences"] for report in reports),
        "distinct": sum(report["distinct"] for report in reports),
    }


def measure_real_rate(project: Path) -> float:
    """Return how many sentences of this corpus the real model embeds per second on one core."""
    from fathom.benchmark.embedding import SentenceEncoder
    from fathom.config.benchmark import Embedding

    path = sorted((project / "results" / "scale" / "corpus" / "sentences").glob("*.parquet"))[0]
    sentences = pl.read_parquet(path, columns=["sentence"], n_rows=20 * SAMPLE)["sentence"].to_list()[::20]
    encoder = SentenceEncoder(Embedding())
    start = time.process_time()
    encoder.encode(sentences)
    return len(sentences) / (time.process_time() - start)


def print_growth(measured: Sequence[dict[str, Any]]) -> None:
    """Print time and memory by stage for each corpus, and the ratio of the last to the first."""
    sizes = [f"{each['documents']:,}" for each in measured]
    print("| stage | " + " | ".join(f"{size}: jobs, CPU s, MB" for size in sizes) + " | time × | memory × |")
    print("|---|" + "---|" * (len(sizes) + 2))
    for stage in RULES:
        if not all(stage in each["stages"] for each in measured):
            continue
        rows = [each["stages"][stage] for each in measured]
        cells = [f"{row['jobs']}, {row['processor']:.0f}, {row['megabytes']:.0f}" for row in rows]
        ratios = [rows[-1][name] / rows[0][name] for name in ("processor", "megabytes")]
        print(f"| {stage} | " + " | ".join(cells) + f" | {ratios[0]:.2f} | {ratios[1]:.2f} |")
    totals = [sum(row["processor"] for row in each["stages"].values()) for each in measured]
    walls = [sum(row["seconds"] for row in each["stages"].values()) for each in measured]
    cells = [
        f"{total:.0f} CPU s, {wall:.0f} s on two cores" for total, wall in zip(totals, walls, strict=True)
    ]
    print("| all | " + " | ".join(cells) + f" | {totals[-1] / totals[0]:.2f} | |")
    for name in ("metadata_bytes", "shard_bytes", "split_documents", "sentences", "distinct", "matches"):
        print(f"\n{name}: " + ", ".join(f"{each.get(name, 0):,}" for each in measured), end="")
    print(
        "\nreal model, sentences a second and core: " + ", ".join(f"{e['real_rate']:.0f}" for e in measured)
    )


def print_full(measured: dict[str, Any], share: float, options: argparse.Namespace) -> None:
    """Print an estimate for the full arXiv: each stage grows with its input.

    The start of a job, one to six seconds, counts as work on its short texts: so these are upper bounds.
    """
    split = share * SPLIT
    sentences = options.texts * split * options.sentences_per_text
    sentences += (options.records - options.texts) * split * options.sentences_per_abstract
    papers = options.records / measured["documents"]
    text = options.texts * options.bytes_per_text / measured["shard_bytes"]
    matched = sentences / measured["distinct"]
    ratios = {
        "metadata": papers, "join": text, "abstracts": papers, "index": papers, "sentences": text * share,
        "keywords": papers * share, "matching": matched, "gathering": matched, "vocabularies": matched,
        "pairs": matched,
    }  # fmt: skip
    took = measured["stages"]
    hours = {
        stage: took[stage]["processor"] / 3600 * ratio for stage, ratio in ratios.items() if stage in took
    }
    hours["embedding (real)"] = sentences / measured["real_rate"] / 3600
    print(f"\n{share:.0%} of the papers in benchmark domains: {sentences:,.0f} sentences\n")
    columns = " | ".join(f"hours, {count} × {options.cores} cores" for count in NODES)
    print(f"| stage | core hours | jobs side by side | {columns} |\n|---|---|---|" + "---|" * len(NODES))
    totals = [0.0] * len(NODES)
    for stage, work in hours.items():
        jobs = count_jobs(stage, round(options.shards * 1.25), options.domains)
        spans = [work / min(jobs, count * options.cores) for count in NODES]
        totals = [total + span for total, span in zip(totals, spans, strict=True)]
        print(f"| {stage} | {work:,.2f} | {jobs:,} | " + " | ".join(f"{span:,.2f}" for span in spans) + " |")
    print(f"| all | {sum(hours.values()):,.0f} | | " + " | ".join(f"{each:,.1f}" for each in totals) + " |")


def count_jobs(stage: str, parts: int, domains: int) -> int:
    """Return how many jobs of a stage can run in parallel."""
    if stage in ONE_JOB:
        return 1
    if stage in PER_DOMAIN:
        return domains
    return parts * domains if stage == "matching" else parts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tasks = parser.add_subparsers(dest="task", required=True)
    run = tasks.add_parser("run", help="run stages on a corpus, which is made if it does not exist")
    run.add_argument("--folder", type=Path, required=True, help="folder of the corpus and its results")
    run.add_argument("--documents", type=int, help="records of a new corpus")
    run.add_argument("--shards", type=int, help="shards of a new corpus")
    run.add_argument(
        "--stages", nargs="*", choices=list(RULES), help="stages to run; each needs the earlier ones"
    )
    for name, what in (("stand-in", "write the stand-in model"), ("rate", "measure the real model")):
        tasks.add_parser(name, help=what).add_argument("--folder", type=Path, required=True)
    report = tasks.add_parser("report", help="print the tables")
    report.add_argument("--folders", type=Path, nargs="+", required=True, help="smaller corpus first")
    report.add_argument("--records", type=int, default=2_500_000, help="records of the full metadata")
    report.add_argument("--texts", type=int, default=1_558_305, help="full texts")
    report.add_argument("--bytes-per-text", type=int, default=56_000, help="mean size of a full text")
    report.add_argument(
        "--sentences-per-text", type=float, default=240, help="after cleaning, as in real full texts"
    )
    report.add_argument(
        "--sentences-per-abstract", type=float, default=7, help="after cleaning, as in real abstracts"
    )
    report.add_argument(
        "--benchmark-share",
        type=float,
        nargs="+",
        default=[0.06, 1.0],
        help="share of the papers in benchmark domains",
    )
    report.add_argument("--domains", type=int, default=4, help="benchmark domains")
    report.add_argument("--shards", type=int, default=100, help="shards of the full dump")
    report.add_argument("--cores", type=int, default=32, help="cores of a node")
    run_program(parser, main)
