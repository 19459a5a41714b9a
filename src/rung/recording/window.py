"""The profiler around a loop of calls: one step and one region a call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rung.errors import UsageError
from rung.recording.machine import require_torch, synchronize
from rung.recording.values import Settings

if TYPE_CHECKING:
    import torch


def profile_calls(call: Callable[[], object], region: str, device: torch.device, settings: Settings) -> Any:
    """Calls `call` under the profiler's schedule and returns the stopped profiler.

    The last step before the kept ones waits for the device, and so does the last of them: what lies within
    the window is what they launched, all of it.
    """
    profiler = make_profiler(device, settings, scheduled=True)
    record_function = require_torch().profiler.record_function
    cycle = settings.wait + settings.profiler_warmup + settings.active
    with quiet(), only_profiler(profiler, "the recorded function"), profiler:
        for step in range(settings.steps):
            with record_function(region):
                call()
            if step % cycle in (cycle - 1, cycle - settings.active - 1):
                synchronize(device)
            profiler.step()
    return profiler


def make_profiler(device: torch.device, settings: Settings, *, scheduled: bool) -> Any:
    """A torch.profiler.profile, not yet started; unscheduled, its whole life is one window."""
    torch = require_torch()
    kinds = torch.profiler.ProfilerActivity
    with quiet():
        return torch.profiler.profile(
            activities=[kinds.CPU, kinds.CUDA] if device.type == "cuda" else [kinds.CPU],
            schedule=torch.profiler.schedule(
                wait=settings.wait,
                warmup=settings.profiler_warmup,
                active=settings.active,
                repeat=settings.repeat,
            )
            if scheduled
            else None,
            record_shapes=settings.shapes,
            with_stack=settings.stacks,
            profile_memory=settings.memory,
            with_flops=settings.flops,
        )


def table(profiler: Any, device: torch.device) -> str:
    """The profiler's own table, by the time spent in each kernel, or on a CPU in each op."""
    order = "self_device_time_total" if device.type == "cuda" else "self_cpu_time_total"
    return str(profiler.key_averages().table(sort_by=order, row_limit=-1, max_name_column_width=120)) + "\n"


@contextmanager
def caches_off() -> Iterator[None]:
    """Compiles anew what an earlier process has left in the compiler's caches on disk."""
    with require_torch().compiler.config.patch(force_disable_caches=True):
        yield


@contextmanager
def quiet() -> Iterator[None]:
    """Silences the profiler's warnings about what Rung's settings ask for on purpose."""
    with warnings.catch_warnings():
        # A cold recording has no warm-up on purpose; of several repeats the last is kept on purpose.
        warnings.filterwarnings("ignore", ".*won't be using warmup", UserWarning)
        warnings.filterwarnings("ignore", ".*Profiler clears events at the end of each cycle", UserWarning)
        # torch 2.13's own compiler imports its deprecated torch.jit decorators.
        warnings.filterwarnings("ignore", r"`?torch\.jit\.", DeprecationWarning)
        # A cold recording switches the compiler's caches off on purpose.
        warnings.filterwarnings("ignore", "dynamo_pgo force disabled", UserWarning)
        yield


@contextmanager
def only_profiler(ours: Any, what: str) -> Iterator[None]:
    """Raises UsageError where a second profiler would start: torch 2.13 ends such a process by SIGSEGV."""
    torch = require_torch()
    if torch.autograd._profiler_enabled():
        raise UsageError("a torch.profiler is running already: record outside of its `with` block")
    message = (
        f"{what} uses torch.profiler itself, and two cannot run at once: take its profiler out, "
        "or run it as it is and give the trace that it writes to `rung read`"
    )
    scheduled, plain = torch.profiler.profiler._KinetoProfile, torch.autograd.profiler.profile
    prepare, enter = scheduled.prepare_trace, plain.__enter__

    def guarded_prepare(self: Any) -> None:
        if self is not ours:
            raise UsageError(message)
        prepare(self)

    def guarded_enter(self: Any) -> Any:
        raise UsageError(message)

    scheduled.prepare_trace, plain.__enter__ = guarded_prepare, guarded_enter
    try:
        yield
    finally:
        scheduled.prepare_trace, plain.__enter__ = prepare, enter
