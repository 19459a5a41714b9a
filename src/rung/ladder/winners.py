"""What a sweep's times say: who is fastest where, and by how much, as far as the rounds tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from rung import units
from rung.insight.spread import Spread
from rung.ladder.sweep import Point, Sweep

CLAIM = 2.0
"""What fused MLPs are said to be: two to three times as fast as eager."""

LEVEL = "no difference beyond the spread"


@dataclass(frozen=True, slots=True)
class Clock:
    """A way to time a call, and how it is called in a sentence."""

    where: str
    of: Callable[[Point], Spread | None]


@dataclass(frozen=True, slots=True)
class Gain:
    """How many times as fast as the first a variant is; `level` if the rounds do not tell them apart."""

    value: int
    variant: str
    times: float
    level: bool


BY_THE_CLOCK = Clock("by the clock", lambda point: point.wall)
ON_THE_GPU = Clock("on the GPU alone", lambda point: point.gpu)


def answers(swept: Sweep) -> tuple[str, ...]:
    """Who is fastest where, how each compares with the first, and where the claim of twice as fast holds.

    Two times differ if the better halves of their rounds do not meet (`Spread.meets`). What ran in Triton's
    interpreter is no part of it.
    """
    swept = swept.only(swept.values, [name for name in swept.variants if name not in swept.emulated])
    if not swept.variants:
        return ()
    timed = all(point.gpu is not None for point in swept.points)
    clocks = (BY_THE_CLOCK, ON_THE_GPU) if timed else (BY_THE_CLOCK,)
    first, *others = swept.variants
    found = [_winners(swept, clock) for clock in clocks]
    found += [f"{variant} against {first}: {_compared(swept, variant, clocks)}." for variant in others]
    if others:
        held = [f"{clock.where} {_claimed(swept, clock)}" for clock in clocks]
        found.append(f"At least {CLAIM:g}x as fast as {first}: {'; '.join(held)}.")
    return tuple(found)


def gain(first: Point, point: Point, clock: Clock) -> Gain | None:
    """A point against the first variant's at its size; None for the first itself, and without a time."""
    a, b = clock.of(first), clock.of(point)
    if point is first or a is None or b is None:
        return None
    return Gain(point.value, point.variant, a.median / max(b.median, 1), a.meets(b))


def _gains(swept: Sweep, clock: Clock) -> Iterator[Gain]:
    """Every variant but the first, at every size."""
    for value in swept.values:
        first, *others = swept.at(value)
        yield from filter(None, (gain(first, point, clock) for point in others))


def _winners(swept: Sweep, clock: Clock) -> str:
    """`Fastest by the clock: eager at batch 1 and 16; rung or liger at batch 64 (no difference ...).`"""
    alone: dict[str, list[int]] = {}
    level: dict[str, list[int]] = {}
    for value in swept.values:
        names = _fastest(swept.at(value), clock)
        (level if len(names) > 1 else alone).setdefault(" or ".join(names), []).append(value)
    doubt = [f"{place} ({LEVEL})" for place in _places(swept, level)]
    return f"Fastest {clock.where}: {'; '.join([*_places(swept, alone), *doubt])}."


def _fastest(points: tuple[Point, ...], clock: Clock) -> list[str]:
    """The variant with the least median, then those that the rounds do not tell from it."""
    times = {point.variant: time for point in points if (time := clock.of(point)) is not None}
    best = min(times, key=lambda variant: times[variant].median)
    return [best, *(one for one in times if one != best and times[one].meets(times[best]))]


def _compared(swept: Sweep, variant: str, clocks: tuple[Clock, ...]) -> str:
    """`by the clock 1.39x to 2.95x, on the GPU alone 1.36x to 3.16x as fast`"""
    told = [(clock, [one for one in _gains(swept, clock) if one.variant == variant]) for clock in clocks]
    if not any(one.level for _, gains in told for one in gains):
        return f"{', '.join(f'{clock.where} {_range(gains)}' for clock, gains in told)} as fast"
    return "; ".join(f"{clock.where} {_in_part(swept, gains)}" for clock, gains in told)


def _in_part(swept: Sweep, gains: list[Gain]) -> str:
    """`1.39x to 2.95x as fast, at batch 64 no difference beyond the spread`"""
    apart = [one for one in gains if not one.level]
    level = [one.value for one in gains if one.level]
    if not apart:
        return LEVEL
    return f"{_range(apart)} as fast{f', at {_sizes(swept, level)} {LEVEL}' if level else ''}"


def _range(gains: list[Gain]) -> str:
    """`1.39x to 2.95x`"""
    least, most = (f"{extreme(one.times for one in gains):.2f}x" for extreme in (min, max))
    return least if least == most else f"{least} to {most}"


def _claimed(swept: Sweep, clock: Clock) -> str:
    held: dict[str, list[int]] = {}
    for one in _gains(swept, clock):
        if one.times >= CLAIM and not one.level:
            held.setdefault(one.variant, []).append(one.value)
    return "; ".join(_places(swept, held)) or "nothing"


def _places(swept: Sweep, found: Mapping[str, list[int]]) -> list[str]:
    """`eager at batch 1 and 16`"""
    return [f"{names} at {_sizes(swept, values)}" for names, values in found.items()]


def _sizes(swept: Sweep, values: list[int]) -> str:
    """`batch 1 and 16`"""
    return f"{swept.parameter} {units.listing([str(value) for value in values])}"
