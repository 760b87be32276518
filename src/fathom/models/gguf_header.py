"""The header of a GGUF file: metadata and places of tensors, with each number checked against its size.

The format is that of https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3.
GGUFReader of the package gguf is not used: it checks no counts, so 94 bytes that promise an array of 2 **
60 numbers make it fill all memory, and it makes an object of each token.
"""

import mmap
import struct
from collections.abc import Collection
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from fathom.errors import InputError
from fathom.io.files import refuse_stand_in, require_file

TOKENS = "tokenizer.ggml.tokens"
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_MOST_DIMENSIONS = 4  # ggml's own limit
_MOST_ALIGNMENT = 1 << 20
_LEAST_ENTRY, _LEAST_TENSOR = 13, 32  # bytes of the shortest metadata entry, and of a tensor's line
_AGAIN = "copy or fetch the file again"


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file, from byte `start` on; shape with rows first, `kind` as ggml numbers formats."""

    name: str
    shape: tuple[int, ...]
    kind: int
    start: int
    size: int


@dataclass(frozen=True)
class Header:
    """Metadata by key, and tensors; arrays of strings are their lengths, see :func:`read_header`."""

    metadata: dict[str, Any]
    tensors: tuple[StoredTensor, ...]

    @property
    def architecture(self) -> str:
        """Llama.cpp's name of the architecture."""
        return str(self.metadata["general.architecture"])

    def get_own(self) -> dict[str, Any]:
        """Return the metadata of the architecture, without its name before each key."""
        start = f"{self.architecture}."
        return {
            key.removeprefix(start): value for key, value in self.metadata.items() if key.startswith(start)
        }


def read_header(path: Path, whole: Collection[str] = ()) -> Header:
    """Read the header of a GGUF file; of arrays of strings only the length, except for keys in `whole`.

    Raise `InputError` if the file is no GGUF, cut short or damaged, or holds no whole language model.
    """
    refuse_stand_in(require_file(path))
    if path.stat().st_size < 24:
        raise InputError("not a GGUF file: it is too short", str(path), _AGAIN)
    with (
        path.open("rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        header = _Reader(content, path).read(whole)
    _check_kind(header, path)
    return header


class _Reader:
    def __init__(self, content: mmap.mmap, path: Path) -> None:
        self._content, self._path, self._place = content, path, 0

    def read(self, whole: Collection[str]) -> Header:
        """Read metadata and tensors; of arrays of strings only the length, except for keys in `whole`."""
        if self._content[:4] != b"GGUF":
            raise InputError("not a GGUF file: it does not start with GGUF", str(self._path), _AGAIN)
        self._place = 4
        version, tensors, entries = self._unpack("<IQQ")
        if version not in (2, 3):
            what = f"GGUF of version {version if version < 1 << 16 else 'for another byte order'}"
            hint = "only versions 2 and 3 are read: convert it again with a newer llama.cpp"
            raise InputError(what, str(self._path), hint)
        self._check(entries * _LEAST_ENTRY + tensors * _LEAST_TENSOR)
        metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self._read_string()
            if key in metadata:
                raise self._fail(f"has {key!r} twice")
            metadata[key] = self._read_value(self._unpack("<I")[0], key in whole)
        if not isinstance(metadata.get("general.architecture"), str):
            raise self._fail("names no architecture")
        lines = [self._read_tensor() for _ in range(tensors)]
        return Header(metadata, self._place_tensors(lines, metadata.get("general.alignment", 32)))

    def _place_tensors(
        self, lines: list[tuple[str, tuple[int, ...], int, int]], alignment: Any
    ) -> tuple[StoredTensor, ...]:
        """Return where tensors lie in the file; refuse those that extend beyond it."""
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

        if not isinstance(alignment, int) or not 0 < alignment <= _MOST_ALIGNMENT:
            raise self._fail(f"has general.alignment = {alignment!r}")
        first = -(-self._place // alignment) * alignment
        if len({name for name, *_ in lines}) < len(lines):
            raise self._fail("has a tensor twice")
        found = []
        for name, shape, kind, offset in lines:
            if kind not in set(GGMLQuantizationType):
                what = f"tensor {name} is in a format of number {kind}, which the package gguf does not know"
                hint = "use a file in another quantisation; a newer format needs a newer gguf"
                raise InputError(what, str(self._path), hint)
            values, size = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
            if not shape or min(shape) < 1 or shape[-1] % values:
                raise self._fail(f"has a tensor {name} of shape {shape}")
            tensor = StoredTensor(name, shape, kind, first + offset, prod(shape) // values * size)
            if tensor.start + tensor.size > len(self._content):
                raise InputError(
                    f"the file is cut short: tensor {name} ends at byte {tensor.start + tensor.size:,}, "
                    f"the file at {len(self._content):,}",
                    str(self._path),
                    _AGAIN,
                )
            found.append(tensor)
        return tuple(found)

    def _read_tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._read_string()
        (count,) = self._unpack("<I")
        if count > _MOST_DIMENSIONS:
            raise self._fail(f"has a tensor {name} of {count} dimensions")
        shape = self._unpack(f"<{count}Q")
        kind, offset = self._unpack("<IQ")
        return name, tuple(reversed(shape)), kind, offset

    def _read_value(self, kind: int, whole: bool) -> Any:
        """Read a value of the metadata; of an array of strings the length, unless it is to be whole."""
        if kind in _NUMBERS:
            return self._unpack(f"<{_NUMBERS[kind]}")[0]
        if kind == _STRING:
            return self._read_string()
        if kind != _ARRAY:
            raise self._fail(f"has a value of type {kind}")
        each, count = self._unpack("<IQ")
        if each in _NUMBERS:
            self._check(count * struct.calcsize(f"<{_NUMBERS[each]}"))
            return list(self._unpack(f"<{count}{_NUMBERS[each]}"))
        if each != _STRING:
            raise self._fail(f"has an array of type {each}")
        self._check(8 * count)
        if whole:
            return [self._read_string() for _ in range(count)]
        for _ in range(count):
            self._skip(*self._unpack("<Q"))
        return count

    def _read_string(self) -> str:
        (size,) = self._unpack("<Q")
        start = self._skip(size)
        try:
            return self._content[start : start + size].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._fail(f"has a text at byte {start:,} that is not UTF-8") from error

    def _unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack_from(form, self._content, self._skip(struct.calcsize(form)))

    def _skip(self, size: int) -> int:
        """Advance by some bytes; return where they start."""
        self._check(size)
        start, self._place = self._place, self._place + size
        return start

    def _check(self, size: int) -> None:
        if self._place + size > len(self._content):
            raise InputError(
                f"the file is cut short: byte {self._place + size:,} is asked for, it has "
                f"{len(self._content):,}",
                str(self._path),
                _AGAIN,
            )

    def _fail(self, problem: str) -> InputError:
        return InputError(f"the file is damaged: its header {problem}", str(self._path), _AGAIN)


def _check_kind(header: Header, path: Path) -> None:
    kind = header.metadata.get("general.type", "model")
    if kind == "adapter":
        raise InputError(
            "this GGUF file holds an adapter",
            str(path),
            "name the adapter's folder of PEFT (adapter_config.json), with its base in adapter_of or --base",
        )
    if kind != "model" or not header.tensors:
        what = "no weights" if kind == "model" else f"{kind!r}"
        raise InputError(
            f"this GGUF file holds {what}, not a language model", str(path), "check the file's name"
        )
    if header.metadata.get("split.count", 1) > 1:
        hint = "join the parts: llama-gguf-split --merge FIRST_PART OUTPUT"
        raise InputError("this GGUF file is only a part of a model", str(path), hint)
