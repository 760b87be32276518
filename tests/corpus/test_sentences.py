from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.refusals import refuses

from fathom.config.benchmark import Sentences
from fathom.corpus import sentences as module
from fathom.corpus.sentences import load_splitter, split_document, split_documents
from fathom.io.contracts.corpus import SENTENCE_COUNTS, SENTENCES
from fathom.io.files import hash_text
from fathom.io.tables import read_table, write_table


@pytest.fixture(scope="module")
def rules() -> module.Splitter:
    return load_splitter("rules")


def _document(text: str = "", title: str = "", abstract: str = "", doc_id: str = "d1") -> dict[str, str]:
    return {
        "doc_id": doc_id, "title": title, "abstract": abstract, "text": text, "text_hash": hash_text(text),
    }  # fmt: skip


def _split(text: str, rules: module.Splitter) -> list[str]:
    return list(split_document(_document(text), rules))


def test_title_and_abstract_come_first_as_in_the_papers(rules):
    document = _document("Full text.", "A Title", "We show it. It works.")
    assert list(split_document(document, rules)) == ["A Title : We show it.", "It works.", "Full text."]


def test_titles_are_no_context_unless_they_are_asked_for(rules):
    documents = [_document("Full text.", "A Title", "We show it. It works.")]
    plain, _ = split_documents(documents, Sentences(), rules)
    titled, _ = split_documents(documents, Sentences(titles=True), rules)
    assert plain["clean"].to_list() == ["We show it.", "It works.", "Full text."]
    assert titled["clean"].to_list() == ["A Title : We show it.", "It works.", "Full text."]


@pytest.mark.parametrize(("title", "abstract"), [("Only this.", ""), ("", "Only this.")])
def test_empty_parts_leave_no_trace(title, abstract, rules):
    assert list(split_document(_document("", title, abstract), rules)) == ["Only this."]
    assert list(split_document(_document(), rules)) == []


@pytest.mark.parametrize("sentence", [
    "As shown by Smith et al. this works, i.e. it is good.",
    "See Fig. 3 and Eq. 4 vs. Sec. 2 in Refs. 5, cf. Thm. 6, e.g. there.",
    r"In Fig.~\ref{a} and Eq. (3) we see et al.~\cite{b} again.",
    "This corrects Phys. Rev. E v.67 and Proc. Natl. Acad. Sci. 99 of Rev. Mod. Phys. 74 by them.",
    "It takes approx. 3.5 seconds w.r.t. the others.",
])  # fmt: skip
def test_abbreviations_end_no_sentence(sentence, rules):
    assert _split(f"{sentence} Next one.", rules) == [sentence, "Next one."]


def test_an_abstract_that_the_text_begins_with_is_read_once(rules):
    document = _document("We show it.  It\n works.\n\nThe rest.", "A Title", "We show it. It works.")
    assert list(split_document(document, rules)) == ["A Title", "We show it.", "It works.", "The rest."]


def test_what_is_left_out_is_counted_with_examples(rules):
    text = "It’s a word.\n\nмир is no word.\n\nRun git --clean now."
    examples: dict[str, list[str]] = {}
    table, counts = split_documents([_document(text)], Sentences(), rules, "plain", examples)
    assert table["clean"].to_list() == ["It's a word.", "Run git --clean now."]
    assert counts["dropped_script"].to_list() == [1]
    assert examples == {"dropped_script": ["мир is no word."]}


def test_blank_lines_end_sentences_and_single_line_ends_do_not(rules):
    text = "Introduction\n\nDeep nets\nlearn. They\r\n \t\r\nMethods\n\n\nWe do"
    assert _split(text, rules) == ["Introduction", "Deep nets learn.", "They", "Methods", "We do"]


def test_twenty_megabytes_on_one_line(monkeypatch):
    sizes = []

    class Recorder:
        def pipe(self, chunks, batch_size, as_tuples):
            for chunk, _ in chunks:
                sizes.append(len(chunk))
                yield from ()

    text = "word word word. " * 1_250_000
    assert list(split_document(_document(text), module.Splitter(Recorder, ""))) == []
    assert max(sizes) <= module.LONGEST_CHUNK
    assert sum(sizes) + len(sizes) == len(text)


def test_long_paragraph_is_cut_at_sentence_ends(rules):
    words = "this sentence has some seven words here."
    found = _split(" ".join([words] * 2_000), rules)
    assert found == [words] * 2_000


def test_words_that_are_data_end_the_sentence_and_are_counted(rules):
    counts: Counter[str] = Counter()
    text = "Before it " + "x(" * 2_000_000 + " after it."
    assert list(split_document(_document(text), rules, counts)) == ["Before it", "after it."]
    assert counts == {"dropped_long_words": 1}


@settings(max_examples=60)
@given(text=st.text(st.characters(codec="utf-8") | st.sampled_from(" \n.!?"), max_size=300))
def test_splitting_loses_no_character_but_white_space(rules, text):
    assert "".join("".join(split_document(_document(text), rules)).split()) == "".join(text.split())


def test_table_counts_and_numbers_distinct_sentences(tmp_path):
    documents = [
        _document("Same one. Naïve one. Other one. " + "long " * 20 + ".", doc_id="b"),
        _document(r"Same one. \cite{a} .", doc_id="a"),
        _document("Same one. So \\sqrt", doc_id="c"),
    ]
    table, sentence_counts = split_documents(documents, Sentences(max_characters=50, characters="ascii"))
    assert table.select("doc_id", "position", "sentence", "row").rows() == [
        ("a", 0, "Same one.", 0), ("a", 1, r"\cite{a} .", 1), ("b", 0, "Same one.", 0),
        ("b", 2, "Other one.", 2), ("c", 0, "Same one.", 0), ("c", 1, "So \\sqrt", 3),
    ]  # fmt: skip
    counts = ("doc_id", "sentences", "kept", "dropped_too_long", "dropped_characters", "latex_failed")
    assert sentence_counts.select(counts).rows() == [
        ("a", 2, 2, 0, 0, 0), ("b", 4, 2, 1, 1, 0), ("c", 2, 2, 0, 0, 1),
    ]  # fmt: skip
    assert sentence_counts["content"].n_unique() == 3
    write_table(tmp_path / "t.parquet", table, SENTENCES)
    assert read_table(tmp_path / "t.parquet", SENTENCES).equals(table)
    write_table(tmp_path / "s.parquet", sentence_counts, SENTENCE_COUNTS)
    again = split_documents(reversed(documents), Sentences(max_characters=50, characters="ascii"))
    assert again[0].equals(table) and again[1].equals(sentence_counts)


def test_what_is_in_memory_at_once_changes_nothing(monkeypatch):
    documents = [_document(f"Same one. Own {n % 3} one. \\sqrt {n}", doc_id=str(n)) for n in range(7)]
    whole = split_documents(documents, Sentences())
    monkeypatch.setattr(module, "_AT_ONCE", 4)
    pieces = split_documents(documents, Sentences())
    assert pieces[0].equals(whole[0]) and pieces[1].equals(whole[1])
    assert whole[0]["row"].n_unique() < len(whole[0]) > 8


def test_a_splitter_that_is_missing_or_finds_no_sentences_is_refused(tmp_path):
    import spacy

    spacy.blank("en").to_disk(tmp_path / "blank")
    for name, problem in (("nothing", "cannot load"), ("blank", "no sentences")):
        with refuses(problem, f"sentences.splitter = {tmp_path / name}"):
            load_splitter(str(tmp_path / name))


def test_only_what_splitting_needs_runs(tmp_path):
    import spacy

    pipeline = spacy.blank("en")
    for component in ("entity_ruler", "sentencizer"):
        pipeline.add_pipe(component)
    pipeline.to_disk(tmp_path / "pipe")
    splitter = load_splitter(str(tmp_path / "pipe"))
    assert splitter.pipeline.pipe_names == ["sentencizer"]
    assert "sentencizer" in splitter.name


def test_statistical_splitter(shared):
    splitter = load_splitter(str(shared / "spacy" / "en_ewt_senter_sm"))
    assert splitter.pipeline.pipe_names == ["senter"]
    assert _split("We train a model. It works well.\n\nMethods\n\nWe do more.", splitter) == [
        "We train a model.", "It works well.", "Methods", "We do more.",
    ]  # fmt: skip


def test_without_documents_tables_are_empty_and_no_pipeline_is_loaded(tmp_path):
    def load() -> None:
        raise AssertionError("loaded in vain")

    for table, contract in zip(
        split_documents([], Sentences(), module.Splitter(load, "rules")),
        (SENTENCES, SENTENCE_COUNTS),
        strict=True,
    ):
        write_table(tmp_path / "t.parquet", table, contract)
        assert table.is_empty()
