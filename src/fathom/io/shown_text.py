"""Text of others as messages show it: nothing that a terminal would obey, no logins, no keys.

Names of files, cells of tables and answers of services may hold any sign.
"""

import re

_LOGIN = re.compile(r"([A-Za-z][\w+.-]*:/{1,2}|(?<![\w/:])//)(?:[^\s/]*|[^\s/:]*:(?!\d+/)\S*)@")
_KEY = re.compile(r"(?i)([?&;][\w.-]*(?:key|token|secret|passw|auth)[\w.-]*=)[^\s&;#]+")
_KEPT = "\n\t"
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Signs that steer a terminal, or turn the direction of what follows."""


def show_text(text: str) -> str:
    r"""Return text without logins and keys in addresses; signs that steer a terminal are escaped.

    Lines and tabs stay.

    Examples
    --------
    >>> show_text("a\x1b[2J of https://me:secret@host/v1?api_key=secret")
    'a\\x1b[2J of https://***@host/v1?api_key=***'
    """
    plain = _KEY.sub(r"\1***", _LOGIN.sub(r"\1***@", text))
    return _ODD.sub(lambda found: found[0] if found[0] in _KEPT else ascii(found[0])[1:-1], plain)
