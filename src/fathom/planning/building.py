"""From what a source holds to a configuration that one can read and edit: what `fathom build` decides."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathom.config.whole import read_config
from fathom.config.yaml_files import parse_yaml
from fathom.corpus.own_texts import HUB
from fathom.errors import InputError
from fathom.io.files import read_plain_text, write_text
from fathom.planning.looking import Found

_FEWEST = 200
"""Documents of a domain of its own; of a folder, sections."""
_MOST_DOMAINS = 3
_MOST_OUTSIDE = 0.1
"""Share of documents in no sub-folder above which these are parts of one whole, such as `api` and `news`."""
_SMALL = 5000
_NAMED = 12  # groups that are left out and named
_WHOLE = "all"
KEYWORDS, PER_KEYWORD = 60, 10
PERPLEXITY_CHARACTERS = 50_000


def choose_domains(found: Found) -> tuple[dict[str, list[str]], str]:
    """Return the patterns of categories by domain, and the reason for the choice."""
    kind = "sections" if found.unit == "files" else "rows"
    large = [name for name, count in found.groups.most_common() if count >= _FEWEST]
    outside = found.documents - sum(found.groups.values())
    if len(large) < 2:
        return {_WHOLE: ["*"]}, f"fewer than two sub-folders or categories have {_FEWEST} {kind}"
    if outside > _MOST_OUTSIDE * found.documents:
        why = f"one domain: {outside:,} of {found.documents:,} {kind} are in no large sub-folder or category"
        return {_WHOLE: ["*"]}, why
    domains: dict[str, list[str]] = {}
    for name in large[:_MOST_DOMAINS]:
        slug = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-_") or f"domain-{len(domains) + 1}"
        domains[slug if slug not in domains else f"{slug}-{len(domains) + 1}"] = [f"{found.above}{name}.*"]
    left = [
        f"{name} ({count:,})"
        for name, count in found.groups.most_common()
        if name not in large[:_MOST_DOMAINS]
    ]
    more = f" and {len(left) - _NAMED:,} more" if len(left) > _NAMED else ""
    without = f": {', '.join(left[:_NAMED])}{more}" if left else ""
    return domains, (
        f"the largest sub-folders or categories with at least {_FEWEST} {kind}, at most"
        f" {_MOST_DOMAINS}; what is in none of them is left out and counted{without}"
    )


def write_configuration(
    path: Path, run: str, found: Found, models: Sequence[str], registry: Path | None = None
) -> bool:
    """Write the configuration of a run; return whether it was there already, saying the same.

    Raises
    ------
    InputError
        If another one is there, such as one that was edited; or a value is wrong, or it cannot be written.
    """
    text = make_configuration(run, found, models, registry)
    values = parse_yaml(text, str(path))
    read_config(values, str(path))  # what is wrong is said before anything is written
    if path.exists():
        if parse_yaml(read_plain_text(path), str(path)) == values:
            return True
        raise InputError(
            "there is another configuration, or it was edited; it is kept",
            str(path),
            f"run it: fathom run -c2 --configfile {path}; or take another name: --run NAME",
        )
    write_text(path, text)
    return False


def make_configuration(run: str, found: Found, models: Sequence[str], registry: Path | None = None) -> str:
    """Return the text of a configuration, with the reasons for its values.

    Parameters
    ----------
    run : str
    found : Found
    models : sequence of str
    registry : Path, optional
        A table of models of the run's own.
    """

    def write(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)  # which is YAML in one line, too

    domains, why = choose_domains(found)
    # several domains are the largest groups
    fewest = found.groups.most_common(len(domains))[-1][1] if len(domains) > 1 else found.documents
    small = fewest < _SMALL
    thresholds = {"min_count": 2, "threshold": 5} if small else {"min_count": 5, "threshold": 10}
    lines = [
        "# Written by `fathom build`. Edit it and start it again: fathom run -c2 --configfile THIS_FILE",
        "# Every key: config/README.md. Found:",
        *(f"# - {line}" for line in found.describe()),
        f"run: {run}",
        "",
        "corpus:",
        *(f"  {key}: {write(value)}" for key, value in found.corpus.items()),
        "  # nothing is trained here: a tenth is held out for perplexity, the rest is for the benchmark",
        "  splits: {benchmark: 0.9, adapt-train: 0.0, adapt-valid: 0.0, adapt-test: 0.1}",
        "",
        f"# {why}",
        "domains:",
        *(
            f"  {name}: {{categories: {write(patterns)}, title: {write(run if name == _WHOLE else name)}}}"
            for name, patterns in domains.items()
        ),
        "",
        f"# {'lower than the papers have, 5 and 10: a domain is small' if small else 'as in the papers'}",
        f"keywords: {write({'count': KEYWORDS, **thresholds})}",
        "",
        f"# at most {KEYWORDS} keywords times {PER_KEYWORD} pairs in each domain: minutes on two"
        " cores; the papers take 300 times 50",
        f"pairs: {write({'tokenizer': models[0], 'per_keyword': PER_KEYWORD})}",
        "",
        *(
            ["# these models were found by their usual names; the table has what is known of them"]
            * bool(registry)
        ),
        f"models: {write({**({'registry': str(registry)} if registry else {}), 'score': list(models)})}",
        "",
        "# a look at held-out text; the default, 1,000,000, takes longest of all on a processor",
        f"perplexity: {write({'max_characters': PERPLEXITY_CHARACTERS})}",
    ]
    return "\n".join(lines) + "\n"


def name_run(source: str) -> str:
    """Return a name for the run of a source: its own, with what a folder may be called."""
    path = Path(source) if Path(source).name not in ("", "..") else Path(source).resolve()
    last = path.name if path.exists() else source.removeprefix(HUB).partition("@")[0].rpartition("/")[2]
    stem = last.partition(".")[0] if path.is_file() else last
    return re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_") or "own"
