"""The environment of a compute node on this machine: no network, no home that can be written, scratch."""

from collections.abc import Collection
from pathlib import Path

from fathom.io.files import make_folder, write_text

_MODULE = '''"""Python imports this first; programs of rules that are not local find a compute node."""

import errno
import os
import re
import socket
import sys

_LOCAL = {local!r}
_LOG = re.compile(r"/logs/(\\w+)")


def _refuse(self, address):
    raise OSError(errno.ENETUNREACH, "a compute node has no network")


def _find_rule(words):
    for option, value in zip(words, words[1:]):
        if option == "--log":
            found = _LOG.search(value)
            return found and found[1]
    return None


_rule = _find_rule(sys.orig_argv)
if _rule and _rule not in _LOCAL:
    os.environ.update(HF_HUB_OFFLINE="1", HOME={home!r}, FATHOM_SCRATCH={scratch!r})
    socket.socket.connect = _refuse
'''


def write_node(folder: Path, local: Collection[str]) -> Path:
    """Write the module that makes a compute node of this machine; return the folder for PYTHONPATH."""
    make_folder(folder)
    home, scratch = folder / "home", folder / "scratch"
    make_folder(scratch)
    write_text(home, "a file: nothing can be written into it\n")
    text = _MODULE.format(local=sorted(local), home=str(home.absolute()), scratch=str(scratch.absolute()))
    write_text(folder / "sitecustomize.py", text)
    return folder
