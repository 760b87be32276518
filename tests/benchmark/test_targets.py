import re

from hypothesis import given
from hypothesis import strategies as st

from fathom.benchmark.pairs import count_tokens_until, find_targets, find_terms
from fathom.config.benchmark import Pairs


def settings(**values) -> Pairs:
    return Pairs(tokenizer="any", **({"earlier_terms": "any"} | values))


def split_at_blanks(sentence: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\S+", sentence)]


def words_of(sentence: str, *words: str) -> list[str]:
    return [match.split(sentence)[1] for match in find_terms(sentence, frozenset(words))]


def numbered(*terms: tuple[int, str], length: int = 20) -> str:
    words = [f"w{number}" for number in range(length)]
    for place, term in terms:
        words[place] = term
    return " ".join(words)


def targets_of(sentence: str, *words: str, **values) -> list[str]:
    terms = find_terms(sentence, frozenset(words))
    found = find_targets(terms, split_at_blanks(sentence), settings(**values))
    return [match.split(sentence)[1] for match in found]


def test_whole_words_only():
    assert words_of("the state-of-the-art state is", "state") == [" state"]
    assert words_of("the state-of-the-art way", "state", "art", "of") == []
    assert words_of("a model's model’s models modelling model_2 re-model (model) model.", "model") == [
        " model"
    ]
    assert words_of("State of the State, and state", "State") == [" State"]
    assert words_of("in (deep) nets, deep; deep", "deep") == [" deep", " deep"]


def test_the_first_word_and_a_word_after_two_spaces_are_not_terms():
    assert words_of("deep and  deep\tdeep deep", "deep") == [" deep"]
    assert words_of("deep nets  deep", "deep") == []
    assert words_of(" deep", "deep") == []


def test_a_target_starts_at_token_ten_counted_from_zero():
    assert targets_of(numbered((9, "graph")), "graph") == []
    sentence = numbered((10, "graph"))
    assert targets_of(sentence, "graph") == [" graph"]
    (match,) = find_terms(sentence, frozenset({"graph"}))
    assert len(match.split(sentence)[0].split()) == 10


def test_a_term_from_token_six_on_rules_out_what_follows():
    assert targets_of(numbered((5, "node"), (12, "graph")), "node", "graph") == [" graph"]
    assert targets_of(numbered((6, "node"), (12, "graph")), "node", "graph") == []
    assert targets_of(numbered((11, "node"), (13, "graph")), "node", "graph") == [" node"]
    assert targets_of(numbered((6, "node"), (12, "graph")), "node", "graph", scan_from=7) == [" graph"]


def test_by_default_only_an_adjacent_term_rules_out():
    def adjacent(sentence: str) -> list[str]:
        earlier = Pairs(tokenizer="any").earlier_terms
        return targets_of(sentence, "node", "graph", earlier_terms=earlier)

    assert adjacent(numbered((6, "node"), (12, "graph"))) == [" graph"]
    assert adjacent(numbered((9, "node"), (10, "graph"))) == []
    assert adjacent(numbered((10, "node"), (11, "graph"), (13, "graph"))) == [" node", " graph"]
    assert adjacent(numbered((9, "node,"), (10, "graph"))) == [" graph"]
    assert adjacent(numbered((10, "node"), (12, "graph"), (13, "node"))) == [" node", " graph"]
    four = numbered((10, "node"), (12, "graph"), (14, "node"), (15, "graph"))
    assert adjacent(four) == [" node", " graph", " node"]


def test_spaces_may_belong_to_tokens():
    sentence = numbered((10, "graph"))
    with_blanks = [match.span() for match in re.finditer(r"\s?\S+", sentence)]
    terms = find_terms(sentence, frozenset({"graph"}))
    assert find_targets(terms, with_blanks, settings()) == terms
    assert find_targets(terms, with_blanks, settings(min_tokens=11)) == []
    assert count_tokens_until(terms[0].end, with_blanks) == 11


@given(st.text(alphabet="ab -'._\n", max_size=60), st.sampled_from(["any", "adjacent"]))
def test_prompt_and_target_are_the_beginning_of_the_sentence(sentence, earlier):
    terms = find_terms(sentence, frozenset({"a", "b", "ab", "ba"}))
    chosen = settings(min_tokens=2, scan_from=1, earlier_terms=earlier)
    offsets = split_at_blanks(sentence)
    for match in find_targets(terms, offsets, chosen):
        prompt, target = match.split(sentence)
        assert sentence.startswith(prompt + target)
        assert target.startswith(" ") and target[1:].isalnum()
        assert prompt and not prompt[-1].isspace()
        assert sentence[len(prompt + target) :][:1] not in {"a", "b", "-", "'", "_"} - {""}
        assert len(prompt.split()) >= 2


@given(st.text(alphabet="ab -'._", max_size=60))
def test_terms_equal_those_of_a_direct_search(sentence):
    plain = [
        (place, place + 2)
        for place in range(1, len(sentence) - 1)
        if sentence[place : place + 2] == " a"
        and not sentence[place - 1].isspace()
        and (place + 2 == len(sentence) or sentence[place + 2] not in "ab-'_")
    ]
    assert [(match.start, match.end) for match in find_terms(sentence, frozenset({"a"}))] == plain


def test_a_space_that_is_its_own_token_belongs_to_the_prompt():
    for sentence in (numbered((9, "graph")), "a" + numbered((9, "graph"))):
        blanks_too = split_at_blanks(sentence)
        start = sentence.index(" graph")
        blanks_too.insert(9, (start, start + 1))
        terms = find_terms(sentence, frozenset({"graph"}))
        assert terms and find_targets(terms, blanks_too, settings()) == terms
