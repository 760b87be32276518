"""HTML: nothing goes from within a sentence without a mark, and no name makes a page's text furniture."""

import pytest

from fathom.corpus.characters import GAP
from fathom.corpus.documents.html_pages import read_markup
from fathom.corpus.documents.markdown import read_markdown
from fathom.corpus.documents.plain import reads_as_code
from fathom.corpus.documents.restructured import read_restructured
from fathom.corpus.documents.sections import FileContent
from fathom.corpus.left_out import CODE, DIRECTIVES, FORMULAS, FURNITURE

_SENTENCES = [
    "A pump lifts water from the well into a tank that stands on the roof of the house.",
    "Its valve closes as soon as the float has reached the mark on the wall of the tank.",
    "In winter the pipes are emptied, for ice would burst them at the joints between walls.",
    "Whoever builds a second tank connects both below, so that the water stands equally high.",
]
_TEXT = "".join(f"<p>{each}</p>" for each in _SENTENCES)


def _paragraphs(page: str) -> list[str]:
    return [each for section in read_markup(page).sections for each in section.text.split("\n\n")]


def _read_sentence(inner: str) -> tuple[str, FileContent]:
    content = read_markup(f"<h1>Pumps</h1><p>The flow of the pump is {inner} at the end of the pipe.</p>")
    return content.sections[0].text.removeprefix("The flow of the pump is ").partition(" at")[0], content


_FRACTION = "<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>"


@pytest.mark.parametrize(
    "formula",
    [
        _FRACTION,
        r'<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>a</mi></mrow>'
        r'<annotation encoding="application/x-tex">\frac{a}{b}</annotation></semantics></math></span>'
        '<span class="katex-html" aria-hidden="true">ab</span></span>',
        f'<span class="mwe-math-element"><span style="display:none">{_FRACTION}</span>'
        r'<img aria-hidden="true" src="x.svg" alt="\frac{a}{b}"></span>',
        '<span class="MathJax_Preview"></span><span class="MathJax" aria-hidden="true">a<sup>b</sup></span>'
        r'<script type="math/tex">\frac{a}{b}</script>',
        "<mjx-container><svg><path/></svg></mjx-container>",
        r'<span class="math notranslate nohighlight">\(\frac{a}{b}\)</span>',
        r'<img src="a.png" alt="\sqrt{x}">',
        r'<img class="math" src="a.png" alt="a^2">',
        '<span class="texhtml"><i>x</i><sup>2</sup></span>',
        '<span aria-hidden="true">x over y</span>',
        "<svg><path/></svg>",
        '<img src="pump.png">',
        "<object>text</object>",
        "<select><option>high</option><option>low</option></select>",
        '<input type="text">',
        r"\(\frac{a}{b}\)",
        r"\begin{equation}\frac{a}{b}\end{equation}",
        '<span class="katex"><span>a<span class="msupsub"><span class="vlist">2</span></span></span></span>',
        r'<span class="katex-error">\frac{a</span>',
        r"<math-field>\frac{a}{b}</math-field>",
        r"<inline-formula><tex-math>\frac{a}{b}</tex-math></inline-formula>",
        "<mml:math><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac></mml:math>",
        "<m:math><m:msub><m:mi>a</m:mi><m:mn>1</m:mn></m:msub></m:math>",
        r'<span class="mathquill-embedded-latex">\frac{a}{b}</span>',
        '<span class="MathJye"><table><tr><td>a</td></tr><tr><td>b</td></tr></table></span>',
        '<script type="math/mml"><math><mfrac><mi>a</mi><mi>b</mi></mfrac></math></script>',
        '<img alt="" src="https://latex.codecogs.com/gif.latex?x">',
    ],
)
def test_what_is_left_out_of_a_sentence_leaves_one_mark_that_is_counted(formula):
    text, content = _read_sentence(formula)
    assert text == GAP
    assert content.gaps == 1


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ('<math alttext="q=UA"><mi>x</mi></math>', "q=UA"),
        ("<math><mi>U</mi></math>", "U"),
        ('<math><semantics><mi>x</mi><annotation encoding="application/x-tex">{\\displaystyle T}</annotation>'
         "</semantics></math>", "T"),
        (r'<span class="math">\(n\)</span>', "n"),
        ("10<sup>6</sup> litres", "10^6 litres"),
        ("3 m<sup>3</sup>", "3 m^3"),
        ("<i>m</i><sup>3</sup>", "m^3"),
        ("small<sup>2</sup>", "small"),
        ("<del>large</del><ins>small</ins>", "small"),
        ("small<noscript><img src='a.png'></noscript>", "small"),
        ('<i class="equation-note">as large as the pump of it</i>', "as large as the pump of it"),
        ('small<sup><a href="#n1">[1]</a></sup>', "small"),
        ('small<span style="display:none">secret</span>', "small"),
        ('small<svg aria-hidden="true"></svg>', "small"),
        ('small<img alt="" src="a.png">', "small"),
        ('small<a class="headerlink">¶</a>', "small"),
        ('small <a href="#from">↑</a>', "small"),
        ('small<sup><a href="#from">↩\ufe0e</a></sup>', "small"),
        ('small <a href="up.html">↑</a>', "small ↑"),
        ("set <code>pump.flow</code> or a valve", "set \N{INVISIBLE SEPARATOR}pump.flow or a valve"),
    ],
)  # fmt: skip
def test_what_a_line_of_text_says_is_text_and_decoration_leaves_nothing(inner, text):
    found, content = _read_sentence(inner)
    assert found == text
    assert content.gaps == 0


def test_a_picture_before_or_after_a_sentence_is_no_gap():
    page = f'<p><img src="a.png">{_SENTENCES[0]} <img src="b.png"> {_SENTENCES[1]}<img src="c.png"></p>'
    assert _paragraphs(page) == [f"{_SENTENCES[0]} {_SENTENCES[1]}"]


_MOST = "".join(f"<p>{each}</p>" for each in _SENTENCES[:3])
_MENU = '<a href="a">Home</a> <a href="b">News</a>'


@pytest.mark.parametrize(
    "page",
    [
        f"<form><div id='menu'>{_MENU}</div>{_TEXT}</form>",
        f"<header role='banner'>{_MENU}<div>{_TEXT}</div></header>",
        f"<nav class='navbar'>{_MENU}<div>{_TEXT}</div>",
        f"<div style='display: none'>{_TEXT}</div><script>show()</script>",
        f"<div hidden>{_TEXT}</div>",
        f"<noscript>{_TEXT}</noscript>",
        f"<template>{_TEXT}</template>",
        f"<div class='sidebar'>{_TEXT}</div><p>Search this page for words.</p>",
        f"<div aria-hidden='true'>{_TEXT}</div>",
        f"<footer>{_TEXT}</footer>",
        "".join(f"<form>{each}</form>" for each in _TEXT.split("</p>")),
        f"<table><tr><td>{_MENU}</td></tr><tr><td>Water</td><td>Pumps</td></tr><tr>"
        + "".join(f"<td>{each}</td>" for each in _SENTENCES) + "</tr></table>",
        f"<h2>Table of contents</h2><ul><li>{_MENU}</li></ul><h3>Pumps</h3>{_TEXT}",
        f"<h1>References</h1><h2>Pumps of all kinds</h2>{_TEXT}",
        f"<h1>Index</h1>{_TEXT}",
        "<div>" * 3000 + _TEXT,
        "<b><font>" * 300 + _TEXT,
        "<main><ins><x-part>" * 2000 + _TEXT,
        f"<frameset><frame src='a'><noframes><body>{_TEXT}</body></noframes></frameset>",
        f"<dialog>{_TEXT}</dialog>",
        "".join(f"<span style='display:block'>{each}</span>" for each in _SENTENCES),
        "".join(f"<x-line>{each}</x-line>" for each in _SENTENCES),
        f"{_MOST}<div class='note'><table><tr><td><img></td><td>{_SENTENCES[3]}</td></tr></table></div>",
        f"{_MOST}<table><tr><th>Note</th></tr><tr><td>{_SENTENCES[3]}</td></tr></table>",
        f"{_MOST}<div role='tabpanel' hidden><p>{_SENTENCES[3]}</p></div>",
        f"{_MOST}<div hidden='until-found'><p>{_SENTENCES[3]}</p></div>",
        f"{_MOST}<section id='menu'><h2>Menu</h2><p>{_SENTENCES[3]}</p></section>",
        f"<script>{'x' * 11_000_000}</script>{_TEXT}",
    ],
    ids=lambda page: page[:20],
)  # fmt: skip
def test_what_holds_most_of_a_page_is_read(page):
    content = read_markup(f"<html><head><title>Water</title></head><body>{page}</body></html>")
    text = "\n".join(section.text for section in content.sections)
    assert [each for each in _SENTENCES if each not in text] == []
    assert "Home" not in text


@pytest.mark.parametrize(
    "furniture",
    [
        "<form>Search all of the manual for: <input></form>",
        f"<nav>{_MENU}<p>Here you find all other pages.</p></nav>",
        "<div hidden>Only programs read what is hidden here.</div>",
        "<dialog><p>This page asks whether it may keep cookies.</p></dialog>",
        "<div role='alertdialog'><p>This page asks whether it may keep cookies.</p></div>",
        "<table><tr><td>The flow of the first pump</td><td>17</td></tr></table>",
        "<table><tr><td>The table below holds the flow of the pumps of the house.</td></tr>"
        + "<tr><th>First</th><td>17</td></tr></table>",
        "<div class='listing'>open the valve; close the valve;</div>",
        "<ol class='linenums'><li>open all the valves</li><li>close all the valves</li></ol>",
        "<div class='code-toolbar'><div>open all the valves</div></div>",
        "<div style='white-space: pre'>open all the valves\n  close them</div>",
        "<p><code>pump --flow 3 --tank roof</code></p>",
        "<p style='font-family: monospace'>pump --flow 3 --tank roof</p>",
        "<h2>References[edit]</h2><p>Smith, A. (2009). On the pumps of the roof.</p>",
        "<h2>7. Literature cited ¶</h2><p>Smith, A. (2009). On the pumps of the roof.</p>",
        "<h2>Revision history</h2><p>In March all the valves were added.</p>",
        "<h2>Notes and references</h2><p>Smith, A. (2009). On the pumps of the roof.</p>",
        "<p><b>References</b></p><p>Smith, A. (2009). On the pumps of the roof.</p>",
        "<div class='reflist'><p>Smith, A. (2009). On the pumps of the roof.</p></div>",
    ],
)
def test_what_surrounds_the_text_is_left_out(furniture):
    assert _paragraphs(f"<h1>Pumps</h1>{_TEXT}{furniture}") == _SENTENCES


def test_what_a_style_displays_as_a_block_is_a_paragraph():
    text = "".join(f"<span style='Display: Block'>{each}</span>" for each in _SENTENCES)
    assert _paragraphs(text) == _SENTENCES


def test_headings_nest_by_their_level_and_sections_have_anchors():
    content = read_markup(
        f"<h1>Water</h1><h2>Pumps</h2><h3>Flow</h3><h4 id='a'>Small</h4><h5>Parts</h5><h6>Valves</h6>{_MOST}"
        f"<article id='b'><h3>Price</h3>{_TEXT}</article><h3><a name='c'></a>Sales</h3>{_TEXT}"
    )
    assert [(section.anchor, section.headings) for section in content.sections] == [
        ("1", ("Water", "Pumps", "Flow", "Small", "Parts", "Valves")),
        ("b", ("Water", "Pumps", "Price")),
        ("c", ("Water", "Pumps", "Sales")),
    ]


def test_a_paragraph_after_code_is_no_code():
    assert _paragraphs("<p>Call <code>pump</code> first.</p><p>All the pumps of the house</p>")[1:] == [
        "All the pumps of the house"
    ]


def test_only_sentences_are_read_of_furniture_that_holds_the_page():
    content = read_markup(f"<nav>{_TEXT}<p>All about many pumps</p></nav>")
    assert content.left_out[FURNITURE] == 1


def test_code_without_pre_is_counted():
    content = read_markup(
        f"{_TEXT}<div class='console'>$ pump start</div><p><tt>pump stop now please</tt></p>"
    )
    assert content.left_out[CODE] == 2


def test_the_share_of_a_page_that_became_prose_is_known():
    assert read_markup(_TEXT).prose_share == 1
    rows = "<tr><td>The flow of this pump</td><td>17</td></tr>" * 300
    assert 0 < read_markup(f"{_TEXT}<table>{rows}</table>").prose_share < 0.2


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("x = read(pump); if (x > 3) { open(valve); } return x;", True),
        ("$ pump start --flow 3", True),
        (">>> pump.start(flow=3)", True),
        ("In [3]: pump.start()", True),
        ("for (int i = 0; i < n; i++) { lift(water[i]); }", True),
        (
            "Call pump.start(), then pump.stop(), and read the flow with the option --flow of the command.",
            False,
        ),
        ("The flow is small; the valve closes; the tank empties; then all begins again.", False),
        ("In winter the pipes are emptied", False),
        ('Traceback (most recent call last): File "pump.py", line 5, in lift', True),
        ("SELECT pump, tank FROM wells WHERE water > 5 ORDER BY tank;", True),
        ("--- a/pump.py +++ b/pump.py @@ -1,3 +1,3 @@", True),
        ('<div class="pump">Water of the tank</div>', True),
        ("+------+------+ | pump | tank of the house |", True),
        ("SELECT is what a query from the tank begins with", False),
        ("<Enter> ends the line that you have written", False),
    ],
)
def test_code_is_told_by_its_signs(text, is_code):
    assert reads_as_code(text) is is_code


def test_a_broken_declaration_costs_nothing():
    assert (
        _paragraphs(f'<?xml version="1.0" encoding="utf-8"><html><body>{_TEXT}</body></html>') == _SENTENCES
    )


@pytest.mark.parametrize(
    ("markdown", "text", "gaps"),
    [
        (r"of $\frac{a}{b}$ at all", f"of {GAP} at all", 1),
        ("of $n$ at all", "of n at all", 0),
        ("of $3$ at all", "of 3 at all", 0),
        ("of {math}`n` at all", "of n at all", 0),
        ("of {term}`head` at all", "of head at all", 0),
        ("of {ref}`the head <pump-head>` at all", "of the head at all", 0),
        ("of {func}`~pumps.lift` at all", "of \N{INVISIBLE SEPARATOR}lift at all", 0),
        ("of {name} at all", "of {name} at all", 0),
        ("of $5 and $7 at all", "of $5 and $7 at all", 0),
        ("of $HOME and $PATH at all", "of $HOME and $PATH at all", 0),
        (r"of $\{a_i\}_{i=1}^n$ and $b_i c_i$ at all", f"of {GAP} and b_i c_i at all", 1),
        (r"of \(a_i b_i\) at all", "of a_i b_i at all", 0),
        (r"of \(a_i\), \[see the list\] and \(them\) at all", "of a_i, [see the list] and (them) at all", 0),
        (r"of $`\frac{a}{b}`$ at all", f"of {GAP} at all", 1),
        ("of $$a*b*c$$ at all", "of a*b*c at all", 0),
        ("of $a + b = c$ if $0 < p < 1$ at all", "of a + b = c if 0 < p < 1 at all", 0),
        ("of $3 + $4 = $7 in $A=$HOME at all", "of $3 + $4 = $7 in $A=$HOME at all", 0),
        ('of {{< ref "a.md" >}} at all', f"of {GAP} at all", 1),
        (
            "of {{ pump.name }} and `{{ x }}` at all",
            f"of {GAP} and \N{INVISIBLE SEPARATOR}{{{{ x }}}} at all",
            1,
        ),
        ("of [[Pump#head|the head]], [[Valve]] and x[[1]] at all", "of the head, Valve and x[[1]] at all", 0),
        (r"this: $\frac{a}{b}$ at all", f"this: {GAP} at all", 1),
        ("of [it](https://a.b/{{ c }}) and ![[a.png]] at all", f"of it and {GAP} at all", 1),
        ("of ==all== pumps, if a == b == c, at all", "of all pumps, if a == b == c, at all", 0),
        ("of pumps[^1] at all", "of pumps at all", 0),
        ("of [pumps](a.md){.wide target=_blank} at all", "of pumps at all", 0),
        ("of %%that is a guess%%:material-check: pumps at 12:30 at all", "of pumps at 12:30 at all", 0),
        ("of ~~small~~ large pumps at all", "of large pumps at all", 0),
        ("of ![a pump](a.png) at all", f"of {GAP} at all", 1),
        ("of <kbd>Enter</kbd> at all", "of \N{INVISIBLE SEPARATOR}Enter at all", 0),
    ],
)
def test_formulas_and_pictures_of_markdown(markdown, text, gaps):
    content = read_markdown(f"# Pumps\n\nThe flow is {markdown} times.\n\n[^1]: Yes, all.\n".encode())
    assert content.sections[0].text == f"The flow is {text} times."
    assert content.gaps == gaps


@pytest.mark.parametrize(
    "markdown",
    [
        "> [!NOTE]\n> {}",
        "```{{note}}\n{}\n```",
        ":::{{warning}}\n{}\n:::",
        ":::tip\n{}\n:::",
        "```{{glossary}}\nHead\n\n    {}\n```",
        '!!! note "Salt water"\n    {}',
        "??? tip\n\n    {}",
        '=== "Salt"\n\n    {}\n\n=== "Code"\n\n    ```c\n    pump();\n    ```',
        "> [!note]- Two things\n> {}",
        "::: {{.note}}\n{}\n:::",
        "Head\n:   {}",
        "Hm.[^a]\n\n[^a]: {}",
        "import Tabs from '@a/Tabs';\n\n<Tabs>\n\n{}\n\n</Tabs>\n\n{{/* a note on pumps of all kinds */}}",
        "{{{{< hint info >}}}}\n{}\n{{{{< /hint >}}}}",
        '{{% hint style="info" %}}\n{}\n{{% endhint %}}\n{{: .wide}}',
        "```{{code-block}} c\nthe pump lifts water;\n```\n\n{}",
        "{{% highlight c %}}\nthe pump lifts water;\n{{% endhighlight %}}\n{}",
        "- [x] {}",
        "% a comment of the author\n\n-   :material-clock:{{ .lg }} __Fast__\n\n    ---\n\n    {}",
        '*[HTML]: The language of pages\n\n--8<-- "pumps of all kinds.md"\n\n{}',
    ],
)
def test_notes_of_markdown_are_prose_without_their_signs(markdown):
    note = "Salt water wears pumps. It is pumped in winter."
    content = read_markdown(f"# Pumps\n\n{markdown.format(note)}\n".encode())
    assert content.sections[0].text == note


@pytest.mark.parametrize("named", ['epub:type="noteref"', 'role="doc-noteref"', 'class="footnote"'])
def test_the_number_of_a_note_is_no_text(named):
    first, second, *_ = _SENTENCES
    page = f'<p>{first}<a href="b.xhtml#n1" {named}>1</a> {second[:-1]}<a {named} href="#n2">*</a>.</p>'
    (section,) = read_markup(page).sections
    assert section.text == f"{first} {second}"


@pytest.mark.parametrize(
    "end", ["</body></html>", "</BODY>\n</HTML >", "</body></html><html><body>", "</html>"]
)
def test_text_after_the_end_of_a_page_is_read(end):
    first, second, *_ = _SENTENCES
    content = read_markup(f"<html><body><p>{first}</p>{end}\n<p>{second}</p></body></html>")
    assert [each.text for each in content.sections] == [f"{first}\n\n{second}"]


def test_quoted_words_have_quotes():
    page = "<p>The crew calls it <q>the heart of <i>all</i> pumps</q>, and the men say <q>so</q>.</p>"
    (section,) = read_markup(page).sections
    assert section.text == 'The crew calls it "the heart of all pumps", and the men say "so".'


def test_a_block_that_is_shown_in_its_line_ends_no_paragraph():
    first, second, *_ = _SENTENCES
    split = first.replace("a tank", '<div style="display: inline"><span>a tank</span></div>')
    page = f"<div>{split} {second}</div><div>{first}<div style='display:inline-block'>{second}</div></div>"
    both, *_ = read_markup(page).sections
    assert both.text.split("\n\n") == [f"{first} {second}", first, second]


@pytest.mark.parametrize(
    "front",
    [
        '---\ndate: 2026-05-04\ntitle: "Water"\n---',
        "--- \n\n# the page\ntitle: Water\n---",
        "+++\ntitle = 'Water'\ndraft = false\n+++",
    ],
    ids=["YAML", "blanks", "TOML"],
)
def test_fields_before_markdown_give_its_title(front):
    content = read_markdown(f"{front}\n{_SENTENCES[0]}\n".encode())
    assert (content.title, content.sections[0].text) == ("Water", _SENTENCES[0])


@pytest.mark.parametrize("rule", ["---", "---  ", "+++"])
def test_text_between_rules_is_no_front_matter(rule):
    first, second, *_ = _SENTENCES
    content = read_markdown(f"{rule}\n\n{first}\n\n{rule}\n\n{second}\n".encode())
    assert [(first in each.text, second in each.text) for each in content.sections] == [(True, True)]


@pytest.mark.parametrize("end", ["", "```\n"])
def test_what_markdown_fences_is_code_to_the_end_of_the_page_if_nothing_closes_it(end):
    code = "\n".join(f"{each} # it is all the same to the pump, it starts." for each in range(30))
    content = read_markdown(f"{_SENTENCES[0]}\n\n```sh\n{code}\n{end}".encode())
    assert [each.text for each in content.sections] == [_SENTENCES[0]]
    assert content.left_out == {CODE: 1} and content.prose_share < 0.1


@pytest.mark.parametrize("end", ["", "`````\n"])
def test_a_note_of_markdown_that_nothing_closes_is_text(end):
    content = read_markdown(f"```{{note}}\n{_SENTENCES[0]}\n\n{_SENTENCES[1]}\n{end}".encode())
    assert content.sections[0].text.split("\n\n") == _SENTENCES[:2]


def test_colons_that_nothing_closes_hide_no_note_of_markdown_below_them():
    note = f"```{{note}}\n{_SENTENCES[1]}\n```\n"
    content = read_markdown(f":::{{warning}}\n{_SENTENCES[0]}\n\n{note}".encode())
    assert content.sections[0].text.split("\n\n") == _SENTENCES[:2] and not content.left_out


def test_substitutions_lines_and_templates_of_restructured_text():
    source = (
        b"P\n=\n\n.. |a| replace:: salt\n   water\n.. |b| image:: b.png\n   :alt: b\n\n"
        b"{% if all %}\n| The |a| wears the |b| of\n"
        b"| version |version| as |x| says.\n\n{% endif %}\n"
    )
    (section,) = read_restructured(source).sections
    assert section.text == f"The salt water wears the {GAP} of version {GAP} as x says."


def test_what_is_left_out_of_restructured_text_is_counted():
    code = (
        ".. code-block:: c\n\n   pump();\n\nRun this::\n\n   pump\n\n>>> pump\n1\n\n==  ==\na   b\n==  ==\n"
    )
    content = read_restructured(f"{_SENTENCES[0]}\n\n{code}\n.. math:: q = 1\n\n.. a remark\n".encode())
    assert content.sections[0].text == _SENTENCES[0]
    assert content.left_out == {CODE: 4, FORMULAS: 1, DIRECTIVES: 1}


def test_a_reason_that_left_nothing_out_is_not_counted():
    content = read_restructured(f"The pumps are of two kinds::\n\n{_SENTENCES[0]}\n".encode())
    assert dict(content.left_out) == {}


def test_formulas_of_restructured_text():
    content = read_restructured(rb"The flow :math:`q` is :math:`\frac{a}{b}` at all of the times.")
    assert content.sections[0].text == f"The flow q is {GAP} at all of the times."
    assert content.gaps == 1


@pytest.mark.parametrize("listing", ["<pre><code>{}</code></pre>", "<pre class='rust'>{}</pre>"])
def test_a_page_of_few_sentences_and_much_code_keeps_its_sentences(listing):
    code = (
        "let flow = pump.start(3);\nif flow > 2 {\n    valve.close();\n}\n\n// a remark on the valve\n" * 40
    )
    assert _paragraphs(f"<p>{_SENTENCES[0]}</p>{listing.format(code)}") == _SENTENCES[:1]


@pytest.mark.parametrize("count", [4, 12])
def test_of_a_notebook_whose_code_is_most_of_the_page_the_text_is_read(count):
    code = "import os.path\nimport pumps as pd\nfrom flows.models import Pump\nfrom flows import families\n"
    cell = "<div class='{}'><div class='highlight'><pre>{}</pre></div></div>"
    cells = [
        cell.format("input_area", code),
        cell.format("output_area", "Pump: 39  Model: Valve  Scale: 1.0"),
    ]
    assert _paragraphs(_TEXT + "".join(cells) * count) == _SENTENCES


def test_a_page_of_text_that_is_set_as_it_is_is_read():
    text = "\n\n".join(each.replace(" a ", "\n   a ") for each in _SENTENCES)
    assert (
        _paragraphs(f"<p>Memo</p><pre>{text}\n\n    +---+--+\n    | a |b |\n    +---+--+\n</pre>")
        == _SENTENCES
    )


_LINE = '<div class="line"><span class="lineno">{0}</span> * The valve of {0} may be closed.</div>'


@pytest.mark.parametrize("code", [
    '<div class="fragment">' + "".join(map(_LINE.format, range(40))) + "</div>",
    '<div class="memproto"><table><tr><td>void close_valve ( Pump pump )</td></tr></table></div>',
    '<div class="ttc"><div class="ttdef">Definition: valves.h:81</div></div>',
    '<div class="stab unstable">This is an experimental valve of the house.</div>',
    '<div class="member-signature"><span>public static Pump</span> <span>openPump()</span></div>',
    '<div class="summary-table"><div><code>Valve.close(Pump pump)</code></div><p>Closes it.</p></div>',
])  # fmt: skip
def test_pages_made_of_source_code_give_no_listing_and_no_signature(code):
    assert _paragraphs(f"{code}<p>{_SENTENCES[0]}</p>") == [_SENTENCES[0]]
    content = read_markup(f"<h1>Valves</h1>{code}")
    assert not any(section.text for section in content.sections)
    assert content.left_out[CODE] >= 1


def test_labels_for_the_eye_or_the_reader_are_no_text_of_a_page_with_little_text():
    labels = "<label><div class='visually-hidden'>Toggle child pages in navigation</div></label>" * 30
    assert _paragraphs(f"{labels}<h1>Pumps</h1><p>{_SENTENCES[0]}</p>") == [_SENTENCES[0]]


def test_a_fragment_of_slides_is_text():
    slide = f'<p class="fragment">{_SENTENCES[0]}</p><div class="fragment">{_SENTENCES[1]}</div>'
    assert _paragraphs(slide) == _SENTENCES[:2]
