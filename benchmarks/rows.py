"""What is measured, row by row: contenders, shapes, and the checks before the clock starts."""

from __future__ import annotations

import gc
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from checks import check, check_step
from peers import MLPS, ONLY_PRODUCTS, Inputs, Ready, compiled, draw, eager_glu, installed, nine_gemms
from regimes import REGIMES, Call, Effort, Times, copy_bytes_per_us, gpu_us, wall_us

from rung.glu import glu

Shape = tuple[int, int, int]
"""T, D, H."""
ARTICLE, LARGE = (8192, 768, 3072), ((4096, 2304, 9216), (8192, 4096, 14336))
SETS = 2
WALL_US = 150e3  # a round of training steps
DISKS = ("cold", "warm")
"""Caches on disk: empty, or as the first process left them."""
AS_MANY_BYTES = "a + b, as many bytes"
RANDOM_ROWS = random.Random(0).sample(range(1, 8193), 50)


@dataclass(frozen=True)
class Row:
    """`measure` gives values by contender and measure: microseconds, unless the measure names its unit."""

    name: str
    measure: Callable[[Effort], Times]


def forward(shape: Shape, names: Iterable[str], regimes: Iterable[str], effort: Effort) -> Times:
    """GPU time of a forward without gradients."""
    with torch.inference_mode():
        forwards, errors = _forwards(shape, names)
        return _with_errors(gpu_us(forwards, effort, list(regimes)), errors)


def wall(shape: Shape, names: Iterable[str], effort: Effort) -> Times:
    """Wall and CPU time of a forward called from Python."""
    with torch.inference_mode():
        forwards, errors = _forwards(shape, names)
        on_one_set = {name: calls[:1] for name, calls in forwards.items()}
        return _with_errors(wall_us(on_one_set, effort.more()), errors)


def few(shape: Shape, effort: Effort) -> Times:
    """A small batch, beside the time it takes to read the weights once."""
    times = forward(shape, ["rung", "eager", "packed, glu"], ["burst"], effort.more())
    weights = 3 * shape[1] * shape[2] * 2
    times["weight bytes / copy speed"] = {"burst": weights / _copy_speed(effort)}
    return times


def train(shape: Shape, names: Iterable[str], effort: Effort) -> Times:
    """GPU and wall time of a forward and a backward, gradients for x and every weight."""
    sets = [_leaves(draw(*shape, seed)) for seed in range(SETS)]
    steps = _contenders(names, sets, _step)
    check_step(sets[0], {name: calls[0]() for name, calls in steps.items()})
    steps["nine GEMMs"] = [partial(nine_gemms, *one) for one in sets]
    times = gpu_us(steps, effort, ["burst"])
    calls = max(4, min(200, round(WALL_US / times["rung"]["burst"])))
    for name, found in wall_us(steps, effort, calls).items():
        times[name] |= found
    return times


def memory(shape: Shape, names: Iterable[str], _: Effort) -> Times:
    """Peak of a training step above its inputs, and what a forward leaves for the backward."""
    inputs = _leaves(draw(*shape, seed=0))
    return {name: _bytes(MLPS[name]()(inputs), inputs) for name in installed(names)}


def glu_forward(rows: int, columns: int, effort: Effort) -> Times:
    """act(gate) * up alone."""
    with torch.inference_mode():
        calls: dict[str, list[Call]] = {
            name: [partial(function, *pair) for pair in _pairs(rows, columns)]
            for name, function in _glus().items()
        }
        return _beside_copy(calls, 3, rows * columns, effort)


def glu_backward(rows: int, columns: int, effort: Effort) -> Times:
    """Its gradient alone."""
    calls: dict[str, list[Call]] = {}
    for name, function in _glus().items():
        calls[name] = []
        for pair in _pairs(rows, columns):
            leaves = [tensor.requires_grad_() for tensor in pair]
            grad = partial(torch.autograd.grad, function(*leaves), leaves, torch.randn_like(leaves[0]))
            calls[name].append(partial(grad, retain_graph=True))
    return _beside_copy(calls, 5, rows * columns, effort)


def random_rows(_: Effort) -> Times:
    """50 calls of random T, the first ones of a process: with nothing on disk, and with what a first process
    left there."""
    return {name: {f"{disk}, s": sum(_fresh(name, disk)) for disk in DISKS} for name in ("rung", "compile")}


def first_call(_: Effort) -> Times:
    """The first of them."""
    return {"rung": {f"{disk}, s": _fresh("rung", disk)[0] for disk in DISKS}}


def _forwards(shape: Shape, names: Iterable[str]) -> tuple[dict[str, list[Call]], dict[str, float]]:
    """Each peer's forward on two sets of inputs, and its error against fp64."""
    sets = [draw(*shape, seed) for seed in range(SETS)]
    forwards = _contenders(names, sets, lambda ready, _: ready.forward)
    right = {name: calls for name, calls in forwards.items() if name not in ONLY_PRODUCTS}
    return forwards, check(sets, right)


def _contenders(
    names: Iterable[str], sets: Iterable[Inputs], timed: Callable[[Ready, Inputs], Call]
) -> dict[str, list[Call]]:
    """What is timed of each peer, called once; a peer that cannot run is left out, and said so."""
    found = {}
    for name in installed(names):
        peer = MLPS[name]()
        try:
            calls = [timed(peer(one), one) for one in sets]
            calls[0]()
        except Exception as error:
            if name == "rung":
                raise
            print(f"   {name} left out: {type(error).__name__}: {str(error)[:150]}", flush=True)
        else:
            found[name] = calls
    return found


def _with_errors(times: Times, errors: Mapping[str, float]) -> Times:
    return {
        name: found | ({"error": errors[name]} if name in errors else {}) for name, found in times.items()
    }


def _leaves(inputs: Inputs) -> Inputs:
    for tensor in inputs[:4]:
        tensor.requires_grad_()
    return inputs


def _step(ready: Ready, inputs: Inputs) -> Call:
    return lambda: torch.autograd.grad(ready.forward(), ready.leaves, inputs.dy)


def _bytes(ready: Ready, inputs: Inputs) -> dict[str, float]:
    _step(ready, inputs)()
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    y = ready.forward()
    kept = torch.cuda.memory_allocated() - before - y.nbytes
    torch.autograd.grad(y, ready.leaves, inputs.dy)
    peak = torch.cuda.max_memory_allocated() - before
    return {"peak MB": peak / 1e6, "activation MB": kept / 1e6}


def _pairs(rows: int, columns: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    def drawn() -> torch.Tensor:
        return torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16)

    return [(drawn(), drawn()) for _ in range(SETS)]


def _glus() -> dict[str, Callable[..., Any]]:
    return {"rung": glu, "Inductor": compiled(eager_glu), "eager": eager_glu}


def _beside_copy(calls: dict[str, list[Call]], tensors: int, numbers: int, effort: Effort) -> Times:
    """Beside the bytes of so many tensors at the speed of a large copy, and beside the simplest kernel that
    moves as many: a sum reads two tensors and writes a third."""
    sums: list[Call] = [partial(torch.add, *pair) for pair in _pairs(tensors, numbers // 3)]
    times = gpu_us(calls | {AS_MANY_BYTES: sums}, effort.more(), ["burst", "flushed"])
    times["bytes / copy speed"] = dict.fromkeys(
        ("burst", "flushed"), tensors * numbers * 2 / _copy_speed(effort)
    )
    return times


@cache
def _copy_speed(effort: Effort) -> float:
    return copy_bytes_per_us(effort)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rung-glu-")


@cache
def _fresh(name: str, disk: str) -> list[float]:
    """Seconds of the calls with RANDOM_ROWS in a new process, the first one with its caches or the second."""
    if disk != DISKS[0]:
        _fresh(name, DISKS[0])
    caches = {
        variable: str(Path(_folder().name) / name / variable)
        for variable in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "RUNG_CACHE_DIR")
    }
    listed = ",".join(map(str, RANDOM_ROWS))
    child = subprocess.run(
        [sys.executable, Path(__file__).with_name("fresh.py"), name, "768", "3072", listed],
        env={**os.environ, **caches},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [float(seconds) for seconds in json.loads(child.stdout.splitlines()[-1])]


def _named(shape: Shape) -> str:
    return "x".join(map(str, shape))


FORWARD = ["rung", "three GEMMs", "eager", "compile", "liger", "quack"]
TRAIN = ["rung", "eager", "compile", "liger", "quack"]
NEAR_PACKED = ["rung", "packed, glu", "packed, Inductor"]

ROWS = [
    Row(f"forward-{_named(ARTICLE)}", partial(forward, ARTICLE, [*FORWARD, "max-autotune"], REGIMES)),
    *(Row(f"forward-{_named(shape)}", partial(forward, shape, FORWARD, REGIMES)) for shape in LARGE),
    *(
        Row(f"rows-{rows}", partial(forward, (rows, 768, 3072), NEAR_PACKED, REGIMES))
        for rows in (1024, 2048, 4096, 8192, 16384)
    ),
    *(
        Row(
            f"wall-{rows}",
            partial(wall, (rows, 768, 3072), ["rung", "eager", "compile", "reduce-overhead", "liger"]),
        )
        for rows in (1, 64)
    ),
    *(Row(f"few-{rows}x768x3072", partial(few, (rows, 768, 3072))) for rows in (1, 16, 64)),
    *(Row(f"few-{rows}x4096x14336", partial(few, (rows, 4096, 14336))) for rows in (1, 2, 4, 8, 16)),
    *(Row(f"train-{_named(shape)}", partial(train, shape, TRAIN)) for shape in (ARTICLE, *LARGE)),
    Row(
        "memory-8192x4096x14336",
        partial(memory, (8192, 4096, 14336), ["rung", "rung, recompute", "eager", "liger"]),
    ),
    Row("glu-forward", partial(glu_forward, 8192, 3072)),
    Row("glu-backward", partial(glu_backward, 8192, 3072)),
    Row("random-rows", random_rows),
    Row("first-call", first_call),
]
