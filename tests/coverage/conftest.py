"""A small corpus whose sentences have embeddings, in two slices."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.tables import fill_table

from fathom.benchmark.embedding_models import DEFAULT_MODEL
from fathom.config.coverage import Coverage
from fathom.coverage.sets import Slices, Space, read_space
from fathom.io.contracts.benchmark import PAIRS
from fathom.io.contracts.corpus import INDEX, SENTENCES
from fathom.io.tables import write_table

DIMENSION = 16
TOPICS = 4
SETTINGS = Coverage(length=15.0, points=150, max_correlation=0.05)


class Project(NamedTuple):
    """Files of a corpus: 40 documents of domain d on 4 topics, 10 of another domain."""

    folder: Path
    sentences: list[Path]
    embeddings: list[Path]
    index: Path
    pairs: Path
    model: str = DEFAULT_MODEL


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Project:
    """Return the files of a small corpus."""
    folder = tmp_path_factory.mktemp("coverage")
    generator = np.random.default_rng(0)
    topics = generator.normal(size=(TOPICS, DIMENSION))
    names = [f"d{number:02}" for number in range(50)]
    for name, members in (("a", names[:30]), ("b", names[30:])):
        documents = [document for document in members for _ in range(1 + int(document[1:]) % 7)]
        positions = [place for each in members for place in range(1 + int(each[1:]) % 7)]
        places = [int(document[1:]) % TOPICS for document in documents]
        vectors = topics[places] + 0.4 * generator.normal(size=(len(documents), DIMENSION))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        np.save(folder / f"{name}.npy", vectors.astype(np.float32))
        texts = [f"sentence {place} of {each} is long"
                 for each, place in zip(documents, positions, strict=True)]  # fmt: skip
        table = fill_table(
            SENTENCES, doc_id=documents, position=positions, clean=texts, row=list(range(len(documents)))
        )
        write_table(folder / f"{name}.parquet", table, SENTENCES)
    domains = [["d"] if int(name[1:]) < 40 else ["other"] for name in names]
    write_table(folder / "index.parquet", fill_table(INDEX, doc_id=names, domains=domains), INDEX)
    some = [name for name in names[:40] if int(name[1:]) % TOPICS == 0]  # of one topic only
    pairs = fill_table(
        PAIRS, pair_id=[f"p{name}" for name in some], doc_id=some,
        prompt=[f"sentence 0 of {name}" for name in some], target=[" is"] * len(some),
    )  # fmt: skip
    write_table(folder / "pairs.parquet", pairs, PAIRS)
    files = [[folder / f"{name}.{ending}" for name in "ab"] for ending in ("parquet", "npy")]
    return Project(folder, files[0], files[1], folder / "index.parquet", folder / "pairs.parquet")


@pytest.fixture(scope="session")
def slices(project) -> Slices:
    """Return the sentences of the corpus and their embeddings."""
    return Slices(project.sentences, project.embeddings)


@pytest.fixture(scope="session")
def space(project, slices) -> Space:
    """Return the sentences that stand for the domain."""
    return read_space(slices, project.index, "d", SETTINGS)
