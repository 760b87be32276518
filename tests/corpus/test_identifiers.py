import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.corpus.metadata import canonical_arxiv_id, restore_arxiv_id


@pytest.mark.parametrize(("given_id", "canonical"), [
    ("0704.0001", "0704.0001"),
    ("2401.00010", "2401.00010"),
    ("arXiv:2401.00010v3", "2401.00010"),
    ("ARXIV: 0704.0010v12 ", "0704.0010"),
    (" hep-th/9901001\n", "hep-th/9901001"),
    ("hep-th/9901001v2", "hep-th/9901001"),
    ("solv-int/9901001", "solv-int/9901001"),
    ("math.GT/0309136", "math/0309136"),
    ("physics.soc-ph/0309136v1", "physics/0309136"),
    ("hep-th9901001", "hep-th/9901001"),
])  # fmt: skip
def test_canonical_form(given_id, canonical):
    assert canonical_arxiv_id(given_id) == canonical


WRONG = [
    "", "704.0001", "0704.00001", "1709.0336", "0713.0001", "2401.00010w3", "v3", "solv-int", "٠٧٠٤.٠٠٠١",
]  # fmt: skip
AMBIGUOUS = ["704", "704.00019", "1709.033611", "1350.12", "hep-th/99", "12345.1", "0704."]


@pytest.mark.parametrize(
    ("read", "wrong"),
    [*((canonical_arxiv_id, wrong) for wrong in WRONG), *((restore_arxiv_id, wrong) for wrong in AMBIGUOUS)],
)
def test_what_is_no_id_is_refused(read, wrong):
    with pytest.raises(ValueError, match="is not an arXiv id"):
        read(wrong)


_months = st.integers(1, 12)
_new_ids = st.one_of(
    st.builds(lambda y, m, n: f"{y:02d}{m:02d}.{n:04d}", st.integers(7, 14), _months, st.integers(1, 9999)),
    st.builds(lambda y, m, n: f"{y:02d}{m:02d}.{n:05d}", st.integers(15, 99), _months, st.integers(1, 99999)),
)
_old_ids = st.builds(
    lambda archive, n: f"{archive}/{n:07d}",
    st.sampled_from(["hep-th", "solv-int", "math", "cs", "q-alg"]),
    st.integers(0, 9999999),
)


@given(
    st.one_of(_new_ids, _old_ids),
    st.sampled_from(["", "arXiv:", "arxiv: ", " "]),
    st.sampled_from(["", "v1", "v23", " "]),
)
def test_decoration_comes_off_and_nothing_else(bare, prefix, suffix):
    assert canonical_arxiv_id(prefix + bare + suffix) == bare
    assert canonical_arxiv_id(bare) == bare


@given(_new_ids)
def test_an_id_that_was_a_number_is_restored(bare):
    assert restore_arxiv_id(str(float(bare))) == bare
    assert restore_arxiv_id(f"{float(bare):.13f}") == bare


@given(st.text(max_size=30))
def test_any_text_gives_a_stable_id_or_a_clear_refusal(text):
    try:
        canonical = canonical_arxiv_id(text)
    except ValueError:
        return
    assert canonical_arxiv_id(canonical) == canonical
