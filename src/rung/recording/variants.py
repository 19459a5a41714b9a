"""The ways to run the same work. A variant is a small function: (callable, Context) -> Ready or Skipped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rung.errors import UsageError
from rung.recording.machine import require_torch
from rung.recording.swapping import TOLERANCE
from rung.recording.values import Skipped

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Context:
    """What a variant may need to know: where it runs, how to compile, with which inputs."""

    device: torch.device
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    compile_mode: str | None = None


@dataclass(frozen=True)
class Ready:
    """A variant that can run: `fn` takes the work's inputs; `notes` go into the trace's metadata.

    `tolerance` is the largest ‖result - eager‖ / ‖eager‖ at which it still counts as the same work.
    `emulated`: its kernels run in Triton's interpreter.
    """

    fn: Callable[..., Any]
    notes: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    emulated: bool = False


Variant = Callable[[Callable[..., Any], Context], Ready | Skipped]


def eager(fn: Callable[..., Any], context: Context) -> Ready:
    """As it is."""
    return Ready(fn)


def compiled(fn: Callable[..., Any], context: Context) -> Ready:
    """torch.compile, from a clean slate: nothing that an earlier recording compiled is met again."""
    return _compile(fn, context)


def dynamic(fn: Callable[..., Any], context: Context) -> Ready:
    """torch.compile for any size of its inputs' dimensions, from a clean slate."""
    return _compile(fn, context, dynamic=True)


def _compile(fn: Callable[..., Any], context: Context, dynamic: bool | None = None) -> Ready:
    torch = require_torch()
    torch.compiler.reset()
    mode = _check_mode(context.compile_mode)
    options = dict(torch._inductor.list_mode_options(mode)) if mode else {}
    if context.device.type == "cpu":
        # Without it Inductor's fused C++ loops leave no event at all in a CPU trace.
        options["cpp.enable_kernel_profile"] = True
    notes = {"compile_mode": mode or "default", **({"dynamic": True} if dynamic else {})}
    return Ready(torch.compile(fn, dynamic=dynamic, options=options or None), notes)


def math(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """Attention with its softmax and products written out, an op a step."""
    written_out = getattr(fn, "written_out", None)
    if written_out is None:
        return Skipped("math", "only a module with a method written_out() has this variant")
    return Ready(written_out(), tolerance=TOLERANCE)


def liger(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """Liger's kernels in the place of its GLU MLPs, norms and rotary turns, over the same weights."""
    from rung.recording.liger import liger

    return liger(fn, context)


def rung(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """Rung's own fused module in the place of its GLU MLPs, over the same weights."""
    from rung.recording.glu_mlp import rung_mlp

    return rung_mlp(fn, context)


VARIANTS: dict[str, Variant] = {
    "eager": eager,
    "math": math,
    "compiled": compiled,
    "dynamic": dynamic,
    "liger": liger,
    "rung": rung,
}


def prepare(name: str, fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """The variant called `name`, ready to run. Raises UsageError for a name that is not registered."""
    check_names([name])
    return VARIANTS[name](fn, context)


def check_names(names: list[str]) -> None:
    """Raises UsageError for an empty list and for a name that is not registered."""
    unknown = [name for name in names if name not in VARIANTS]
    if unknown or not names:
        problem = f"variant {unknown[0]!r} is not known" if unknown else "no variant is given"
        raise UsageError(f"{problem}: give one or more of {', '.join(VARIANTS)}")


def _check_mode(mode: str | None) -> str | None:
    torch = require_torch()
    known = ["default", *torch._inductor.list_mode_options()]
    if mode is not None and mode not in known:
        raise UsageError(f"compile mode {mode!r} is not known: give one of {', '.join(dict.fromkeys(known))}")
    return None if mode == "default" else mode
