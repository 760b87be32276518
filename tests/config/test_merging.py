"""Lists of models and domains on the command line, in place of sections."""

import pytest
import yaml
from tests.refusals import refuses

from fathom.config.merging import choose, merge_files
from fathom.config.whole import read_config

TEXTS = ("near", "other")
FILE = {"corpus": {"source": "docstrings", "packages": ["numpy"]},
        "domains": {"near": {"categories": ["numpy.linalg"]},
                    "far": {"categories": ["numpy.fft"], "benchmark": False, "title": "Far"},
                    "other": {"categories": ["numpy.*"]}},
        "pairs": {"tokenizer": "small"},
        "models": {"train": {"small": {"domain": "far"}, "tiny": {"domain": "far"}},
                   "adapt": [{"base": "small", "paths": [["near"], ["near", "far"]]}],
                   "score": ["gpt2"]},
        "references": {"near": {"expert": "near.csv"},
                       "other": {"expert": "other.csv", "claude": "claude.jsonl"}},
        "targets": {"against": {"tiny": "small"}, "phrases": {"near": "near", "other": "other"}},
        "perplexity": {"max_characters": 9, "texts": {name: {"files": ["a.txt"]} for name in TEXTS}},
        "coverage": {"expand": ["other"], "others": {"other": {"MMLU": {"file": "q.csv"}}}}}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text(yaml.safe_dump(FILE, sort_keys=False))
    return str(path)


def read(file, **lists):
    return read_config(choose({**merge_files([file]), **lists}, [file]), file)


def test_without_lists_nothing_changes(file):
    assert choose(FILE, [file]) == FILE


def test_models_are_chosen_and_the_others_still_trained(file):
    config = read(file, models=["small+near", "small", "gpt2-xl"])
    assert config.models.scored == ["small+near", "small", "gpt2-xl"]
    assert list(config.models.train) == ["small", "tiny"]
    assert config.models.path_ends == {"small+near": "small"}
    assert config.compared_models == {"small+near": "small"}  # the other of targets.against is not scored
    assert config.layer_models == ["small+near", "small", "gpt2-xl"]
    every = read(file)
    assert every.models.scored == ["small", "tiny", "small+near", "small+near+far", "gpt2"]
    assert list(every.compared_models) == ["small+near", "small+near+far", "tiny"]


def test_chosen_domains_have_a_benchmark_and_unknown_names_are_categories(file):
    config = read(file, domains=["far", "numpy.random"])
    assert config.benchmark_domains == ["far", "numpy.random"]
    assert list(config.domains) == ["near", "far", "other", "numpy.random"]
    assert config.domains["far"].title == "Far"
    assert config.domains["numpy.random"].categories == ["numpy.random"]
    # what is said of other domains is forgotten
    assert config.references == config.targets.phrases == config.perplexity.texts == {}
    assert config.perplexity.max_characters == 9
    assert config.coverage.expand == [] and config.coverage.others == {}
    assert read(file, domains=["near"]).references == {"near": {"expert": "near.csv"}}


@pytest.mark.parametrize(
    ("lists", "message"),
    [({"models": []}, "the list is empty"),
     ({"models": ["small", "small"]}, "'small' is given twice"),
     ({"domains": [{"near": 1}]}, "{'near': 1} is no name"),
     ({"domains": ["neear"]}, "unknown domain 'neear'"),
     ({"domains": ["numpy.*"]}, "String should match pattern")],
)  # fmt: skip
def test_a_wrong_list_is_named(file, lists, message):
    with refuses(message):
        read(file, **lists)


def test_a_folder_takes_the_place_of_the_references(file, tmp_path):
    folder = tmp_path / "pairs"
    folder.mkdir()
    for name in ("near.expert.csv", "other.claude.jsonl"):
        (folder / name).touch()
    found = {"near": {"expert": f"{folder}/near.expert.csv"},
             "other": {"claude": f"{folder}/other.claude.jsonl"}}  # fmt: skip
    assert read(file, references=str(folder)).references == found
    # files of domains that are not chosen are left alone
    assert read(file, references=str(folder), domains=["near"]).references == {"near": found["near"]}
    both = {"references": str(folder), "lead_reference": "claude"}
    assert read(file, **both).references == found
    with refuses("lead_reference: unknown reference 'claude'", "known: expert"):
        read(file, **both, domains=["near"])
    with refuses("references: unknown domain with a benchmark 'far'"):
        (folder / "far.expert.csv").touch()
        read(file, references=str(folder))


def test_one_key_says_which_reference_leads(file):
    def list_variants(domain, **changes):
        return [*map(list, read(file, **changes).name_references(domain))]

    near, first = [["reference", "expert"]], [["reference", "expert"], ["reference-claude", "claude"]]
    assert list_variants("far") == []
    for changes in ({}, {"lead_reference": "expert"}):
        assert list_variants("near", **changes) == near
        assert list_variants("other", **changes) == first
    chosen = {"lead_reference": "claude"}
    assert list_variants("other", **chosen) == [["reference-expert", "expert"], ["reference", "claude"]]
    assert list_variants("near", **chosen) == near, "a domain without it has its first one"
    every = dict(read(file, **chosen).name_all_references())
    assert every == {"reference": "expert or claude", "reference-expert": "expert"}
    with refuses("lead_reference: unknown reference 'cloude'; did you mean claude?"):
        read(file, lead_reference="cloude")
    # nothing to lead where nobody brings any
    assert read(file, domains=["far"], **chosen).references == {}


def test_examples_of_domains_that_are_not_chosen_are_forgotten(file):
    chosen = {
        "keywords": {"near": ["eigenvalue"], "other": ["array"]},
        "categories": {"other": {"expert": ["a"]}},
    }
    assert read(file, examples=chosen).examples.domains == ["near", "other"]
    assert read(file, examples=chosen, domains=["near"]).examples.domains == ["near"]
    with refuses("examples: unknown domain with a benchmark 'far'; known: near, other"):
        read(file, examples={"detailed": {"far": ["fourier transform"]}})
