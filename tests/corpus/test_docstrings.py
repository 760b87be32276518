import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.programs import find_program, find_python
from tests.refusals import refuses

from fathom.corpus.docstrings import read_docstrings
from fathom.corpus.prose import docstring_to_text

LONG = "This sentence is long enough to be kept as a document of the corpus, which needs eighty characters."

DOCSTRING = """fit(X, y=None)

Fit the :class:`~some.Model` to ``X``, see `y` and [1]_.
The *second* line is **bold** by :meth:`fit`.

.. versionadded:: 0.18

.. note::
   A note is prose and is kept.

.. math::

    \\int x dx

Parameters
----------
X : array-like of shape (n, m)
    The samples that are read.

    - First choice of several here.
    - Second choice of several here.
y : None
    Ignored.

Returns
-------
self
    The fitted model itself.

See Also
--------
other : Does something else here.

Notes
-----
The cost is as follows::

    for x in y:
        pass

:class:`Model` begins this paragraph here.

=====  =====
A col  B col
=====  =====
one    two of three
=====  =====

After the table comes text.

References
----------
.. [1] A. Author, A title of a paper, 1999.

Examples
--------
>>> a = 1
>>> print(a)
1

Between examples there is prose.

>>> <object at 0x7f00>
"""


def test_prose_of_a_docstring():
    assert docstring_to_text(DOCSTRING).split("\n\n") == [
        "Fit the Model to X, see y and. The second line is bold by fit.", "A note is prose and is kept.",
        "The samples that are read.", "First choice of several here.", "Second choice of several here.",
        "The fitted model itself.", "The cost is as follows:", "Model begins this paragraph here.",
        "After the table comes text.", "Between examples there is prose.",
    ]  # fmt: skip


def test_the_line_of_a_directive_is_text_if_it_is_an_admonition_without_a_title():
    docstring = """Fit all of them.

    .. warning:: It reads all
       of the samples.

       It then stops for good.

    .. Danger:: Call it so::

           fit(all of the samples)

    .. admonition:: A title of four words

       The text below it.

    .. math:: all of the formula
    .. versionadded:: 1.2 It was not there before.
    """
    assert docstring_to_text(docstring).split("\n\n") == [
        "Fit all of them.", "It reads all of the samples.", "It then stops for good.", "Call it so:",
        "The text below it.",
    ]  # fmt: skip


def test_what_looks_like_a_bullet_inside_a_line_stays():
    text = "The limit is used. If it is (or) not 1) then it stays: see below. Not a list."
    assert docstring_to_text(text) == text


@given(st.text(alphabet=">.:=-+|*`_ \n\tab(1)[]", max_size=200))
def test_any_text_gives_clean_paragraphs(docstring):
    text = docstring_to_text(docstring)
    for paragraph in text.split("\n\n") if text else []:
        assert paragraph == " ".join(paragraph.split())
        assert paragraph


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a function that writes the modules of a package named sample, by their paths."""

    def write(files: dict[str, str]) -> None:
        for name, content in files.items():
            path = tmp_path / "sample" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    monkeypatch.syspath_prepend(tmp_path)
    yield write
    for name in [name for name in sys.modules if name.partition(".")[0] == "sample"]:
        del sys.modules[name]


def read(dump, tmp_path: Path, **corpus) -> tuple[pl.DataFrame, dict]:
    domains = {"all": {"categories": ["sample.*"]}}
    report = read_docstrings("sample", dump.select(domains=domains, **corpus), tmp_path / "sample.parquet")
    return pl.read_parquet(tmp_path / "sample.parquet"), report


def test_objects_stand_once_under_their_shortest_name(dump, tmp_path, package, capfd):
    package({
        "__init__.py": f'"""Sample. {LONG}\n\nMore of it stands here.\n"""\n',
        "tree/__init__.py": "from sample.tree._code import grow\n__all__ = ['grow']\n",
        "tree/_code.py": f'def grow():\n    """Grow. {LONG}"""\n'
        f'def _hidden():\n    """Hidden. {LONG}"""\n',
        "tree/forest.py": f'from sample.tree._code import grow\nclass Oak:\n    """Oak. {LONG}"""\n'
        f'    def fell(self):\n        """Fell. {LONG}"""\n'
        f'    def _no(self):\n        """No. {LONG}"""\n'
        f'    def again(self):\n        """Grow. {LONG}"""\n'
        '    def short(self):\n        """Short."""\n',
        "tests/__init__.py": "raise SystemExit(1)\n",
        "broken.py": "import not_there_at_all\n",
        "noisy.py": f'"""Noise. {LONG}"""\nimport sys, warnings\nprint("noise")\n'
        'print("noise", file=sys.stderr)\nwarnings.warn("noise")\n',
    })  # fmt: skip
    frame, report = read(dump, tmp_path)
    assert frame.select("doc_id", "categories").rows() == [
        ("sample", ["sample"]),
        ("sample.noisy", ["sample.noisy"]),
        ("sample.tree.forest.Oak", ["sample.tree"]),
        ("sample.tree.forest.Oak.fell", ["sample.tree"]),
        ("sample.tree.grow", ["sample.tree"]),
    ]
    first = frame.row(0, named=True)
    assert first["abstract"] == f"Sample. {LONG}"
    assert first["text"] == f"Sample. {LONG}\n\nMore of it stands here."
    assert (first["title"], first["date"], first["domains"]) == ("sample", "", ["all"])
    assert report["import_errors"] == [
        "sample.broken: ModuleNotFoundError: No module named 'not_there_at_all'"
    ]
    assert (report["duplicates"], report["documents"]) == (1, 5)
    assert capfd.readouterr() == ("", "")


def test_a_missing_package(dump, tmp_path):
    with refuses("not_there", "install it"):
        read_docstrings("not_there", dump.select(), tmp_path / "x.parquet")


def test_the_hash_seed_changes_nothing(dump, tmp_path):
    settings = dump.select(domains={"all": {"categories": ["*"]}}).model_dump_json(by_alias=True)
    results = []
    for seed in ("1", "2"):
        output = tmp_path / f"{seed}.parquet"
        done = subprocess.run(
            [find_python(PYTHONHASHSEED=seed), find_program("read_docstrings"), "--part", "numpy",
             "--settings", settings, "--documents", output, "--report", tmp_path / f"{seed}.json"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("[read_docstrings] numpy: 1,")
        results.append(output.read_bytes())
    assert results[0] == results[1]
