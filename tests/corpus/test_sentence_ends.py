"""Sentence ends of four kinds of prose, marked by hand with `|`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fathom.corpus.sentences import Splitter, correct_starts, load_splitter, split_document

PAPERS = [
    "The plates foul (see Fig. 3). |(Note that salt helps.) |We clean them, cf. Ref. [2], each year.",
    "Scale grows with salt (cf. Sec. 2.1). |(iii) It stops in winter.",
    "The type of the flow is C. |Moreover, the angle lies on K. |Then it turns.",
    "Smith et al. showed this for Prop. 7 of the list by J. A. Miller. |It grew by Lee et al. |It holds.",
    "They are (1). thin and (2). wide. |They foul (by scale, salt, etc.) and are cleaned.",
    "We thank the fund (Grant No. 18/CRT/6049). |Award No. 7 went to R. B. Jones.",
    "It holds for all t, i.e. for each of them, w.r.t. ends, e.g. the hot. |\"Counterflow\" is its name.",
    "Strains of P. syringae pv. tomato and B. napus subsp. napus grow at temp. 25. |They do.",
    "The notes are in order.[12] |However, the third differs.[3,4] |It was lost.",
    "Plates last long, but gaskets... |The frame outlives both.",
    "The noise is i.i.d. here, f is a.s. continuous and w.l.o.g. positive. |It holds a.e. on the plate.",
    "The max. flow is 5. |See sect. II.B. |See also ch. IV for it. |Approx. 5 of them foul.",
    "It has two modes: 1. fast and 2. slow. |Both work.",
    "A load of 40 lbs. of clay has a wt. of 18 kg, see fol. 12, nr. 5 and pp. 8 ff. of it. |The end.",
    "The vols. of the eqn. are by Dunn Mfg. of Leeds. |It reads n bytes of src. |dst is written. |See ctx.",
]  # fmt: skip
MANUALS = [
    'Write "yes" and press Enter. |"Done" appears. |(If it does not, start again.)',
    "Is the file open? |Close it. |Use version 2.5 of the tool, not 3.0. |It reads a.txt and b.txt.",
    "Call it vs. the old one, approx. twice an hour, at 5 a.m. |The log says so.",
    "Wait... |What was that?",
    "Nothing to do! |See the list, tables etc. |The rest follows.",
    "It returns an nx.Graph where a != b or (!=). |See os.PathLike, Press et. al. and a.b?Name=c for more.",
    "a. The combination of f and g. |This leads to no tag (ex. no name).",
    "It leads to deep <ref>s. |He noted that it does.",
    "Send comments, patches, etc. to the list. |It needs less than 1M. |The limit is hard.",
]
LAW = [
    'Each buyer is addressed as "you". |"Buyers" may be firms, e.g. Smith Inc. or Jones & Co. of Town.',
    "Under Art. 5 para. 2 and No. 17, the court of the U.S. in Roe v. Wade decided. |It did so twice.",
    "He moved to the U.S. |The firm, Plates Ltd., stayed in the U.K. |In May it closed.",
    'He died on Jan. 5, aged 80. |A stone stands there. |"No." |That was all he had said.',
    "She holds a Ph.D. in law from the School of St. John. |He has a Ph.D. |They teach.",
    "John F. Kennedy met Gen. Lee, Sen. Brown and Mrs. Gray. |Vitamin C was unknown.",
    "[The tower (built in 1350).] |It fell. |'Too late,' they said.",
]
LETTERS = [
    '"Do you not want to know?" cried his wife. |"I do not!" he said. |"Then go."',
    'He left. |"Go on," she said. |"Mr. Smith waits." |(He did not.)',
    '"Who could it be?" asked Dr. Gray. |"Nobody," said Col. F. with a smile.',
    "My dear Mrs. Long, it is true. |Come soon! |Yours, W. H. Gray",
    "“She is my youngest.” |“I know,” he said. |‘Then stay.’",
    'He said no. |The door shut. |"What is the matter?" cried he, with feeling.',
]


@pytest.fixture(scope="module")
def rules() -> Splitter:
    return load_splitter("rules")


@pytest.mark.parametrize("marked", [*PAPERS, *MANUALS, *LAW, *LETTERS])
def test_sentences_end_where_readers_end_them(marked, rules):
    document = {"title": "", "abstract": "", "text": marked.replace("|", "")}
    assert list(split_document(document, rules)) == [each.strip() for each in marked.split("|")]


@given(st.text(st.sampled_from("aAbB .?!\"'()[]1")), st.sets(st.integers(1, 40)))
def test_starts_stay_inside_and_in_order(text, places):
    text = " ".join(text.split())
    starts = [0, *sorted(place for place in places if place < len(text))] if text else []
    corrected = correct_starts(text, starts)
    assert corrected == sorted(set(corrected))
    assert all(0 <= place < max(1, len(text)) for place in corrected)
    assert corrected[:1] == starts[:1]
