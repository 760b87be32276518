import random
import time
from collections import Counter

import pytest

from fathom.config.benchmark import Sentences
from fathom.corpus.documents.latex_files import read_latex
from fathom.corpus.latex_documents import latex_to_prose
from fathom.corpus.sentences import load_splitter, split_documents
from fathom.corpus.texts import make_plain
from fathom.io.files import hash_text


def _prose(text: str) -> str:
    return latex_to_prose(text, Counter())


def _read(body: str, preamble: str = "") -> list[str]:
    """Return the paragraphs of a file."""
    source = f"\\documentclass{{article}}\n{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\nafter it"
    return [text for section in read_latex(source.encode()).sections for text in section.text.split("\n\n")]


@pytest.mark.parametrize(("raw", "plain"), [
    (r"a function called \texttt{reduce} that takes two", "a function called reduce that takes two"),
    (r"a call of \cmd{reduce}, \textsf{map} and \mbox{fold}", "a call of reduce, map and fold"),
    (r"we run \verb|make -c4 {x}%| and \lstinline!a_b! now", "we run make -c4 {x}% and a_b now"),
    (r"the path \verb|~/a^b$c#d&e| of it", "the path ~/a^b$c#d&e of it"),
    (r"as of \today it holds", "as of <ref> it holds"),
    (r"the deep \gp{}s of the model \method are fitted", "the deep <ref>s of the model <ref> are fitted"),
    (r"a kernel $\kernel(\x, y)$ of the space", "a kernel <ref> of the space"),
    (r"a number $n_i + 1$ of them", "a number n_i + 1 of them"),
    (r"see \href{https://a.b/c%20d}{the handbook of it} now", "see the handbook of it now"),
    (r"at \url{https://a.b/c%20d} there", "at https://a.b/c%20d there"),
    (r"a tube of \SI{5}{\metre} and \SI{92}{\percent} more", "a tube of 5 metre and 92 % more"),
    (r"areas of \SI{5}{\square\kilo\metre} and \qty{3}{\newton\metre\squared}",
     "areas of 5 square kilometre and 3 newton metre squared"),
    (r"at \qty{3}{\degreeCelsius}, \SI{9}{\metre\tothe{4}}\footnotemark[3] of a \gls{g:hx}",
     "at 3 °C, 9 metre^4 of a <ref>"),
    (r"very\hspace{1em}wide and\newline long tubes", "very wide and long tubes"),
    (r"see \autopageref{a}, \labelcref{b}, \zcref{c} there", "see <ref>, <ref>, <ref> there"),
    (r"a tube \tikz \draw (0,0) -- (1,1); of \chemfig{A-B} here", "a tube <ref> of <ref> here"),
    (r"the seconds \ie those of \eg tubes", "the seconds i.e. those of e.g. tubes"),
    (r"bounds \wrt tubes, plates, \etc. are known", "bounds w.r.t. tubes, plates, etc. are known"),
    (r"as \citet{a} says, \textcite[3]{b} agrees", "as <ref> says, <ref> agrees"),
    (r"in \cite{a}, \cite{b} and \cite{c} they wait", "in <ref> they wait"),
    (r"the plates \cite{a}, \cite{b} are thin (see \cite{c}).", "the plates are thin."),
    (r"in [\cite=a] and [\cite=b], see e.g. \cite{c} now (see \cite{d})", "in <ref>, see e.g. <ref> now"),
    (r"of \citelanguageresource{zhang2023} too", "of <ref> too"),
    ("in {{cite:a}} it holds {{cite:b}}.", "in <ref> it holds."),
    (r"Theorems~\ref{a} and~\ref{b} hold\index{a}\indexown{b}.", "Theorems <ref> and <ref> hold."),
    (r"it is said that \cite{a} shows the plates", "it is said that <ref> shows the plates"),
    (r"plates \textcolor{red}{of red} and \resizebox{1cm}{!}{small} ones", "plates of red and small ones"),
    (r"a picture \includegraphics[width=3cm]{a.pdf} in the line", "a picture <ref> in the line"),
    ("\\noindent\\vskip 3pt Plates are \\vspace{-2mm}thin.", "Plates are thin."),
    (r"plates of \todo{ask the crew} steel", "plates of steel"),
    (r"the new \replaced{plates}{tubes} and \deleted{old ones} here", "the new plates and here"),
])  # fmt: skip
def test_commands_leave_their_words_or_one_mark(raw, plain):
    assert _prose(raw) == plain


@pytest.mark.parametrize(("raw", "plain"), [
    (r"It obeys \begin{equation} q = U \end{equation} where $U$ is.", "It obeys <ref> where U is."),
    (r"It obeys \[ q = U. \] The area is known.", "It obeys <ref>. The area is known."),
    (r"It obeys $$ q = U, \label{a} $$ with an area.", "It obeys <ref>, with an area."),
    (r"It obeys \be q = U \ee where it is known.", "It obeys <ref> where it is known."),
    ("So:\n\\begin{verbatim}\nlet x\n\\end{verbatim}\nThe next call is it.", "So:\n\nThe next call is it."),
    ("It runs\n\\begin{code}\nlet x\n\\end{code}\nand ends there.", "It runs <ref> and ends there."),
    ("It is\n\\begin{figure}x\\caption{Two plates.}\\end{figure}\nthin.", "It is\nthin.\n\nTwo plates."),
])  # fmt: skip
def test_what_is_set_apart_leaves_a_mark_where_the_sentence_goes_on(raw, plain):
    assert _prose(raw).replace("\n", " ") == plain.replace("It is\nthin", "It is thin").replace("\n", " ")


def test_front_matter_is_no_prose():
    source = (
        r"\title{Of Plates}\author{A. Person \\ Town \texttt{a@b.org}}\maketitle The plates foul in salt."
    )
    content = read_latex(source.encode())
    assert content.title == "Of Plates"
    assert [section.text for section in content.sections] == ["The plates foul in salt."]


def test_gaps_are_counted():
    counts: Counter[str] = Counter()
    latex_to_prose(r"A model \gp obeys \[ x \] in Section~\ref{a}.", counts)
    assert counts == {"gaps": 3}


def test_marks_of_unarxive_are_gaps():
    assert _prose("We see FORMULA in it {{cite:a}}. It follows Definition REF of it.") == (
        "We see <ref> in it. It follows Definition <ref> of it."
    )
    assert _prose("The REF of it is \\emph{known}.") == "The REF of it is known."


DEFINED = [
    (r"\newcommand{\coef}{transfer coefficient}", r"The \coef{} of \coef is high.", "transfer coefficient"),
    (r"\newcommand\plate[2][small]{the #1 plate #2}", r"We see \plate{7} and \plate[large]{8}.",
     "We see the small plate 7 and the large plate 8."),
    (r"\def\plate#1{plate number #1}", r"We see \plate{7} and \plate8.", "number 7 and plate number 8"),
    (r"\newcommand{\be}{\begin{equation}}\newcommand{\ee}{\end{equation}}", r"It is \be a \ee of it.",
     "It is <ref> of it."),
    (r"\let\code\texttt", r"We call \code{reduce} here.", "We call reduce here."),
    (r"\newcommand{\one}{\two}\newcommand{\two}{both}", r"We see \one{} here.", "We see both here."),
    (r"\NewDocumentCommand{\see}{m}{plate #1}", r"We see \see{7} here.", "We see plate 7 here."),
    (r"\NewDocumentCommand{\see}{O{thin} m}{#1 plate #2}", r"We see \see{7}, \see[thick]{8}.",
     "We see thin plate 7, thick plate 8."),
    (r"\NewDocumentCommand\see{s m o}{\IfBooleanTF{#1}{plates}{plate} #2\IfValueT{#3}{ of #3}}",
     r"We see \see{7}, \see*{8}[steel].", "We see plate 7, plates 8 of steel."),
    (r"\NewDocumentCommand\see{r()}{plate #1}", r"We see \see(7) here.", "We see <ref>(7) here."),
    (r"\newcommandx{\see}[2][1=thin]{#1 plate #2}", r"We see \see{7}.", "We see thin plate 7."),
    (r"\newacronym[a=b]{hx}{HX}{heat exchanger}", r"Each \gls{hx}, or \acrlong{hx}; all \glspl{hx}.",
     "Each HX, or heat exchanger; all HXs."),
    (r"\newglossaryentry{hx}{name={heat exchanger}, description={a b}}", r"\Gls{hx} and \glspl{hx} foul.",
     "Heat exchanger and heat exchangers foul."),
    (r"\DeclareAcronym{hx}{short=HX, long=heat exchanger}", r"The \ac{hx} or \acl{hx} is \gls{wide}.",
     "The HX or heat exchanger is wide."),
    (r"\acrodef{hx}[HX]{heat exchanger}", r"The \acs{hx} is wide.", "The HX is wide."),
    (r"\DeclareMathOperator{\fit}{fit}", r"The $\fit(x)$ of it.", "The fit(x) of it."),
    (r"\newcommand{\loop}{\loop\loop}", r"A word \loop{} of it.", "A word <ref>"),
    (r"\def\odd#1.{x #1}", r"An \odd{} of it.", "An <ref> of it."),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "body", "expected"), DEFINED)
def test_macros_of_the_author_become_what_they_stand_for(definition, body, expected):
    text = "\n".join(_read(body, definition))
    assert expected in text and "newcommand" not in text and "#" not in text


BY_NAME = ["verbatim", "Verbatim", "lstlisting", "minted", "code", "script", "pythoncode", "alltt", "Sinput",
           "console", "tcblisting", "algorithmic", "verbatim*", "rlisting", "bashsession", "codebox",
           "Terminal", "cmdblock", "sourceverb", "stdout"]  # fmt: skip
BY_DEFINITION = [
    r"\lstnewenvironment{mine}[1][]{\lstset{#1}}{}",
    r"\lstnewenvironment{mine}{}{}",
    r"\newminted[mine]{python}{linenos}",
    r"\DefineVerbatimEnvironment{mine}{Verbatim}{fontsize=\small}",
    r"\newtcblisting{mine}{listing only}",
    r"\newtcblisting[auto counter]{mine}[2][]{title=#2}",
    r"\newenvironment{mine}{\begin{lstlisting}}{\end{lstlisting}}",
    r"\newenvironment{mine}{\small\verbatim}{\endverbatim}",
    r"\newenvironment{mine}{\begin{quote}\ttfamily}{\end{quote}}",
    r"\NewDocumentEnvironment{mine}{O{a} m}{\VerbatimEnvironment\begin{Verbatim}}{\end{Verbatim}}",
]


@pytest.mark.parametrize(("name", "definition"), [
    *((name, "") for name in BY_NAME), *(("mine", definition) for definition in BY_DEFINITION),
    ("pythoncode", r"\newminted{python}{}"),
])  # fmt: skip
def test_code_by_name_or_by_the_authors_definition_is_no_prose(name, definition):
    code = f"\\begin{{{name}}}\nfor each of them return the end of it\n\\end{{{name}}}"
    assert _read(f"We see it run here:\n{code}\nIt ends after a while.", definition) == [
        "We see it run here:", "It ends after a while.",
    ]  # fmt: skip


def test_a_definition_in_typewriter_letters_of_a_label_alone_is_no_code():
    definition = r"\newenvironment{mine}{\begin{quote}{\tt Note:} \textbf{\ttfamily now}}{\end{quote}}"
    assert _read("\\begin{mine}\nThe plates are thin.\n\\end{mine}", definition) == ["The plates are thin."]


def test_a_line_of_code_that_is_set_apart_ends_no_sentence_with_code():
    body = "We call it:\n\\mint{python}|for each of them|\nIt ends after a while."
    assert _read(body) == ["We call it:", "It ends after a while."]


@pytest.mark.parametrize("name", ["thebibliography", "theindex", "changehistory", "tabular", "tikzpicture"])
def test_references_indexes_revisions_tables_and_pictures_are_no_prose(name):
    body = (
        f"The plates foul.\n\n\\begin{{{name}}}{{9}} a list of others \\end{{{name}}}\n\nThey last for years."
    )
    assert _read(f"{body} \\tableofcontents \\printindex \\bibliography{{refs}}") == [
        "The plates foul.", "They last for years.",
    ]  # fmt: skip


def test_code_between_the_authors_own_signs_stays_in_its_sentence():
    assert _read("We call |a_b| and then |c{}| here.", "\\lstMakeShortInline|\n") == [
        "We call a_b and then c{} here."
    ]


def test_comments_go_and_per_cent_signs_stay():
    body = (
        "Energy moves between them. \\\\% SECRET one\nFouling covers 90\\% of it.% SECRET two\n\n"
        "It is at \\url{https://a.b/c%20d} in detail.\n"
        "\\iffalse SECRET \\ifx\\a\\b three \\fi four \\fi\n"
        "\\begin{comment} SECRET five \\end{comment} Operators compare it.\n"
        "\\ifdraft SECRET\\else Not a draft.\\fi"
    )
    assert _read(body, "\\newif\\ifdraft\\draftfalse\n") == [
        "Energy moves between them. Fouling covers 90% of it.",
        "It is at https://a.b/c%20d in detail. Operators compare it. Not a draft.",
    ]


DUMP = r"""\section{Introduction}
\label{sec:intro}
Fouling covers the plates.

\subsection{Related work} The arrangement keeps \textbf{the difference. It also} holds.
\begin{itemize}
\item[a)] The coefficient is compared. It decides.
\item A filter stops stones.
\end{itemize}
\begin{theorem}[Main]\label{a} It needs the smallest area. \end{theorem}
Designers add supports\footnote{See the handbook for spans.} where they can.
\affiliation{Institute of Plates} \email{person@example.org}
\begin{figure}[t] \includegraphics[width=\linewidth]{fig1.pdf} \caption{The plates after a year.} \end{figure}
\section*{References}
Smith, J.: On plates of the sea.
\section{Appendix} More plates follow.
"""


def test_headings_items_footnotes_and_captions_are_sentences_of_their_own():
    document = {"doc_id": "a", "title": "", "abstract": "", "text": DUMP, "text_hash": hash_text(DUMP)}
    table, counts = split_documents([document], Sentences(), load_splitter("rules"), "latex")
    assert table["clean"].to_list() == [
        "Introduction", "Fouling covers the plates.", "Related work", "The arrangement keeps the difference.",
        "It also holds.", "The coefficient is compared.", "It decides.", "A filter stops stones.",
        "It needs the smallest area.", "Designers add supports where they can.",
        "See the handbook for spans.",
        "The plates after a year.", "Appendix", "More plates follow.",
    ]  # fmt: skip
    assert counts["references"].to_list() == [1]
    plain = make_plain(document, Counter(), "latex", "text")
    assert plain.split("\n\n")[2:4] == [
        "Related work",
        "The arrangement keeps the difference. It also holds.",
    ]


def test_the_papers_cleaning_reads_sentence_by_sentence():
    text = "The \\textbf{plates. They} are \\texttt{thin} ones."
    document = {"doc_id": "a", "title": "", "abstract": "", "text": text, "text_hash": hash_text(text)}
    table, counts = split_documents(
        [document], Sentences(characters="ascii"), load_splitter("rules"), "latex"
    )
    assert table["sentence"].to_list() == ["The \\textbf{plates.", "They} are \\texttt{thin} ones."]
    assert counts["gaps"].to_list() == [0]


@pytest.mark.parametrize(("raw", "plain"), [
    ("The plates are thin } and wide.", "The plates are thin and wide."),
    ("The plates are {thin and wide.", "The plates are thin and wide."),
    (r"It costs \$5 and the frame $2 more.", "It costs $5 and the frame $2 more."),
    (r"It costs $5 or $10 a piece, \emph{or} more.", "It costs $5 or $10 a piece, or more."),
    (r"It is $x\text{ if it is known}$ and $y$ so.", "It is x if it is known and y so."),
    (r"{\it It holds. It keeps} both.", "It holds. It keeps both."),
    (r"as \cite[see][Fig. 2. and Eq. 3]{a} reports.", "as <ref> reports."),
])  # fmt: skip
def test_braces_and_dollar_signs_without_a_partner(raw, plain):
    assert _prose(raw) == plain


def test_slides_of_beamer_are_read_without_their_steps():
    slide = (
        "\\begin{frame}<2->[t]{Plates of steel}\\begin{block}<1>{Why so}The plates are thin.\\end{block}\n\n"
        "\\only<2->{They} keep \\alert<3>{most} heat.\\pause\\begin{itemize}\\item<3-> One <2- of them leaks."
        "\\end{itemize}\\note<1>{Ask who has seen one.}\\end{frame}"
    )
    assert _prose(slide).split("\n\n") == [
        "The plates are thin.",
        "They keep most heat.",
        "One <2- of them leaks.",
    ]


def test_a_formula_without_its_end_spoils_no_prose_after_it():
    text = _prose(r"A set $K\in .Let $x_i$ be known and $y_i$ be not known to all. We take $z_i$ of them.")
    assert text.endswith(" be known and y_i be not known to all. We take z_i of them.")


def test_what_cannot_be_converted_is_left_out_and_counted(monkeypatch):
    from fathom.corpus import latex

    def convert(text: str) -> str:
        if "odd" in text:
            raise ValueError
        return text

    monkeypatch.setattr(latex, "_run_converter", convert)
    counts: Counter[str] = Counter()
    assert latex_to_prose("One ~ is fine. Two ~ is odd. Three ~ is fine.", counts) == (
        "One ~ is fine.\n\nThree ~ is fine."
    )
    assert counts == {"latex_failed": 1}


PIECES = [
    "\\cite[", "{", "}", "%", "\n\n", "\\begin{a}", "\\begin{equation}", "\\end{a}", "\\[", "$", "\\verb|",
    "|", "\\footnote{", "\\section{", "\\iffalse ", "\\fi", "\\newcommand{\\a}", "[1]", "\\a", "{a}",
    "\\item", "a ", "\\", "\\be ", "\\caption{", "\\begin{figure}", "\\newif\\ifa", "\\ifa ", "é", "\x01",
    "\\def\\a{\\a\\a}",
]  # fmt: skip


def test_broken_sources_are_read_in_time():
    choose = random.Random(7)
    for _ in range(60):
        text = "".join(choose.choices(PIECES, k=40))
        assert "\x01" not in _prose(text)
    for piece in PIECES:
        began = time.process_time()
        _prose(piece * 4000)
        assert time.process_time() - began < 5
