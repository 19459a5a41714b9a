"""How long a call takes: on the GPU in three regimes, and on the CPU.

`burst`    launches right after a 10 ms spin: full clock, caches warm, nothing waits for the CPU.
`steady`   launches back to back for 200 ms, the last 120 ms timed: the power limit sets the clock.
`flushed`  L2 is overwritten before each call.
`wall`     calls from Python back to back until the GPU is done, allocation included; `cpu` is the process's
           CPU time until the last of them is launched.

GPU times are those of replayed CUDA graphs, captured on the current stream, which must not be the default
one. Contenders take turns, in rounds that run forth and back; a result is the median of its rounds, in
microseconds a call.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

import torch

Call = Callable[[], Any]
Contenders = Mapping[str, Sequence[Call]]
"""Per name the same call on several sets of inputs, which take turns."""
Times = dict[str, dict[str, float]]
"""Per name and measure, microseconds a call."""

REGIMES = ("burst", "steady", "flushed")
SPIN_CYCLES = 18_000_000  # 10 ms
BURST_US, STEADY_US = 3e3, 200e3
L2_BYTES = 256 << 20  # four times that of an H200
FLUSHED_CALLS = 10  # a round


@dataclass(frozen=True)
class Effort:
    """Rounds of each measure."""

    burst: int = 9
    steady: int = 5
    flushed: int = 5
    wall: int = 7

    def more(self) -> Effort:
        """Three times as many, where calls are short and contenders close."""
        return Effort(*(3 * rounds for rounds in astuple(self)))


QUICK = Effort(burst=3, steady=1, flushed=1, wall=3)


@dataclass(frozen=True)
class Graph:
    """`calls` calls in one CUDA graph, and what one of them takes, roughly."""

    replay: Call
    calls: int
    us: float


def gpu_us(contenders: Contenders, effort: Effort, regimes: Sequence[str] = REGIMES) -> Times:
    """GPU time of a call in each regime; `steady` last, since it leaves the GPU throttled for a while."""
    graphs = {name: _graph(calls) for name, calls in contenders.items()}
    times: Times = {name: {} for name in contenders}
    for regime in sorted(regimes, key="burst flushed steady".index):
        single = regime == "flushed"
        taken = {n: _captured(calls[:1]) for n, calls in contenders.items()} if single else graphs
        measure = {"burst": _burst, "steady": _steady, "flushed": _flushed}[regime]
        for name, value in _medians(taken, getattr(effort, regime), measure).items():
            times[name][regime] = value
    return times


def wall_us(contenders: Contenders, effort: Effort, calls: int = 300) -> Times:
    """Wall and CPU time of a call from Python."""
    for turns in contenders.values():
        _repeat(turns, 30)
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for name in _turns(list(contenders), effort.wall):
        torch.cuda.synchronize()
        wall, cpu = time.perf_counter(), time.process_time()
        _repeat(contenders[name], calls)
        cpu = time.process_time() - cpu
        torch.cuda.synchronize()
        rounds[name].append(((time.perf_counter() - wall) / calls * 1e6, cpu / calls * 1e6))
    return {
        name: {
            "wall": statistics.median(w for w, _ in taken),
            "cpu": statistics.median(c for _, c in taken),
        }
        for name, taken in rounds.items()
    }


def copy_bytes_per_us(effort: Effort) -> float:
    """Bytes read and written by a large copy on the device, a microsecond.

    Called directly: in a graph the same copy moves 2.8 TB/s instead of 4.2.
    """
    source = torch.randint(256, (4 << 30,), dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)

    def copy() -> torch.Tensor:
        return target.copy_(source)

    graph = Graph(copy, 1, _between(copy))
    return 2 * source.numel() / statistics.median(_burst(graph) for _ in range(effort.burst))


def _repeat(turns: Sequence[Call], times: int) -> None:
    for at in range(times):
        turns[at % len(turns)]()


def _turns(names: list[str], rounds: int) -> Iterator[str]:
    """Every name once a round, every second round backwards."""
    for at in range(rounds):
        yield from names if at % 2 == 0 else names[::-1]


def _medians(graphs: Mapping[str, Graph], rounds: int, measure: Callable[[Graph], float]) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in graphs}
    for name in _turns(list(graphs), rounds):
        taken[name].append(measure(graphs[name]))
    return {name: statistics.median(values) for name, values in taken.items()}


def _graph(calls: Sequence[Call]) -> Graph:
    """A graph of about a millisecond, so that launching it costs nothing beside it."""
    once = _captured(calls)
    repeats = max(1, min(20, round(1e3 / (once.us * once.calls))))
    return once if repeats == 1 else _captured([*calls] * repeats)


def _captured(calls: Sequence[Call]) -> Graph:
    _repeat(calls, 2 * len(calls))
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    # Not on a stream of its own: a backward runs on the stream of its forward.
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        _repeat(calls, len(calls))
    graph.replay()
    return Graph(graph.replay, len(calls), _between(graph.replay) / len(calls))


def _burst(graph: Graph) -> float:
    replays = max(1, round(BURST_US / (graph.us * graph.calls)))
    torch.cuda._sleep(SPIN_CYCLES)
    graph.replay()
    return _between(graph.replay, replays) / graph.calls


def _steady(graph: Graph) -> float:
    of_all = STEADY_US / (graph.us * graph.calls)
    for _ in range(max(1, round(0.4 * of_all))):
        graph.replay()
    return _between(graph.replay, max(1, round(0.6 * of_all))) / graph.calls


def _flushed(graph: Graph) -> float:
    cache = torch.empty(L2_BYTES, dtype=torch.uint8, device="cuda")
    taken = []
    for _ in range(FLUSHED_CALLS):
        cache.zero_()
        taken.append(_events(graph.replay))
    torch.cuda.synchronize()
    return statistics.median(start.elapsed_time(end) * 1e3 for start, end in taken) / graph.calls


def _between(replay: Call, times: int = 1) -> float:
    start, end = _events(replay, times)
    end.synchronize()
    return start.elapsed_time(end) * 1e3 / times


def _events(replay: Call, times: int = 1) -> tuple[torch.cuda.Event, torch.cuda.Event]:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(times):
        replay()
    end.record()
    return start, end
