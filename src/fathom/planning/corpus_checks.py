"""What can be wrong with a corpus and is known before any job: packages, categories, columns."""

import difflib
from collections.abc import Collection
from importlib.metadata import packages_distributions
from importlib.util import find_spec

from fathom.config.whole import Config
from fathom.errors import InputError

_SHOWN = 8
_NO_DOCUMENTS = "no document is in these categories: {}"


def check_corpus(config: Config, in_environments: bool = False) -> None:
    """Check what a run's corpus names, as far as that takes no reading of texts.

    Parameters
    ----------
    in_environments : bool, default=False
        Whether jobs have packages of their own, which this process does not see.

    Raises
    ------
    InputError
        If a package is not installed, a domain has categories that cannot occur, or a table has no column of
        a name.
    """
    if not config.domains:
        return
    if config.corpus.source == "docstrings":
        if not config.corpus.packages:
            raise InputError("no package is named", "corpus.packages", "list packages that are installed")
        if not in_environments:
            check_packages(config.corpus.packages)
        _require_categories(config, config.corpus.packages, of_package=True)
    elif config.corpus.source == "folder":
        from fathom.corpus.folder_files import list_documents

        files, _ = list_documents(config.corpus.files)
        _require_categories(config, {each for file in files for each in file.categories})
    elif config.corpus.source == "table":
        _check_columns(config)


def check_packages(packages: Collection[str]) -> None:
    """Raise `InputError` if a package is not installed; nothing but packages around it is imported."""
    for name in packages:
        if not _is_installed(name):
            installed = packages_distributions()
            own = sorted(key for key, names in installed.items() if name in names)
            hint = f"it is imported as {', '.join(own)}" if own else _suggest_package(name, installed)
            raise InputError(f"package {name} is not installed", "corpus.packages", hint)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what is above it
        return False


def _suggest_package(name: str, installed: Collection[str]) -> str:
    near = difflib.get_close_matches(name, installed, n=3)
    return f"did you mean {' or '.join(near)}?" if near else "install it, or remove it from the list"


def _require_categories(config: Config, there: Collection[str], of_package: bool = False) -> None:
    """Raise `InputError` for a domain none of whose categories can occur.

    With `of_package`, what is there is packages, whose modules are categories.
    """
    from fathom.corpus.selection import matches_category

    for name, domain in config.domains.items():
        wanted = domain.categories
        if of_package:
            tops = {each.partition(".")[0] for each in there}
            fits = any(each == "*" or each.partition(".")[0] in tops for each in wanted)
        else:
            fits = any(matches_category(pattern, each) for pattern in wanted for each in ("", *there))
        if not fits:
            what = _NO_DOCUMENTS.format(", ".join(wanted))
            raise InputError(what, f"domains.{name}.categories", _hint(wanted, there, of_package))


def _hint(wanted: Collection[str], there: Collection[str], of_package: bool) -> str:
    kind = "packages, whose modules are categories" if of_package else "categories, which are sub-folders"
    known = sorted(there)
    near = [match for each in wanted for match in difflib.get_close_matches(each.removesuffix(".*"), known)]
    if near:
        return f"did you mean {' or '.join(dict.fromkeys(near))}?"
    more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
    return f"there are these {kind}: {', '.join(known[:_SHOWN]) or 'none'}{more}"


def _check_columns(config: Config) -> None:
    """Raise `InputError` if a table has no column of a name; an empty one is left to its job."""
    from fathom.config.corpus import Selection
    from fathom.corpus.corpus_files import find_tables
    from fathom.corpus.table_rows import find_columns, read_rows_of_table

    selection = Selection(corpus=config.corpus, domains=config.domains)
    for path in find_tables(config.corpus.files).values():
        rows, _ = read_rows_of_table(path, selection)
        first = next(rows, None)
        if first is not None:
            find_columns(first, config.corpus.columns, path.name)
