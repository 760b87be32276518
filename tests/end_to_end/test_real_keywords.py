"""Keywords of real abstracts against those of the paper [RawCorpora, Table 4]."""

from pathlib import Path

from fathom.benchmark.embedding import SentenceEncoder
from fathom.benchmark.keywords import extract_keywords
from fathom.benchmark.wordlists import read_word_lists
from fathom.config.benchmark import Embedding, Keywords
from fathom.config.corpus import Domain, Selection
from fathom.corpus.metadata import read_metadata
from fathom.io.contracts.corpus import RECORDS
from fathom.io.tables import read_table

ROOT = Path(__file__).resolve().parents[2]
TABLE_4 = (
    "machine learning, reinforcement learning, deep learning, explainable ai, graph neural, "
    "transfer learning, generative adversarial, imitation learning, causal inference, continual learning"
)


def test_keywords_of_the_papers_are_found(shared, tmp_path):
    selection = Selection(domains={"cs.AI": Domain(categories=["cs.AI"])})
    metadata = shared / "arxiv" / "arxiv-metadata-oai-snapshot.json.gz"
    read_metadata(metadata, selection, tmp_path / "metadata.parquet")
    frame = read_table(tmp_path / "metadata.parquet", RECORDS, ["doc_id", "abstract"])
    # every fifth abstract, thousands still
    abstracts = dict(frame.sort("doc_id").gather_every(5).iter_rows())
    lists = read_word_lists(ROOT / "config" / "wordlists")
    rows, *_ = extract_keywords(abstracts, Keywords(), lists, SentenceEncoder(Embedding()).encode_exactly)
    found = {str(row[0]).removesuffix("s") for row in rows}
    hits = [name for name in TABLE_4.split(", ") if name.removesuffix("s") in found]
    assert len(rows) == Keywords().count
    assert len(hits) >= 8, f"only {hits}"
