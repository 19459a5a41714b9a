"""Hand-made traces: say what happened, in microseconds, and read it back.

    trace = read(
        step(1, 0, 100),
        op("aten::mm", 10, 30),
        launch(20, 5, correlation=11),
        kernel("toy_gemm", 30, 20, correlation=11),
    )

Each function makes one event as Kineto writes it. CPU-side events lie on thread `MAIN` of process `PROCESS`
unless `pid=` or `tid=` says otherwise, device events on device 0 and stream 7; other keywords become `args`.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from rung.trace import Trace
from rung.trace.assemble import assemble
from rung.trace.document import decode
from rung.trace.source import Source

Event = dict[str, Any]
Microseconds = float

PROCESS = 100
MAIN = 100
BACKWARD = 101
"""A second CPU thread, as autograd has."""

GPU = {"id": 0, "name": "Test GPU", "computeMajor": 9, "computeMinor": 0}


def span(
    category: str,
    name: str,
    start: Microseconds,
    dur: Microseconds,
    *,
    pid: Any = PROCESS,
    tid: Any = MAIN,
    **args: Any,
) -> Event:
    """A complete event of any category."""
    place = {"pid": pid, "tid": tid, "ts": start, "dur": dur}
    return {"ph": "X", "cat": category, "name": name, **place, "args": args}


def op(name: str, start: Microseconds, dur: Microseconds, **args: Any) -> Event:
    return span("cpu_op", name, start, dur, **args)


def annotation(name: str, start: Microseconds, dur: Microseconds, **args: Any) -> Event:
    return span("user_annotation", name, start, dur, **args)


def step(number: int, start: Microseconds, dur: Microseconds) -> Event:
    return annotation(f"ProfilerStep#{number}", start, dur)


def frame(name: str, start: Microseconds, dur: Microseconds, **args: Any) -> Event:
    return span("python_function", name, start, dur, **args)


def call(name: str, start: Microseconds, dur: Microseconds, **args: Any) -> Event:
    """A call of the runtime, or of the driver where the name says so."""
    driver = name.startswith("cu") and not name.startswith("cuda")
    return span("cuda_driver" if driver else "cuda_runtime", name, start, dur, **args)


def launch(start: Microseconds, dur: Microseconds, correlation: int, **args: Any) -> Event:
    return call("cudaLaunchKernel", start, dur, correlation=correlation, **args)


def work(
    category: str,
    name: str,
    start: Microseconds,
    dur: Microseconds,
    correlation: int | None = None,
    *,
    stream: int = 7,
    device: int = 0,
    **args: Any,
) -> Event:
    """Work on a device. Without a correlation it has no link to a launch."""
    link = {} if correlation is None else {"correlation": correlation}
    place: Event = {"device": device, "stream": stream}
    return span(category, name, start, dur, pid=device, tid=stream, **place, **link, **args)


def kernel(
    name: str, start: Microseconds, dur: Microseconds, correlation: int | None = None, **args: Any
) -> Event:
    return work("kernel", name, start, dur, correlation, **args)


def copy(start: Microseconds, dur: Microseconds, correlation: int | None = None, **args: Any) -> Event:
    return work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", start, dur, correlation, **args)


def memset(start: Microseconds, dur: Microseconds, correlation: int | None = None, **args: Any) -> Event:
    return work("gpu_memset", "Memset (Device)", start, dur, correlation, **args)


def arrow(category: str, number: int, tail: Event, head: Event) -> list[Event]:
    """A flow from the beginning of one event to the beginning of another: a start and a finish."""
    common = {"cat": category, "name": category, "id": number}
    return [
        {"ph": phase, **common, **{key: event[key] for key in ("pid", "tid", "ts")}}
        for phase, event in (("s", tail), ("f", head))
    ]


def document(*events: Event, device: Event | None = GPU, **header: Any) -> Event:
    """The whole file as an object; `device=None` leaves `deviceProperties` out."""
    properties = {} if device is None else {"deviceProperties": [device]}
    return {"schemaVersion": 1, **properties, **header, "traceEvents": list(events)}


def text(*events: Event, **header: Any) -> bytes:
    """The whole file as Kineto would write it."""
    return json.dumps(document(*events, **header)).encode()


def read(*events: Event, **header: Any) -> Trace:
    """The trace that these events make."""
    return read_bytes(text(*events, **header))


def read_bytes(data: bytes) -> Trace:
    """The trace in some bytes, damaged or not."""
    return assemble(decode(Source("hand-made.json", data)))


def write(path: Path, *events: Event, **header: Any) -> Path:
    """Write the events to a file, compressed if its name ends in `.gz`."""
    data = text(*events, **header)
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def codes(trace: Trace) -> dict[str, int]:
    """The trace's warnings: how often each code applied."""
    return {warning.code: warning.count for warning in trace.warnings}
