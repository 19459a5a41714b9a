"""A rung at several sizes, timed without a profiler: which variant is fastest where, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rung import units
from rung.errors import MachineError, UsageError
from rung.insight.bound import Limit, bound
from rung.insight.forward import forward
from rung.insight.spread import spread
from rung.ladder.climb import check_variants, make_rung
from rung.ladder.values import Parameters, Rung
from rung.recording import Context, Recording, Settings, Skipped, Work, record_work
from rung.recording.calls import bind
from rung.recording.machine import default_device, describe, require_torch, resolve_device
from rung.recording.timing import Timing, time_calls
from rung.recording.variants import prepare
from rung.recording.window import quiet

CLAIM = 2.0
"""What fused MLPs are said to be: two to three times as fast as eager."""


@dataclass(frozen=True, slots=True)
class Point:
    """One variant at one size; ns a call, as `recording.timing` measures them."""

    value: int
    variant: str
    wall_ns: int
    cpu_ns: int
    gpu_ns: int | None


@dataclass(frozen=True, slots=True)
class Regime:
    """What limits the first variant at one size, from the times above and the kernels of one trace."""

    value: int
    limit: Limit
    sentence: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """`points` over `values` of one `parameter`, the others being `parameters`; where some variants' kernels
    came from, what was left out and why."""

    rung: str
    parameter: str
    values: tuple[int, ...]
    parameters: Mapping[str, Any]
    train: bool
    made: Mapping[str, Any]
    variants: tuple[str, ...]
    sources: Mapping[str, str]
    skipped: Mapping[str, str]
    points: tuple[Point, ...]
    regimes: tuple[Regime, ...]

    def at(self, value: int) -> tuple[Point, ...]:
        """The variants at one size, in their order."""
        return tuple(point for point in self.points if point.value == value)

    def only(self, values: Iterable[int], variants: Iterable[str]) -> Sweep:
        """The part with these sizes and variants."""
        values, variants = tuple(values), tuple(variants)
        return replace(
            self,
            values=values,
            variants=variants,
            points=tuple(p for p in self.points if p.value in values and p.variant in variants),
            regimes=tuple(regime for regime in self.regimes if regime.value in values),
        )


def sweep(
    rung: Rung,
    parameter: str,
    values: Sequence[int],
    *,
    parameters: Parameters | None = None,
    variants: Iterable[str] | None = None,
    device: str | None = None,
    dtype: str = "bfloat16",
    train: bool = False,
) -> Sweep:
    """Times `rung` with each of the `values` of one parameter, all variants in turn at each.

    Where the rung has `rows`, a swept batch counts rows (`seq` is 1) unless `parameters` say otherwise.
    Raises UsageError for a parameter, value or variant that the rung does not have, MachineError for a device
    that is not there, or where no variant can run.
    """
    chosen = check_variants(rung, variants)
    require_torch()
    where = resolve_device(device) if device else default_device()
    base = {**(rung.rows if parameter == "batch" else {}), **(parameters or {})}
    sets = {value: rung.parameters(where.type, {**base, parameter: value}) for value in values}
    settings = Settings(train=train)
    sources: dict[str, str] = {}
    skipped: dict[str, str] = {}
    points: list[Point] = []
    regimes: list[Regime] = []
    for value, sizes in sets.items():
        work = make_rung(rung, sizes, str(where), dtype, settings)
        timings = _timed(work, chosen, where, settings, sources, skipped)
        points += [Point(value, name, t.wall_ns, t.cpu_ns, t.gpu_ns) for name, t in timings.items()]
        regimes += _regime(value, work, next(iter(timings.values())), settings)
    others = {key: size for key, size in sets[values[0]].items() if key != parameter}
    return Sweep(
        rung=rung.name,
        parameter=parameter,
        values=tuple(values),
        parameters={**others, "dtype": dtype},
        train=train,
        made=describe(where),
        variants=tuple(name for name in chosen if name not in skipped),
        sources=sources,
        skipped=skipped,
        points=tuple(points),
        regimes=tuple(regimes),
    )


def _timed(
    work: Work,
    variants: list[str],
    device: Any,
    settings: Settings,
    sources: dict[str, str],
    skipped: dict[str, str],
) -> dict[str, Timing]:
    """Times by variant; those that cannot run are added to `skipped`."""
    calls: dict[str, Callable[[], object]] = {}
    context = Context(device, work.args, work.kwargs)
    with quiet():
        for name in variants:
            ready = Skipped(name, skipped[name]) if name in skipped else prepare(name, work.fn, context)
            if isinstance(ready, Skipped):
                skipped[name] = ready.reason
            else:
                calls[name] = bind(ready.fn, work, settings)
                sources |= {name: ready.notes["source"]} if "source" in ready.notes else {}
        if not calls:
            raise MachineError(
                "nothing could be timed: " + "; ".join(f"{k}: {v}" for k, v in skipped.items())
            )
        return time_calls(calls, device)


def _regime(value: int, work: Work, first: Timing, settings: Settings) -> list[Regime]:
    """From a trace of eager, with the times that were measured without the profiler; none on a CPU."""
    if first.gpu_ns is None:
        return []
    with TemporaryDirectory() as folder:
        (made,) = record_work(work, ["eager"], replace(settings, out=Path(folder)))
        if not isinstance(made, Recording):
            return []
        told = forward(made.trace)
    wall = max(first.wall_ns, first.gpu_ns)
    known = bound(replace(told, wall_ns=spread([wall]), gpu_busy_ns=spread([first.gpu_ns])))
    return [Regime(value, known.limit, known.sentence)]


Clock = Callable[[Point], Any]
"""A time of a point in ns, none where it was not measured."""


def answers(swept: Sweep) -> tuple[str, ...]:
    """Who is fastest where, how each compares with the first, and where the claim of twice as fast holds."""
    clocks: dict[str, Clock] = {"by the clock": lambda point: point.wall_ns}
    if all(point.gpu_ns is not None for point in swept.points):
        clocks["on the GPU alone"] = lambda point: point.gpu_ns
    first, *others = swept.variants
    found = [_winners(swept, where, clock) for where, clock in clocks.items()]
    for variant in others:
        ranges = [f"{where} {_range(swept, variant, clock)}" for where, clock in clocks.items()]
        found.append(f"{variant} against {first}: {', '.join(ranges)} as fast.")
    if others:
        held = [f"{where} {_claimed(swept, clock)}" for where, clock in clocks.items()]
        found.append(f"At least {CLAIM:g}x as fast as {first}: {'; '.join(held)}.")
    return tuple(found)


def _winners(swept: Sweep, where: str, clock: Clock) -> str:
    """`Fastest by the clock: eager at batch 1 and 16; rung at batch 1024.`"""
    fastest: dict[str, list[int]] = {}
    for value in swept.values:
        fastest.setdefault(min(swept.at(value), key=clock).variant, []).append(value)
    return f"Fastest {where}: {_places(swept, fastest)}."


def _range(swept: Sweep, variant: str, clock: Clock) -> str:
    """`1.39x to 2.95x`, over all sizes."""
    gains = sorted(gain for _, name, gain in _gains(swept, clock) if name == variant)
    return f"{gains[0]:.2f}x" if gains[0] == gains[-1] else f"{gains[0]:.2f}x to {gains[-1]:.2f}x"


def _claimed(swept: Sweep, clock: Clock) -> str:
    held: dict[str, list[int]] = {}
    for value, name, gain in _gains(swept, clock):
        if gain >= CLAIM:
            held.setdefault(name, []).append(value)
    return _places(swept, held) or "nothing"


def _places(swept: Sweep, found: Mapping[str, list[int]]) -> str:
    """`eager at batch 1 and 16; rung at batch 1024`"""
    return "; ".join(
        f"{name} at {swept.parameter} {units.listing([str(value) for value in values])}"
        for name, values in found.items()
    )


def _gains(swept: Sweep, clock: Clock) -> Iterator[tuple[int, str, float]]:
    """Of every variant but the first, at every size, how many times as fast as the first it is."""
    for value in swept.values:
        first, *others = swept.at(value)
        for point in others:
            yield value, point.variant, clock(first) / max(clock(point), 1)


def parse(text: str) -> tuple[str, tuple[int, ...]]:
    """`batch=1,16,64` as a parameter and its values. Raises UsageError for anything else."""
    name, equals, listed = text.partition("=")
    numbers = [part.strip() for part in listed.split(",") if part.strip()]
    if not (name.strip() and equals and numbers and all(part.isdecimal() for part in numbers)):
        raise UsageError(f"sweep {text!r} is not understood: give one parameter, as batch=1,16,64,1024,8192")
    return name.strip().replace("-", "_"), tuple(dict.fromkeys(map(int, numbers)))
