"""Turning a function with its inputs into the one call that a step makes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rung.errors import UsageError
from rung.recording.machine import require_torch, resolve_dtype
from rung.recording.values import Settings, Work

if TYPE_CHECKING:
    import torch


def bind(fn: Callable[..., Any], work: Work, settings: Settings) -> Callable[[], Any]:
    """`fn` with the work's inputs: a forward in inference mode, or a training step."""
    if settings.train:
        return _training_step(fn, work)
    inference_mode = require_torch().inference_mode
    inputs = itertools.cycle((work.args, *work.turns))

    def forward() -> Any:
        args = next(inputs)
        with inference_mode():
            return fn(*args, **work.kwargs)

    return forward


def _training_step(fn: Callable[..., Any], work: Work) -> Callable[[], Any]:
    """Forward, backward of the summed outputs, gradients set to None; no optimizer."""
    torch = require_torch()
    given = tensors((work.args, work.turns, work.kwargs))
    leaves = [*_parameters(fn), *(t for t in given if t.requires_grad)]
    inputs = itertools.cycle((work.args, *work.turns))

    def step() -> Any:
        args = next(inputs)
        with torch.enable_grad():
            outputs = fn(*args, **work.kwargs)
            losses = [t.sum() for t in tensors(outputs) if t.requires_grad]
            if not losses:
                raise UsageError("train: no output needs a gradient, so there is no backward to record")
            torch.autograd.backward(losses)
        for leaf in leaves:
            leaf.grad = None
        return outputs

    return step


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """Every tensor in nested tuples, lists and mappings, in order."""
    torch = require_torch()
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from tensors(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)


def map_tensors(change: Callable[[torch.Tensor], torch.Tensor], value: Any) -> Any:
    """`value` with `change` applied to each tensor in it; containers are rebuilt, everything else is kept."""
    if isinstance(value, require_torch().Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: map_tensors(change, item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(change, item) for item in value))
    if isinstance(value, list | tuple):
        return type(value)(map_tensors(change, item) for item in value)
    return value


def _like(old: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """A changed input is a leaf again: its gradient belongs to it, not to the one it was made from."""
    return new if new is old else new.detach().requires_grad_(old.requires_grad)


def find_device(fn: Callable[..., Any], inputs: Any) -> torch.device:
    """Where the work lives: the first parameter's or input's device, else the CPU."""
    torch = require_torch()
    first = next(iter([*_parameters(fn), *tensors(inputs)]), None)
    return torch.device("cpu") if first is None else first.device


def place(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], device: torch.device
) -> Any:
    """(args, kwargs) on `device`; a module is moved in place, as `Module.to` does."""
    if isinstance(fn, require_torch().nn.Module):
        fn.to(device)
    return map_tensors(lambda t: _like(t, t.to(device)), (args, dict(kwargs)))


def cast(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], dtype: str) -> Any:
    """(args, kwargs) with floating tensors in `dtype`; a module is cast in place."""
    chosen = resolve_dtype(dtype)
    if isinstance(fn, require_torch().nn.Module):
        fn.to(chosen)
    return map_tensors(lambda t: _like(t, t.to(chosen)) if t.is_floating_point() else t, (args, dict(kwargs)))


def describe_inputs(fn: Callable[..., Any], work: Work) -> dict[str, Any]:
    """Shapes and dtypes of the input tensors in order, and every floating dtype at work."""
    inputs = list(tensors((work.args, work.turns, work.kwargs)))
    dtypes = {t.dtype for t in [*inputs, *_parameters(fn)] if t.is_floating_point()}
    return {
        "input_shapes": [list(t.shape) for t in inputs],
        "input_dtypes": [_dtype_name(t.dtype) for t in inputs],
        "dtypes": sorted(_dtype_name(dtype) for dtype in dtypes),
    }


def name_of(fn: Callable[..., Any]) -> str:
    """A snake-case name for a function or module: `simple_mlp` for SimpleMLP, `work` where there is none."""
    name = getattr(fn, "__name__", None) or type(fn).__name__
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return re.sub(r"\W+", "", words) or "work"


def _parameters(fn: Callable[..., Any]) -> list[torch.Tensor]:
    return list(fn.parameters()) if isinstance(fn, require_torch().nn.Module) else []


def _dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
