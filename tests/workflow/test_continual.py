"""Plans of continual pretraining: the order first, then one stage after the other, however many there are."""

import json

import yaml
from tests.plans import ROOT, count_jobs, list_commands, plan
from tests.refusals import refuses

DEMO = "config/continual-demo.yaml"


def test_without_an_order_only_the_order_is_planned():
    done = plan(targets="follow", files=DEMO)
    jobs = count_jobs(done)
    assert (jobs["average_abstracts"], jobs["order_domains"], jobs["plot_order"]) == (14, 1, 1)
    assert not jobs.keys() & {"adapt_model", "train_model", "score_model", "plot_stages"}
    assert "models.continual.to-learning has no order yet, so nothing is trained" in done.stderr + done.stdout


def test_with_an_order_each_stage_starts_from_the_one_before(tmp_path):
    order = tmp_path / "order.yaml"
    order.write_text("models: {continual: {to-learning: {order: [plotting, signals, statistics]}}}\n")
    done = plan(targets="follow", files=f"{DEMO} {order}")
    jobs = count_jobs(done)
    assert (jobs["adapt_model"], jobs["collect_texts"], jobs["score_model"]) == (3, 3 + 2, 3 + 1)
    assert (jobs["plot_stages"], jobs["relate_stages"], jobs["plot_following"]) == (1, 1, 1)
    stage = "--model toy-gpt2+to-learning@stage2 "
    (second,) = (line for line in list_commands(done, "adapt_model") if stage in line)
    assert "--base results/plan/models/toy-gpt2+to-learning@stage1/model.json" in second
    assert "--texts results/plan/corpus/texts/signals.parquet" in second
    assert "no order yet" not in done.stderr + done.stdout


def test_a_training_on_165_domains_from_a_data_set_is_planned(tmp_path):
    names = [f"field{number}" for number in range(165)]
    source = {"dataset": "a/b", "revision": "0" * 40, "files": ["data.tar.gz"], "member": "train.txt"}
    values = yaml.safe_load((ROOT / DEMO).read_text())
    study = values["models"]["continual"]["to-learning"] | {"candidates": names, "order": names}
    values["models"] |= {"continual": {"long": study}, "texts": dict.fromkeys(names, source)}
    (tmp_path / "long.yaml").write_text(json.dumps(values))
    jobs = count_jobs(plan(targets="follow", files=str(tmp_path / "long.yaml")))
    assert jobs["adapt_model"] == jobs["fetch_texts"] == 165
    assert (jobs["score_model"], jobs["average_abstracts"], jobs["collect_texts"]) == (166, 166, 2)


def test_training_text_that_is_not_there_stops_before_any_job():
    with refuses("models.texts.plotting", "no/copy", "Hint: "):
        plan("models={texts: {plotting: {dataset: no/copy}}}", files=DEMO)


def test_layers_are_measured_along_a_continual_pretraining(tmp_path):
    models = [f"toy-gpt2+to-learning@{part}" for part in ("stage1", "stage2@step25", "stage2")]
    study = {"order": ["plotting", "signals"], "checkpoints": 25}
    values = {"models": {"continual": {"to-learning": study}}, "layers": {"models": models}}
    (tmp_path / "layers.yaml").write_text(json.dumps(values))
    done = plan(targets="layers", files=f"{DEMO} {tmp_path / 'layers.yaml'}")
    commands = list_commands(done, "measure_layers")
    assert len(commands) == 4  # theirs, and the base's
    (step,) = (line for line in commands if "stage2@step25" in line)
    assert "--model results/plan/models/toy-gpt2+to-learning@stage2/checkpoints/step25.json" in step


def test_perplexity_is_measured_on_text_from_elsewhere_where_it_is_named(tmp_path):
    text = tmp_path / "held-out.txt"
    text.write_text("A document.\n")
    source = {"files": [str(text)], "rows": "line"}
    splits = {"benchmark": 0.6, "adapt-train": 0.35, "adapt-valid": 0.05, "adapt-test": 0}
    values = {"corpus": {"splits": splits},
              "perplexity": {"texts": {"machine-learning": source}}}  # fmt: skip
    (tmp_path / "text.yaml").write_text(json.dumps(values))
    done = plan(files=f"config/following-demo.yaml {tmp_path / 'text.yaml'}")
    assert count_jobs(done)["fetch_held_out"] == 1
    (command,) = (
        line for line in list_commands(done, "score_model") if "--model results/plan/models/toy-gpt2/" in line
    )
    held_out = "results/plan/corpus/held-out/machine-learning.parquet"
    assert f"--texts machine-learning={held_out} " in command
    assert "plotting.perplexity" not in command and "corpus/texts/plotting" not in command
    text.unlink()
    with refuses("there is no such file or folder", "perplexity.texts.machine-learning"):
        plan(targets="benchmarks", files=f"config/following-demo.yaml {tmp_path / 'text.yaml'}")
