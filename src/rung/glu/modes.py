"""How a call is made: traced, transformed, recorded, with gradients, or in none of these ways."""

from __future__ import annotations

from typing import Any

import torch

from rung.glu.devices import INTERPRETED

_TENSORS = frozenset((torch.Tensor, torch.nn.Parameter))
_PLAIN = _TENSORS | {type(None)}


def ordinary(needed: tuple[Any, ...], biases: tuple[Any, ...] = ()) -> bool:
    """Whether nothing but geometry decides how a call runs: `plain`, and no gradients."""
    return plain(needed, biases) and not needs_grad(*needed, *biases)


def plain(needed: tuple[Any, ...], biases: tuple[Any, ...] = ()) -> bool:
    """Whether nothing but geometry and gradients decides how a call runs: plain tensors (biases may be None)
    where the kernels run, nothing that traces, transforms, casts or records."""
    return (
        not torch.compiler.is_compiling()
        and _TENSORS.issuperset(map(type, needed))
        and _PLAIN.issuperset(map(type, biases))
        and (needed[0].is_cuda or INTERPRETED)
        and not torch._C._is_any_autocast_enabled()
        and torch._C._functorch.peek_interpreter_stack() is None
        and not torch.autograd._profiler_enabled()
        and not torch._C._len_torch_dispatch_stack()
        and not _negated(*needed, *biases)
    )


def through_dispatcher(*tensors: Any) -> bool:
    """Whether a call must go by the registered operator: traced, fake, subclassed, lazily negated, in a batch
    of gradients, or profiled, where it puts the operator's name and shapes into the trace. torch.func's
    transforms know `autograd.Function` only."""
    if torch.compiler.is_compiling():
        return True
    return not transformed() and (
        torch.autograd._profiler_enabled()
        or torch._C._len_torch_dispatch_stack() > 0
        or not all(type(tensor) in _PLAIN for tensor in tensors)
        or _negated(*tensors)
        or _batched(*tensors)
    )


def _negated(*tensors: Any) -> bool:
    """Whether memory holds the opposite of a tensor's numbers, as after `.conj().imag`: an operator is given
    a copy."""
    return any(tensor is not None and tensor.is_neg() for tensor in tensors)


def _batched(*tensors: Any) -> bool:
    """Whether a tensor stands for one of each in a batch, as with `is_grads_batched=True`."""
    one_for_each = torch._C._functorch.is_legacy_batchedtensor
    return any(tensor is not None and one_for_each(tensor) for tensor in tensors)


def traced() -> bool:
    """Whether operators are written down or imitated, not run."""
    return bool(torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0)


def transformed() -> bool:
    """Whether a torch.func transform is running; Dynamo, which takes the question for yes, never asks."""
    return not torch.compiler.is_compiling() and torch._C._functorch.peek_interpreter_stack() is not None


def needs_grad(*tensors: Any) -> bool:
    """Whether autograd will ask for a gradient."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)
