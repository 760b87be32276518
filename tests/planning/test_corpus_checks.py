"""What a corpus names and is not there is refused before the first job, with near names."""

import subprocess
import sys

import pytest
from tests.refusals import refuses

from fathom.config.whole import read_config
from fathom.planning.run_inputs import check_corpus


def check(categories, in_environments=False, **corpus):
    domains = {"own": {"categories": categories}}
    values = {"domains": domains, "corpus": corpus, "pairs": {"tokenizer": "tiny"},
              "models": {"train": {"tiny": {"domain": "own"}}}}  # fmt: skip
    check_corpus(read_config(values, "test"), in_environments)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sklern", "sklearn"),
        ("scikit-learn", "sklearn"),
        ("numpy.lineal", "install it"),
        ("zzzz", "install it"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_near_names(name, hint):
    with refuses(f"package {name} is not installed", "corpus.packages", hint):
        check(["*"], packages=["numpy", name])
    check(["*"], packages=["numpy", name], in_environments=True)  # jobs may have it


def test_a_corpus_of_no_package_is_refused():
    with refuses("corpus.packages", "no package"):
        check(["*"], packages=[])


def test_packages_are_looked_up_without_importing_them():
    code = "import sys; from fathom.planning.run_inputs import check_packages\n"
    code += "check_packages(['sklearn', 'scipy', 'matplotlib', 'torch'])\n"
    code += "print([name for name in ('sklearn', 'scipy', 'matplotlib', 'torch') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("categories", [["sklearn.linear_model"], ["scipy.*"], ["*"], ["torch", "scipy"]])
def test_categories_of_packages_are_taken(categories):
    check(categories, packages=["sklearn", "scipy"])


def test_categories_of_another_package_are_refused():
    with refuses("domains.own.categories", "sklaern.linear_model", "sklearn"):
        check(["sklaern.linear_model"], packages=["sklearn", "scipy"])


def test_categories_that_are_no_sub_folder_are_refused(tmp_path):
    for name in ("law", "medicine/heart"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.txt").write_text("One.")
    for fine in (["law"], ["medicine.*"], ["*"], ["medicine.heart", "none"]):
        check(fine, source="folder", files=[str(tmp_path)])
    with refuses("domains.own.categories", "medicin.heart", "medicine.heart"):
        check(["medicin.heart"], source="folder", files=[str(tmp_path)])


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "id,words\n1,One\n"), ("a.jsonl", '{"id": 1, "words": "One"}\n')]
)
def test_a_column_that_no_table_has_is_refused(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    check(["*"], source="table", files=[str(path)], columns={"text": "words"})
    with refuses(name, "'wods'", "words"):
        check(["*"], source="table", files=[str(path)], columns={"text": "wods"})
    with refuses(name, "no column is called text", "id, words"):
        check(["*"], source="table", files=[str(path)])


def test_a_table_that_is_empty_is_left_to_its_job(tmp_path):
    (tmp_path / "a.jsonl").touch()
    check(["*"], source="table", files=[str(tmp_path / "a.jsonl")])
