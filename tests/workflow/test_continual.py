"""Plans of continual pretraining: the order first, then one stage after the other, however many there are."""

import json
import re
from collections import Counter
from pathlib import Path

import yaml
from tests.programs import run_snakemake
from tests.refusals import refuses

ROOT = Path(__file__).resolve().parents[2]
DEMO = "config/continual-demo.yaml"
JOB = re.compile(r"^(?:localrule|rule) (\w+):", re.MULTILINE)


def plan(*arguments: str):
    return run_snakemake("-n", "-c2", "--nolock", "--forceall", *arguments)


def count(done) -> Counter[str]:
    return Counter(JOB.findall(done.stdout))


def test_without_an_order_only_the_order_is_planned():
    done = plan("follow", "--configfile", DEMO, "--config", "run=plan")
    jobs = count(done)
    assert (jobs["average_abstracts"], jobs["order_domains"], jobs["plot_order"]) == (14, 1, 1)
    assert not jobs.keys() & {"adapt_model", "train_model", "score_model", "plot_stages"}
    assert "models.continual.to-learning has no order yet, so nothing is trained" in done.stderr + done.stdout


def test_with_an_order_each_stage_starts_from_the_one_before(tmp_path):
    order = tmp_path / "order.yaml"
    order.write_text("models: {continual: {to-learning: {order: [plotting, signals, statistics]}}}\n")
    done = plan("follow", "-p", "--configfile", DEMO, str(order), "--config", "run=plan")
    jobs = count(done)
    assert (jobs["adapt_model"], jobs["collect_texts"], jobs["score_model"]) == (3, 3 + 2, 3 + 1)
    assert (jobs["plot_stages"], jobs["relate_stages"], jobs["plot_following"]) == (1, 1, 1)
    commands = [line for line in done.stdout.splitlines() if "/adapt_model.py" in line and "Shell" in line]
    (second,) = (line for line in commands if "--model gpt2-small+to-learning@stage2 " in line)
    assert "--base results/plan/models/gpt2-small+to-learning@stage1/model.json" in second
    assert "--texts results/plan/corpus/texts/signals.parquet" in second
    assert "no order yet" not in done.stderr + done.stdout


def test_a_training_on_165_domains_from_a_data_set_is_planned(tmp_path):
    names = [f"field{number}" for number in range(165)]
    source = {"dataset": "a/b", "revision": "0" * 40, "files": ["data.tar.gz"], "member": "train.txt"}
    values = yaml.safe_load((ROOT / DEMO).read_text())
    study = values["models"]["continual"]["to-learning"] | {"candidates": names, "order": names}
    values["models"] |= {"continual": {"long": study}, "texts": dict.fromkeys(names, source)}
    (tmp_path / "long.yaml").write_text(json.dumps(values))
    jobs = count(plan("follow", "--configfile", str(tmp_path / "long.yaml"), "--config", "run=plan"))
    assert jobs["adapt_model"] == jobs["fetch_texts"] == 165
    assert (jobs["score_model"], jobs["average_abstracts"], jobs["collect_texts"]) == (166, 166, 2)


def test_training_text_that_is_not_there_stops_before_any_job():
    with refuses("models.texts.plotting", "no/copy", "Hint: "):
        plan("--configfile", DEMO, "--config", "run=plan", "models={texts: {plotting: {dataset: no/copy}}}")
