"""The content store behind the loopback Hub: chunks in xorbs, files as ranges of chunks in shards.

Written from the format's public description. Enough to put an uploaded file together again.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime

import lz4.frame

ENTRY = 48
"""Bytes of each record of a shard."""

VERIFIED, DESCRIBED = 1 << 31, 1 << 30
"""Flags of a file: as many records for verification follow, and one of metadata."""


@dataclass
class Store:
    xorbs: dict[bytes, list[bytes]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def add_xorb(self, number: str, body: bytes) -> None:
        self.xorbs[_raw(number)] = _chunks(body)

    def add_shard(self, body: bytes) -> None:
        """Each file of the shard, from the chunks that are there."""
        at = ENTRY
        while body[at : at + 32] != b"\xff" * 32:
            flags, count = struct.unpack_from("<II", body, at + 32)
            number = body[at : at + 32]
            at += ENTRY
            content = b""
            for _ in range(count):
                _, length, first, last = struct.unpack_from("<IIII", body, at + 32)
                part = b"".join(self.xorbs[body[at : at + 32]][first:last])
                assert len(part) == length
                content += part
                at += ENTRY
            self.files[_shown(number)] = content
            at += ENTRY * (count * bool(flags & VERIFIED) + bool(flags & DESCRIBED))


def iso(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat().replace("+00:00", "Z")


def _chunks(body: bytes) -> list[bytes]:
    """A header of eight bytes before each chunk; a footer behind them all."""
    found, at = [], 0
    while at + 8 <= len(body) and body[at] == 0:
        packed = int.from_bytes(body[at + 1 : at + 4], "little")
        length = int.from_bytes(body[at + 5 : at + 8], "little")
        found.append(_unpacked(body[at + 4], body[at + 8 : at + 8 + packed], length))
        at += 8 + packed
    return found


def _unpacked(kind: int, data: bytes, length: int) -> bytes:
    if kind == 0:
        return data
    plain = lz4.frame.decompress(data)
    if kind == 2:  # grouped by every fourth byte
        whole = bytearray(length)
        at = 0
        for first in range(4):
            size = len(range(first, length, 4))
            whole[first::4] = plain[at : at + size]
            at += size
        plain = bytes(whole)
    assert len(plain) == length
    return plain


def _shown(raw: bytes) -> str:
    """A hash is written as four little-endian numbers of 64 bits."""
    return "".join(f"{n:016x}" for n in struct.unpack("<4Q", raw))


def _raw(shown: str) -> bytes:
    return struct.pack("<4Q", *(int(shown[i : i + 16], 16) for i in range(0, 64, 16)))
