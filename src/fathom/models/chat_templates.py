"""Chat templates, filled in on one fixed day and without chance: scores must be the same each time."""

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fathom.errors import InputError
from fathom.jobs.bounded_calls import render_bounded

_DAY = datetime(2024, 7, 26, tzinfo=UTC)  # the date that Llama's templates fall back to
_FORMATS = (*"aAbBcdDeFHIjmMpSTuUVwWxXyYzZ%", "-d", "-m", "-H", "-I", "-M", "-S", "-j", "-y")
_PARTS = json.dumps({part: _DAY.strftime(f"%{part}") for part in _FORMATS})
# a macro of the template itself hides transformers' function of the same name, which asks the clock
_CLOCK = (
    "{%- macro strftime_now(format) -%}{%- set parts = " + _PARTS + " -%}"
    "{%- set each = namespace(code=none) -%}{%- for one in format -%}"
    "{%- if each.code is none and one == '%' -%}{%- set each.code = '' -%}"
    "{%- elif each.code is none -%}{{ one }}"
    "{%- elif one == '-' -%}{%- set each.code = '-' -%}"
    "{%- else -%}{{ parts[each.code ~ one] }}{%- set each.code = none -%}{%- endif -%}"
    "{%- endfor -%}{%- endmacro -%}"
)


def fill_template(
    tokenizer: Any, messages: Sequence[dict[str, str]], answers: bool = False, may_refuse: bool = False
) -> str:
    """Return messages in a tokenizer's chat template.

    Whatever the template asks for the date, `date_string` or `strftime_now`, it is 26 July 2024, 00:00 UTC.
    What it chooses at random, by the filter `random` or by `lipsum`, is the same each time.

    Parameters
    ----------
    may_refuse : bool, default=False
        The text is empty where the template raises an error, its own way to refuse a role.

    Raises
    ------
    InputError
        If the template cannot be rendered, or does not end in the time and memory of
        :func:`fathom.jobs.bounded_calls.render_bounded`.
    """
    from jinja2.exceptions import TemplateError

    render: Callable[[], str] = partial(
        tokenizer.apply_chat_template,
        list(messages),
        chat_template=_CLOCK + tokenizer.get_chat_template(),
        add_generation_prompt=answers,
        tokenize=False,
        date_string=_DAY.strftime("%d %b %Y"),
    )
    try:
        with _same_choices():
            return render_bounded(render)
    except Exception as error:  # of any kind: a template is a program
        if may_refuse and isinstance(error, TemplateError):
            return ""
        reason = "it takes too much memory" if isinstance(error, MemoryError) else str(error).strip()
        raise InputError(
            f"the chat template cannot be rendered: {reason or type(error).__name__}",
            str(tokenizer.name_or_path),
            "mend chat_template.jinja, or the key chat_template of tokenizer_config.json; or score the model "
            "without it",
        ) from error


def require_one_template(tokenizer: Any) -> None:
    """Raise `InputError` if a tokenizer has several chat templates and none is the default."""
    named = tokenizer.chat_template
    if isinstance(named, dict) and "default" not in named:
        raise InputError(
            f"the tokenizer has chat templates for {', '.join(sorted(named)) or 'nothing'}, and no default",
            str(tokenizer.name_or_path),
            "write the one to use to chat_template.jinja beside it; or score the model without it",
        )


@contextmanager
def _same_choices() -> Iterator[None]:
    """Let Jinja, which chooses by Python's own generator, choose the same each time; put its state back."""
    state = random.getstate()
    random.seed(0)
    try:
        yield
    finally:
        random.setstate(state)
