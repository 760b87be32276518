"""The configuration: what is refused, in which words, and that what is generated from it is fresh."""

import json
import re
from pathlib import Path

import pytest
import yaml
from snakemake.cli import parse_config
from tests.programs import run_program
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.config.yaml_files import read_values
from fathom.errors import InputError
from fathom.planning.model_checks import check_models
from fathom.planning.settings import Settings

_ROOT = Path(__file__).resolve().parents[1]
_README = _ROOT / "config" / "README.md"


def _values(**changes):
    return {"domains": {"law": {"categories": ["law"]}}, "pairs": {"tokenizer": "small"}, **changes}


def test_the_smallest_configuration():
    config = read_config(_values(), "my.yaml")
    assert config.run == "demo"
    assert config.benchmark_domains == ["law"]
    assert config.corpus.splits.adapt_train == 0.3


_OTHERS = {
    _ROOT / "config" / "questions",
    _ROOT / "config" / "choices",
    _ROOT / "config" / "packages.yaml",
    _ROOT / "config" / "pipelines.yaml",
}  # files that configurations name
_FILES = [file for file in sorted((_ROOT / "config").rglob("*.yaml")) if not _OTHERS & {file, *file.parents}]


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.name)
def test_every_file_is_valid_and_names_known_models(file):
    values = yaml.safe_load(file.read_text())
    if values.get("corpus", {}).get("source") == "arxiv":
        values["dump"] = "somewhere"
    if "domains" not in values:
        values["scores"] = "somewhere"
    config = read_config(values, file.name)
    assert config.models.scored or config.ranking.conditions or config.coverage.questions
    check_models(config, _ROOT / "config" / "models.tsv", file.name)
    # the part that cards of benchmarks get, without models, is a configuration, too
    assert not config.domains or read_config(json.loads(Settings(config).of_card()), "card").domains


@pytest.mark.parametrize(
    ("changes", "parts"),
    [({"keyword": {"count": 5}}, ["unknown key 'keyword'; did you mean keywords?", "config/README.md"]),
     ({"corpus": {"folds_by": "id"}}, ["corpus.folds_by", "splits_by"]),
     ({"models": {"continual": {"x": {"base": "a", "target": "b"}}}}, ["x.target", "evaluation_domain"]),
     ({"choices": {"chat_studies": []}}, ["choices.chat_studies", "chat_factors"]),
     ({"train_before_test": {"lora": {"targets": "all"}}}, ["train_before_test.lora.targets", "modules"]),
     ({"keywords": {"cuont": 5}}, ["unknown key 'keywords.cuont'; did you mean count?"]),
     ({"corpus": {"splits": {"adapt_train": 1}}}, ["corpus.splits.adapt_train", "adapt-train?"]),
     ({"models": {"train": {"a": {"domain": "law", "layer": 2}}}}, ["models.train.a.layer", "layers?"]),
     ({"models": {"adapt": [{"base": "a", "paths": [["law"]], "stepz": 2}]}}, ["adapt.0.stepz", "steps?"]),
     ({"keywords": {"count": "many"}}, ["keywords.count = 'many'", "integer"]),
     ({"keywords": {"count": 0}}, ["keywords.count = 0", "greater than or equal to 1"]),
     ({"keywords": {"count": True}}, ["keywords.count = True: true and false are not valid here"]),
     ({"keywords": {"shares": {"2": True}}}, ["keywords.shares = {'2': True}: true and false are not"]),
     ({"keywords": {"shares": {2: 1.0}}}, ["keywords.shares.2", " = 2: Input should be '2', '3', '4' or"]),
     ({"keywords": {"shares": {"7": 1.0}}}, ["keywords.shares.7", " = '7': Input should be '2', '3', '4'"]),
     ({"summary": {"lead": ["rank"]}}, ["summary.lead = ['rank']: Input should be 'bits' or 'rank'"]),
     ({"summary": {"lead": "rnak"}}, ["summary.lead: unknown lead 'rnak'; did you mean rank?"]),
     ({"keywords": {"threshold": float("inf")}}, ["keywords.threshold = inf", "finite number"]),
     ({"dump": ""}, ["dump = '': this is empty"]),
     ({"dump": "\u200b "}, ["dump = ", "this is empty"]),
     ({"domains": {"law": {"categories": ["a"], "title": "\u2060"}}}, ["domains.law.title", "this is empty"]),
     ({"corpus": {"files": ["a.jsonl", ""]}}, ["corpus.files.1 = '': this is empty"]),
     ({"references": {"law": {"a": ""}}}, ["references.law.a = '': this is empty"]),
     ({"corpus": {"since": "2024-01-02", "until": "2024-01-01"}},
      ["corpus: since = 2024-01-02 is after until = 2024-01-01, which leaves no document"]),
     ({"domains": {"a": {"categories": ["a"], "since": "2024-01-02", "until": "2024-01-01"}}},
      ["domains.a: since = 2024-01-02 is after until = 2024-01-01"]),
     ({"domains": {"a": {"categories": ["a"], "since": "2024-01-02"}}, "corpus": {"until": "2023-01-01"}},
      ["domains.a.since = 2024-01-02 is after corpus.until = 2023-01-01"]),
     *(({"domains": {"a": {kind: ["a", pattern]}}}, [f"domains.a.{kind}.1: '{pattern}' is not a category"])
       for kind in ("categories", "exclude") for pattern in ("cs*", "*.AI", "c*.AI", "cs AI")),
     ({"domains": {"Law": {"categories": ["a"]}, "law": {"categories": ["b"]}}},
      ["domains: 'Law' and 'law' differ only in case; rename one of them"]),
     ({"models": {"score": ["gpt2", "GPT2"]}}, ["models: 'gpt2' and 'GPT2' differ only in case"]),
     ({"summary": {"trim": 0.5}}, ["summary.trim = 0.5", "less than 0.5"]),
     ({"run": "../elsewhere"}, ["run = '../elsewhere'"]),
     ({"corpus": {"source": "arxiv"}}, ["dump", "--config dump=FOLDER"]),
     ({"corpus": {"splits": {"benchmark": 0.9}}}, ["corpus.splits: the four shares add up to 1.3"]),
     ({"pairs": {}}, ["key pairs.tokenizer is missing"]),
     ({"domains": {}}, ["key domains is missing"]),
     ({"pairs": None}, ["key pairs is missing"]),
     ({"scores": "x", "pairs": None}, ["key pairs is missing"]),
     ({"ranking": {"aligned": ["a"]}}, ["ranking: aligned = ['a']: give two different benchmarks"]),
     ({"ranking": {"conditions": [{"name": "a", "file": "b"}], "corpus_table": {"condition": "c"}}},
      ["corpus_table.condition: unknown condition 'c'", "known: a"]),
     ({"ranking": {"one_family": "Q", "families": {"Qwen": ["q"]}}},
      ["one_family: unknown family 'Q'", "known: Qwen"]),
     ({"ranking": {"conditions": [{"name": "a", "file": "b"}] * 2}}, ["conditions: duplicate name a"]),
     ({"ranking": {"benchmarks": {"a": {"titel": "A"}}}}, ["benchmarks.a.titel'; did you mean title?"]),
     ({"coverage": {"others": {"lwa": {"MMLU": {"file": "q"}}}}}, ["coverage.others", "did you mean law?"]),
     ({"domains": {"a": {"categories": ["a"], "benchmark": False}}, "references": {"a": {"b": "x.csv"}}},
      ["references: unknown domain with a benchmark 'a'; known: none"]),
     ({"references": {"lwa": {"a": "x.csv"}}}, ["references: unknown domain", "did you mean law?"]),
     ({"other_references": {"law": {"a": "x.csv"}}}, ["other_references is called references now"]),
     ({"scoring": {"until": "settled"}}, ["key scoring.until is gone: `fathom best`"]),
     ({"sentences": {"splitter": "auto"}}, ["sentences.splitter", "rules is the default"]),
     ({"models": {"adapt": [{"base": "a", "paths": [["law"]], "lora": {"targets": "all"}}]}},
      ["models.adapt.0.lora.targets is called modules now"]),
     ({"domains": {"a": {"categories": ["a"], "benchmark": False}}}, ["nothing to build"]),
     ({"coverage": {"expand": ["lwa"]}}, ["coverage.expand.0: unknown domain", "mean law?"]),
     ({"coverage": {"bandwidth": 0}}, ["coverage.bandwidth", "greater than 0", "'scott'"]),
     ({"coverage": {"bandwidth": "silverman"}}, ["coverage.bandwidth", "'silverman'", "'scott'"]),
     ({"coverage": {"max_correlation": 1.5}}, ["coverage.max_correlation = 1.5", "or equal to 1"]),
     ({"coverage": {"gap_percentile": 60}}, ["coverage.gap_percentile = 60", "less than or equal to 1"]),
     ({"coverage": {"ablation": {"max_correlation": [-2]}}}, ["ablation.max_correlation.0 = -2"]),
     ({"coverage": {"ablation": {"gap_percentile": [0.3, 2]}}}, ["ablation.gap_percentile.1 = 2"]),
     ({"models": {"train": {"a": {"domain": "lwa"}}}}, ["train.a.domain", "'lwa'", "did you mean law?"]),
     ({"models": {"adapt": [{"base": "a", "paths": [["zzz"]]}]}}, ["models.adapt.0.paths", "known: law"])],
)  # fmt: skip
def test_a_wrong_value_is_named_with_its_file_and_a_hint(changes, parts):
    with refuses("my.yaml", "Hint:", *parts):
        read_config(_values(**changes), "my.yaml")


def test_true_and_false_are_taken_where_they_belong():
    config = read_config(
        _values(corpus={"primary_only": True}, pairs={"tokenizer": "a", "target_in_prompt": False}), "my.yaml"
    )
    assert config.corpus.primary_only is True
    assert config.pairs.target_in_prompt is False


def test_null_from_the_command_line_is_none_where_there_may_be_none():
    values = parse_config(["keywords={complete: null, min_ratio: null}", "corpus={language: null}"])
    config = read_config(_values(keywords=values["keywords"]), "my.yaml")
    assert config.keywords.complete is None and config.keywords.min_ratio is None
    with refuses("corpus.language"):
        read_config(_values(corpus=values["corpus"]), "my.yaml")


def test_scores_alone_can_be_ranked():
    config = read_config({"scores": "x"}, "my.yaml")
    assert config.domains == {} and config.pairs is None and config.benchmark_domains == []


def test_nothing_at_all_is_no_configuration_and_all_wrong_values_are_named_at_once():
    with refuses("key domains is missing; key pairs is missing"):
        read_config({}, "my.yaml")
    with refuses("ranking.conditions") as caught:
        read_config({"ranking": {"conditions": [{"name": "direct", "file": "before"}]}}, "my.yaml")
    assert "pairs" not in str(caught.value)
    with refuses("keywords.count", "keywords.passes", "nonsense"):
        read_config(_values(keywords={"count": 0, "passes": 0}, nonsense=1), "my.yaml")


def test_a_value_is_never_changed_afterwards():
    config = read_config(_values(), "my.yaml")
    with pytest.raises(ValueError, match="frozen"):
        config.run = "other"


def test_a_model_that_two_entries_train_otherwise_is_refused():
    adapt = [
        {"base": "b", "paths": [["law", "tax"]], "steps": 9},
        {"base": "b", "paths": [["tax"], ["law"]], "steps": 9, "lora": {}, "learning_rate": 0.1},
    ]
    domains = {"law": {"categories": ["l"]}, "tax": {"categories": ["t"], "benchmark": False}}
    with pytest.raises(InputError, match=r"adapt\.1.*b\+law differently \(learning_rate, lora\)"):
        read_config(_values(domains=domains, models={"adapt": adapt}), "my.yaml")
    same = [{**adapt[0]}, {**adapt[1], "lora": None, "learning_rate": 5e-4, "seeds": 2}]
    models = read_config(_values(domains=domains, models={"adapt": same}), "my.yaml").models
    assert [*models.adapted] == ["b+law", "b+law+tax", "b+tax", "b+tax@seed1", "b+law@seed1"]


def test_adapted_models_share_their_prefixes():
    adapt = [{"base": "b", "paths": [["law"], ["law", "tax"]]}]
    domains = {name: {"categories": [name]} for name in ("law", "tax")}
    adapted = read_config(_values(domains=domains, models={"adapt": adapt}), "my.yaml").models.adapted
    assert [(name, parent, domain) for name, (parent, domain, _) in adapted.items()] == [
        ("b+law", "b", "law"), ("b+law+tax", "b+law", "tax")]  # fmt: skip


def test_families_by_layer_begin_with_the_model_that_others_come_from():
    values = {"domains": {name: {"categories": [name]} for name in ("near", "far")},
              "pairs": {"tokenizer": "a"}}  # fmt: skip
    values["models"] = {"train": {"a": {"domain": "far"}, "b": {"domain": "far"}},
                        "adapt": [{"base": "a", "paths": [["near"]]},
                                  {"base": "a", "paths": [["near", "far"]], "score": False}]}  # fmt: skip
    config = read_config(values, "test")
    assert config.models.scored == ["a", "b", "a+near"]
    assert config.layer_families == {"a": ["a", "a+near", "a+near+far"], "b": ["b"]}
    assert config.layer_references == [("a+near", "a"), ("a+near+far", "a"), ("a+near+far", "a+near")]
    values["layers"] = {"models": ["a+near+far", "b"], "against": {"b": "a"}}
    config = read_config(values, "test")
    assert config.layer_families == {"a": ["a", "a+near+far", "b", "a+near"]}
    values["layers"] = {"against": {"b": "a", "a": "b"}}
    with refuses("layers.against", "a"):
        read_config(values, "test")
    values["layers"] = {"models": ["a+nera"]}
    with refuses("layers.models", "'a+nera'", "a+near"):
        read_config(values, "test")


@pytest.mark.parametrize("text", ["a: [", "- a\n- b", "domains: x"])
def test_a_file_that_is_no_configuration(tmp_path, text):
    (tmp_path / "c.yaml").write_text(text)
    with refuses("c.yaml"):
        read_config(read_values(tmp_path / "c.yaml"), "c.yaml")


def test_a_missing_file(tmp_path):
    with refuses("no such file"):
        read_values(tmp_path / "c.yaml")


def test_schema_and_page_are_fresh(tmp_path):
    files = ("--schema", tmp_path / "schema.json", "--readme", tmp_path / "README.md")
    run_program("write_schema", *files)
    for name in ("schema.json", "README.md"):
        fresh = (tmp_path / name).read_bytes() == (_ROOT / "config" / name).read_bytes()
        assert fresh, f"config/{name} is stale: python scripts/jobs/write_schema.py"


def test_every_key_is_described():
    rows = [line.split(" | ") for line in _README.read_text().splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert [row[0] for row in rows if not row[-1].strip(" |")] == []


def test_examples_of_the_page_hold_no_wrong_key():
    blocks = re.findall(r"```yaml\n(.*?)```", _README.read_text(), re.S)
    read_config(yaml.safe_load(blocks[0]), "first example")
    for block in blocks[1:]:
        try:
            read_config(_values(**yaml.safe_load(block)), "example")
        except InputError as error:
            # examples name domains that are not part of them
            assert "unknown domain" in str(error), block
