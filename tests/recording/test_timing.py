"""Calls timed without a profiler."""

from __future__ import annotations

import time

import pytest

torch = pytest.importorskip("torch")

from rung.recording.compiling import compiled_during  # noqa: E402
from rung.recording.timing import MOST_CALLS, first_call, time_calls  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    # torch's own, where a test here is the first to import its compiler
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:FutureWarning"),
]

CPU = torch.device("cpu")


def test_a_call_that_sleeps_takes_at_least_that_long() -> None:
    found = time_calls({"long": lambda: time.sleep(0.004), "short": lambda: None}, CPU, rounds=3)
    assert list(found) == ["long", "short"]
    assert 4_000_000 <= found["long"].cpu_ns <= found["long"].wall_ns
    assert found["short"].wall_ns < 4_000_000
    assert found["long"].gpu_ns is None
    least, most = found["long"].wall_range_ns
    assert 4_000_000 <= least <= found["long"].wall_ns <= most
    assert first_call(lambda: time.sleep(0.004), CPU) >= 4_000_000


def test_they_take_turns() -> None:
    """After the warm-up, each round calls the one and then the other: nothing that drifts favours either."""
    log: list[str] = []

    def call(name: str) -> None:
        log.append(name)
        time.sleep(0.006)  # so long that a round is one call

    time_calls({"a": lambda: call("a"), "b": lambda: call("b")}, CPU, rounds=3)
    assert "".join(log) == "aaa" + "bbb" + "ab" * 3


def test_quick_calls_are_timed_many_at_a_time() -> None:
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    time_calls({"quick": count}, CPU, rounds=2)
    assert calls == 3 + 2 * MOST_CALLS


def test_what_was_compiled_meanwhile() -> None:
    """The second shape compiles again, for any size; a third then needs nothing."""
    torch.compiler.reset()
    fn = torch.compile(torch.nn.Linear(4, 4))
    told = []
    for rows in (2, 3, 5):
        with compiled_during() as compiled, torch.inference_mode():
            fn(torch.ones(rows, 4))
        told.append((compiled.graphs, compiled.recompiles, compiled.breaks, compiled.ns > 0))
    assert told == [(1, 0, 0, True), (1, 1, 0, True), (0, 0, 0, False)]


def test_a_graph_break_makes_a_second_graph() -> None:
    def stops(x: torch.Tensor) -> torch.Tensor:
        x = x + 1
        return x * 2 if x.sum() > 0 else x

    torch.compiler.reset()
    with compiled_during() as compiled:
        torch.compile(stops)(torch.ones(3))
    assert (compiled.graphs, compiled.breaks, compiled.recompiles) == (2, 1, 0)


@pytest.mark.gpu
def test_gpu_time_comes_from_a_graph_and_not_where_the_cpu_waits() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    found = time_calls({"product": lambda: x @ x, "asks": lambda: bool(x[0, 0] > 0)}, x.device)
    assert found["asks"].gpu_ns is None
    gpu = found["product"].gpu_ns
    assert gpu is not None
    # 137 GFLOP: no GPU does them within 10 µs, and what launches back to back takes the GPU's time.
    assert 10_000 < gpu < 2 * found["product"].wall_ns
