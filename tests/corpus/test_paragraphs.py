"""What a text begins with."""

from fathom.corpus.records import read_beginning


def test_a_text_begins_with_the_paragraphs_that_fit():
    assert read_beginning("\n\n a\n b\n \n c\n\n") == "a b c"
    assert read_beginning(f"{'a' * 1000}\n\n{'b' * 999}\n\nc") == f"{'a' * 1000} {'b' * 999}"
    assert read_beginning(f"{'a' * 1000}\n\n{'b' * 1000}\n\nc") == "a" * 1000
    assert read_beginning("") == read_beginning("\n \n\n") == ""


def test_a_long_first_paragraph_is_cut_between_words():
    long = read_beginning("word " * 1000 + "\n\nnext")
    assert len(long) <= 2000
    assert long.endswith("word")
    assert len(read_beginning("x" * 5000)) == 2000
