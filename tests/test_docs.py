"""Pages: links lead somewhere, messages are those of the code."""

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = [_ROOT / "README.md", *(_ROOT / "docs").glob("*.md"), _ROOT / "config/README.md",
          _ROOT / "results/README.md"]  # fmt: skip
_ALL = [*_PAGES, *(_ROOT / "docs" / "results").glob("*.md")]
_ROOMS = ("src", "scripts", "workflow", "config", "envs", "docs", "perf", "tests")
_SUFFIXES = {".py", ".smk", ".yaml", ".md", ".json", ".tsv", ".txt"}
_TEXTS = [
    *_ROOT.glob("*.md"),
    *(path for room in _ROOMS for path in sorted((_ROOT / room).rglob("*")) if path.suffix in _SUFFIXES),
]
_LOCATED = re.compile(r"[\[;] ?(\w+), (?:Secs?|Apps?|Figs?|Eqs?|Algs?|Tables?)\b\.? [\dA-Z]")
_BARE = re.compile(r"(?<![\w\[\])`])\[([A-Z][a-z0-9]*(?:[A-Z]+[a-z0-9]+)+[A-Z]*)\](?![\[(]|: ?http)")
_INTERNAL = re.compile(r"\bspec(?:ification)? \d|(?<![\d.,\w])00[0-4](?=[:;`)])")


def _name(path: Path) -> str:
    return str(path.relative_to(_ROOT))


def _anchors(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", _ALL, ids=_name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if link.startswith("http"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@pytest.mark.parametrize("page", _ALL, ids=_name)
def test_no_heading_stands_twice_on_a_page(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ .*$", text, re.M)
    assert headings
    assert sorted(headings) == sorted(set(headings))


def test_the_first_page_leads_to_every_other():
    index = _ROOT / "docs" / "index.md"
    linked = {(index.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)", index.read_text())}
    pages = {*(_ROOT / "docs").glob("*.md"), *(_ROOT / "docs" / "results").glob("*.md")} - {index}
    assert {_name(page) for page in pages - linked} == set()


def test_files_named_in_commands_comments_and_pages_exist():
    rooms = "src/fathom|scripts|tests|workflow|perf|slurm|container"
    named = re.compile(rf"(?<![\w/.-])(?:{rooms})/[a-z0-9_./-]*\w\.(?:py|sh|smk|slurm)\b")
    today = [text for text in _TEXTS if text.name != "CHANGELOG.md" and _ROOT / "tests" not in text.parents]
    texts = [_ROOT / "Makefile", _ROOT / ".ci" / "run", *today]
    found = {
        (_name(text), file) for text in texts for file in named.findall(text.read_text(encoding="utf-8"))
    }
    assert len(found) > 50
    assert {(text, file) for text, file in found if not (_ROOT / file).is_file()} == set()


def test_every_step_is_on_the_page_of_the_pipeline():
    rules = "".join(path.read_text() for path in (_ROOT / "workflow" / "rules").glob("*.smk"))
    steps = {f"{name}.py" for name in re.findall(r'\*\*(?:program|fetcher)\(\s*"(\w+)"', rules)}
    told = set(re.findall(r"`(\w+\.py)`", (_ROOT / "docs" / "pipeline.md").read_text()))
    assert len(steps) > 50
    assert told == steps


def test_every_citation_resolves():
    page = (_ROOT / "docs" / "references.md").read_text()
    listed = [key for key in re.findall(r"^\| (\w+) \|", page, re.M) if key != "key"]
    entries = re.findall(r"^@\w+\{(\w+),$", (_ROOT / "docs" / "references.bib").read_text(), re.M)
    assert listed == entries
    assert len(set(listed)) == len(listed)
    cited = {(key, _name(path)) for path in _TEXTS for pattern in (_LOCATED, _BARE)
             for key in pattern.findall(path.read_text(encoding="utf-8"))}  # fmt: skip
    assert not {(key, name) for key, name in cited if key not in listed}
    assert {"RawCorpora", "BeyondBenchmarks", "TrainBeforeTest"} <= {key for key, _ in cited}


def test_nothing_cites_by_an_internal_name():
    found = {_name(path): _INTERNAL.findall(path.read_text(encoding="utf-8")) for path in _TEXTS}
    assert not {name: hits for name, hits in found.items() if hits}


def test_messages_of_the_troubleshooting_page_are_those_of_the_code():
    files = [*(_ROOT / "src").rglob("*.py"), *(_ROOT / "workflow" / "rules").glob("*.smk")]
    code = "".join(path.read_text() for path in files)
    rows = re.findall(r"^\| (.*?) \|", (_ROOT / "docs" / "troubleshooting.md").read_text(), re.M)
    messages = [message for row in rows if not row.startswith("Snakemake")
                for message in re.findall("`(.*?)`", row)]  # fmt: skip
    pieces = [max(re.split(r"\.\.\.|\b[A-Z]+\b|nan", message), key=len).strip(" ,?=:'")
              for message in messages]  # fmt: skip
    assert len(pieces) > 20
    assert [piece for piece in pieces if piece not in code and "Input should be" not in piece] == []


def test_the_example_of_the_corpus_page_is_valid():
    import yaml

    from fathom.config.whole import read_config

    blocks = re.findall(r"```yaml\n(.*?)```", (_ROOT / "docs" / "corpus.md").read_text(), re.S)
    configs = [read_config(yaml.safe_load(block), "docs/corpus.md") for block in blocks if "run:" in block]
    assert [config.corpus.source for config in configs][:2] == ["folder", "jsonl"]
    assert configs[1].models.scored == ["small", "small+contracts", "small+torts"]
