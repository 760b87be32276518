"""What MkDocs lacks, and `mkdocs.yml` names under `hooks`.

Pages outside of docs/, links as GitHub has them, pages of the library, a look for what a page would fetch.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
OUTSIDE = (
    "config/README.md",
    "results/README.md",
    "workflow/profiles/slurm/README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
)
"""Pages that lie elsewhere in the repository; on the site they have the same path."""
ROOMS = sorted(path.parent.name for path in (ROOT / "src" / "fathom").glob("*/__init__.py"))
_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?(?=\))")
_FENCE = re.compile(r"^(```.*?^```[ ]*$)", re.DOTALL | re.MULTILINE)
_REMOTE = (
    re.compile(
        r"<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc=[\"']?((?:https?:)?//[^\"'\s>]+)"
    ),
    re.compile(
        r"<link\b(?![^>]*rel=[\"']?(?:canonical|next|prev))[^>]*?\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"
    ),
    re.compile(r"url\([\"']?((?:https?:)?//[^)\"']+)"),
    re.compile(r"@import\s+[\"']((?:https?:)?//[^\"']+)"),
)


def find_place(path: str) -> str:
    """Return where a file of the repository lies on the site: `docs/` is its root."""
    return path.removeprefix(f"{DOCS}/")


def find_origin(place: str) -> str:
    """Return the path in the repository of a page of the site."""
    return place if place in OUTSIDE else f"{DOCS}/{place}"


def rewrite_links(text: str, place: str) -> str:
    """Return a page whose links, written for the repository, lead to the same files on the site.

    Parameters
    ----------
    text : str
        Markdown.
    place : str
        Path of the page on the site.
    """
    here = posixpath.dirname(find_origin(place))

    def rewrite(match: re.Match[str]) -> str:
        target = find_place(posixpath.normpath(posixpath.join(here, match[2])))
        return f"{match[1]}{posixpath.relpath(target, posixpath.dirname(place) or '.')}{match[3] or ''}"

    pieces = _FENCE.split(text)
    return "".join(piece if piece.startswith("```") else _LINK.sub(rewrite, piece) for piece in pieces)


def find_linked_files(text: str, path: str) -> set[str]:
    """Return the files outside of docs/ that a page of the repository links to, by their paths there."""
    here = posixpath.dirname(path)
    found = {posixpath.normpath(posixpath.join(here, match[2])) for match in _LINK.finditer(text)}
    return {each for each in found if not each.startswith(f"{DOCS}/") and (ROOT / each).is_file()}


def find_remote_sources(text: str) -> set[str]:
    """Return what a browser would fetch from elsewhere to show an HTML page or a style sheet."""
    return {address for pattern in _REMOTE for address in pattern.findall(text)}


def list_named(nav: list[dict[str, Any]]) -> list[str]:
    """Return the pages that a menu of two levels names."""
    pages = [page for section in nav for pages in section.values() for page in pages]
    return [page if isinstance(page, str) else next(iter(page.values())) for page in pages]


def find_unsorted(nav: list[dict[str, Any]]) -> list[str]:
    """Return the pages of docs/ that a menu does not name."""
    pages = {path.relative_to(ROOT / DOCS).as_posix() for path in (ROOT / DOCS).rglob("*.md")}
    return sorted(pages - set(list_named(nav)))


def on_config(config: Any) -> None:
    """Name anchors as GitHub does; the menu gets the library, and pages that no one has sorted in."""
    from pymdownx.slugs import slugify

    config.mdx_configs.setdefault("toc", {})["slugify"] = slugify(case="lower")
    (reference,) = (entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference.extend(find_unsorted(config.nav))
    reference.append({"Library by room": [{room: f"library/{room}.md"} for room in ROOMS]})


def on_files(files: Any, config: Any) -> Any:
    """Add pages and files outside of docs/, and a page for each room of the library."""
    from mkdocs.structure.files import File

    texts = {find_origin(file.src_uri): file.content_string for file in files.documentation_pages()}
    texts |= {path: (ROOT / path).read_text(encoding="utf-8") for path in OUTSIDE}
    linked = {each for path, text in texts.items() for each in find_linked_files(text, path)}
    for path in sorted(linked | set(OUTSIDE)):
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for room in ROOMS:
        title = f"# fathom.{room}\n\n::: fathom.{room}\n    options: {{show_root_heading: false}}\n"
        files.append(File.generated(config, f"library/{room}.md", content=title))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Rewrite links, and replace the mark of the library's page by what `import fathom` gives."""
    place = page.file.src_uri
    text = markdown if place.startswith("library/") else rewrite_links(markdown, place)
    return re.sub(r"^<!-- docstring of (fathom\.[\w.]+) -->$", r"::: \1", text, flags=re.MULTILINE)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Leave out the roles of reStructuredText in docstrings."""
    return re.sub(r":(?:func|class|meth|data|mod|attr):(?=<code>)", "", html)


def on_post_build(config: Any) -> None:
    """Stop if a page would ask the network for anything."""
    from mkdocs.exceptions import PluginError

    site = Path(config.site_dir)
    files = [path for path in sorted(site.rglob("*")) if path.suffix in {".html", ".css"}]
    found = {
        f"{path.relative_to(site)}: {address}"
        for path in files
        for address in find_remote_sources(path.read_text(encoding="utf-8"))
    }
    if found:
        raise PluginError("fetched from elsewhere: " + ", ".join(sorted(found)))
