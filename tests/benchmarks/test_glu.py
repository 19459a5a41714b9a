"""The benchmark of the fused MLP: its verdicts, its checks, and that its peers compute the same."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.torch

import rows  # noqa: E402
from checks import WrongError, check, check_step, distance  # noqa: E402
from peers import MLPS, Inputs, draw, eager, installed, nine_gemms  # noqa: E402
from regimes import Effort  # noqa: E402
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


@pytest.fixture
def on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows draw on the CPU; a clock that calls each contender once a set and says 1."""

    def clock(contenders: Any, *_: Any) -> Any:
        return {name: {"burst": 1.0 * len([one() for one in calls])} for name, calls in contenders.items()}

    monkeypatch.setattr(rows, "draw", partial(draw, device="cpu"))
    monkeypatch.setattr(rows, "gpu_us", clock)
    monkeypatch.setattr(rows, "wall_us", clock)


@pytest.mark.usefixtures("on_a_cpu")
def test_a_row_of_forwards_has_times_and_errors() -> None:
    times = rows.forward((8, 64, 96), ["rung", "eager", "three GEMMs"], ["burst"], Effort())
    assert [name for name, found in times.items() if "error" in found] == ["rung", "eager"]
    assert times["rung"]["error"] <= times["eager"]["error"]
    assert rows.wall((8, 64, 96), ["rung", "eager"], Effort())["rung"]["burst"] == 1


@pytest.mark.usefixtures("on_a_cpu")
def test_a_row_of_steps_has_the_products_alone_beside_it() -> None:
    times = rows.train((8, 64, 96), ["rung", "eager"], Effort())
    assert times == {name: {"burst": 2.0} for name in ("rung", "eager", "nine GEMMs")}


@pytest.mark.usefixtures("on_a_cpu")
def test_a_peer_that_fails_is_left_out_and_rung_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(inputs: Inputs) -> Any:
        raise RuntimeError("no such device")

    monkeypatch.setitem(MLPS, "eager", lambda: broken)
    assert list(rows.forward((8, 64, 96), ["rung", "eager"], ["burst"], Effort())) == ["rung"]
    assert "eager left out: RuntimeError: no such device" in capsys.readouterr().out
    monkeypatch.setitem(MLPS, "rung", lambda: broken)
    with pytest.raises(RuntimeError, match="no such device"):
        rows.forward((8, 64, 96), ["rung"], ["burst"], Effort())


def test_the_sum_moves_as_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the gradient of a GLU of 21 numbers, which reads three tensors and writes two: 210 bytes."""
    timed: dict[str, Any] = {}
    monkeypatch.setattr(rows, "gpu_us", lambda contenders, *_: timed.update(contenders) or {})
    monkeypatch.setattr(rows, "_pairs", lambda *shape: [torch.ones(2, *shape, dtype=torch.bfloat16).unbind()])
    monkeypatch.setattr(rows, "_copy_speed", lambda effort: 10.0)
    times = rows._beside_copy({}, 5, 21, Effort())
    (add,) = timed[rows.AS_MANY_BYTES]
    assert sum(tensor.nbytes for tensor in (*add.args, add())) == 210
    assert times["bytes / copy speed"] == {"burst": 21.0, "flushed": 21.0}


def test_the_random_rows_differ() -> None:
    assert len(set(rows.RANDOM_ROWS)) == 50
    assert min(rows.RANDOM_ROWS) >= 1 and max(rows.RANDOM_ROWS) <= 8192


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_gpu_times_are_those_of_the_kernels() -> None:
    from regimes import QUICK, gpu_us

    cycles = {"one": 400_000, "two": 800_000}
    with torch.cuda.stream(torch.cuda.Stream()):
        times = gpu_us({name: [lambda n=n: torch.cuda._sleep(n)] for name, n in cycles.items()}, QUICK)
    for regime in ("burst", "steady", "flushed"):
        assert times["two"][regime] / times["one"][regime] == pytest.approx(2, rel=0.1)
