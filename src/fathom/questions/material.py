"""The files that questions are asked from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from fathom.jobs.signature import Tables

if TYPE_CHECKING:
    from fathom.questions.question_rounds import Material

Statements = Annotated[Path, "statements (N-Triples)"]
Entities = Annotated[Path, "entities (parquet)"]
Chunks = Annotated[Path, "texts of records (parquet)"]
Embeddings = Annotated[Path, "embeddings of these texts (.npy)"]
Templates = Annotated[list[Path], "files of templates (YAML)"]
Users = Annotated[list[Path], "files of open questions (JSON lines)"]


class MaterialFiles(NamedTuple):
    """The files that questions are asked from; pairs may join as open questions."""

    statements: Path
    entities: Path
    chunks: Path
    embeddings: Path
    templates: list[Path]
    users: list[Path]
    pairs: Tables

    def list_paths(self) -> list[Path]:
        """Return all files, in a fixed order."""
        named = [self.statements, self.entities, self.chunks, self.embeddings]
        return [*named, *self.templates, *self.users, *(Path(path) for *_, path in self.pairs)]

    def read(self) -> "Material":
        """Read records, templates and open questions; raise `InputError` if one of the files is wrong."""
        from fathom.benchmark.matches import load_embeddings
        from fathom.io.contracts.benchmark import PAIRS
        from fathom.io.contracts.questions import CHUNKS, ENTITIES
        from fathom.io.tables import read_table
        from fathom.questions.graph import OntologyGraph
        from fathom.questions.question_rounds import Material
        from fathom.questions.templates import read_templates
        from fathom.questions.user_questions import make_open_from_pairs, read_user_questions

        return Material(
            read_table(self.chunks, CHUNKS, ["iri"])["iri"].to_list(),
            load_embeddings(self.embeddings)[:],
            read_table(self.entities, ENTITIES),
            OntologyGraph(self.statements),
            read_templates(self.templates),
            [row for path in self.users for row in read_user_questions(path)],
            [
                row
                for domain, variant, path in self.pairs
                for row in make_open_from_pairs(read_table(path, PAIRS), f"{domain}/{variant}")
            ],
        )
