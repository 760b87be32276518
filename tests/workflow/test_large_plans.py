"""A plan for a hundred shards has one job for each, and few for the corpus as a whole."""

from collections import Counter
from pathlib import Path

import pytest
from perf.planning import JOB, copy_workflow, plan, write_plan

SHARDS, DOMAINS, MODELS = 100, 4, 20
ABSTRACTS = 4  # corpus.abstract_parts


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    folder: Path = copy_workflow(tmp_path_factory.mktemp("large"))
    return Counter(JOB.findall(plan(folder, write_plan(folder, SHARDS, DOMAINS, MODELS))))


def test_every_shard_has_its_own_jobs(jobs):
    parts = SHARDS + ABSTRACTS
    assert jobs["join_shard"] == SHARDS
    assert jobs["split_sentences"] == jobs["select_sentences"] == jobs["embed_named"] == parts
    assert jobs["match_sentences"] == parts * DOMAINS


def test_nothing_has_a_job_for_each_document_keyword_or_pair_of_shards(jobs):
    for rule in ("gather_matches", "collect_texts", "extract_keywords"):
        assert jobs[rule] == DOMAINS, rule
    for rule in ("read_metadata", "collect_abstracts", "index_documents", "summarize_scores"):
        assert jobs[rule] == 1, rule
    assert jobs["make_pairs"] == jobs["build_vocabulary"] == 2 * DOMAINS
    assert jobs["score_model"] == MODELS  # one load of the weights for all domains
    assert jobs["train_model"] + jobs["adapt_model"] == MODELS
    per_part = jobs["split_sentences"] * (2 + DOMAINS) + SHARDS
    assert sum(jobs.values()) - per_part < 10 * DOMAINS * MODELS
