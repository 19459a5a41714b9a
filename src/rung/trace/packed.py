"""The arguments of many events as one text with an index: a `Raw` each would hold on to the whole file."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PackedArgs:
    """Row i's text is `length[i]` bytes from `offset[i]` on in the joined `texts`; a length of 0 is none."""

    texts: list[bytes]
    bases: list[int]
    offset: Ints
    length: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offset)

    def __getitem__(self, row: int) -> bytes:
        """The JSON text of a row's arguments, `{}` where there are none."""
        length = int(self.length[row])
        if not length:
            return b"{}"
        at = int(self.offset[row])
        piece = bisect_right(self.bases, at) - 1
        start = at - self.bases[piece]
        return self.texts[piece][start : start + length]

    def take(self, rows: Ints) -> PackedArgs:
        """Other rows of the same texts."""
        return PackedArgs(self.texts, self.bases, self.offset[rows], self.length[rows])

    def followed_by(self, other: PackedArgs) -> PackedArgs:
        """The rows of two tables as one."""
        size = sum(map(len, self.texts))
        return PackedArgs(
            self.texts + other.texts,
            self.bases + [size + base for base in other.bases],
            np.concatenate([self.offset, size + other.offset]),
            np.concatenate([self.length, other.length]),
        )

    def joined(self, size: int) -> list[bytes]:
        """The texts, neighbours joined until they are about as long as `size`."""
        groups: list[list[bytes]] = [[]]
        for text, base in zip(self.texts, self.bases, strict=True):
            if base // size >= len(groups):
                groups.append([])
            groups[-1].append(text)
        return [b"".join(group) for group in groups]

    @staticmethod
    def bases_of(texts: list[bytes]) -> list[int]:
        """Where each of some joined texts begins."""
        return [0, *accumulate(map(len, texts))][:-1]


class Packing:
    """Collects the texts, batch by batch."""

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._bases: list[int] = []
        self._offsets: list[Ints] = []
        self._lengths: list[NDArray[np.int32]] = []
        self._size = 0

    def add(self, lengths: NDArray[np.int32], text: bytes) -> None:
        """A row for each length; the texts joined."""
        self._offsets.append(self._size + np.cumsum(lengths, dtype=np.int64) - lengths)
        self._lengths.append(lengths)
        if text:
            self._texts.append(text)
            self._bases.append(self._size)
            self._size += len(text)

    def packed(self) -> PackedArgs:
        offset = np.concatenate([np.zeros(0, np.int64), *self._offsets])
        return PackedArgs(
            self._texts, self._bases, offset, np.concatenate([np.zeros(0, np.int32), *self._lengths])
        )
