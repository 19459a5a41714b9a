"""What changed between two recordings of the same work, and what stayed the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher

from rung.insight.forward import Forward, WorkRow, forward
from rung.insight.spread import Spread
from rung.insight.tensors import Tensor, inputs
from rung.insight.work import output_of
from rung.trace import Kernel, Trace


@dataclass(frozen=True, slots=True)
class Fusion:
    """Work of A that one kernel of B does: the ops (kernels, where no op is known), the kernel's name."""

    sources: tuple[str, ...]
    into: str


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A tensor that A writes to memory between two ops and reads back, and B does not."""

    tensor_bytes: int
    shape: tuple[int, ...]
    between: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Diff:
    """A against B, one typical forward each. Lists of names hold a name once for each kernel of a forward."""

    a: Forward
    b: Forward
    same: tuple[str, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    fused: tuple[Fusion, ...]
    round_trips_removed: tuple[RoundTrip, ...]


def diff(a: Trace, b: Trace, region: str | None = None) -> Diff:
    """Compare one forward of B with one of A.

    Without a region the outermost one of each trace is taken.

    Raises:
        UsageError: one of the traces has no region of that name.
    """
    return compare(forward(a, region), forward(b, region))


def compare(a: Forward, b: Forward) -> Diff:
    """Compare two forwards."""
    names_a, names_b = Counter(r.name for r in a.rows), Counter(r.name for r in b.rows)
    same, gone, new = names_a & names_b, names_a - names_b, names_b - names_a
    fusions: list[Fusion] = []
    trips: list[RoundTrip] = []
    for rows_a, rows_b in _replaced(a, b, gone, new):
        if len(rows_b) != 1:
            continue
        merged = _merged(rows_a, rows_b[0])
        if len(merged) > 1:
            fusions.append(Fusion(_sources(a, merged, rows_b[0]), rows_b[0].name))
            trips.extend(_round_trips([_kernel(a, row) for row in merged]))
    return Diff(
        a,
        b,
        _in_order(a, same),
        _in_order(a, gone),
        _in_order(b, new),
        tuple(fusions),
        tuple(trips),
    )


def _in_order(forward: Forward, wanted: Counter[str]) -> tuple[str, ...]:
    left, names = wanted.copy(), []
    for row in forward.rows:
        if left[row.name]:
            left[row.name] -= 1
            names.append(row.name)
    return tuple(names)


def _replaced(
    a: Forward, b: Forward, gone: Counter[str], new: Counter[str]
) -> list[tuple[list[WorkRow], list[WorkRow]]]:
    """Runs of gone kernels of A with the run of new kernels that stands in their place in B.

    Copies and memsets are set aside: they are not what a kernel replaces.
    """
    rows_a, rows_b = list(a.kernel_rows), list(b.kernel_rows)
    matcher = SequenceMatcher(None, [r.name for r in rows_a], [r.name for r in rows_b], autojunk=False)
    found = []
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "replace":
            left = [r for r in rows_a[a0:a1] if gone[r.name]]
            right = [r for r in rows_b[b0:b1] if new[r.name]]
            found.append((left, right))
    return found


def _merged(gone: list[WorkRow], into: WorkRow) -> list[WorkRow]:
    """Which of the gone kernels the one in their place can have taken in. Standing in a place is no proof.

    A compiler's kernel names its ops. A matrix product takes in others only as another op (`addmm` for `mm`
    and `add`), else it is merely another tile. Any other kernel takes in what is no matrix product.
    """
    named = into.decoded.fields.get("ops")
    if named is not None:
        return [row for row in gone if row.op and row.op.removeprefix("aten::") in named]
    if into.kind != "gemm":
        return [row for row in gone if row.kind != "gemm"]
    return gone if into.op not in {row.op for row in gone} else []


def _sources(a: Forward, rows: list[WorkRow], into: WorkRow) -> tuple[str, ...]:
    """The ops behind the replaced kernels, and the views that the new kernel's name says it took in."""
    ops = [row.op or row.name for row in rows]
    merged = into.decoded.fields.get("ops", [])
    views = [f"aten::{op}" for op in merged if f"aten::{op}" in a.launchless_ops]
    return (*views, *ops)


def _kernel(forward: Forward, row: WorkRow) -> Kernel:
    return forward.example.work[forward.rows.index(row)]


def _round_trips(kernels: list[Kernel]) -> list[RoundTrip]:
    """Tensors that one of these kernels writes and a later one reads.

    Each output is matched with the first later input of its size and dtype that no earlier output claimed.
    """
    wanted: list[list[Tensor]] = [inputs(k.op) if k.op else [] for k in kernels]
    found = []
    for i, producer in enumerate(kernels):
        out = output_of(producer.op) if producer.op else None
        if out is None:
            continue
        for j in range(i + 1, len(kernels)):
            reader = next((t for t in wanted[j] if t.numel == out.numel and t.dtype == out.dtype), None)
            if reader is not None:
                wanted[j].remove(reader)
                names = (_op_name(producer), _op_name(kernels[j]))
                found.append(RoundTrip(out.nbytes, out.shape, names))
                break
    return found


def _op_name(kernel: Kernel) -> str:
    return kernel.op.name if kernel.op else kernel.name


def ratio(a: Spread, b: Spread) -> float | None:
    """b over a, of the medians; None where a is zero."""
    return b.median / a.median if a.median else None
