r"""What commands and environments of LaTeX are for: code, formulas, floats, layout, references, words.

Names are those of LaTeX itself and of packages in wide use; what an author defines is read from the document.
"""

import re
from functools import cache


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


HEADINGS = {
    "part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5, "paragraph": 6,
    "subparagraph": 7, "addpart": 1, "addchap": 2, "addsec": 3, "frametitle": 4,
}  # fmt: skip

_CODE = _list(
    "verbatim Verbatim BVerbatim LVerbatim SaveVerbatim VerbatimOut VerbatimWrite semiverbatim "
    "spverbatim alltt ttcode tcblisting listing listings lstlisting minted code Code CodeInput "
    "CodeOutput CodeChunk Sinput Soutput Scode Schunk script scripts program programs pseudocode "
    "algorithm algorithm2e algorithmic algo python pycode pyconsole pyblock pyverbatim sagesilent "
    "sageblock luacode rcode shell bash sh console terminal cmdline commandline commandshell "
    "filecontents asy dot sql xml json html java cpp cplus clang haskell ocaml matlab stata LTXexample "
    "SCode"
)
_CODE_STEM = re.compile(
    r"code|listing|verbatim|console|lst(?:[A-Z]|s?$)|(?:^|source)verb|terminal|cmd|commands?$|shell|stdout|snippet|.session$",
    re.IGNORECASE,
)
"""In the name of an environment of code."""

DISPLAYS = _list(
    "equation align eqnarray gather multline flalign alignat displaymath math dmath dgroup darray "
    "IEEEeqnarray subequations empheq narrowmultline xalignat mathpar mathparpagebreakable prooftree CD "
    "tikzcd aligned gathered split array cases matrix pmatrix bmatrix"
)
FLOATS = _list(
    "figure table wrapfigure wraptable wrapfloat sidewaysfigure sidewaystable SCfigure SCtable "
    "marginfigure margintable longtable tabular tabularx tabulary tabu longtabu supertabular xltabular "
    "tblr longtblr NiceTabular threeparttable subfigure subtable subfloat tablenotes picture "
    "tikzpicture pgfpicture pspicture axis scope forest deluxetable tabbing algorithmfloat "
    "pythontexfloat overpic"
)
LEFT_OUT = _list(
    "comment thebibliography theindex theglossary CCSXML changehistory versionhistory revisions acronym "
    "titlepage filecontents tocentry shownto keywords IEEEkeywords"
)
ENVIRONMENT_ARGUMENTS = {
    "minipage": 1, "multicols": 1, "adjustbox": 1, "CJK": 2, "spacing": 1, "restatable": 2, "list": 2,
    "adjustwidth": 2, "textblock": 1, "parbox": 1, "labeling": 1, "otherlanguage": 1, "foreignlanguage": 1,
    **dict.fromkeys(("frame", "block", "alertblock", "exampleblock"), 1),
}  # fmt: skip
"""How many arguments in braces the beginning of an environment of prose has."""

CODE_DEFINITIONS = re.compile(
    r"\\(?:lstnewenvironment|(?:Re)?(?:C|c)ustomVerbatimEnvironment|RecustomVerbatimEnvironment|"
    r"DefineVerbatimEnvironment|newverbatim|newtcblisting|renewtcblisting|NewTCBListing|DeclareTCBListing|"
    r"newpythontexenvironment|newlisting)\*?\s*(?:\[[^\]]{0,300}\]\s*)?\{\s*(?P<name>[^{}]{1,60}?)\s*\}"
    r"|\\newminted\*?\s*(?:\[(?P<own>[^\]]{1,60})\]\s*)?\{\s*(?P<language>[^{}]{1,60}?)\s*\}"
)
"""Where an author defines an environment of code."""

NO_WORDS = _list(
    "noindent indent newpage clearpage cleardoublepage pagebreak nopagebreak linebreak nolinebreak "
    "newline vfill hfill hfil vfil dotfill hrulefill medskip bigskip smallskip centering raggedright "
    "raggedleft justifying small large Large LARGE huge Huge tiny scriptsize footnotesize normalsize bf "
    "it em tt sc sl rm sf bfseries itshape ttfamily scshape slshape upshape mdseries rmfamily sffamily "
    "normalfont maketitle tableofcontents listoffigures listoftables listofalgorithms printindex "
    "printbibliography printglossaries printglossary appendix appendices protect relax null hline "
    "toprule midrule bottomrule allowbreak sloppy fussy allowdisplaybreaks singlespacing doublespacing "
    "onehalfspacing onecolumn twocolumn frontmatter mainmatter backmatter qed qedhere unskip "
    "ignorespaces ignorespacesafterend leavevmode xspace par begingroup endgroup balance flushbottom "
    "raggedbottom hskip vskip kern looseness penalty acknowledgements acknowledgments "
    "IEEEpeerreviewmaketitle IEEEraisesectionheading IEEEdisplaynontitleabstractindextext makeatletter "
    "makeatother nobreak noalign noindentation nonumber notag displaystyle textstyle scriptstyle limits "
    "nolimits left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm cal "
    "mit mathstrut strut smash thinspace negthinspace break nobreakspace smartqed endproof proof "
    "ProofEnd fi else or selectfont boldmath unboldmath footnotemark centerline"
)
"""Layout commands, which do not change what the text says."""
SPACES = _list(
    "hspace hskip hfill hfil dotfill hrulefill vspace vskip newline linebreak pagebreak newpage clearpage "
    "par thinspace nobreakspace break medskip bigskip smallskip"
)
"""Layout commands that separate words."""
NO_WORDS_WITH_ARGUMENTS = {
    **dict.fromkeys(
        _list(
            "title subtitle titlenote icmltitle vspace hspace bibliographystyle bibliography "
            "addbibresource input include subfile "
            "subfileinclude import pagestyle thispagestyle pagenumbering label index indexsee indexdef "
            "glsadd nocite hypersetup graphicspath usepackage usetikzlibrary documentclass "
            "documentstyle color pagecolor selectlanguage hyphenation vphantom hphantom phantom todo note "
            "fixme FIXME TODO marginpar sout st xout deleted fontsize thanks author date affiliation "
            "affil email address institute institution keywords ead orcid corref cortext authornote "
            "authornotemark authorrunning titlerunning ccsdesc pacs subjclass thispdfpagelabel "
            "citestyle setcitestyle captionsetup lstset lstinputlisting verbatiminput inputminted "
            "VerbatimInput newtheorem theoremstyle numberwithin newlength newcounter newcolumntype "
            "newsavebox newacronym newglossaryentry DeclareAcronym tikzset pgfplotsset tikzstyle "
            "specialcomment excludecomment includecomment setstretch linespread enlargethispage "
            "footnotesep vskip vadjust pdfbookmark ctable ensurecommand RequirePackage tag intertext "
            "allowbreaks preprint journal received accepted volume IEEEauthorblockN IEEEauthorblockA "
            "markright setlist pgfmathsetmacro columncolor rowcolor cellcolor hypertarget@ "
            "IEEEoverridecommandlockouts icmlaffiliation icmlcorrespondingauthor icmlkeywords "
            "printAffiliationsAndNotice symlabel indexfoot lstMakeShortInline MakeShortVerb "
            "DefineShortVerb stepcounter refstepcounter cmidrule cline specialrule"
        ),
        1,
    ),
    **dict.fromkeys(
        _list(
            "setlength addtolength setcounter addtocounter definecolor colorlet markboth providecolor "
            "rule raisebox settowidth newfloat floatname renewbibmacro icmlauthor icmladdress "
            "addcontentsline@ newlist titleformat@ titlespacing glsset crefname Crefname"
        ),
        3,
    ),
    "addcontentsline": 3, "addtocontents": 2, "titleformat": 5, "newacronym": 3, "bibitem": 1,
}  # fmt: skip
"""Commands without words of the text, with their most arguments in braces."""

KEPT_ARGUMENT = {
    **dict.fromkeys(
        _list(
            "texttt textsf textup textmd textnormal mbox hbox fbox makebox framebox uline uwave "
            "underbar hl code file pkg proglang command cmd lstinline boldsymbol bm pmb mathds mathbbm "
            "operatorname boxed enquote textquote fancyhead textulc alert structure added highlight "
            "emphasize ensuremath path url nolinkurl MakeUppercase MakeLowercase textlf centerline gls "
            "Gls glspl Glspl acrshort acrlong acrfull ac acs acl acf acp acfp textsubscript "
            "textsuperscript emphb textin Verb num only onslide uncover visible"
        ),
        (1, 1),
    ),
    "href": (2, 2), "hyperref": (1, 1), "hyperlink": (2, 2), "hypertarget": (2, 2), "texorpdfstring": (2, 1),
    "textcolor": (2, 2), "colorbox": (2, 2), "fcolorbox": (3, 3), "resizebox": (3, 3), "scalebox": (2, 2),
    "parbox": (2, 2), "rotatebox": (2, 2), "foreignlanguage": (2, 2), "replaced": (2, 1),
    "scriptsize": (1, 1),
    "textls": (1, 1), "adjustbox": (2, 2), "IEEEPARstart": (2, 0), "lettrine": (2, 0), "multirow": (3, 3),
    "multicolumn": (3, 3), "stackrel": (2, 2), "overset": (2, 2), "underset": (2, 2), "raisebox": (2, 2),
    "textipa": (1, 1), "dropcap": (1, 1),
}  # fmt: skip
"""How many arguments a command has, and which of them is the text; 0: all of them are."""

PICTURES = _list("includegraphics includesvg includepdf epsfig psfig epsfbox tikz today chemfig")
"""Commands for what is not text, or changes every day."""

WORDS = {
    "ie": "i.e.", "eg": "e.g.", "Ie": "I.e.", "Eg": "E.g.", "etal": "et al.", "etc": "etc.", "cf": "cf.",
    "wrt": "w.r.t.", "iid": "i.i.d.", "aka": "a.k.a.", "vs": "vs.", "etAl": "et al.", "onedot": ".",
    "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "XeTeX": "XeTeX",
    "pdfTeX": "pdfTeX", "textgreater": "{>}", "textless": "{<}", "S": "Section", "textunderscore": r"\_",
    "textbar": "|", "slash": "/", "lbrack": "[", "rbrack": "]", "ne": r"\neq", "gets": r"\leftarrow",
    "tfrac": r"\frac", "dfrac": r"\frac", "cfrac": r"\frac", "implies": r"\Rightarrow",
    "iff": r"\Leftrightarrow", "coloneqq": ":=", "eqdef": ":=", "defeq": ":=", "colon": ":",
    "neg": r"\lnot", "land": r"\wedge", "lor": r"\vee", "hdots": r"\ldots", "argmax": "argmax",
    "argmin": "argmin", "mod": "mod", "arg": "arg", "Pr": "Pr", "dim": "dim", "det": "det", "deg": "deg",
    "ker": "ker", "diag": "diag", "rank": "rank", "gcd": "gcd", "hom": "Hom", "bmod": "mod", "lVert": "|",
    "rVert": "|", "lvert": "|", "rvert": "|", "Vert": "|", "vert": "|", "mid": "|", "lbrace": r"\{",
    "rbrace": r"\}", "degree": "°", "euro": "€", "micro": "µ", "textasciicircum": "^", "lt": "<", "gt": ">",
    "percent": r"\%", "textregistered": "", "texttrademark": "", "copyright": "",
}  # fmt: skip
"""Commands that stand for words or signs, in LaTeX that the converter knows."""

SHORT_INLINE = re.compile(
    r"\\(?:lstMakeShortInline|MakeShortVerb|DefineShortVerb)\*?\s*(?:\[[^\]]{0,300}\])?\{?\\?(?P<sign>[^\w\s{}])\}?"
)

TEXTUAL_CITATION = re.compile(
    r"\\(?:[Cc]itet|[Cc]itealt|[Cc]iteauthor|citefullauthor|[Tt]extcites?|newcite|citeA|citeN|citename|"
    r"shortciteA|shortciteN|citetext|citetitle|[Cc]itetalias|citeasnoun|citewithauthor|textcquote)\*?"
    r"(?:\s{0,9}\[[^\[\]]{0,300}\]){0,3}\s{0,9}\{[^{}]{0,1000}(?:\}|$)"
)
"""A citation that is read as words of the sentence: `Hinton (2006) shows`."""
_NUMBERED = (
    r"(?:\\(?:[Cc]ite|[Cc]itep|parencite|autocite|supercite|onlinecite)\*?"
    r"(?:\s{0,9}\[[^\[\]]{0,300}\]){0,3}\s{0,9}\{[^{}]{0,1000}(?:\}|$)"
    r"|\[\\cite[a-z]{0,9}=[^\[\]\s]{0,1000}\]|\{\{cite:[^{}]{0,1000}\}\})"
)
CITATION_IN_SENTENCE = re.compile(
    r"(?P<before>(?:^|[.!?]\s+|(?<!\()(?<!see )(?<!see, )\be\.g\.,?|"
    r"(?<!\()\b[Ss]ee(?:,?\s+(?:e\.g\.|also),?)?|"
    r"\b(?:[Aa]s|[Aa]t|[Bb]y|[Ff]or|[Ff]rom|[Ii]n|[Oo]f|[Oo]n|[Tt]han|[Tt]o|[Ww]ith|[Ll]ike|[Uu]sing|[Aa]nd|"
    r"[Bb]oth|[Uu]nlike|[Ff]ollowing|[Vv]ia))[\s~]*)" + _NUMBERED
)
"""A citation by number in place of a word: `as shown in [3]`."""
CITATION_BEFORE_VERB = re.compile(
    r"(?P<before>(?:[,;:]|\b(?:that|while|whereas|where|although|since|because|which|what|when))[\s~]+)"
    + _NUMBERED
    + r"(?=\s+(?:(?:also|further|first|then)\s+)?(?:address|appl|argu|analy[sz]|compar|consider|construct|"
    r"deriv|describ|demonstrat|develop|discuss|establish|evaluat|examin|explor|extend|find|focus|found|generali[sz]|"
    r"gave|give|illustrat|improv|introduc|investigat|notic|not(?:es|ed)|observ|obtain|point|present|propos|prov|provid|"
    r"report|review|show|studi|suggest|train|us(?:e|ed|es)|utili[sz]|was|were|has|have|is|are)[a-z]{0,6}\b(?!\s*[,.]))"
)
"""One that is the subject: `[3] shows that`."""


@cache
def list_known_commands() -> frozenset[str]:
    """Return the commands that the converter replaces by text."""
    from pylatexenc.latex2text import get_default_latex_context_db

    known = {spec.macroname for spec in get_default_latex_context_db().iter_macro_specs()}
    # these depend on the date or on other files, or their text is a picture of a page
    return frozenset(
        known
        - {"today", "input", "include", "title", "author", "date", "maketitle", "includegraphics", "item"}
    )


def is_code(name: str, own: frozenset[str] = frozenset()) -> bool:
    """Say whether an environment is code, by its name or by the author's definition."""
    bare = name.rstrip("*")
    return name in own or bare in _CODE or _CODE_STEM.search(bare) is not None
