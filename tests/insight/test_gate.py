"""Gates on hand-made traces whose differences are plain to see, and on what ships."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rung.errors import UsageError
from rung.insight.gate import GateVerdict, gate, hold, load_gate
from rung.insight.gating.language import parse
from rung.insight.gating.times import steady
from rung.ladder import shipped
from rung.trace import Trace, read
from tracelib import annotation, call, kernel, launch, memset, op, read_bytes, text
from tracelib import read as made

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
H200 = {"id": 0, "name": "NVIDIA H200"}


def steps(
    *busy_us: float, names: Sequence[str] = ("nvjet_a", ADD), device: Any = H200, **header: Any
) -> Trace:
    """One instance of `fwd` of 500 us for each time; the named kernels share it evenly."""
    events = []
    for number, busy in enumerate(busy_us):
        at, share = 1000 * number, busy / len(names)
        events += [annotation("fwd", at, 500), op("aten::linear", at + 1, 100)]
        for i, name in enumerate(names):
            n = 100 * number + i + 1
            events += [launch(at + 2 + 3 * i, 2, correlation=n)]
            events += [kernel(name, at + 50 + share * i, share, correlation=n)]
    return made(*events, device=device, **header)


def held(base: Trace, new: Trace, line: str) -> bool:
    verdict = gate(base, new, line)
    assert verdict.reason is None
    return verdict.held


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("kernels <= +0", False),
        ("kernels <= +1", True),
        ("kernels == +1", True),
        ("kernels = +1", True),
        ("kernels != +1", False),
        ("kernels < +1", False),
        ("kernels >= -1", True),
        ("kernels <= +50%", True),
        ("kernels <= +49.9 %", False),
        ("launches <= +0", False),
        ("launches <= +2", True),
        ("gemm <= +0", True),
        ("other <= +0", False),
        ("copies <= +0", True),
        ("memsets <= +0", True),
        ("op:aten::linear == +0", True),
        ("op:aten::* > +0", False),
        ("kernel:toy* <= +0", False),
        ('kernel:"nvjet*" == +0', True),
        ("family:nvjet <= +0", True),
        ("no-new-family", False),
        ("no-new-family aten", True),
        ("no-new-family:aten", True),
        ("same gemm", True),
        ("same:gemm", True),
        ("same: pointwise", True),
        ("same:kernels", False),
        ("same:order", False),
        ("same:kernel:nvjet*", True),
        ("same:family:nvjet", True),
    ],
)
def test_an_added_kernel(line: str, holds: bool) -> None:
    base, new = steps(30), steps(30, names=("nvjet_a", "toy", ADD))
    assert held(base, new, line) is holds


def test_another_order_is_not_another_set() -> None:
    base, new = steps(30), steps(30, names=(ADD, "nvjet_a"))
    assert held(base, new, "same:kernels")
    assert not held(base, new, "same:order")


def test_a_new_family_is_named() -> None:
    verdict = gate(steps(30, names=("nvjet_a",)), steps(30), "no-new-family:aten")
    assert [check.evidence for check in verdict.checks] == [(f"aten: {ADD}",)]
    assert held(steps(30), steps(30, names=("nvjet_a", ADD, ADD)), "no-new-family:aten")


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("gpu_busy <= +5%", False),  # 102 -> 112 us is +9.8 %
        ("gpu_busy <= +9.8%", False),
        ("gpu_busy <= +9.9%", True),
        ("gpu_busy <= +10us", True),
        ("gpu_busy < +10 us", False),
        ("gpu_busy >= +10us", True),
        ("gpu_busy >= -5%", True),
        ("cpu <= +0%", True),
        ("gpu_idle_share <= +2%", True),  # 79.6 % -> 77.6 %
        ("gpu_idle_share <= -2%", True),
        ("gpu_idle_share <= -2.1%", False),
    ],
)
def test_medians_of_times(line: str, holds: bool) -> None:
    assert held(steps(100, 102, 104), steps(110, 112, 114), line) is holds


@pytest.mark.parametrize(
    ("base", "new", "line", "judged"),
    [
        ((100, 102, 120), (100, 102, 110), "gpu_busy <= +5%", None),  # 20 % apart, and the ranges overlap
        ((100, 102, 120), (100, 102, 104), "gpu_busy <= +5%", True),  # no two steps 5 % apart
        ((100, 102, 120), (60, 62, 64), "gpu_busy <= +5%", True),  # apart, but always shorter
        ((100, 102, 120), (200, 202, 240), "gpu_busy <= +5%", False),  # always longer
        ((100, 102, 120), (100, 102, 104), "gpu_busy <= +25%", True),
        ((100, 102, 104), (100, 102, 104), "gpu_busy <= +0%", None),  # noise, where none is allowed
        ((100, 100, 100), (100, 100, 100), "gpu_busy <= +0%", True),
        ((100, 100), (101,), "gpu_busy <= +50%", None),  # one step
        ((100, 101, 101, 102, 900), (100, 101, 101, 102, 30), "gpu_busy <= +5%", True),  # one outlier aside
    ],
)
def test_a_spread_that_is_too_wide_is_not_judged(
    base: tuple[int, ...], new: tuple[int, ...], line: str, judged: bool | None
) -> None:
    verdict = gate(steps(*base), steps(*new), line)
    assert verdict.held is bool(judged)
    assert (verdict.reason is None) is (judged is not None)
    if judged is None:
        assert "steps differ by" in str(verdict.reason) or "one step" in str(verdict.reason)


def test_one_of_five_steps_may_be_throttled() -> None:
    assert steady([5, 1, 2, 3, 900]) == steady([5, 2, 3])
    assert steady([1, 2, 3, 900]).high == 900


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"device": {"id": 0, "name": "NVIDIA A100"}}, "device: NVIDIA H200, then NVIDIA A100"),
        ({"rung": {"torch": "2.12.0"}}, "torch: 2.11.0, then 2.12.0"),
        ({}, "torch: 2.11.0, then not named"),
    ],
)
def test_other_devices_and_versions_are_said_and_no_time_is_compared(
    other: dict[str, Any], says: str
) -> None:
    base = steps(100, 100, rung={"torch": "2.11.0"})
    new = steps(100, 100, **{"rung": {"torch": "2.11.0"}} | other) if other else steps(100, 100)
    verdict = gate(base, new, "kernels <= +0", "gpu_busy <= +50%")
    assert says in verdict.notes
    assert [check.held for check in verdict.checks] == [True, False]
    assert says in str(verdict.reason)
    assert held(base, new, "kernels <= +0")


def test_times_without_a_named_device_are_not_compared() -> None:
    verdict = gate(steps(100, 100, device=None), steps(100, 100, device=None), "gpu_busy <= +50%")
    assert "neither trace names its device" in str(verdict.reason)


def test_gpu_time_of_a_cpu_is_not_compared() -> None:
    cpu = made(annotation("fwd", 0, 100), op("aten::mm", 5, 50), device=None)
    assert "there is no GPU work" in str(gate(cpu, cpu, "gpu_busy <= +5%").reason)
    assert held(cpu, cpu, "kernels <= +0")


def test_what_is_not_whole_is_not_judged() -> None:
    cut = read_bytes(text(annotation("fwd", 0, 50), kernel("toy", 5, 5))[:-20])
    assert "NEW (hand-made.json): truncated" in str(gate(steps(30), cut, "kernels <= +9").reason)
    lost = made(
        annotation("fwd", 0, 50), launch(1, 2, correlation=1), kernel("toy", 5, 5, correlation=1),
        call("cudaLaunchKernel", 20, 2, correlation=7), device=H200,
    )  # fmt: skip
    assert "left no work in this trace" in str(gate(steps(30), lost, "kernels <= +9").reason)
    assert held(steps(30), lost, "launches <= +0")


def test_memsets_count_apart() -> None:
    cleared = made(
        annotation("fwd", 0, 50), launch(1, 2, correlation=1), kernel("nvjet_a", 5, 5, correlation=1),
        call("cudaMemsetAsync", 10, 2, correlation=2), memset(12, 2, correlation=2), device=H200,
    )  # fmt: skip
    base = steps(30, names=("nvjet_a",))
    assert held(base, cleared, "kernels <= +0")
    assert not held(base, cleared, "memsets <= +0")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kernels <= 0", "a gate compares differences, such as '<= +0'"),
        ("kernels", "'kernels' compares nothing: write a difference, such as 'kernels <= +0' or"),
        ("kernel <= +0", "unknown key 'kernel'"),
        ("gem <= +0", "Did you mean 'gemm'?"),
        ("kernels in +0..+1", "a gate compares with"),
        ("gpu_busy == +5%", "a gate compares times with"),
        ("gpu_busy <= +5", "takes a time with its unit"),
        ("kernels <= +1.5", "takes a whole number"),
        ("kernels <= +1.2.3 %", "is no number of percent"),
        ("dtype == +1", "has no difference to compare"),
        ("same", "same needs to know what: kernels, order, gemm"),
        ("same:gem", "same needs to know what"),
        ("same:kernel", "same needs to know what"),
    ],
)
def test_what_is_no_gate_is_refused(line: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(line)
    assert says in str(refused.value)


def test_what_reads_prints_back() -> None:
    for line in ("kernels <= +0", "gpu_busy <= -5 %", "kernel:a* >= +1", "same:gemm", "no-new-family:aten"):
        assert str(parse(line)) == line
        assert parse(str(parse(line))) == parse(line)


GATE = """
kernels = "<= +0"
[fwd]
gpu_busy = "<= +5%"
same = ["gemm", "order"]
no-new-family = true
"kernel:toy*" = "<= +0"
"""


def test_a_gate_file_by_region(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(GATE)
    rules = load_gate(path)
    assert [(str(rule), rule.region, rule.place.line if rule.place else None) for rule in rules] == [
        ("kernels <= +0", None, 2),
        ("gpu_busy <= +5 %", "fwd", 4),
        ("same:gemm", "fwd", 5),
        ("same:order", "fwd", 5),
        ("no-new-family", "fwd", 6),
        ("kernel:toy* <= +0", "fwd", 7),
    ]
    assert hold(steps(10, 10), steps(10, 10), rules)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[fwd]\nkernels = '<= 0'\n", "line 2, column 11: [fwd] kernels: a gate compares differences"),
        ("[fwd]\n  gem = '<= +0'\n", "line 2, column 3: [fwd] unknown key 'gem'"),
        ("kernels = 3\n", "line 1, column 11: kernels takes a difference as text"),
        ("same = 3\n", "line 1, column 8: same takes a text or a list of texts"),
        ("[a.b]\nkernels = '<= +0'\n", "line 1, column 1: [a] 'b' is a table"),
        ("", "line 1, column 1: expects nothing"),
    ],
)
def test_a_mistake_in_a_gate_file_is_named_with_its_place(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(content)
    with pytest.raises(UsageError) as refused:
        load_gate(path)
    assert str(refused.value).startswith(f"{path}: {says}")


def test_a_region_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no region 'bwd'"):
        gate(steps(30), steps(30), "kernels <= +0", region="bwd")


def shipped_mlp(variant: str) -> Trace:
    return read(shipped.RECORDINGS / "h200" / "mlp" / f"{variant}{shipped.SUFFIX}")


def broken(verdict: GateVerdict) -> list[str]:
    return [check.line for check in verdict.checks if not check.held]


LINES = ("kernels <= +0", "launches <= +0", "no-new-family:aten", "same:gemm", "gpu_busy <= +50%")


def test_losing_a_fusion_breaks_the_gate_and_gaining_one_does_not() -> None:
    eager, compiled = shipped_mlp("eager"), shipped_mlp("compiled")
    assert broken(gate(eager, compiled, *LINES)) == []
    verdict = gate(compiled, eager, *LINES)
    assert broken(verdict) == ["kernels <= +0", "launches <= +0", "no-new-family:aten"]
    assert (
        str(verdict)
        .splitlines()[0]
        .startswith("mlp_fwd: kernels <= +0        4        5        +1         no")
    )
    assert str(verdict).splitlines()[-1] == "The gate does not hold."
