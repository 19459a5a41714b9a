"""What a region really shows for each key of a guess, or why that cannot be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction

from rung import units
from rung.insight.forward import op_names
from rung.insight.guessing.baseline import baseline_ns
from rung.insight.guessing.dtypes import gemm_dtype
from rung.insight.guessing.language import Expectation
from rung.insight.guessing.tolerance import Near
from rung.insight.guessing.untold import UntoldError
from rung.insight.guessing.wants import KINDS, Amount, DtypeWant, Order, cut
from rung.trace import Kernel, Region, Trace

Value = int | Fraction | str | list[str] | None


@dataclass(frozen=True, slots=True)
class Measured:
    """`got`: a count, ns, a share, dtypes in one text, kinds or names in order; None if it cannot be told."""

    got: Value
    held: bool
    evidence: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """An expectation, the instance of its region it was held against, and what became of it."""

    expectation: Expectation
    region: Region
    measured: Measured


def measure(
    expectation: Expectation,
    region: Region,
    *,
    allow_incomplete: bool = False,
    baseline: Trace | None = None,
) -> Measured:
    """Judge one expectation on one region; `baseline` is the trace that a tolerance is about."""
    try:
        if not allow_incomplete:
            refuse_lost_work(expectation.subject, region)
        match expectation.want:
            case Amount() as want if want.unit == "count":
                names = _counted(expectation, region)
                return Measured(len(names), want.accepts(len(names)), _tally(names))
            case Amount() as want:
                value = timed(expectation.subject, region)
                return Measured(value, want.accepts(value))
            case Near() as want:
                value = timed(expectation.subject, region)
                bound = want.around(baseline_ns(expectation, want, region, baseline))
                return Measured(value, bound.accepts(value))
            case DtypeWant() as want:
                dtypes = _dtypes(region)
                return Measured(", ".join(sorted(set(dtypes))), want.accepts(dtypes), _tally(dtypes))
            case Order() as want:
                return _ordered(want, region)
    except UntoldError as error:
        return Measured(None, False, reason=str(error))


def census(region: Region) -> str:
    """`5 kernels (3 gemm, 2 pointwise), 2 memsets, 7 launches`"""
    kinds = ", ".join(_tally([kernel.kind for kernel in region.kernels]))
    parts = [units.count(len(region.kernels), "kernel") + (f" ({kinds})" if kinds else "")]
    others = {"copy": len(region.copies), "memset": len(region.memsets), "launch": len(region.launches)}
    return ", ".join(parts + [units.count(count, noun) for noun, count in others.items() if count])


def _counted(expectation: Expectation, region: Region) -> list[str]:
    """A word for each thing counted: its name, or its kind where all kernels count."""
    match expectation.subject:
        case "launches":
            return [launch.name for launch in region.launches]
        case "op":
            return [name for name in op_names(region) if fnmatchcase(name, expectation.pattern or "")]
        case "kernels":
            return [kernel.kind for kernel in region.kernels]
        case _:
            return [kernel.name for kernel in counted_work(expectation, region)]


def counted_work(expectation: Expectation, region: Region) -> list[Kernel]:
    """The kernels, copies or memsets that a line counts; none for one that counts launches or ops."""
    return work_of(expectation.subject, expectation.pattern or "", region)


def work_of(subject: str, pattern: str, region: Region) -> list[Kernel]:
    """The kernels, copies or memsets that a key counts."""
    match subject:
        case "launches" | "op":
            return []
        case "kernels":
            return list(region.kernels)
        case "copies" | "copy":
            return list(region.copies)
        case "memsets" | "memset":
            return list(region.memsets)
        case "kernel":
            return [kernel for kernel in region.kernels if fnmatchcase(kernel.name, pattern)]
        case "family":
            return [kernel for kernel in region.kernels if fnmatchcase(kernel.family, pattern)]
        case kind:
            return [kernel for kernel in region.kernels if kernel.kind == kind]


def timed(subject: str, region: Region) -> int | Fraction:
    """A time in ns, or a share. Raises UntoldError where the trace has no such time."""
    if subject == "cpu":
        return region.cpu_ns
    if region.trace.stand_in:
        raise UntoldError("there is no GPU work in this trace")
    if not region.trace.tables.kernels.timed[region.work.rows].all():
        raise UntoldError("some of its device work has no time in this trace")
    if subject == "gpu_busy":
        return region.gpu_busy_ns
    if not region.wall_ns:
        raise UntoldError("the region took no time")
    return 1 - Fraction(region.gpu_busy_ns, region.wall_ns)


def _dtypes(region: Region) -> list[str]:
    gemms = [kernel for kernel in region.kernels if kernel.kind == "gemm"]
    if not gemms:
        raise UntoldError("there is no GEMM in this region")
    found = [(kernel, gemm_dtype(kernel)) for kernel in gemms]
    silent = next((kernel.name for kernel, dtype in found if dtype is None), None)
    if silent is not None:
        raise UntoldError(f"neither the name nor the op's input types tell the dtype of {cut(silent)}")
    return [dtype for _, dtype in found if dtype is not None]


def _ordered(want: Order, region: Region) -> Measured:
    """Copies and memsets take part only where the order names them."""
    asked = {"copy", "memset"}.intersection(want.items)
    work: list[Kernel] = [
        kernel for kernel in region.work if kernel.category in ("kernel", "op") or kernel.kind in asked
    ]
    by_kind = all(item in KINDS or item == "..." for item in want.items)
    got = [str(kernel.kind) if by_kind else kernel.name for kernel in work]
    return Measured(got, want.accepts([(kernel.kind, kernel.name) for kernel in work]))


def refuse_lost_work(subject: str, region: Region) -> None:
    """A launch that left no work in the trace makes the counts of what it launches doubtful.

    Small memsets often leave no event (up to 235 in a trace of an A100), which says nothing of the kernels.
    """
    if subject in ("cpu", "launches", "op"):
        return
    kept = set(region.trace.tables.kernels.launch[region.work.rows].tolist())
    lost = [launch.name for launch in region.launches if launch.row not in kept]
    lost = [name for name in lost if _launches(name) in _DEPENDS.get(subject, ("kernel",))]
    if lost:
        raise UntoldError(
            f"{len(lost)} of its launches left no work in this trace ({', '.join(_tally(lost))})"
        )


_DEPENDS = {
    "copies": ("copy",),
    "copy": ("copy",),
    "memsets": ("memset",),
    "memset": ("memset",),
    "gpu_busy": ("kernel", "copy", "memset"),
    "gpu_idle_share": ("kernel", "copy", "memset"),
}


def _launches(name: str) -> str:
    lower = name.lower()
    return "copy" if "memcpy" in lower else "memset" if "memset" in lower else "kernel"


def _tally(names: Iterable[str]) -> tuple[str, ...]:
    """`("3 gemm", "1 pointwise")`, most frequent first; a lone name without its number."""
    counts = Counter(names).most_common()
    if len(counts) == 1 and counts[0][1] == 1:
        return (counts[0][0],)
    return tuple(f"{count} {name}" for name, count in counts)
