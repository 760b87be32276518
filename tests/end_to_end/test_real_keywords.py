"""Keywords of real abstracts against those of the paper [RawCorpora, Table 4]."""

from pathlib import Path

import pytest

from fathom.benchmark.embedding import SentenceEncoder
from fathom.benchmark.keywords import extract_keywords
from fathom.benchmark.wordlists import read_word_lists
from fathom.config.benchmark import Embedding, Keywords
from fathom.config.corpus import Domain, Selection
from fathom.corpus.metadata import read_metadata
from fathom.io.contracts.corpus import RECORDS
from fathom.io.tables import read_table

ROOT = Path(__file__).resolve().parents[2]
TABLE_4 = {
    "cs.AI": (
        8,
        "machine learning, reinforcement learning, deep learning, explainable ai, graph neural, "
        "transfer learning, generative adversarial, imitation learning, causal inference, continual learning",
    ),
    "physics.soc-ph": (
        8,
        "complex network, epidemic dynamics, community detection, opinion dynamics, information diffusion, "
        "scale-free network, human mobility, temporal networks, evolutionary dynamics, network science",
    ),
}


@pytest.fixture(scope="module")
def abstracts(shared, tmp_path_factory) -> dict[str, dict[str, str]]:
    """Return every third abstract of each domain by document, thousands still; the metadata are read once."""
    selection = Selection(domains={domain: Domain(categories=[domain]) for domain in TABLE_4})
    records = tmp_path_factory.mktemp("records") / "metadata.parquet"
    read_metadata(shared / "arxiv" / "arxiv-metadata-oai-snapshot.json.gz", selection, records)
    frame = read_table(records, RECORDS, ["doc_id", "abstract", "domains"])
    of = {domain: frame.filter(frame["domains"].list.contains(domain)) for domain in TABLE_4}
    return {
        domain: dict(found.sort("doc_id").gather_every(3).select("doc_id", "abstract").iter_rows())
        for domain, found in of.items()
    }


@pytest.mark.parametrize("domain", TABLE_4)
def test_keywords_of_the_papers_are_found(domain, abstracts):
    rows, *_ = extract_keywords(
        abstracts[domain], Keywords(), read_word_lists(ROOT / "config" / "wordlists"),
        SentenceEncoder(Embedding()).encode_exactly,
    )  # fmt: skip
    found = {str(row[0]).removesuffix("s") for row in rows}
    wanted, names = TABLE_4[domain]
    hits = [name for name in names.split(", ") if name.removesuffix("s") in found]
    assert len(rows) == Keywords().count
    assert len(hits) >= wanted, f"only {hits}"
