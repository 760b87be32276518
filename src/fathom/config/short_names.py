"""What models and benchmarks are called where people read; tables have the full names of models."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from fathom.config.model_names import ModelName

_FORMAT = re.compile(
    r"[-.](?:i?q\d\w*|b?f(?:p|loat)?\d+|gguf|gptq|awq|mxfp\d|int\d|\d+bit|hf)$", re.IGNORECASE
)
_CONTROLS = {"terms-exchanged": " with its terms exchanged", "terms-only": ", its terms alone"}


Titles = Mapping[str, str]
"""Titles of domains; others are called as they are written."""

References = Iterable[tuple[str, str]] | Mapping[str, str]
"""Variants and names of references, as configured."""

VARIANT_LABELS = {"tf": "TF", "tfidf": "TF-IDF", "reference": "reference", "text": "held-out text"}
"""What benchmarks and texts are called; a reference by its own name, if it has one."""


def label_variant(variant: str, references: References = ()) -> str:
    """Return what a benchmark is called: a reference has its configured name."""
    return clean_name(dict(references).get(variant) or VARIANT_LABELS.get(variant, variant))


def clean_name(name: str) -> str:
    """Return a name on one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in name).split())


def name_set(name: str) -> str:
    """Return what a set of questions is called."""
    return f"questions about {clean_name(name)}"


def shorten_names(names: Iterable[str], titles: Titles | None = None) -> dict[str, str]:
    """Return distinct names of models for people to read: as they were published.

    Drops a base's organisation and number format unless two bases would get the same name. Says in words what
    a model was adapted to, domains by their titles.

    Examples
    --------
    >>> list(shorten_names(["a/SmolLM2-135M-Instruct-Q4_1"]).values())
    ['SmolLM2-135M-Instruct']
    >>> list(shorten_names(["a/toy-gpt2+law+art@seed2"]).values())
    ['toy-gpt2 adapted to law, then art (seed 2)']
    >>> list(shorten_names(["gpt2+cs.AI"], {"cs.AI": "CS.AI"}).values())
    ['gpt2 adapted to CS.AI']
    """
    parsed = {name: ModelName.parse(name) for name in names}
    bases = _shorten_bases({each.base for each in parsed.values()})
    short = {name: _describe(each, bases[each.base], titles or {}) for name, each in parsed.items()}
    again = Counter(short.values())
    return {name: text if again[text] == 1 else name for name, text in short.items()}


def shorten_adapted(names: Iterable[str], base: str, titles: Titles | None = None) -> dict[str, str]:
    """Return short names below a heading that has the base: it is `base`, what comes from it `to DOMAIN`.

    Examples
    --------
    >>> list(shorten_adapted(["a/gpt2", "a/gpt2+law+art", "llama"], "a/gpt2").values())
    ['base', 'to law, then art', 'llama']
    """
    short = shorten_names([base, *names], titles)
    found = {name: text.removeprefix(f"{short[base]} adapted ") for name, text in short.items()}
    return found | {base: "base"}


def _shorten_bases(bases: Iterable[str]) -> dict[str, str]:
    forms = {base: _list_forms(base) for base in bases}
    taken = Counter(form for each in forms.values() for form in set(each))
    return {base: next((form for form in each if taken[form] == 1), base) for base, each in forms.items()}


def _list_forms(base: str) -> list[str]:
    plain = own = base.rpartition("/")[2]
    while found := _FORMAT.search(plain):
        plain = plain[: found.start()]
    return [plain or own, own]


def _describe(name: ModelName, base: str, titles: Titles) -> str:
    text = base
    if name.path:
        path = ", then ".join(titles.get(domain, domain) for domain in name.path)
        text += f" adapted to {path}{_CONTROLS.get(name.text, '')}"
    numbers = {"stage": name.stage, "seed": name.seed, "step": name.step}
    marks = [f"{key} {number}" for key, number in numbers.items() if number is not None]
    marks += ["chat template"] if name.chat else []
    return f"{text} ({', '.join(marks)})" if marks else text
