import math
import re
from collections import Counter

import numpy as np
import polars as pl
import pytest
from tests.refusals import refuses

from fathom.benchmark import vocabulary
from fathom.benchmark.gathered_matches import divide_by_keyword
from fathom.benchmark.vocabulary import build_vocabulary, read_vocabulary, write_vocabulary
from fathom.config.benchmark import Vocabulary
from fathom.io.files import hash_text

STOPWORDS = frozenset({"the", "and", "with"})


class Hashes:
    """Unit vectors from the text's hash, mostly alike; the exact ones differ from them by a little."""

    def __init__(self, shift: float = 0.0) -> None:
        self.shift, self.asked, self.asked_exactly = shift, [], []

    def vectors(self, texts, shift: float) -> np.ndarray:
        angles = np.array([int(hash_text(one)[:8], 16) / 2**32 * 1.6 + shift * (" " in one) for one in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    def encode(self, sentences) -> np.ndarray:
        self.asked.extend(sentences)
        return self.vectors(sentences, 0.0).astype(np.float32)

    def encode_exactly(self, sentences) -> np.ndarray:
        self.asked_exactly.extend(sentences)
        return self.vectors(sentences, self.shift)


SENTENCES = {
    "deep learning": [
        "The network learns deep features with layers.",
        "Layers and layers of state-of-the-art features, the ReLU2 and 3x3 filters!",
        "In the network_a the features (Features) of it's ReLU2 data",
        "Features the layers",
    ],
    "graph theory": ["A graph with edges.", "Edges of the graph data have no layers; edges  edges\tedges"],
    "image search": ["Images and the images of The data.", "Search the images by data"],
    "text mining": ["Text is text and the text of data", "Mine texts of images with map with map"],
}


def matches(sentences=SENTENCES) -> pl.DataFrame:
    rows = [(keyword, clean) for keyword, texts in sentences.items() for clean in texts]
    return pl.DataFrame(rows, schema=["keyword", "clean"], orient="row")


def build(frame=None, variant: str = "tf", encoder: Hashes | None = None, **changes):
    settings = Vocabulary(**{"min_cosine": 0.0, **changes})
    groups = divide_by_keyword(matches() if frame is None else frame)
    return build_vocabulary(groups, variant, settings, STOPWORDS, encoder or Hashes())


def plain(variant: str, settings: Vocabulary) -> dict[tuple[str, str], tuple[int, float, float]]:
    """The same by hand: count, score and share of what passes everything but the cosine."""
    counts = {
        keyword: Counter(token for text in texts for token in re.findall(r"\s*\w+\b", text))
        for keyword, texts in SENTENCES.items()
    }
    # a sentence's first word has a line end before it in the document, but is no term either way
    for keyword, texts in SENTENCES.items():
        for text in sorted(texts)[1:]:
            first = re.match(r"\w+", text)[0]
            counts[keyword][first] -= 1
            counts[keyword]["\n" + first] += 1
        counts[keyword] += Counter()
    documents = Counter(token for found in counts.values() for token in found)
    kept = {}
    for keyword, found in counts.items():
        share = settings.max_share[variant]
        inside = {t: n for t, n in found.items() if documents[t] / len(counts) <= share}
        scores = dict(inside)
        if variant == "tfidf":
            scores = {
                t: n * (math.log((1 + len(counts)) / (1 + documents[t])) + 1) for t, n in inside.items()
            }
            norm = math.sqrt(sum(value**2 for value in scores.values()))
            scores = {t: value / norm for t, value in scores.items()}
        terms = {
            t: score
            for t, score in scores.items()
            if t == f" {t.strip()}" and t.strip().isalnum() and len(t.strip()) >= settings.min_characters
            and t.strip().lower() not in STOPWORDS
        }  # fmt: skip
        averaged = terms if settings.mean_of == "terms" else scores
        mean = sum(averaged.values()) / max(1, len(averaged))
        for token, score in terms.items():
            if score >= mean - 1e-12:
                kept[(keyword, token)] = (found[token], round(score, 6), documents[token] / len(counts))
    return kept


@pytest.mark.parametrize("variant", ["tf", "tfidf"])
@pytest.mark.parametrize("max_share", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("mean_of", ["words", "terms"])
def test_entries_equal_those_of_a_direct_computation(variant, max_share, mean_of):
    settings = Vocabulary(max_share={variant: max_share}, min_cosine=0.0, mean_of=mean_of)
    entries = build_vocabulary(divide_by_keyword(matches()), variant, settings, STOPWORDS, Hashes())
    expected = plain(variant, settings)
    assert {(e.keyword, e.term) for e in entries} == set(expected) and expected
    for entry in entries:
        count, score, share = expected[(entry.keyword, entry.term)]
        assert (entry.count, entry.share) == (count, share)
        assert entry.score == pytest.approx(score, abs=2e-6)


def test_stopwords_and_other_words_lower_the_mean_of_words_alone():
    words, terms = (
        {
            (entry.keyword, entry.term)
            for entry in build(variant="tfidf", max_share={"tfidf": 1.0}, mean_of=each)
        }
        for each in ("words", "terms")
    )
    assert words - terms == {("graph theory", " have"), ("image search", " data")} and terms < words


def test_the_cosine_decides_and_each_text_is_embedded_once():
    encoder = Hashes()
    everything = build()
    entries = build(encoder=encoder, min_cosine=0.99)
    assert 0 < len(entries) < len(everything)
    assert [e for e in everything if e.cosine >= 0.9905] == [e for e in entries if e.cosine >= 0.9905]
    assert all(entry.cosine >= 0.99 and entry.cosine == round(entry.cosine, 3) for entry in entries)
    assert len(encoder.asked) == len(set(encoder.asked))
    assert all(text == text.strip() for text in encoder.asked)


def test_a_cosine_near_the_threshold_is_decided_by_the_exact_one():
    exact = Hashes()
    entries = build(encoder=exact)
    angles = Hashes().vectors(["layers", "deep learning"], 0.0)
    threshold = float(angles[0] @ angles[1])
    assert any(e.term == " layers" and e.keyword == "deep learning" for e in entries)
    kept = [
        any(e.term == " layers" and e.keyword == "deep learning" for e in found)
        for shift in (-1e-6, 1e-6)
        for found in [build(encoder=Hashes(shift), min_cosine=threshold)]
    ]
    assert sorted(kept) == [False, True]


def test_shares_have_six_decimals_and_keywords_without_terms_are_counted(caplog):
    sentences = {"a b": ["one tree two tree"], "c d": ["one tree, two, tree"], "e f": ["nothing"]}
    with caplog.at_level("INFO", "fathom"):
        entries = build(matches(sentences))
    assert [(e.keyword, e.term, e.share) for e in entries] == [
        ("a b", " tree", 0.666667), ("c d", " tree", 0.666667),
    ]  # fmt: skip
    assert "2 terms for 2 of 3 keywords; 1 keyword without one" in caplog.text


def test_the_order_of_rows_changes_no_byte(tmp_path):
    texts = set()
    for seed in range(3):
        frame = matches().sample(fraction=1.0, shuffle=True, seed=seed)
        entries = build(frame, variant="tfidf", min_cosine=0.2)
        write_vocabulary(tmp_path / "v.tsv", entries)
        texts.add((tmp_path / "v.tsv").read_bytes())
    assert len(texts) == 1


def test_leading_spaces_survive_writing_and_reading(tmp_path):
    entries = build()
    write_vocabulary(tmp_path / "v.tsv", entries)
    lines = (tmp_path / "v.tsv").read_text().splitlines()
    assert lines[0] == "keyword\tterm\tcount\tscore\tshare\tcosine" and lines[1].startswith(
        "deep learning\t "
    )
    keys = [(line.split("\t")[0], -float(line.split("\t")[3]), line.split("\t")[1]) for line in lines[1:]]
    assert keys == sorted(keys)
    words = read_vocabulary(tmp_path / "v.tsv")
    assert {(k, f" {word}") for k, found in words.items() for word in found} == {
        (entry.keyword, entry.term) for entry in entries
    }


@pytest.mark.parametrize("term", ["graph", "  graph", " graph-based", " ", " graph theory"])
def test_a_term_that_is_not_a_word_is_refused_with_its_line(tmp_path, term):
    (tmp_path / "v.tsv").write_text(f"keyword\tterm\nk\t graph\nk\t{term}\n")
    with refuses("line 3"):
        read_vocabulary(tmp_path / "v.tsv")


def test_a_file_without_terms_is_refused(tmp_path):
    (tmp_path / "v.tsv").write_text("keyword\tword\nk\tgraph\n")
    with refuses("term"):
        read_vocabulary(tmp_path / "v.tsv")


def test_sentences_of_a_keyword_can_be_read_in_pieces(monkeypatch):
    settings = Vocabulary(min_cosine=0.0, max_share={"tfidf": 1.0})
    whole = build_vocabulary(divide_by_keyword(matches()), "tfidf", settings, STOPWORDS, Hashes())
    assert len(whole) > 8
    monkeypatch.setattr(vocabulary, "_SENTENCES", 1)
    assert build_vocabulary(divide_by_keyword(matches()), "tfidf", settings, STOPWORDS, Hashes()) == whole


def test_one_keyword_has_no_vocabulary_and_a_hint_says_why():
    frame = matches({"graph theory": SENTENCES["graph theory"]})
    with refuses("1 keyword ", "80%"):
        build(frame)


@pytest.mark.parametrize(("sentences", "message"), [
    ({}, "no sentence matches any keyword"),
    ({"a b": ["..."], "c d": ["---"]}, "sentences contain no words"),
])  # fmt: skip
def test_no_sentences_or_no_words_is_an_error(sentences, message):
    frame = pl.DataFrame(matches(sentences), schema={"keyword": pl.String, "clean": pl.String})
    with refuses(message):
        build(frame)
