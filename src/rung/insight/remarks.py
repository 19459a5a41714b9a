"""What is worth saying about one forward. Each remark is a sentence with its evidence in it, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from rung import names, units
from rung.insight.forward import Forward, WorkRow
from rung.insight.merging import handed_on
from rung.insight.work import Gemm
from rung.trace import Kernel, Op, Region


def remarks(forward: Forward, instances: list[Region]) -> list[str]:
    """All that apply, in the order one reads a trace in. `instances` are those of the forward's region."""
    found = [cold_start(instances)]
    found += [remark(forward) for remark in _OF_A_FORWARD]
    return [sentence for sentence in found if sentence]


def bias_in_epilogue(forward: Forward) -> str | None:
    rows = [r for r in forward.rows if r.op == "aten::addmm" and r.category != "memset"]
    alone = len(rows) == forward.op_names["aten::addmm"] and all(r.kind == "gemm" for r in rows)
    if not rows or not alone or forward.op_names["aten::add"]:
        return None
    if rows[0].category == "op":
        return "aten::addmm multiplies and adds the bias in one op, there is no aten::add"
    named = all("bias" in r.decoded.fields.get("epilogue", ()) for r in rows)
    where = " (its name says bias)" if named else ""
    return f"aten::addmm is one kernel{where}: the bias rides in the GEMM's epilogue, there is no aten::add"


def copied_bias(forward: Forward) -> str | None:
    """A copy inside the op of a matrix product: say what is seen, not more."""
    copies = [r for r in forward.rows if r.kind == "copy" and r.op in ("aten::addmm", "aten::baddbmm")]
    if not copies:
        return None
    moved = units.size(copies[0].work.nbytes) if copies[0].work.nbytes else "some bytes"
    took = units.duration(copies[0].dur_ns.median)
    return (
        f"inside {copies[0].op} {moved} are copied on the device before the GEMM, {took}: "
        "it looks like the bias copied into the output and accumulated onto, not an epilogue that reads it"
    )


def launchless(forward: Forward) -> str | None:
    ops = forward.launchless_ops
    if not ops:
        return None
    kinds = units.listing([name.removeprefix("aten::") for name in ops])
    verb = (
        "op launches nothing, it only rewrites"
        if ops.total() == 1
        else "ops launch nothing, they only rewrite"
    )
    return f"{ops.total()} {verb} shape and stride: {kinds}"


def other_tiles(forward: Forward) -> str | None:
    """The same op with different kernels for different shapes."""
    tiles: dict[str, WorkRow] = {}
    for row in forward.rows:
        if row.kind == "gemm" and row.gemm and row.op:
            tiles.setdefault(row.name, row)
    if len(tiles) < 2:
        return None
    by_n = len({row.gemm.n for row in tiles.values() if row.gemm}) == len(tiles)
    shown = [f"{_tile(row)} for {_size(row.gemm, by_n)}" for row in tiles.values() if row.gemm][:3]
    more = [f"{len(tiles) - 3} more"] if len(tiles) > 3 else []
    return f"the GEMMs are not one kernel: {units.listing(shown + more)}; the library picks a tile by shape"


def _size(gemm: Gemm, by_n: bool) -> str:
    return f"N = {gemm.n}" if by_n else f"[{gemm.m}, {gemm.k}] x [{gemm.k}, {gemm.n}]"


def _tile(row: WorkRow) -> str:
    tile = row.decoded.fields.get("tile")
    return "x".join(map(str, tile[:2])) if tile else names.short(row.decoded)


def occupancy_queries(forward: Forward) -> str | None:
    asked = [r for r in forward.rows if r.occupancy_query]
    if not asked:
        return None
    kinds = {r.kind for r in asked}
    who = "GEMM" if kinds == {"gemm"} else "kernel"
    n = len(asked)
    verb = "asks" if n == 1 else "ask"
    launched = sum(row.category == "kernel" for row in forward.rows)
    others = "; the others launch directly" if launched > n else ""
    return (
        f"{units.count(n, who)} {verb} for the kernel's occupancy right before the launch: "
        f"the library sizes the grid{others}"
    )


def library_memsets(forward: Forward) -> str | None:
    """Memsets launched by the op of the GEMM that follows. A replayed graph does not tell whose they are."""
    owned = [
        row
        for row, after in zip(forward.rows, forward.rows[1:], strict=False)
        if row.category == "memset" and after.kind == "gemm" and row.path == after.path
        if row.op is not None and not row.graph
    ]
    if not owned:
        return None
    sizes = {units.size(row.work.nbytes) for row in owned if row.work.nbytes is not None}
    each = f" ({sizes.pop()}{' each' if len(owned) > 1 else ''})" if len(sizes) == 1 else ""
    if len(owned) == 1:
        return f"a memset{each} belongs to the GEMM library, right before its kernel"
    return f"{len(owned)} memsets{each} belong to the GEMM library, right before its kernels"


def round_trip(forward: Forward) -> str | None:
    """A pointwise kernel that reads what another op's, right before it, has by all looks just written."""
    kernels = [k for k in forward.example.work if k.category in ("kernel", "op")]
    for kernel, after in pairwise(kernels):
        if kernel.kind == after.kind == "pointwise" and _op(kernel) != _op(after):
            for nbytes, _, (writer, reader) in handed_on([kernel, after]).trips:
                if nbytes < WORTH_SAVING:
                    continue
                return (
                    f"{writer} writes {units.size(nbytes)} to memory and {reader} reads as many back: "
                    "one kernel for both would save that round trip"
                )
    return None


WORTH_SAVING = 4096
"""Bytes. Below this a round trip costs a launch, not bandwidth."""


def layouts(forward: Forward) -> str | None:
    """What the layout letters in the GEMMs' names stand for."""
    meant = {
        row.decoded.fields["layout"]: meaning
        for row in forward.rows
        if row.kind == "gemm" and "layout" in row.decoded.fields
        if (meaning := names.product_of(row.decoded)) is not None
    }
    said = [f"{layout} is {meaning}" for layout, meaning in meant.items()]
    return f"the layout is in the GEMM's name: {units.listing(said)}" if said else None


def many_names(forward: Forward) -> str | None:
    """An op that walks through several others for its one kernel."""
    for kernel in forward.example.work:
        op = kernel.op
        while op is not None and op.parent is not None and op.parent.name.startswith("aten::"):
            op = op.parent
        if op is None or kernel.kind != "gemm" or not op.name.startswith("aten::"):
            continue
        inside = list(dict.fromkeys(name.removeprefix("aten::") for name in _names_inside(op)))
        if len(inside) < 3 or _kernels_inside(forward, op) != 1:
            continue
        return f"{op.name} walks through {units.listing(inside)}: {len(inside) + 1} names, one kernel"
    return None


def _kernels_inside(forward: Forward, op: Op) -> int:
    starts = [
        k.op.start_ns
        for k in forward.example.work
        if k.category in ("kernel", "op") and k.op is not None and k.op.thread == op.thread
    ]
    return sum(op.start_ns <= start < op.end_ns for start in starts)


def _names_inside(op: Op) -> list[str]:
    return [name for child in op.children for name in (child.name, *_names_inside(child))]


def _op(kernel: Kernel) -> str | None:
    return kernel.op.name if kernel.op else None


def cold_start(instances: list[Region]) -> str | None:
    """A first instance ten times as wide as the rest. Twice or thrice as wide is the profiler's own doing."""
    first, *rest = [r.cpu_ns for r in instances] or [0]
    if not rest or not first or first < COLD * max(rest):
        return None
    others = units.listing([units.duration(ns) for ns in rest[:3]])
    return f"cold: the first forward took {units.duration(first)} on the CPU, then {others}"


COLD = 10

_OF_A_FORWARD: tuple[Callable[[Forward], str | None], ...] = (
    occupancy_queries,
    library_memsets,
    bias_in_epilogue,
    copied_bias,
    many_names,
    launchless,
    layouts,
    other_tiles,
    round_trip,
)
