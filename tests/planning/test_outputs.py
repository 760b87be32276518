"""The names of a run's files, and what each target asks for."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.figures.catalogue import CATALOGUE
from fathom.planning.comparing import Comparing
from fathom.planning.outputs import Outputs
from fathom.planning.run_files import find_controls
from fathom.planning.run_inputs import Inputs
from fathom.planning.targets import Targets, make_some
from fathom.statistics.aggregates import STATISTICS

VALUES = {"domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"], "benchmark": False}},
          "pairs": {"tokenizer": "tiny"},
          "models": {"train": {"tiny": {"domain": "far"}}, "adapt": [{"base": "gpt2", "paths": [["near"]]}],
                     "score": ["qwen@chat", "pythia"]}}  # fmt: skip


def outputs(tasks=None, tuned=(), conditions=("direct",), served=(), **changes):
    config = read_config(VALUES | changes, "test")
    inputs = Inputs(
        shards={}, metadata=None, abstract_parts=[], slices={}, score_files=[], conditions=list(conditions),
        tasks=tasks or {}, tuned_models=list(tuned), previous="",
    )  # fmt: skip
    return Outputs(config, inputs, "results/demo", served)


def targets(**changes) -> Targets:
    """Return what targets ask for, of models that no table knows."""
    found, config = outputs(**changes), read_config(VALUES | strip(changes), "test")
    needs = SimpleNamespace(find_shape=lambda name: None)
    return Targets(config, found, Comparing(config, {}, needs, found))


def strip(changes: dict) -> dict:
    """Return what belongs to the configuration."""
    return {name: value for name, value in changes.items() if name not in ("tasks", "tuned", "conditions")}


def test_there_are_scores_of_every_model_on_every_benchmark_a_reference_too():
    found = outputs()
    assert found.benchmarks == [("near", "tf"), ("near", "tfidf")]
    models = ["tiny", "gpt2+near", "qwen@chat", "pythia"]
    assert found.scored == [("near", variant, model) for variant in ("tf", "tfidf") for model in models]
    assert found.name_scores()[1] == "results/demo/near/scores/tf/gpt2+near.parquet"
    assert len(found.name_scores()) == len(found.scored)
    found = outputs(references={"near": {"mine": "mine.csv"}})
    assert found.benchmarks[-1] == ("near", "reference")
    assert found.name_pairs()[-1] == "results/demo/near/benchmark/reference/pairs.parquet"


def test_references_that_do_not_lead_have_a_variant_of_their_own():
    references = {"near": {"expert": "e.csv", "claude": "c.csv", "third": "t.csv"}}
    found = outputs(references=references, lead_reference="claude").studies
    assert found.reference_files == {("near", "reference-expert"): "e.csv", ("near", "reference"): "c.csv",
                                     ("near", "reference-third"): "t.csv"}  # fmt: skip
    assert found.other_references == [("near", "reference-expert"), ("near", "reference-third")]


def test_a_model_behind_a_server_is_scored_on_pairs_alone():
    found = outputs(served=["pythia", "qwen@chat"], models=VALUES["models"] | {"on_disk": 1})
    assert found.served_models == ["qwen@chat", "pythia"] and found.chat_models == []
    assert [model for _, model in found.measured] == ["tiny", "gpt2+near"]
    assert {"pythia", "qwen@chat"} <= {model for _, _, model in found.scored}
    assert "pythia" in found.fetched_models and found.fetched_weights == []


def test_a_model_inside_its_chat_template_reads_no_running_text():
    found = outputs()
    assert [model for _, model in found.measured] == ["tiny", "gpt2+near", "pythia"]
    assert len(found.name_perplexities()) == len(found.name_attribute_rates()) == 3
    splits = {"benchmark": 0.6, "adapt-train": 0.3, "adapt-valid": 0.1, "adapt-test": 0}
    without = outputs(corpus={"splits": splits})
    assert without.name_perplexities() == without.held_out == [] and len(without.measured) == 3


def test_controls_of_a_text_have_texts_and_names_of_their_own_and_are_compared():
    adapt = [{"base": "tiny", "paths": [["near"], ["far"]], "seeds": 2},
             {"base": "tiny", "paths": [["near"]], "text": "terms-only", "seeds": 2}]  # fmt: skip
    models = {**VALUES["models"], "adapt": adapt}
    found = outputs(models=models)
    assert found.texts.find("tiny+near") == "results/demo/corpus/texts/near.parquet"
    control = "tiny+near.terms-only"
    for name in (control, f"{control}@seed1"):
        assert found.texts.find(name) == "results/demo/near/texts/terms-only.parquet"
    assert find_controls(read_config(VALUES | {"models": models}, "test").models) == {
        ("tiny", "near"): {"as-is": "tiny+near", "far": "tiny+far", "terms-only": control}
    }
    controls = {"results/demo/following/controls.csv", "results/demo/figures/near.controls.png"}
    assert controls < {*targets(models=models).list_following()}
    assert not controls & {*targets().list_following()}
    adapt[1]["paths"] = [["far"]]
    with refuses("models.adapt.1.text", "far"):
        outputs(models=models)


def test_references_for_claims_are_scored_but_no_benchmarks():
    adapt = [{"base": "tiny", "paths": [["near"], ["far"]], "seeds": 3}]
    changes = {"models": {**VALUES["models"], "adapt": adapt}, "claims": {"unused": 0.2, "clozes": 50}}
    found, plain = outputs(**changes), outputs(models=changes["models"])
    references = [("near", "unused"), ("near", "clozes")]
    assert found.benchmarks == plain.benchmarks == plain.scored_benchmarks
    assert found.scored_benchmarks == [*plain.benchmarks, *references]
    assert found.scored == plain.scored and found.name_followed() == plain.name_followed()
    claimed = found.studies.name_claimed(found.scored_benchmarks, found.followed_models)
    assert set(claimed.values()) - set(found.name_followed()["scores"]) == {
        claimed[(*place, model)] for place in references for model in found.followed_models
    }
    assert (
        claimed["near", "clozes", "tiny+far@seed2"]
        == "results/demo/near/scores/clozes/tiny+far@seed2.parquet"
    )
    made = ["results/demo/following/claims.csv", "results/demo/figures/near.claims.png"]
    assert {*made} <= {*targets(**changes).list_following()}
    assert not {*made} & {*targets(models=changes["models"]).list_following()}


def test_a_family_of_adapted_models_is_drawn_and_paths_with_checkpoints_over_each_other():
    adapt = [{"base": "tiny", "paths": [["near"], ["far"], ["near", "far"]], "checkpoints": 10},
             {"base": "gpt2", "paths": [["near"]]}]  # fmt: skip
    models = {**VALUES["models"], "adapt": adapt}
    found, figures = outputs(models=models).studies, targets(models=models).figures
    assert found.families == {"tiny": ["tiny", "tiny+near", "tiny+far", "tiny+near+far"]}
    adapted = [path for path in figures.list_figures("figures") if ".adapted." in path]
    assert adapted[0] == "results/demo/figures/near.adapted.tiny.geometric_mean.png" and len(adapted) == 4
    # steps are counted on the last domain, so the beginning of a longer path is a line of its own
    assert found.path_families == {"tiny": ["tiny+near", "tiny+far", "tiny+near+far"]}
    paths = [path for path in figures.list_figures("follow") if ".paths." in path]
    assert len(paths) == 4 and "results/demo/figures/near.paths.tiny.median.png" in paths


def test_a_figure_of_adapted_models_has_those_near_to_its_domain_first():
    adapt = [{"base": "tiny", "paths": [["far"], ["far", "near"], ["near"]]}]
    figures = targets(models={**VALUES["models"], "adapt": adapt}).figures
    tell = figures.find_settings(CATALOGUE["adapted"])
    told = json.loads(tell(SimpleNamespace(domain="near", base="tiny")))
    assert told["members"] == ["tiny+near", "tiny+far+near", "tiny", "tiny+far"]


def test_figures_of_targets_and_choices_are_told_the_share_and_the_subjects():
    sets = {"college_physics": {"folder": "f"}, "two": {"folder": "f", "subject": "sums"}}
    figures = targets(targets={"share": 0.1}, choices={"questions": sets}).figures
    told = json.loads(figures.find_settings(CATALOGUE["targets"])(SimpleNamespace(domain="near", model="m")))
    assert told["share"] == 0.1
    place = SimpleNamespace(factor="options", way="letter")
    told = json.loads(figures.find_settings(CATALOGUE["choices"])(place))
    assert told["subjects"] == {"college_physics": "college physics", "two": "sums"}


def test_a_path_that_is_only_followed_is_in_no_other_figure():
    path = {"base": "tiny", "checkpoints": 10}
    adapt = [{**path, "paths": [["near"], ["far"]]}, {**path, "paths": [["near", "far"]], "score": False}]
    models = {**VALUES["models"], "adapt": adapt}
    found = outputs(models=models)
    assert found.studies.families == {"tiny": ["tiny", "tiny+near", "tiny+far"]}
    assert found.studies.path_families == {"tiny": ["tiny+near", "tiny+far", "tiny+near+far"]}
    end, read = "tiny+near+far", {model for *_, model in found.scored}
    assert end not in read and end in found.followed_models and end in found.measured_models


def test_targets_are_compared_at_the_ends_of_paths_and_where_it_is_asked_for():
    adapt = [{"base": "gpt2", "paths": [["near", "far"]]},
             {"base": "tiny", "paths": [["near"]], "score": False}]  # fmt: skip
    models = {**VALUES["models"], "adapt": adapt}
    changes = {"models": models, "targets": {"against": {"pythia": "tiny"}}}
    found, asked = outputs(**changes), targets(**changes).list_figures()
    assert [path for path in asked if "targets" in path] == [
        "results/demo/near/targets/best-and-worst.csv",
        "results/demo/figures/near.targets.gpt2+near+far.png",
        "results/demo/figures/near.targets.pythia.png",
    ]
    assert [model for variant, model, _ in found.studies.name_compared("near") if variant == "tf"] == [
        "gpt2+near+far", "gpt2", "pythia", "tiny"]  # fmt: skip
    alone = targets(models={"train": VALUES["models"]["train"]}).list_figures()
    assert not [path for path in alone if "targets" in path]
    with refuses("targets.against", "'pythias'"):
        outputs(targets={"against": {"pythias": "tiny"}})
    with refuses("tiny", "itself"):
        outputs(targets={"against": {"tiny": "tiny"}})


def test_what_is_not_made_here_is_fetched():
    assert outputs().fetched_models == ["qwen@chat", "pythia", "gpt2"]
    assert outputs().fetched_tokenizers == []
    assert outputs(pairs={"tokenizer": "gpt2"}).fetched_tokenizers == ["gpt2"]


def test_fetched_models_take_each_others_place_on_the_disk():
    score = ["a", "b", "b@chat", "c@chat", "d"]
    models = {**VALUES["models"], "score": score, "on_disk": 2}
    found = outputs(models=models)
    assert found.fetched_weights == ["a", "b", "c", "d"]  # gpt2 is a base
    scores = "results/demo/near/scores/tf/"
    assert found.list_before("a") == found.list_before("b") == found.find_weights("gpt2") == []
    assert found.list_before("c") == [f"{scores}a.parquet"]
    assert found.list_before("d") == [f"{scores}b.parquet", f"{scores}b@chat.parquet"]
    assert found.find_weights("c@chat") == ["results/demo/models/c/weights"]
    assert found.find_weights("tiny") == found.find_weights("gpt2+near") == []
    assert outputs(tuned=["b"], models=models).list_before("d") == [f"{scores}a.parquet"]
    without = outputs()
    assert without.fetched_weights == without.find_weights("pythia") == []


def test_followed_models_have_scores_and_figures_but_no_summary():
    adapt = [{"base": "tiny", "paths": [["near", "far"]], "steps": 10, "checkpoints": 4, "seeds": 2}]
    models = {**VALUES["models"], "adapt": adapt, "follow": {"others": ["pythia", "more"]}, "on_disk": 1}
    found, without = outputs(models=models), outputs()
    name = "tiny+near+far@seed1@step8"
    assert name in found.measured_models and name in found.followed_models
    assert not any("@s" in model for _, _, model in found.scored)
    assert not any("@s" in model for _, model in [*found.measured, *found.held_out])
    assert found.find_pointer(name) == "results/demo/models/tiny+near+far@seed1/checkpoints"
    assert found.name_pointer(name) == "results/demo/models/tiny+near+far@seed1/checkpoints/step8.json"
    assert (
        found.find_pointer("pythia")
        == found.name_pointer("pythia")
        == "results/demo/models/pythia/model.json"
    )
    assert (
        f"results/demo/near/scores/attribute-rate/{name}.parquet" in found.name_followed()["attribute_rates"]
    )
    assert [len(tables) for tables in found.name_followed().values()] == [2 * 15, 15, 15, 2]
    assert found.fetched_models == ["qwen@chat", "pythia", "more"]
    assert found.list_before("more") == ["results/demo/near/scores/tf/pythia.parquet"]
    asked = targets(models=models)
    table, *figures = asked.list_following()
    assert table == "results/demo/following/following.parquet"
    assert figures == [
        *(f"results/demo/figures/near.following.{track}.png" for track in ("tiny+near+far", "others")),
        *(f"results/demo/figures/near.checkpoints.{statistic}.png" for statistic in STATISTICS),
    ]
    assert asked.figures.lists["followed_domains"] == {"near": ["others"]}
    own = targets(models={**models, "follow": {}}).list_following()
    assert not any(".checkpoints." in each for each in own)  # trainings of one's own have none
    assert {*figures} <= {*asked.list_finished()}
    assert targets().list_following() == without.followed_models == []


def test_a_model_is_trained_on_its_domain_and_adapted_to_the_last_of_its_path():
    found = outputs()
    assert found.texts.find("tiny") == "results/demo/corpus/texts/far.parquet"
    assert found.texts.find("gpt2+near") == "results/demo/corpus/texts/near.parquet"


def test_a_study_has_orders_stages_and_text_from_elsewhere():
    study = {"base": "tiny", "evaluation_domain": "near", "order": ["other", "far"], "abstracts": 9}
    texts = {"other": {"files": ["other.txt"]}}
    models = {**VALUES["models"],
              "texts": texts,
              "continual": {"study": study, "later": {**study, "order": []}}}  # fmt: skip
    found = outputs(models=models)
    asked = targets(models=models)
    orders = {f"results/demo/{place}" for study in ("study", "later")
              for place in (f"orders/{study}.yaml", f"figures/order.{study}.png")}  # fmt: skip
    assert {*asked.list_orders()} == orders <= {*asked.list_finished()}
    assert found.orders.find_order("tiny+study") == "results/demo/orders/study.parquet"
    means = [f"results/demo/orders/means/{name}.9.npy" for name in ("near", "far", "other")]
    assert found.orders.name_means("study") == means
    assert found.texts.find("tiny+study@stage1") == "results/demo/corpus/training/other.parquet"
    assert found.texts.find("tiny+study@stage2") == "results/demo/corpus/texts/far.parquet"
    folder = "results/demo/corpus"
    texts = [f"{folder}/texts/far.parquet", f"{folder}/texts/near.parquet",
             f"{folder}/training/other.parquet"]  # fmt: skip
    assert found.texts.list_trained() == texts
    stages = [path for path in asked.list_following() if "/stages." in path]
    assert len(stages) == 8 and all("/stages.tiny+study." in path for path in stages)
    assert "tiny+study@stage2" in found.measured_models
    assert not any("@stage" in model for _, _, model in found.scored)


def test_a_lens_is_trained_where_there_is_text_for_it():
    assert outputs().trains_lenses
    assert not outputs(lens={"steps": 0}).trains_lenses
    splits = {"benchmark": 0.6, "adapt-train": 0.35, "adapt-valid": 0, "adapt-test": 0.05}
    assert not outputs(corpus={"splits": splits}).trains_lenses


@pytest.mark.parametrize(
    ("changes", "expected"),
    [({}, False),
     ({"domains": {"near": {"categories": ["near"]}, "far": {"categories": ["far"]}}}, True),
     ({"scores": "scores"}, True),
     ({"tasks": {"one": None, "two": None}, "tuned": ["a", "b", "c"]}, True),
     ({"tasks": {"one": None}, "tuned": ["a", "b", "c"]}, False)],
)  # fmt: skip
def test_rankings_need_two_benchmarks_and_three_models_or_given_scores(changes, expected):
    asked = targets(**changes)
    assert outputs(**changes).has_rankings() is expected
    assert ("results/demo/ranking/agreement.csv" in asked.list_finished()) is expected
    assert ("results/demo/ranking/tables.md" in asked.list_figures()) is expected


def test_maps_of_coverage_are_made_on_request_and_corpora_where_they_are_configured():
    names = ("coverage.tf", "coverage.tfidf", "benchmarks")
    maps = [f"results/demo/figures/near.{name}.png" for name in names]
    corpus = "results/demo/figures/near.expansion.png"
    assert targets().list_coverage() == maps and not {*maps, corpus} & {*targets().list_finished()}
    asked = targets(coverage={"benchmarks": True, "expand": ["near"]})
    assert {*maps, corpus} <= {*asked.list_coverage()} & {*asked.list_finished()}


def test_benchmarks_of_others_are_mapped_where_they_are_configured():
    others = "results/demo/figures/near.others.png"
    assert others not in targets().list_coverage()
    asked = targets(coverage={"others": {"near": {"MMLU": {"file": "q.csv"}}}})
    assert others in asked.list_coverage() and others in asked.list_finished()


def test_all_expanded_domains_are_in_one_figure():
    domains = {name: {"categories": [name]} for name in ("near", "code", "style")}
    asked = targets(
        domains={**domains, "far": VALUES["domains"]["far"]}, coverage={"expand": ["code", "style"]}
    )
    drawn = [path for path in asked.list_coverage() if "expansions" in path]
    assert drawn == ["results/demo/figures/expansions.png"]
    assert "results/demo/figures/expansions.png" not in targets().list_coverage()
    reads = asked.figures.find_inputs(CATALOGUE["expansions"])
    assert {name: find(None) for name, find in reads.items()} == {
        "1": "results/demo/code/coverage/expansion-map.parquet",
        "2": "results/demo/style/coverage/expansion-map.parquet",
    }


def test_figures_of_rankings_follow_conditions():
    one, two = (
        {Path(path).stem.removeprefix("ranking.")
         for path in targets(scores="s", conditions=some).list_compared()}
        for some in (("before",), ("before", "after"))
    )  # fmt: skip
    assert two - one == {"perplexity-before", "tau.after", "tau-significant.after"} and one < two
    assert {"alignment", "mean-tau", "categories-significant", "pca", "perplexity", "tau.before"} < one


def test_a_task_is_made_from_pairs_text_or_nothing():
    tasks = {"choice": {"kind": "choice", "domain": "near", "variant": "tfidf"},
             "text": {"kind": "text", "domain": "far"},
             "arc": {"kind": "harness", "task": "arc_easy"}}  # fmt: skip
    config = read_config(VALUES | {"train_before_test": {"tasks": tasks}}, "test")
    found = outputs(config.train_before_test.tasks, ["tiny"])
    assert found.find_task_source("choice") == "results/demo/near/benchmark/tfidf/pairs.parquet"
    assert found.find_task_source("text") == "results/demo/corpus/texts/far.parquet"
    assert found.find_task_source("arc") == []
    assert found.name_tuned(".csv")[0] == "results/demo/tuning/choice/tiny.csv"
    assert found.tuned == [("tiny", "choice"), ("tiny", "text"), ("tiny", "arc")]


def test_a_whole_run_says_what_changed():
    found, asked = outputs(previous="older"), targets(previous="older")
    assert "results/demo/changes.csv" in found.list_benchmarks()
    assert "results/demo/near/benchmark/tf/lm-eval" in found.list_benchmarks()
    assert {*found.list_benchmarks(), "results/demo/summary.csv"} <= {*asked.list_finished()}


def test_layers_have_a_table_for_each_domain_and_figures_for_each_family():
    table, *figures = targets().list_layers()
    assert table == "results/demo/near/layers/layers.csv"
    families = {figure.split(".layers.")[1].rsplit(".", 2)[0] for figure in figures}
    assert families == {"tiny", "gpt2", "qwen@chat", "pythia"}
    assert len(figures) == 7 * len(families)


def test_a_target_with_nothing_to_make_stops(capsys):
    assert make_some("order", ["a.csv"])(None) == ["a.csv"]
    with pytest.raises(SystemExit):
        make_some("order", [])(None)
    assert "target order has nothing to make" in capsys.readouterr().err
