"""Which work broke which line of a guess, shown in the chain tree of the region."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from rung import names, units
from rung.insight.guessing.dtypes import gemm_dtype
from rung.insight.guessing.language import Expectation
from rung.insight.guessing.measures import Judged, census, counted_work
from rung.insight.guessing.wants import KINDS, Amount, DtypeWant, Order, cut
from rung.trace import Kernel, Region

MOST = 40
"""Pieces of work shown; of longer regions, those that broke a line and their neighbours."""


def explain(judged: Sequence[Judged]) -> list[str]:
    """For each region with a broken line: what its first broken instance showed, as a tree of
    op -> launch -> kernel in which the work that broke a line says so. Empty if every line holds."""
    lines: list[str] = []
    told: set[str] = set()
    for one in judged:
        if not one.measured.held and one.region.name not in told:
            told.add(one.region.name)
            lines += _told(one.region, [j for j in judged if j.region.row == one.region.row])
    return lines


def culprits(broken: Judged, held: Sequence[Judged] = ()) -> list[Kernel]:
    """The work that is too much, of the wrong dtype, or out of turn; empty where something is missing.

    A line that counts several kinds of work blames none that a narrower line, which holds, has counted.
    """
    match broken.expectation.want:
        case Amount() as want if want.unit == "count" and _too_much(want, broken.measured.got):
            counted = counted_work(broken.expectation, broken.region)
            expected = {k.row for h in held if _narrower(h, broken) for k in _work_of(h)}
            return [kernel for kernel in counted if kernel.row not in expected] or counted
        case DtypeWant() as want:
            gemms = [kernel for kernel in broken.region.kernels if kernel.kind == "gemm"]
            return [k for k in gemms if (dtype := gemm_dtype(k)) is None or not want.accepts([dtype])]
        case Order() as want:
            return _out_of_turn(want, broken.region)
        case _:
            return []


def _told(region: Region, judged: list[Judged]) -> list[str]:
    step = "" if region.step is None else f", step {region.step}"
    head = f"{region.name}{step}: {census(region)}"
    held = [one for one in judged if one.measured.held]
    marks: dict[int, list[str]] = {}
    lines = [head]
    for one in judged:
        if one.measured.held:
            continue
        lines.append(f"  {cut(str(one.expectation))}   {_wrong(one)}")
        for kernel in culprits(one, held):
            is_order = one.expectation.subject == "order"
            marks.setdefault(kernel.row, []).append("order" if is_order else cut(str(one.expectation)))
    return [*lines, *_chains(region, marks)]


def _wrong(one: Judged) -> str:
    if one.measured.reason:
        return f"cannot be judged: {one.measured.reason}"
    got, place = one.measured.got, one.expectation.place
    if one.expectation.subject in ("gpu_busy", "cpu") and isinstance(got, int):
        shown = units.duration(got)
    elif one.expectation.subject == "gpu_idle_share":
        shown = f"{100 * float(got):.3g} %"  # type: ignore[arg-type]
    else:
        shown = ", ".join(cut(name, 40) for name in got[:12]) if isinstance(got, list) else str(got)
    written = f"   ({place.file} line {place.line})" if place else ""
    return f"is {shown}{_amid(one)}{written}"


def _amid(one: Judged) -> str:
    """What was counted, where the tree has no kernel to point at."""
    counts_others = one.expectation.subject in ("op", "launches")
    return f": {', '.join(map(cut, one.measured.evidence[:4]))}" if counts_others else ""


def _chains(region: Region, marks: dict[int, list[str]]) -> list[str]:
    """One line an op, launch and kernel, in order; an op around several is not repeated."""
    work = list(region.work)
    shown = _shown(work, marks)
    lines: list[str] = []
    above: list[tuple[int, str]] = []
    skipped = 0
    for at, kernel in enumerate(work):
        if at not in shown:
            skipped += 1
            continue
        if skipped:
            lines.append(f"    ... {units.count(skipped, 'more kernel')} that broke no line")
            skipped, above = 0, []
        path = _path(kernel)
        same = next((i for i, (a, b) in enumerate(zip(path, above, strict=False)) if a != b), len(above))
        lines += [f"{'  ' * depth}{path[depth][1]}" for depth in range(same, len(path))]
        above = path
        mark = f"   <-- breaks {', '.join(marks[kernel.row])}" if kernel.row in marks else ""
        lines.append(f"{'  ' * len(path)}{_named(kernel)}{mark}")
    if skipped:
        lines.append(f"    ... {units.count(skipped, 'more kernel')} that broke no line")
    return ["    " + line for line in lines]


def _shown(work: list[Kernel], marks: dict[int, list[str]]) -> set[int]:
    if len(work) <= MOST:
        return set(range(len(work)))
    marked = [at for at, kernel in enumerate(work) if kernel.row in marks] or list(range(MOST))
    return {near for at in marked[:MOST] for near in (at - 1, at, at + 1) if 0 <= near < len(work)}


def _path(kernel: Kernel) -> list[tuple[int, str]]:
    """Ops and launch on the way to a kernel, as row and name; a stand-in is its own last op."""
    chain = kernel.trace.chain(kernel)
    ops = [(op.row, op.name) for op in chain.ops]
    if kernel.category == "op":
        return ops[:-1]
    return ops + ([(chain.launch.row, chain.launch.name)] if chain.launch else [])


def _named(kernel: Kernel) -> str:
    short, name = names.short(kernel.decoded), cut(kernel.name, 72)
    return name if short == name else f"{short}   {name}"


def _too_much(want: Amount, got: object) -> bool:
    if want.comparison in (">", ">="):
        return False
    return not isinstance(got, int) or want.comparison in ("!=", "<", "<=") or got > want.bounds[-1]


def _narrower(held: Judged, broken: Judged) -> bool:
    """Whether a line that holds accounts for some of the work that a wider one counts."""

    def width(expectation: Expectation) -> int:
        return {"kernels": 3, "kernel": 1}.get(expectation.subject, 2)

    want = held.expectation.want
    exact = isinstance(want, Amount) and want.unit == "count" and bool(want.bounds[-1])
    return exact and width(held.expectation) < width(broken.expectation)


def _work_of(judged: Judged) -> list[Kernel]:
    return counted_work(judged.expectation, judged.region)


def _out_of_turn(want: Order, region: Region) -> list[Kernel]:
    """The first kernel that no reading of the order has a place for."""
    asked = {"copy", "memset"}.intersection(want.items)
    work = [k for k in region.work if k.category in ("kernel", "op") or k.kind in asked]
    states = _free(want.items, {0})
    for kernel in work:
        stays = {at for at in states if at < len(want.items) and want.items[at] == "..."}
        moved = {at + 1 for at in states - stays if at < len(want.items) and _fits(want.items[at], kernel)}
        states = _free(want.items, stays | moved)
        if not states:
            return [kernel]
    return []


def _free(items: tuple[str, ...], states: set[int]) -> set[int]:
    """`...` may stand for nothing."""
    for at in sorted(states):
        while at < len(items) and items[at] == "...":
            at += 1
            states = states | {at}
    return states


def _fits(item: str, kernel: Kernel) -> bool:
    return kernel.kind == item if item in KINDS else fnmatchcase(kernel.name, item)
