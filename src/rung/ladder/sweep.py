"""A rung at several sizes, timed without a profiler: which variant is fastest where, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rung.errors import MachineError, UsageError
from rung.insight.bound import Limit, bound
from rung.insight.forward import forward
from rung.insight.spread import Spread, spread
from rung.ladder.climb import check_variants, make_rung, require_torch_for
from rung.ladder.values import Parameters, Rung
from rung.recording import Context, Recording, Settings, Skipped, Work, record_work
from rung.recording.calls import bind
from rung.recording.machine import default_device, describe, interpreted, resolve_device
from rung.recording.timing import Timing, time_calls
from rung.recording.variants import prepare
from rung.recording.window import quiet


@dataclass(frozen=True, slots=True)
class Point:
    """One variant at one size; ns a call, as `recording.timing` measures them: medians, and the least and
    greatest of the rounds, where these were kept."""

    value: int
    variant: str
    wall_ns: int
    cpu_ns: int
    gpu_ns: int | None
    wall_range_ns: tuple[int, int] | None = None
    gpu_range_ns: tuple[int, int] | None = None

    @property
    def wall(self) -> Spread:
        return Spread(self.wall_ns, *(self.wall_range_ns or (self.wall_ns, self.wall_ns)))

    @property
    def gpu(self) -> Spread | None:
        """None where it was not measured."""
        if self.gpu_ns is None:
            return None
        return Spread(self.gpu_ns, *(self.gpu_range_ns or (self.gpu_ns, self.gpu_ns)))


@dataclass(frozen=True, slots=True)
class Regime:
    """What limits the first variant at one size, from the times above and the kernels of one trace."""

    value: int
    limit: Limit
    sentence: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """`points` over `values` of one `parameter`, the others being `parameters`; where some variants' kernels
    came from, what was left out and why; those `emulated` ran in Triton's interpreter."""

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
    emulated: tuple[str, ...] = ()

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
            emulated=tuple(name for name in self.emulated if name in variants),
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
    require_torch_for(rung)
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
        points += [_point(value, name, timing) for name, timing in timings.items()]
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
        emulated=tuple(sources) if interpreted() else (),
    )


def _point(value: int, variant: str, t: Timing) -> Point:
    return Point(value, variant, t.wall_ns, t.cpu_ns, t.gpu_ns, t.wall_range_ns, t.gpu_range_ns)


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


def parse(text: str) -> tuple[str, tuple[int, ...]]:
    """`batch=1,16,64` as a parameter and its values. Raises UsageError for anything else."""
    name, equals, listed = text.partition("=")
    numbers = [part.strip() for part in listed.split(",") if part.strip()]
    if not (name.strip() and equals and numbers and all(part.isdecimal() for part in numbers)):
        raise UsageError(f"sweep {text!r} is not understood: give one parameter, as batch=1,16,64,1024,8192")
    return name.strip().replace("-", "_"), tuple(dict.fromkeys(map(int, numbers)))
