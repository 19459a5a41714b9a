"""Make a piece of damaged JSON valid, where its meaning is certain."""

from __future__ import annotations

import codecs
import math
import re
from dataclasses import dataclass

import msgspec

from rung.trace.warnings import Code

UNDECODABLE = (msgspec.DecodeError, RecursionError)
"""What strict decoding raises: the text is damaged, of another shape, or nested a thousand levels deep."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A piece of JSON text after repair, and where each kind of damage first was in the text before."""

    text: bytes
    damage: dict[Code, int]


def is_utf8(data: bytes, chunk: int = 1 << 20) -> bool:
    """Whether the bytes are UTF-8 throughout, checked in chunks so that no copy of a big file is made."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), chunk):
            decoder.decode(data[start : start + chunk])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def repair_text(text: bytes) -> Repair:
    """Repair the strings and numbers of a piece of JSON; what is between them stays as it is."""
    damage: dict[Code, int] = {}

    def fix(match: re.Match[bytes]) -> bytes:
        token = match.group()
        if token[:1] == b'"':
            return _fix_string(token, match.start(), damage)
        if token[-1:].isdigit() and math.isfinite(_float(token)):
            return token
        damage.setdefault("bad-number", match.start())
        return b"null"

    return Repair(_STRING_OR_NOT_A_NUMBER.sub(fix, text), damage)


_STRING_OR_NOT_A_NUMBER = re.compile(
    rb'"(?:[^"\\]|\\.)*"'
    rb"|-?\b(?:nan(?:\(\w*\))?|inf(?:inity)?)(?!\w)"
    rb"|-?\b1\.#\w+"  # as the runtime of Visual C++ writes them
    rb"|-?\b\d+(?:\.\d*)?e\+?\d{3,}|-?\b\d{309,}",
    re.DOTALL | re.IGNORECASE,
)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_LONE_BACKSLASH = re.compile(
    rb'\\(?:(["\\/bfnrt]'
    rb"|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}"
    rb"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # the two halves of one character
    rb")|)"
)


def _float(digits: bytes) -> float:
    try:
        return float(digits)
    except ValueError:
        return math.inf


def _fix_string(token: bytes, at: int, damage: dict[Code, int]) -> bytes:
    control = _CONTROL.search(token)
    bad = None if token.isascii() else _first_bad_byte(token)
    backslash = next((m for m in _LONE_BACKSLASH.finditer(token) if not m.group(1)), None)
    if backslash:
        damage.setdefault("bad-escape", at + backslash.start())
        token = _LONE_BACKSLASH.sub(lambda m: m.group() if m.group(1) else b"\\\\", token)
    if control:
        damage.setdefault("control-character", at + control.start())
        token = _CONTROL.sub(lambda m: b"\\u%04x" % m.group()[0], token)
    if bad is not None:
        damage.setdefault("bad-utf8", at + bad)
        token = token.decode("utf-8", "rung-hex").encode()
    return token


def _first_bad_byte(token: bytes) -> int | None:
    try:
        token.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _hex_escape(error: UnicodeError) -> tuple[str, int]:
    # `\xff` in a string would be a bad escape, so the backslash is doubled: distinct bytes stay distinct.
    assert isinstance(error, UnicodeDecodeError)
    bad = error.object[error.start : error.end]
    return "".join(f"\\\\x{byte:02x}" for byte in bad), error.end


codecs.register_error("rung-hex", _hex_escape)
