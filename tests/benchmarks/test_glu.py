"""The benchmark of the fused MLP: its verdicts, its checks, and that its peers compute the same."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.torch

from checks import WrongError, check, check_step, distance  # noqa: E402
from peers import MLPS, Inputs, draw, eager, installed, nine_gemms  # noqa: E402
from rows import ROWS  # noqa: E402
from targets import TARGETS, Target, judge, lines  # noqa: E402

VALUES = {
    "rung": {"burst": 80.0, "steady": 99.0},
    "eager": {"burst": 100.0, "steady": 110.0},
    "compile": {"burst": 160.0, "steady": 90.0},
}


def test_a_ratio_is_held_against_the_best_peer_in_each_measure() -> None:
    target = Target("r", ("eager", "compile"), {"burst": 0.8, "steady": 1.0}, {"burst": 0.75})
    burst, steady = judge(target, VALUES)
    assert (burst.ratio, burst.met, burst.aimed) == (0.8, True, False)
    assert (steady.ratio, steady.met, steady.aimed) == (1.1, False, True)


def test_without_peers_the_value_itself_is_limited() -> None:
    (one,) = judge(Target("r", (), {"cold, s": 3.0}), {"rung": {"cold, s": 3.5}})
    assert (one.ratio, one.met) == (3.5, False)


@pytest.mark.parametrize(("ours", "met"), [(1.004, True), (1.006, False)])
def test_a_ratio_has_two_digits(ours: float, met: bool) -> None:
    (one,) = judge(Target("r", ("eager",), {"wall": 1.0}), {"rung": {"wall": ours}, "eager": {"wall": 1.0}})
    assert one.met is met


def test_what_was_not_measured_is_not_judged() -> None:
    assert judge(Target("r", ("quack",), {"burst": 1.0}), VALUES) == []
    assert judge(Target("r", ("eager",), {"wall": 1.0}), VALUES) == []
    assert judge(Target("r", ("eager",), {"burst": 1.0}, who="rung, recompute"), VALUES) == []


def test_a_line_says_what_was_missed() -> None:
    (line,) = lines(Target("r", ("eager",), {"burst": 0.8, "steady": 0.8}, {"burst": 0.7}), VALUES)
    said = "MISSED r rung / eager burst 0.800 (<= 0.8, aim 0.7 missed) steady 0.900! (<= 0.8)"
    assert " ".join(line.split()) == said
    (line,) = lines(Target("r", ("compile",), aim={"burst": 0.5}), VALUES)
    assert line.startswith("aim met ")


def test_every_row_has_a_target_and_every_target_a_row() -> None:
    assert {target.row for target in TARGETS} == {row.name for row in ROWS}


def inputs(seed: int = 0) -> Inputs:
    return draw(8, 64, 96, seed, device="cpu")


@pytest.mark.parametrize("name", ["rung", "rung, recompute", "eager", "packed, glu"])
def test_peers_compute_the_same(name: str) -> None:
    one = inputs()
    exact = eager(*(tensor.double() for tensor in one[:4]))
    assert distance(MLPS[name]()(one).forward(), exact) < 0.01


def test_the_products_alone_are_nine() -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiled:
        nine_gemms(*inputs())
    assert sum(event.count for event in profiled.key_averages() if event.key == "aten::mm") == 9


def test_peers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "quack" else object())
    assert installed(["rung", "liger", "quack"]) == ["rung", "liger"]


def forwards(function: Any, sets: list[Inputs]) -> list[Any]:
    return [lambda one=one: function(*one[:4]) for one in sets]


def test_a_wrong_contender_is_not_timed() -> None:
    sets = [inputs(0), inputs(1)]
    right = forwards(eager, sets)
    errors = check(sets, {"rung": right, "other": right})
    assert 0 < errors["rung"] == errors["other"] < 0.01
    with pytest.raises(WrongError, match="other is"):
        check(sets, {"rung": right, "other": forwards(lambda *t: eager(*t) * 1.05, sets)})
    with pytest.raises(WrongError, match="rung is nan"):
        check(sets, {"rung": forwards(lambda *t: eager(*t) * float("nan"), sets)})


def test_results_in_one_memory_are_refused() -> None:
    sets = [inputs(0), inputs(1)]
    shared = torch.empty_like(sets[0].x)
    with pytest.raises(WrongError, match="share memory"):
        check(sets, {"rung": forwards(lambda *t: shared.copy_(eager(*t)), sets)})


def test_a_wrong_gradient_is_not_timed() -> None:
    one = inputs()
    leaves = [tensor.requires_grad_() for tensor in one[:4]]
    right = torch.autograd.grad(eager(*leaves), leaves, one.dy)
    check_step(one, {"rung": right, "eager": right})
    with pytest.raises(WrongError, match="rung's dx"):
        check_step(one, {"rung": (right[0] * 1.05, *right[1:]), "eager": right})
    with pytest.raises(WrongError, match="weight's gradient"):
        check_step(one, {"rung": (*right[:3], right[3] * 1.05), "eager": right})


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_gpu_times_are_those_of_the_kernels() -> None:
    from regimes import QUICK, gpu_us

    cycles = {"one": 400_000, "two": 800_000}
    with torch.cuda.stream(torch.cuda.Stream()):
        times = gpu_us({name: [lambda n=n: torch.cuda._sleep(n)] for name, n in cycles.items()}, QUICK)
    for regime in ("burst", "steady", "flushed"):
        assert times["two"][regime] / times["one"][regime] == pytest.approx(2, rel=0.1)
