"""Hold the difference between two traces against one line of a gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from rung.insight.forward import Forward, WorkRow, forward, instances
from rung.insight.gating.language import NO_NEW_FAMILY, Delta, Rule
from rung.insight.gating.machines import why_no_time
from rung.insight.gating.times import compare_times, steady
from rung.insight.gating.verdict import GateCheck, Side
from rung.insight.guessing.measures import refuse_lost_work, timed
from rung.insight.guessing.untold import UntoldError
from rung.insight.guessing.wants import COMPARE, KINDS
from rung.trace import Region, Trace

SHARE = 10**9
"""A share of one as an integer, as times are."""


@dataclass(frozen=True, slots=True)
class _Found:
    base: Side = None
    new: Side = None
    held: bool = False
    reason: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A region of BASE and of NEW: one typical forward each, and all instances."""

    base: Forward
    new: Forward
    base_regions: tuple[Region, ...]
    new_regions: tuple[Region, ...]


def pair(base: Trace, new: Trace, region: str | None) -> Pair:
    """Lay the instances of a region over one another in both traces.

    Raises:
        UsageError: one of the traces has no region of that name.
    """
    forwards = forward(base, region), forward(new, region)
    return Pair(*forwards, tuple(instances(base, region)), tuple(instances(new, region)))


def judge(rule: Rule, found_in: Pair) -> GateCheck:
    """Hold one line of a gate against its region."""
    a, b = found_in.base, found_in.new
    sides = found_in.base_regions, found_in.new_regions
    try:
        for region in (*sides[0], *sides[1]):
            refuse_lost_work("kernels" if rule.delta is None else rule.subject, region)
        if rule.delta is None:
            found = _new_families(rule, a, b) if rule.subject == NO_NEW_FAMILY else _same(rule, a, b)
        elif rule.delta.unit == "count":
            found = _counted(rule, rule.delta, a, b)
        else:
            found = _timed(rule, rule.delta, *sides)
    except UntoldError as error:
        found = _Found(reason=str(error))
    return GateCheck(
        a.region, rule.key, str(rule.delta or ""), found.base, found.new, found.held, found.reason,
        found.evidence, rule.place,
    )  # fmt: skip


def _new_families(rule: Rule, a: Forward, b: Forward) -> _Found:
    """Families of kernels that NEW runs, BASE does not, and the glob matches."""
    known = {row.decoded.family for row in a.kernel_rows}
    came = [row for row in b.kernel_rows if row.decoded.family not in known]
    came = [row for row in came if fnmatchcase(row.decoded.family, rule.pattern or "*")]
    families = sorted({row.decoded.family for row in b.kernel_rows})
    evidence = tuple(dict.fromkeys(f"{row.decoded.family}: {row.name}" for row in came))
    return _Found(sorted(known), families, not came, evidence=evidence)


def _same(rule: Rule, a: Forward, b: Forward) -> _Found:
    """The same names as often; for the order, one after the other too."""
    left, right = ([row.name for row in _selected(rule.pattern or "", f)] for f in (a, b))
    evidence = _came_and_went(left, right)
    held = left == right if rule.pattern == "order" else not evidence
    return _Found(
        left, right, held, evidence=evidence or (() if held else ("the same kernels in another order",))
    )


def _counted(rule: Rule, delta: Delta, a: Forward, b: Forward) -> _Found:
    base, new = _count(rule, a), _count(rule, b)
    held = COMPARE[delta.comparison](new - base, delta.limit(base))
    return _Found(base, new, held, evidence=() if held else _behind(rule, a, b))


def _timed(rule: Rule, delta: Delta, base: Sequence[Region], new: Sequence[Region]) -> _Found:
    """Medians; compared where it is one machine and the steps agree well enough."""
    left, right = ([_ns(rule.subject, region) for region in regions] for regions in (base, new))
    medians: tuple[Side, Side] = (steady(left).median, steady(right).median)
    if delta.unit == "share":
        medians = (steady(left).median / SHARE, steady(right).median / SHARE)
    reason = why_no_time(base[0].trace, new[0].trace)
    if reason:
        return _Found(*medians, reason=reason)
    scaled = Delta(delta.comparison, delta.value * SHARE, False, "share", delta.text)
    try:
        return _Found(*medians, held=compare_times(scaled if delta.unit == "share" else delta, left, right))
    except UntoldError as error:
        return _Found(*medians, reason=str(error))


def _ns(subject: str, region: Region) -> int:
    value = timed(subject, region)
    return value if isinstance(value, int) else int(value * SHARE)


def _count(rule: Rule, forward: Forward) -> int:
    """Medians over all instances for the plain counts; the rest by the commonest sequence of work."""
    match rule.subject:
        case "kernels":
            return forward.kernels
        case "launches":
            return forward.launches
        case "copies" | "copy":
            return forward.copies
        case "memsets" | "memset":
            return forward.memsets
        case "op":
            return sum(n for name, n in forward.op_names.items() if fnmatchcase(name, rule.pattern or ""))
        case _:
            return len(_selected(rule.key, forward))


def _selected(what: str, forward: Forward) -> list[WorkRow]:
    """Rows of a kind, or of `kernel:GLOB`, `family:NAME`, `copies`, `memsets`; else all kernels."""
    head, _, glob = what.partition(":")
    if head == "kernel" and glob:
        return [row for row in forward.kernel_rows if fnmatchcase(row.name, glob)]
    if head == "family" and glob:
        return [row for row in forward.kernel_rows if fnmatchcase(row.decoded.family, glob)]
    category = {"copies": "copy", "copy": "copy", "memsets": "memset", "memset": "memset"}.get(what)
    if category:
        return [row for row in forward.rows if row.category == category]
    return [row for row in forward.kernel_rows if what not in KINDS or row.kind == what]


def _behind(rule: Rule, a: Forward, b: Forward) -> tuple[str, ...]:
    """The work, launches or ops that came and went."""
    if rule.subject == "launches":
        names = [[row.launch for row in f.rows if row.launch] for f in (a, b)]
    elif rule.subject == "op":
        found = [f.op_names.elements() for f in (a, b)]
        names = [[name for name in one if fnmatchcase(name, rule.pattern or "")] for one in found]
    else:
        names = [[row.name for row in _selected(rule.key, f)] for f in (a, b)]
    return _came_and_went(*names)


def _came_and_went(left: Iterable[str], right: Iterable[str]) -> tuple[str, ...]:
    before, after = Counter(left), Counter(right)
    came = [f"new: {_times(n)}{name}" for name, n in (after - before).items()]
    return (*came, *(f"gone: {_times(n)}{name}" for name, n in (before - after).items()))


def _times(count: int) -> str:
    return f"{count} x " if count > 1 else ""
