"""What makes one recording slower than another: on the GPU or before it, by which kernels, and how surely."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from rung import units
from rung.insight.culprits import Culprit, on_the_cpu, on_the_gpu
from rung.insight.diff import Diff, describe
from rung.insight.findings import Case, Finding, findings
from rung.insight.forward import Forward, forward, is_drawn
from rung.insight.gating.machines import differences
from rung.insight.narrate import other_work
from rung.insight.spread import Spread
from rung.trace import Trace
from rung.visible import printable


@dataclass(frozen=True, slots=True)
class Shift:
    """A time of one forward before and after, in ns over the steps."""

    a: Spread
    b: Spread
    steps: tuple[int, int]

    @property
    def delta_ns(self) -> int:
        """How much longer the median is."""
        return self.b.median - self.a.median

    @property
    def sure(self) -> bool | None:
        """Whether the steps differ by less among themselves; None where one step tells no spread."""
        return None if min(self.steps) < 2 else not self.a.meets(self.b)


@dataclass(frozen=True, slots=True)
class Regression:
    """B against A. `wall` is `gpu` and the rest, in which the GPU waits; the largest change comes first.

    `appeared` are findings that fire in B alone, `vanished` those of A alone. `cautions` say why times of the
    two may not be comparable.
    """

    diff: Diff
    wall: Shift
    gpu: Shift
    cpu: Shift
    culprits: tuple[Culprit, ...]
    appeared: tuple[Finding, ...]
    vanished: tuple[Finding, ...]
    cautions: tuple[str, ...]

    @property
    def waiting_delta_ns(self) -> int:
        """How much longer the GPU waits."""
        return self.wall.delta_ns - self.gpu.delta_ns

    @property
    def sentence(self) -> str:
        """`mlp_fwd takes 196 us longer, 241 us -> 437 us (+81 %), more than 3 steps of each differ by ...`"""
        if self.drawn:
            return "What changed, in names and counts: no time of a drawn trace is compared."
        a, b = self.wall.a.median, self.wall.b.median
        by = f"{units.duration(abs(b - a))} {'longer' if b > a else 'less'}" if b != a else "as long"
        shown = f"{units.duration(a)} -> {units.duration(b)}"
        change = units.change(a, b)
        return (
            f"{self.diff.b.region} takes {by}, {shown}{f' ({change})' if change else ''}, {self._sureness}."
        )

    @property
    def drawn(self) -> bool:
        """Whether one of the two was drawn, so that no time is compared."""
        return any(is_drawn(forward.example.trace) for forward in (self.diff.a, self.diff.b))

    @property
    def _sureness(self) -> str:
        if self.wall.sure is None:
            return "but one step tells no spread"
        a, b = self.wall.steps
        steps = f"{a} steps of each" if a == b else f"{a} and {b} steps"
        return f"{'more than' if self.wall.sure else 'within what'} {steps} differ by among themselves"

    @property
    def split(self) -> str:
        """`The GPU works 25.2 us less and waits 221 us longer. 6 launches instead of 7.`"""
        gpu, rest = self.gpu.delta_ns, self.waiting_delta_ns
        if self.drawn or not (self.gpu.a.median or self.gpu.b.median):
            return ""
        parts = f"The GPU works {_more(gpu)} and waits {_more(rest)}"
        if gpu * rest > 0:
            parts += f": {units.percent(gpu / self.wall.delta_ns)} of the change is the GPU's own"
        return f"{parts}.{self._launches}"

    @property
    def _launches(self) -> str:
        a, b = self.diff.a.launches, self.diff.b.launches
        return f" {units.count(b, 'launch')} instead of {a}." if a != b else ""

    def __str__(self) -> str:
        said = [self.sentence, self.split, *self.cautions, *(f"  {one}" for one in self.culprits)]
        said += [f"  only in B: {one}" for one in self.appeared]
        said += [f"  only in A: {one}" for one in self.vanished]
        return "\n".join(printable(text) for text in said if text)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def _more(ns: int) -> str:
    return f"{units.duration(abs(ns))} {'longer' if ns > 0 else 'less'}" if ns else "as long"


def regression(
    a: Trace,
    b: Trace,
    region: str | None = None,
    step: int | None = None,
    *,
    only: Collection[str] = (),
    ignore: Collection[str] = (),
    min_share: float = 0.0,
) -> Regression:
    """Explain what makes B slower (or faster) than A.

    Without a region the outermost one of each is taken.

    Raises:
        UsageError: one of the traces has no such region or step, or there is no such finding.
    """
    cases = [Case(trace, (forward(trace, region, step),), step) for trace in (a, b)]
    found = describe(cases[0].forwards[0], cases[1].forwards[0])
    in_a, in_b = (findings(case, only=only, ignore=ignore, min_share=min_share) for case in cases)
    culprits = [] if is_drawn(a) or is_drawn(b) else [*on_the_gpu(found), *on_the_cpu(*cases)]
    return Regression(
        diff=found,
        wall=_shift(found, lambda one: one.wall_ns),
        gpu=_shift(found, lambda one: one.gpu_busy_ns),
        cpu=_shift(found, lambda one: one.cpu_ns),
        culprits=tuple(sorted(culprits, key=lambda one: -abs(one.delta_ns))),
        appeared=_without(in_b, in_a),
        vanished=_without(in_a, in_b),
        cautions=(*other_work(found), *_cautions(a, b)),
    )


def _shift(found: Diff, pick: Callable[[Forward], Spread]) -> Shift:
    return Shift(pick(found.a), pick(found.b), (found.a.instances, found.b.instances))


def _without(found: Collection[Finding], others: Collection[Finding]) -> tuple[Finding, ...]:
    known = {one.id for one in others}
    return tuple(one for one in found if one.id not in known)


def _cautions(a: Trace, b: Trace) -> Iterator[str]:
    """Why a time of one may not be comparable with one of the other."""
    for label, trace in (("A", a), ("B", b)):
        if is_drawn(trace):
            yield f"{label} is drawn from published numbers, not recorded: its times are no measurements"
        if trace.incomplete:
            yield f"{label} is incomplete: {trace.incomplete}"
    apart = [one for one in differences(a, b) if "not named" not in one]
    if apart:
        yield f"not recorded alike: {'; '.join(apart)}"
