"""One forward, as it typically runs: the instances of a region laid over one another, kernel by kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from rung import names
from rung.errors import UsageError
from rung.insight.alike import first_alike
from rung.insight.spread import Spread, spread
from rung.insight.tensors import inputs, is_shape
from rung.insight.work import Gemm, Work, product_of, work_of
from rung.trace import Kernel, Region, Trace

T = TypeVar("T")

PRE_OPS = ("TorchDynamo Cache Lookup", "Pregraph bytecode", "AOTDispatcher Runtime Wrapper Prologue")
"""What a compiled call pays on the CPU before its graph runs."""


@dataclass(frozen=True, slots=True)
class WorkRow:
    """One kernel, copy or memset of the typical forward. Times in ns over the instances that ran it."""

    name: str
    decoded: names.Decoded
    category: str
    path: tuple[str, ...]
    launch: str | None
    graph: bool
    occupancy_query: bool
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    gemm: Gemm | None
    work: Work
    dur_ns: Spread

    @property
    def kind(self) -> names.Kind:
        return self.decoded.kind

    @property
    def op(self) -> str | None:
        return self.path[-1] if self.path else None

    @property
    def flop_per_s(self) -> float | None:
        return self.work.flop / self.dur_ns.median * 1e9 if self.work.flop and self.dur_ns.median else None

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes read and written a second; a copy on the device does both with each of its bytes."""
        if not self.work.nbytes or not self.dur_ns.median:
            return None
        both = 2 if self.decoded.fields.get("direction") == "DtoD" and self.category == "copy" else 1
        return both * self.work.nbytes / self.dur_ns.median * 1e9


@dataclass(frozen=True, slots=True)
class Forward:
    """A region over its instances. Counts are medians over all of them; rows are those of the commonest
    sequence of work, which `alike` of the `instances` ran. `launchless_ops` are the views of one of
    these: they rewrite shape and stride and launch nothing. `like` is, for each row, the first that was
    recorded just so, but for its times."""

    region: str
    instances: int
    alike: int
    rows: tuple[WorkRow, ...]
    kernels: int
    copies: int
    memsets: int
    launches: int
    gpu_busy_ns: Spread
    gpu_span_ns: Spread
    cpu_ns: Spread
    wall_ns: Spread
    op_names: Counter[str]
    launchless_ops: Counter[str]
    pre_ops_ns: dict[str, int]
    example: Region
    like: tuple[int, ...]

    @property
    def kernel_rows(self) -> tuple[WorkRow, ...]:
        return tuple(row for row in self.rows if row.category in ("kernel", "op"))

    def told(self, tell: Callable[[WorkRow, Kernel], T]) -> list[T]:
        """What is told of each row and the kernel in `example` that it stands for, asked once for those
        that were recorded alike: of anything but times."""
        work = self.example.work
        known = {first: tell(self.rows[first], work[first]) for first in dict.fromkeys(self.like)}
        return [known[first] for first in self.like]

    @property
    def gpu_idle_share(self) -> float:
        wall = self.wall_ns.median
        return 1 - self.gpu_busy_ns.median / wall if wall else 0.0


VIEWS = frozenset(
    f"aten::{name}"
    for name in (
        *("t", "transpose", "permute", "numpy_T", "matrix_H", "mT", "mH", "adjoint", "swapaxes", "movedim"),
        *("view", "_unsafe_view", "view_as", "reshape", "_reshape_alias", "as_strided", "flatten"),
        *("unflatten", "expand", "expand_as", "squeeze", "unsqueeze", "select", "slice", "narrow", "split"),
        *("split_with_sizes", "chunk", "unbind", "diagonal", "detach", "alias"),
    )
)
"""Ops whose result is another look at the same bytes: they write shape and stride, and launch nothing."""


STEPS = "ProfilerStep"
"""The name that all steps go by where they serve as regions: they are instances of one another."""


def family_name(region: Region) -> str:
    """A region's name without a step's number."""
    return STEPS if region.name.startswith(f"{STEPS}#") else region.name


def region_names(trace: Trace, step: int | None = None) -> list[str]:
    """The names of the outermost regions (of one step): those with device work first, then by time spent.

    Raises:
        UsageError: the trace has no such step.
    """
    _check_step(trace, step)
    spent: Counter[str] = Counter()
    with_work = set()
    for region in trace.regions:
        if region.parent is None and step in (None, region.step):
            name = family_name(region)
            spent[name] += region.gpu_busy_ns or region.cpu_ns
            if len(region.work):
                with_work.add(name)
    return sorted(spent, key=lambda name: (name not in with_work, -spent[name]))


def instances(trace: Trace, region: str | None = None, step: int | None = None) -> list[Region]:
    """The instances of a region by name (in one step); of the outermost one where no name is given.

    One inside another of its name is a part of that, not one more instance.

    Raises:
        UsageError: the trace has no such step, or no region of that name (in that step).
    """
    _check_step(trace, step)
    wanted = _outermost(trace, step) if region is None else region
    found = [one for one in _named(trace, wanted) if not _inside_its_like(one)]
    if not found:
        known = _some(sorted(trace.regions_named))
        raise UsageError(f"{trace.path} has no region {wanted!r}; it has: {known}.")
    chosen = [r for r in found if step in (None, r.step)]
    if not chosen:
        raise UsageError(f"{trace.path} has no region {wanted!r} in step {step}.")
    return chosen


def _named(trace: Trace, wanted: str) -> Iterator[Region]:
    """The regions of a name, all steps by the one they share."""
    rows = list(trace.regions_named.get(wanted, []))
    if wanted == STEPS:
        steps = [held for name, held in trace.regions_named.items() if name.startswith(f"{STEPS}#")]
        rows = sorted(row for held in (rows, *steps) for row in held)
    return (trace.regions[row] for row in rows)


def chosen(trace: Trace, region: str | None, step: int | None) -> tuple[list[Region], list[Kernel]]:
    """The regions of that name and that step, and the work in them; what is not given is no limit.

    Raises:
        UsageError: the trace has no such step, or no region of that name (in that step).
    """
    if region is not None:
        found = instances(trace, region, step)
        return found, [kernel for one in found for kernel in one.work]
    _check_step(trace, step)
    return (
        [one for one in trace.regions if step in (None, one.step)],
        [kernel for kernel in trace.kernels if step in (None, kernel.step)],
    )


def _outermost(trace: Trace, step: int | None) -> str:
    found = region_names(trace, step)
    if not found:
        raise UsageError(f"{trace.path} has no region in step {step}.")
    return found[0]


def _inside_its_like(region: Region) -> bool:
    outer = region.parent
    while outer is not None and outer.name != region.name:
        outer = outer.parent
    return outer is not None


def _check_step(trace: Trace, step: int | None) -> None:
    if step is None:
        return
    known = sorted(set(trace.tables.steps.number.tolist()))
    if step not in known:
        there = f"it has steps {_some(list(map(str, known)))}" if known else "it has none"
        raise UsageError(f"{trace.path} has no step {step}; {there}.")


def _some(words: list[str], limit: int = 12) -> str:
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(words[:limit]) + more


def forward(trace: Trace, region: str | None = None, step: int | None = None) -> Forward:
    """Lay the instances of a region (in one step) over one another.

    Raises:
        UsageError: the trace has no such step, or no region of that name (in that step).
    """
    found = instances(trace, region, step)
    sequences = [tuple(k.name for k in r.work) for r in found]
    tally, last = Counter(sequences), {sequence: i for i, sequence in enumerate(sequences)}
    commonest = max(tally, key=lambda sequence: (tally[sequence], last[sequence]))
    alike = [r for r, s in zip(found, sequences, strict=True) if s == commonest]
    example = alike[-1]
    like = first_alike(example)
    return Forward(
        region=region or family_name(found[0]),
        instances=len(found),
        alike=len(alike),
        rows=tuple(_rows(alike, like)),
        kernels=spread(len(r.kernels) for r in found).median,
        copies=spread(len(r.copies) for r in found).median,
        memsets=spread(len(r.memsets) for r in found).median,
        launches=spread(len(r.launches) for r in found).median,
        gpu_busy_ns=spread(r.gpu_busy_ns for r in found),
        gpu_span_ns=spread(r.gpu_span_ns for r in found),
        cpu_ns=spread(r.cpu_ns for r in found),
        wall_ns=spread(r.wall_ns for r in found),
        op_names=Counter(op_names(example)),
        launchless_ops=Counter(trace.tables.ops.name[row] for row in launchless(example)),
        pre_ops_ns=_pre_ops(alike),
        example=example,
        like=like,
    )


def _rows(alike: list[Region], like: tuple[int, ...]) -> Iterator[WorkRow]:
    """The work of the last of these regions, with its times in all of them."""
    work, took = alike[-1].work, alike[-1].trace.tables.kernels.dur_ns
    times = np.sort(np.stack([took[region.work.rows] for region in alike]), axis=0)
    spreads = times[[(len(times) - 1) // 2, 0, -1]].T.tolist()
    told: dict[int, Callable[[Spread], WorkRow]] = {}
    for at, (first, found) in enumerate(zip(like, spreads, strict=True)):
        if first not in told:
            told[first] = _row(work[at])
        yield told[first](Spread(*found))


def _row(kernel: Kernel) -> Callable[[Spread], WorkRow]:
    """The row of a kernel, given its times."""
    chain = kernel.trace.chain(kernel)
    op = kernel.op
    in_graph = chain.launch is not None and chain.launch.is_graph
    return partial(
        WorkRow,
        kernel.name,
        kernel.decoded,
        kernel.category,
        tuple(o.name for o in chain.ops),
        chain.launch.name if chain.launch else None,
        in_graph,
        kernel.occupancy_query,
        tuple(tuple(s) for s in op.shapes if s and is_shape(s)) if op else (),
        tuple(dict.fromkeys(t.dtype for t in inputs(op))) if op else (),
        None if in_graph else product_of(kernel),
        work_of(kernel),
    )


def launchless(region: Region) -> list[int]:
    """Rows of the views inside a region that launch nothing; one that had to copy is left out."""
    rows = region.trace.tables.regions.ops.of(region.row)
    known = region.trace.tables.ops.name
    return [row for row in rows[~region.trace.working_ops[rows]].tolist() if known[row] in VIEWS]


def op_names(region: Region) -> list[str]:
    """The names of all ops inside a region, however deep."""
    tables = region.trace.tables
    return [tables.ops.name[row] for row in tables.regions.ops.of(region.row).tolist()]


def _pre_ops(alike: list[Region]) -> dict[str, int]:
    """Median ns a call of each of the compiler's pre-ops."""
    durations: dict[str, list[int]] = {}
    for region in alike:
        ops = region.trace.tables.ops
        totals: Counter[str] = Counter()
        for i in region.trace.tables.regions.ops.of(region.row).tolist():
            if ops.name[i] in PRE_OPS:
                totals[ops.name[i]] += int(ops.dur_ns[i])
        for name, total in totals.items():
            durations.setdefault(name, []).append(total)
    return {name: spread(values).median for name, values in durations.items()}


def is_drawn(trace: Trace) -> bool:
    """Whether a trace says of itself that it was drawn from published numbers."""
    return bool(trace.header.made.get("drawn"))


def is_emulated(trace: Trace) -> bool:
    """Whether its kernels ran in Triton's interpreter, whose times are no device's."""
    return bool(trace.header.made.get("emulated"))
