"""How long calls take with no profiler around: wall, CPU and GPU time apart, variants taking turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rung.recording.machine import require_torch, synchronize

if TYPE_CHECKING:
    import torch

ROUNDS = 11
BATCH_NS = 5_000_000
"""How long the calls of one round take together, roughly, so that neither the clock nor one hiccup counts."""

MOST_CALLS = 20
"""So few that their launches fit the driver's queue (1024): in a full one the CPU would wait for the GPU."""

SPIN_CYCLES = 2_000_000
"""About 1 ms on the GPU, in which the launch of what is timed has long arrived."""

Call = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Timing:
    """Median ns a call, and the least and greatest of the rounds. `wall_ns`: back to back, until all their
    work is done. `cpu_ns`: until the call returns. `gpu_ns`: replayed from a CUDA graph, where launches cost
    nothing; None where there is none."""

    wall_ns: int
    cpu_ns: int
    gpu_ns: int | None
    wall_range_ns: tuple[int, int]
    gpu_range_ns: tuple[int, int] | None


def time_calls(calls: Mapping[str, Call], device: torch.device, rounds: int = ROUNDS) -> dict[str, Timing]:
    """Times each call, all of them in turn in each of the rounds, after a warm-up of their own."""
    counts = {name: _warm(call, device) for name, call in calls.items()}
    graphs = {name: _graph(call, counts[name], device) for name, call in calls.items()}
    taken: dict[str, list[tuple[int, int]]] = {name: [] for name in calls}
    replayed: dict[str, list[int]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            taken[name].append(_batch(call, counts[name], device))
        for name, graph in graphs.items():
            if graph is not None:
                replayed[name].append(_replay(graph, counts[name]))
    return {name: _told(taken[name], replayed[name]) for name in calls}


def _told(taken: Sequence[tuple[int, int]], replayed: Sequence[int]) -> Timing:
    walls, cpus = zip(*taken, strict=True)
    return Timing(
        wall_ns=round(statistics.median(walls)),
        cpu_ns=round(statistics.median(cpus)),
        gpu_ns=round(statistics.median(replayed)) if replayed else None,
        wall_range_ns=(min(walls), max(walls)),
        gpu_range_ns=(min(replayed), max(replayed)) if replayed else None,
    )


def first_call(call: Call, device: torch.device) -> int:
    """ns of one call until its work is done."""
    synchronize(device)
    start = time.perf_counter_ns()
    call()
    synchronize(device)
    return time.perf_counter_ns() - start


def _warm(call: Call, device: torch.device) -> int:
    """Calls three times; how many calls a round should make."""
    for _ in range(2):
        call()
    took = first_call(call, device)
    return max(1, min(BATCH_NS // max(took, 1), MOST_CALLS))


def _batch(call: Call, count: int, device: torch.device) -> tuple[int, int]:
    """(wall, CPU) ns a call."""
    synchronize(device)
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    returned = time.perf_counter_ns()
    synchronize(device)
    return (time.perf_counter_ns() - start) // count, (returned - start) // count


def _graph(call: Call, count: int, device: torch.device) -> Any:
    """`count` calls as one CUDA graph; None on a CPU and for work that cannot be captured."""
    if device.type != "cuda":
        return None
    cuda = require_torch().cuda
    side = cuda.Stream()
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        call()
    cuda.synchronize()
    graph = cuda.CUDAGraph()
    try:
        with cuda.graph(graph):
            for _ in range(count):
                call()
    except RuntimeError:  # it waits for the GPU, say
        cuda.synchronize()
        _leave_capture(cuda)
        return None
    return graph


def _leave_capture(cuda: Any) -> None:
    """After a capture that failed torch's random generator still believes to be in one, and every later
    `torch.randn` raises; a capture that succeeds tells it otherwise."""
    with cuda.graph(cuda.CUDAGraph()):
        require_torch().zeros(1, device="cuda")


def _replay(graph: Any, count: int) -> int:
    """GPU ns a call."""
    cuda = require_torch().cuda
    start, end = (cuda.Event(enable_timing=True) for _ in range(2))
    cuda._sleep(SPIN_CYCLES)
    start.record()
    graph.replay()
    end.record()
    cuda.synchronize()
    milliseconds: float = start.elapsed_time(end)
    return round(milliseconds * 1e6 / count)
