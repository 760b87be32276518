"""An ontology of arXiv's metadata: papers, authors, categories, years, journals [CompComp, Sec. 4.2]."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from fathom.corpus.latex import convert_latex
from fathom.corpus.lines import JsonLines, parse_object
from fathom.corpus.metadata import read_arxiv_id, read_categories, read_first_day, read_text
from fathom.corpus.records import clean_line
from fathom.corpus.selection import matches_category
from fathom.questions.ontology import Entity, Ontology, name_entity, put_in_words

_BRACKETS = re.compile(r"\([^()]*\)")
_BETWEEN = re.compile(r",|;| and | & ")
_NUMBER = re.compile(r"\d.*$")
_ENDS = re.compile(r"[\s,.:;(\[]+(?:vol(?:ume)?|no|pp|issue)?[\s,.:;(\[]*$", re.IGNORECASE)
_CATEGORY = re.compile(r"[a-z]+(-[a-z]+)?(\.[A-Za-z]+(-[a-z]+)?)?")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL = {"of", "the", "and", "for", "in", "on", "de"}
_OTHERS = {"et al", "et al.", "others"}
_MOST_AUTHORS = 20
"""Authors of a paper that its text names."""


class Paper(NamedTuple):
    """What is read of a record."""

    key: str
    title: str
    abstract: str
    authors: Sequence[str]
    categories: Sequence[str]
    primary: str
    year: str
    journal: str


def read_papers(path: Path, patterns: Sequence[str], max_malformed: float = 0.01) -> Ontology:
    """Return the ontology of arXiv's metadata.

    An author is a name: what several people of one name wrote cannot be separated. Categories are those of
    arXiv, without archives such as `cond-mat` that are divided: `cond-mat.soft` would belong to both. A
    journal is what stands before the first digit of a reference, whose words count by their first three
    letters. A year is that of the first version. Of several records with one id the last one counts.

    Parameters
    ----------
    patterns : sequence of str
        Categories that count: `cs.AI`, `cs.*`, `*`.

    Raises
    ------
    InputError
        If the file is truncated or has too many malformed lines.
    """
    lines, left_out = JsonLines(path, max_malformed), Counter[str]()
    papers: dict[str, Paper] = {}
    for paper in lines.parse(_read_paper):
        if not any(matches_category(pattern, each) for pattern in patterns for each in paper.categories):
            left_out["in other categories"] += 1
        elif not paper.title:
            left_out["without a title"] += 1
        else:
            left_out["repeated ids"] += paper.key in papers
            papers[paper.key] = paper
    divided = {name.split(".")[0] for paper in papers.values() for name in paper.categories if "." in name}
    papers = {
        key: paper._replace(categories=[name for name in paper.categories if name not in divided])
        for key, paper in papers.items()
    }
    ontology = Ontology(report={**lines.report(), "papers": len(papers)})
    spellings: dict[str, Counter[str]] = {}
    for paper in papers.values():
        if paper.journal:
            spellings.setdefault(shorten_journal(paper.journal), Counter())[paper.journal] += 1
    journals = {key: min(found, key=lambda name: (-found[name], name)) for key, found in spellings.items()}
    for paper in papers.values():
        _add_paper(ontology, paper, journals)
    without = {name: sum(not getattr(paper, name) for paper in papers.values())
               for name in ("authors", "categories", "year", "journal")}  # fmt: skip
    ontology.report |= {"left_out": dict(sorted((+left_out).items())), "without": without}
    return ontology


def _read_paper(line: bytes) -> Paper:
    record = parse_object(line)
    categories = read_categories(record.get("categories"))
    return Paper(
        read_arxiv_id(record.get("id"), Counter()),
        clean_line(read_text(record, "title")),
        clean_line(read_text(record, "abstract")),
        read_authors(record),
        [name for name in categories if _CATEGORY.fullmatch(name)],
        categories[0] if categories else "",
        read_first_day(record.get("versions"))[:4],
        read_journal(read_text(record, "journal-ref")),
    )


def read_authors(record: dict[str, Any]) -> list[str]:
    """Return the names of a record's authors, each once, in order: parsed ones, else from a string.

    LaTeX becomes text, and initials stand apart: `C.-P. Yuan`, `E. L. Berger`.
    """
    parsed = record.get("authors_parsed")
    if isinstance(parsed, list) and all(isinstance(each, list) and len(each) > 1 for each in parsed):
        names = [f"{each[1]} {each[0]}" for each in parsed]
    else:
        text = clean_line(read_text(record, "authors"))
        while (shorter := _BRACKETS.sub(" ", text)) != text:
            text = shorter
        names = _BETWEEN.split(text)
    found = (_clean_name(name) for name in names)
    return list(dict.fromkeys(name for name in found if name and name.casefold() not in _OTHERS))


@lru_cache(maxsize=1 << 16)
def _clean_name(name: str) -> str:
    if "\\" in name or "{" in name or "$" in name:
        name = convert_latex(name, Counter())
    name = re.sub(r"\.(?=[^\W\d_])", ". ", unicodedata.normalize("NFC", name))
    return clean_line(name.replace(" -", "-")).strip(" ,*")


def _cut_surname(name: str) -> str:
    """Return the last word of a name in lower case, without accents: who shares it may be one person."""
    letters = unicodedata.normalize("NFKD", name.rsplit(maxsplit=1)[-1])
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def read_journal(reference: str) -> str:
    """Return the journal of a reference: what stands before its first digit; empty if too short."""
    name = clean_line(_NUMBER.sub("", clean_line(reference)))
    while (shorter := _ENDS.sub("", name)) != name:
        name = shorter
    return name if len(shorten_journal(name)) > 2 else ""


def shorten_journal(name: str) -> str:
    """Return what spellings of one journal share: the first three letters of each of its words."""
    words = [word.casefold() for word in _WORD.findall(name)]
    return " ".join(word[:3] for word in words if word not in _SMALL)


def _add_paper(ontology: Ontology, paper: Paper, journals: dict[str, str]) -> None:
    iri = name_entity("Paper", paper.key)
    journal = shorten_journal(paper.journal)
    facts = [
        ("author", "Author", [(name, name, _cut_surname(name)) for name in paper.authors]),
        ("category", "Category", [(name, name, name) for name in paper.categories]),
        ("year", "Year", [(paper.year,) * 3] if paper.year else []),
        ("journal", "Journal", [(journal, journals[journal], journal[:3])] if journal else []),
    ]
    for name, kind, others in facts:
        for key, label, likeness in others:
            other = name_entity(kind, key)
            ontology.entities.setdefault(other, Entity(kind, label, f"arXiv:{paper.key}", likeness))
            ontology.links.append((iri, name, other))
    if paper.primary in paper.categories:
        ontology.links.append((iri, "primary", name_entity("Category", paper.primary)))
    told = [(name, [label for _, label, _ in others[:_MOST_AUTHORS]]) for name, _, others in facts]
    text = put_in_words(paper.title, told, [paper.abstract])
    source = f"arXiv:{paper.key}"
    ontology.entities[iri] = Entity("Paper", paper.title, source, paper.title.casefold(), text)
