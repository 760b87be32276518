"""The site's hooks: links lead where they did, and what would be fetched from elsewhere is found."""

import importlib.util
from pathlib import Path

import pytest
import yaml

_ROOT = Path(__file__).resolve().parents[1]
_SPEC = importlib.util.spec_from_file_location("site_hooks", _ROOT / "docs" / "site" / "hooks.py")
assert _SPEC and _SPEC.loader
hooks = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(hooks)


@pytest.mark.parametrize(
    ("place", "link", "expected"),
    [("corpus.md", "scoring.md#summaries", "scoring.md#summaries"),
     ("corpus.md", "../config/README.md#corpus", "config/README.md#corpus"),
     ("results/scale.md", "../cluster.md", "../cluster.md"),
     ("results/scale.md", "../../config/arxiv.yaml", "../config/arxiv.yaml"),
     ("config/README.md", "../docs/models.md", "../models.md"),
     ("config/README.md", "#corpus", "#corpus"),
     ("CHANGELOG.md", "docs/settled.md", "settled.md"),
     ("index.md", "https://example.org/docs/a", "https://example.org/docs/a")],
)  # fmt: skip
def test_links_lead_to_the_same_place(place, link, expected):
    assert hooks.rewrite_links(f"see [this]({link}), that", place) == f"see [this]({expected}), that"


def test_links_in_code_stay():
    text = "[a](../results/README.md)\n```md\n[a](../results/README.md)\n```\n"
    changed = hooks.rewrite_links(text, "index.md")
    assert changed == "[a](results/README.md)\n```md\n[a](../results/README.md)\n```\n"


def test_files_outside_of_docs_are_found_where_pages_link_to_them():
    text = "[a](../../config/arxiv.yaml) [b](../cluster.md) [c](../../no/such.file)"
    assert hooks.find_linked_files(text, "docs/results/scale.md") == {"config/arxiv.yaml"}


@pytest.mark.parametrize(
    "text",
    ['<script src="https://example.org/a.js"></script>', "<script async src=//example.org/a.js></script>",
     '<link rel="stylesheet" href="https://example.org/a.css">',
     '<img alt="a" src="http://example.org/a.png">', "body { background: url(https://example.org/a.png) }",
     '@import "https://example.org/a.css";'],
)  # fmt: skip
def test_remote_sources_are_found(text):
    assert len(hooks.find_remote_sources(text)) == 1


def test_own_sources_and_links_are_not_remote():
    text = (
        '<a href="https://example.org">a</a><script src="a.js"></script><img src="data:image/png;base64,AA">'
    )
    assert hooks.find_remote_sources(text + "body { background: url(a.png) }") == set()


def test_the_menu_names_pages_that_there_are_once():
    nav = yaml.safe_load((_ROOT / "mkdocs.yml").read_text())["nav"]
    named = hooks.list_named(nav)
    assert len(named) == len(set(named)) > 40
    assert [page for page in named if not (_ROOT / hooks.find_origin(page)).is_file()] == []
    assert set(hooks.OUTSIDE) <= set(named)


def test_a_page_that_the_menu_does_not_name_is_found():
    nav = yaml.safe_load((_ROOT / "mkdocs.yml").read_text())["nav"]
    before = hooks.find_unsorted(nav)
    del nav[1]["How it works"][0]
    assert sorted([*before, "pipeline.md"]) == hooks.find_unsorted(nav)
