"""Measure bits per byte of any text by any models, and show where they differ.

Takes texts as `fathom build` does (folders and files of documents, tables, data sets of the hub) and models
as `fathom score` does. All are measured on the same bytes; the model that needs the fewest bits predicts
the text best. --output writes a folder with tables and a page, index.html, that shows the words and
passages where models differ most; a stopped run, repeated, keeps the models that it had finished.
"""

import argparse
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fathom.commands import verbs
from fathom.commands.score import add_model_options, add_server_options, add_tokenizer_option, find_models
from fathom.io.names import show_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from fathom.config.scoring import Perplexity
    from fathom.models.open_model import OpenModel
    from fathom.scoring.text_bits import Comparison

EXAMPLES = (
    "fathom bits docs --models gpt2",
    "fathom bits opinions.csv --text body --models gpt2,path/to/model --output bits",
)


def add_verb(into: "verbs.Verbs") -> None:
    """Add `fathom bits`."""
    parser = verbs.add_verb(into, "bits", __doc__, run, EXAMPLES)
    parser.add_argument(
        "texts",
        nargs="+",
        metavar="TEXT",
        help="folder or file of documents, table, or hub:NAME[:CONFIGURATION][@COMMIT]",
    )
    parser.add_argument("--models", required=True, help="comma-separated, each as for `fathom score`")
    parser.add_argument("--output", type=Path, help="folder to write, new or empty: tables and a page")
    parser.add_argument("--text", metavar="COLUMN", help="column of tables that holds the text")
    parser.add_argument(
        "--max-characters",
        type=verbs.count_from_one,
        default=1_000_000,
        help="characters to read, in whole documents drawn by a hash of their ids; 1,000,000",
    )
    parser.add_argument("--window", type=verbs.count_from_one, help="tokens given to a model at once; 1,024")
    parser.add_argument("--stride", type=verbs.count_from_one, help="tokens scored in a window; half of it")
    add_model_options(parser)
    add_tokenizer_option(add_server_options(parser))


def run(arguments: argparse.Namespace) -> None:
    """Read the texts, measure one model after the other, print a table; write the folder."""
    from fathom.corpus.held_out import limit_texts
    from fathom.corpus.own_texts import HUB, find_door, read_texts
    from fathom.explorer.bits_page import write_bits_page
    from fathom.io.files import require_empty, write_atomically
    from fathom.jobs.program import require_extra
    from fathom.scoring.text_bits import compare_on_texts, measure_texts, write_text_bits

    require_extra("models", "fathom bits")
    if arguments.output:
        require_empty(arguments.output, "--output")
    settings = _read_settings(arguments)
    for source in arguments.texts:  # before a model is fetched
        if not source.startswith(HUB):
            find_door(source)
    models = _find_models(arguments)
    columns = {"text": arguments.text} if arguments.text else {}
    texts, sources = read_texts(arguments.texts, columns, settings.max_characters)
    chosen = limit_texts(texts, settings.max_characters)
    kept = _name_kept(arguments.output) if arguments.output else None
    comparison = compare_on_texts(measure_texts(models, chosen, settings, kept), chosen)
    told = _describe_texts(sources, len(texts) - len(chosen))
    print("\n".join([*describe(comparison), *told]))
    if arguments.output:
        with write_atomically(arguments.output) as folder:
            folder.mkdir()
            write_text_bits(folder, comparison, sources, settings)
            write_bits_page(folder / "index.html", comparison, told)
        if kept is not None:
            shutil.rmtree(kept)
        print(f"Page: {arguments.output / 'index.html'}")


def _name_kept(output: Path) -> Path:
    output = output.absolute()
    return output.with_name(f".{output.name}.partial")


def _read_settings(arguments: argparse.Namespace) -> "Perplexity":
    from fathom.config.scoring import Perplexity
    from fathom.config.section import check_values

    window = arguments.window or Perplexity().window
    stride = arguments.stride or max(1, window // 2)
    given = {"max_characters": arguments.max_characters, "window": window, "stride": stride}
    return check_values(given, Perplexity, "--max-characters, --window, --stride")


def _find_models(arguments: argparse.Namespace) -> "dict[str, Callable[[], OpenModel]]":
    """Return a function that opens each model, by name; refuse unknown models before any is read."""
    from fathom.errors import InputError
    from fathom.models.served import ServedModel
    from fathom.scoring.text_bits import refuse_texts

    names = [each for each in arguments.models.split(",") if each]
    if not names:
        raise InputError("no model is named", "--models", "such as smollm2")
    found = find_models(names, arguments)
    for open_model in found.values():
        model = open_model()  # loads nothing
        if isinstance(model, ServedModel):
            refuse_texts(model)
    return found


def describe(comparison: "Comparison") -> list[str]:
    """Return the answer, and a line for each model with its difference from the best."""
    best, letters = comparison.order[0], comparison.letters
    rows = [["model", "bits per byte", "interval", "more than the best", "interval", ""]]
    gaps = {each.worse: each for each in comparison.differences if each.better == best}
    for model in comparison.order:
        value, low, high = comparison.estimate(model)
        row = [model, f"{value:.4f}", _show_interval(low, high)]
        if gap := gaps.get(model):
            row += [f"{gap.value:.4f}", _show_interval(gap.low, gap.high), letters[model]]
        else:
            row += ["", "", letters[model]]
        rows.append(row)
    return [comparison.answer, *verbs.align_columns(rows), f"{comparison.extent}."]


def _show_interval(low: float, high: float) -> str:
    return "-" if math.isnan(low) else f"[{low:.4f}, {high:.4f}]"


def _describe_texts(sources: Sequence[Mapping[str, Any]], over: int) -> list[str]:
    lines = []
    for each in sources:
        left_out = each["left_out"]
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in left_out.items()) or "nothing"
        commit = f" at {each['commit']}" if "commit" in each else ""
        lines.append(
            f"{each['source']}{commit}: {show_count(each['documents'], 'document')}; left out: {reasons}"
        )
    if over:
        lines.append(f"{show_count(over, 'document')} beyond --max-characters")
    return lines
