"""What `rung.glu` has to reach, row by row: ratios of its time (or memory) to a peer's.

A target of several peers is held against the best of them; one of none is a limit on the value itself, in
the measure's unit. Ratios are held against their limits with the limits' two digits: two runs of one kernel
differ by a few thousandths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Values = Mapping[str, Mapping[str, float]]
"""Per contender and measure."""


@dataclass(frozen=True)
class Target:
    """Limits by measure: what `must` be reached, what is the `aim`."""

    row: str
    peers: tuple[str, ...]
    must: Mapping[str, float] = field(default_factory=dict)
    aim: Mapping[str, float] = field(default_factory=dict)
    who: str = "rung"


@dataclass(frozen=True)
class Judged:
    """A measure of a target: the ratio found, and whether it is within the limits (None: there is none)."""

    measure: str
    ratio: float
    must: float | None
    aim: float | None

    @property
    def met(self) -> bool:
        """Whether what must be reached is."""
        return self.must is None or round(self.ratio, 2) <= self.must

    @property
    def aimed(self) -> bool:
        """Whether the aim is reached."""
        return self.aim is None or round(self.ratio, 2) <= self.aim


def gpu(limit: float) -> dict[str, float]:
    """One limit for all three regimes."""
    return dict.fromkeys(("burst", "steady", "flushed"), limit)


def judge(target: Target, values: Values) -> list[Judged]:
    """The target held against what was measured; empty where its contender or every peer is missing."""
    ours = values.get(target.who, {})
    peers = [values[name] for name in target.peers if name in values]
    if target.peers and not peers:
        return []
    judged = []
    for measure in dict.fromkeys((*target.must, *target.aim)):
        if measure in ours:
            best = min(peer[measure] for peer in peers) if peers else 1.0
            limits = target.must.get(measure), target.aim.get(measure)
            judged.append(Judged(measure, ours[measure] / best, *limits))
    return judged


def lines(target: Target, values: Values) -> list[str]:
    """The target in a line, or none where it was not measured."""
    judged = judge(target, values)
    if not judged:
        return []
    verdict = "met" if all(one.met for one in judged) else "MISSED"
    if not target.must:
        verdict = "aim met" if all(one.aimed for one in judged) else "aim missed"
    peers = " or ".join(target.peers)
    over = f"{target.who} / {peers}" if peers else target.who
    return [f"{verdict:10} {target.row:27} {over:42} {'  '.join(map(_described, judged))}"]


def _described(one: Judged) -> str:
    limits = [f"<= {one.must:g}"] if one.must is not None else []
    if one.aim is not None:
        limits.append(f"aim {one.aim:g}{'' if one.aimed else ' missed'}")
    mark = "" if one.met else "!"
    return f"{one.measure} {one.ratio:.3f}{mark} ({', '.join(limits)})"


COMPILED = ("compile", "max-autotune")
LARGE = ("8192x4096x14336", "4096x2304x9216")
NEAR_PACKED = ("packed, glu", "packed, Inductor")

TARGETS = [
    Target(
        "forward-8192x768x3072",
        ("three GEMMs",),
        {"burst": 0.95, "steady": 0.98, "flushed": 0.95},
        gpu(0.90),
    ),
    Target("forward-8192x768x3072", ("eager",), gpu(0.73)),
    Target("forward-8192x768x3072", COMPILED, gpu(0.82)),
    Target("forward-8192x768x3072", ("liger",), gpu(0.80)),
    Target("forward-8192x768x3072", ("quack",), aim=gpu(1.0)),
    *(Target(f"forward-{shape}", ("three GEMMs",), gpu(0.99), gpu(0.96)) for shape in LARGE),
    *(Target(f"forward-{shape}", ("quack",), aim=gpu(1.0)) for shape in LARGE),
    *(Target(f"rows-{rows}", NEAR_PACKED, gpu(1.0)) for rows in (1024, 2048, 4096, 8192, 16384)),
    *(Target(f"wall-{rows}", ("eager",), {"wall": 0.45}, {"wall": 0.33}) for rows in (1, 64)),
    *(
        Target(f"wall-{rows}", (peer,), {"wall": 0.25})
        for rows in (1, 64)
        for peer in ("compile", "reduce-overhead")
    ),
    Target("few-1x768x3072", ("eager",), {"burst": 0.50}, {"burst": 0.42}),
    Target("few-16x768x3072", ("eager",), {"burst": 0.60}),
    Target("few-64x768x3072", ("eager",), {"burst": 0.85}),
    *(Target(f"few-{rows}x4096x14336", ("eager",), {"burst": 0.92}) for rows in (1, 2, 4, 8, 16)),
    *(
        Target(f"few-{rows}x4096x14336", ("weight bytes / copy speed",), aim={"burst": 1.05})
        for rows in (1, 2, 4, 8, 16)
    ),
    Target(
        "train-8192x768x3072",
        ("eager", "compile"),
        {"wall": 0.85, "burst": 0.85},
        {"wall": 0.72, "burst": 0.72},
    ),
    *(
        Target(f"train-{shape}", ("compile",), {"wall": 0.98, "burst": 0.98}, {"wall": 0.95, "burst": 0.95})
        for shape in LARGE
    ),
    *(Target(f"train-{shape}", ("quack",), aim={"wall": 1.0, "burst": 1.0}) for shape in LARGE),
    Target("memory-8192x4096x14336", ("liger",), {"peak MB": 1.0}),
    Target("memory-8192x4096x14336", ("eager",), {"activation MB": 0.60}, who="rung, recompute"),
    Target("random-rows", ("compile",), {"cold, s": 0.2, "warm, s": 0.2}),
    *(
        Target(f"glu-{way}", ("bytes / copy speed",), {"burst": 1.05, "flushed": 1.05})
        for way in ("forward", "backward")
    ),
    *(
        Target(f"glu-{way}", ("a + b, as many bytes",), {"burst": 1.05, "flushed": 1.05})
        for way in ("forward", "backward")
    ),
    *(Target(f"glu-{way}", ("Inductor",), {"burst": 1.0, "flushed": 1.0}) for way in ("forward", "backward")),
    Target("first-call", (), {"warm, s": 0.5, "cold, s": 3.0}),
]
