"""Numbers with units, to three significant digits."""

from __future__ import annotations

from collections.abc import Sequence


def duration(ns: float) -> str:
    """ns as `768 ns`, `56.6 µs`, `2.51 ms`, `4.90 s`."""
    return _scaled(ns, ("ns", "µs", "ms", "s"))


def size(nbytes: float) -> str:
    """Bytes as `4 B`, `50.3 MB` (powers of 1000, as bandwidths are quoted)."""
    return _scaled(nbytes, ("B", "kB", "MB", "GB", "TB"))


def flop(count: float) -> str:
    """FLOP as `38.7 GFLOP`."""
    return _scaled(count, ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"))


def flop_rate(per_second: float) -> str:
    """FLOP/s as `683 TFLOP/s`."""
    return f"{flop(per_second)}/s"


def byte_rate(per_second: float) -> str:
    """Bytes/s as `3.36 TB/s`."""
    return f"{size(per_second)}/s"


def percent(share: float) -> str:
    """0.948 as `95 %`."""
    return f"{share * 100:.0f} %"


def change(a: float, b: float) -> str:
    """How b differs from a: `-11 %`, `+33 %`, from twice as much on `2.7x`; empty where a is zero. All of it
    is gone, `-100 %`, only where b is zero: next to nothing is `-99.7 %`."""
    if not a:
        return ""
    if b / a >= 2:
        return f"{b / a:.1f}x" if b / a < 9.95 else f"{b / a:.0f}x"
    percents = round((b / a - 1) * 100)
    if percents == -100 and b:
        return f"{max((b / a - 1) * 100, -99.9):.1f} %"
    return f"{percents:+d} %" if percents else "±0 %"


def count(n: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`, `2 copies`, `7 launches`."""
    return f"{n} {noun if n == 1 else plural(noun)}"


def plural(noun: str) -> str:
    if noun.endswith("py"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def listing(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def _scaled(value: float, units: tuple[str, ...], step: int = 1000) -> str:
    place = 0
    while abs(value) >= step - 0.5 and place < len(units) - 1:  # 999.6 ns is 1.00 µs, not 1000 ns
        value /= step
        place += 1
    unit = units[place]
    if place == 0:
        return f"{value:.0f} {unit}"
    digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
    return f"{value:.{digits}f} {unit}"
