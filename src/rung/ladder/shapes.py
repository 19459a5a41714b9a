"""What a new shape costs: compiling again, or nothing where a kernel takes any shape."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import Any

from rung import units
from rung.errors import UsageError
from rung.ladder.climb import make_rung, require_torch_for
from rung.ladder.values import Parameters, Rung
from rung.recording import Context, Settings, Skipped
from rung.recording.calls import bind
from rung.recording.compiling import compiled_during
from rung.recording.machine import default_device, describe, resolve_device
from rung.recording.timing import first_call, time_calls
from rung.recording.values import Work
from rung.recording.variants import prepare
from rung.recording.window import caches_off, quiet

Shape = tuple[int, int]
"""batch, seq"""

DYNAMIC = "dynamic"


@dataclass(frozen=True, slots=True)
class Visit:
    """One variant meeting one shape, in order. `first_ns` is the wall time of its first call with it, of
    which `compile_ns` went to torch.compile; `steady_ns` that of a later one. `graphs` were compiled,
    `recompiles` of them again for a place that had one; `breaks` of them go on where another had to stop."""

    variant: str
    shape: Shape
    first_ns: int
    compile_ns: int
    graphs: int
    recompiles: int
    breaks: int
    steady_ns: int


@dataclass(frozen=True, slots=True)
class Shapes:
    """Each variant's visits to the `shapes`, in their order; what was left out and why."""

    rung: str
    shapes: tuple[Shape, ...]
    parameters: Mapping[str, Any]
    train: bool
    made: Mapping[str, Any]
    skipped: Mapping[str, str]
    visits: tuple[Visit, ...]
    emulated: tuple[str, ...] = ()
    """Variants that ran in Triton's interpreter."""

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(visit.variant for visit in self.visits))

    def only(self, variants: Iterable[str]) -> Shapes:
        """The visits of these variants."""
        chosen = tuple(variants)
        return replace(
            self,
            visits=tuple(visit for visit in self.visits if visit.variant in chosen),
            emulated=tuple(name for name in self.emulated if name in chosen),
        )

    def of(self, variant: str) -> tuple[Visit, ...]:
        """The visits of a variant."""
        return tuple(visit for visit in self.visits if visit.variant == variant)


def visit_shapes(
    rung: Rung,
    shapes: Sequence[Shape],
    *,
    parameters: Parameters | None = None,
    variants: Iterable[str] | None = None,
    device: str | None = None,
    dtype: str = "bfloat16",
    train: bool = False,
) -> Shapes:
    """Calls each variant with each shape in turn, compilers' caches being off and empty.

    The variants are those of the rung, and `dynamic`: compiled for any shape from the start. Raises
    UsageError for a rung without batch and seq and for a variant it does not have, MachineError for a device
    that is not there.
    """
    chosen = check_visitors(rung, variants)
    require_torch_for(rung)
    where = resolve_device(device) if device else default_device()
    settings = Settings(train=train)
    works = _works(rung, shapes, parameters or {}, str(where), dtype, settings)
    skipped: dict[str, str] = {}
    visits: list[Visit] = []
    emulated: list[str] = []
    with quiet(), caches_off(), _fresh_kernel_cache():
        _warm_libraries(works[0], where, settings)
        for name in chosen:
            ready = prepare(name, works[0].fn, Context(where, works[0].args))
            if isinstance(ready, Skipped):
                skipped[name] = ready.reason
                continue
            emulated += [name] if ready.emulated else []
            calls = [bind(ready.fn, work, settings) for work in works]
            visits += [_visit(name, s, call, where) for s, call in zip(shapes, calls, strict=True)]
    sizes = {k: v for k, v in works[0].parameters.items() if k not in ("rung", "batch", "seq")}
    return Shapes(
        rung.name, tuple(shapes), sizes, train, describe(where), skipped, tuple(visits), tuple(emulated)
    )


def check_visitors(rung: Rung, variants: Iterable[str] | None) -> list[str]:
    """The variants wanted, all that can meet shapes by default. Raises UsageError for any other."""
    if not {"batch", "seq"} <= rung.gpu[0].keys():
        raise UsageError(f"{rung.name} has no batch and seq to vary: give a rung that has, as mlp")
    known = list(rung.variants)
    known.insert(known.index("compiled") + 1, DYNAMIC)
    chosen = known if variants is None else list(variants)
    for name in chosen:
        if name not in known:
            raise UsageError(f"{rung.name} has no variant {name!r}: give {', '.join(known)}")
    return chosen


def _works(
    rung: Rung, shapes: Sequence[Shape], given: Parameters, device: str, dtype: str, settings: Settings
) -> list[Work]:
    """One module, made for the longest sequence; a work for each shape calls it with inputs of its own."""
    kind = resolve_device(device).type
    longest = max(seq for _, seq in shapes)
    module = make_rung(
        rung, rung.parameters(kind, {**given, "batch": 1, "seq": longest}), device, dtype, settings
    )
    inputs = [
        make_rung(rung, rung.parameters(kind, {**given, "batch": b, "seq": s}), device, dtype, settings).args
        for b, s in shapes
    ]
    return [Work(module.fn, args, {}, module.name, module.region, module.parameters) for args in inputs]


def _warm_libraries(work: Work, device: Any, settings: Settings) -> None:
    """What a process pays once, whichever shape comes first, is not that shape's: a call with another one."""
    small = tuple(x[:1, :1].detach().requires_grad_(x.requires_grad) for x in work.args)
    call = bind(work.fn, Work(work.fn, small, {}, work.name, work.region), settings)
    first_call(call, device)


def _visit(variant: str, shape: Shape, call: Callable[[], object], device: Any) -> Visit:
    with compiled_during() as compiled:
        first = first_call(call, device)
    steady = time_calls({variant: call}, device)[variant].wall_ns
    return Visit(
        variant, shape, first, compiled.ns, compiled.graphs, compiled.recompiles, compiled.breaks, steady
    )


@contextmanager
def _fresh_kernel_cache() -> Iterator[None]:
    """An empty folder for Triton's compiled kernels: a first call shall not find them from another day."""
    before = os.environ.get("TRITON_CACHE_DIR")
    with TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["TRITON_CACHE_DIR"]
            if before is not None:
                os.environ["TRITON_CACHE_DIR"] = before


def parse(text: str) -> tuple[Shape, ...]:
    """`64x128,3x77` as pairs of batch and seq. Raises UsageError for anything else."""
    found = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        sizes = part.lower().split("x")
        if len(sizes) != 2 or not all(size.isdecimal() and int(size) for size in sizes):
            raise UsageError(f"shape {part!r} is not understood: give batch x seq, as 64x128,64x100,3x77")
        found.append((int(sizes[0]), int(sizes[1])))
    if not found:
        raise UsageError("no shape is given: give batch x seq, as 64x128,64x100,3x77")
    return tuple(dict.fromkeys(found))


def answers(found: Shapes) -> tuple[str, ...]:
    """What the shapes cost each variant in all, beyond what a later call takes."""
    return tuple(_told(variant, found.of(variant)) for variant in found.variants)


def _told(variant: str, visits: Sequence[Visit]) -> str:
    extra = sum(max(visit.first_ns - visit.steady_ns, 0) for visit in visits)
    paid = f"{units.count(len(visits), 'shape')} cost {units.duration(extra)} before they ran at speed"
    graphs, again = sum(v.graphs for v in visits), sum(v.recompiles for v in visits)
    compiled = f", {units.count(graphs, 'graph')} compiled" if graphs else ""
    return f"{variant}: {paid}{compiled}{f', {again} of them anew' if again else ''}."
