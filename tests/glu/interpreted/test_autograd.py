"""Backward in all its forms."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from calls import mlp
from errorbudget import eager, error, inputs
from torch.utils.checkpoint import checkpoint

from rung.glu import ACTIVATIONS, GLUMLP, glu


def leaves(rows: int = 3) -> list[torch.Tensor]:
    return [t.requires_grad_() for t in inputs((rows,), 16, 24, torch.float32)]


def close(a: object, b: object) -> None:
    torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-6)


def test_backward_twice_leaves_what_was_saved() -> None:
    tensors = leaves()
    result = mlp("silu", *tensors).square().sum()
    first = torch.autograd.grad(result, tensors, retain_graph=True)
    second = torch.autograd.grad(result, tensors)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_gradients_accumulate_in_place() -> None:
    module = GLUMLP(16, 24)
    x = torch.randn(4, 16)
    module(x).sum().backward()
    once = {name: p.grad.clone() for name, p in module.named_parameters()}
    kept = {name: p.grad for name, p in module.named_parameters()}
    module(x).sum().backward()
    for name, p in module.named_parameters():
        assert p.grad is kept[name]
        assert torch.equal(p.grad, 2 * once[name])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_double_backward(activation: str) -> None:
    def penalty(fn: object) -> tuple[torch.Tensor, ...]:
        tensors = leaves()
        grads = torch.autograd.grad(fn(activation, *tensors).square().sum(), tensors, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in grads), tensors[:6])

    for ours, usual in zip(penalty(mlp), penalty(eager), strict=True):
        assert error(ours, usual.double()) < 1e-4


def test_recompute_gives_the_same_bits_and_keeps_less() -> None:
    kept: dict[bool, int] = {}
    results = {}
    for recompute in (False, True):
        tensors, sizes = leaves(rows=70), []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t, s=sizes: (s.append(t.numel()), t)[1], lambda t: t
        ):
            y = mlp("gelu", *tensors, recompute=recompute)
        kept[recompute] = sum(sizes)
        results[recompute] = (y, *torch.autograd.grad(y.sum(), tensors))
    assert all(torch.equal(a, b) for a, b in zip(results[False], results[True], strict=True))
    assert kept[False] - kept[True] >= 3 * 70 * 24  # gate, up and their product


def test_checkpointing() -> None:
    tensors = leaves()
    plain = torch.autograd.grad(mlp("silu", *tensors).sum(), tensors)
    again = checkpoint(lambda *t: mlp("silu", *t), *tensors, use_reentrant=False)
    close(torch.autograd.grad(again.sum(), tensors), plain)


def test_only_what_is_asked_for() -> None:
    tensors = inputs((3,), 16, 24, torch.float32)
    tensors[1].requires_grad_()
    mlp("silu", *tensors).sum().backward()
    assert tensors[1].grad is not None
    assert all(t.grad is None for t in tensors[2:])


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (3,), (4,), (5, 6), (0, 3), (1, 2, 6)], ids=str)
@pytest.mark.parametrize("recompute", [False, True])
def test_any_subset_of_gradients(wanted: tuple[int, ...], recompute: bool) -> None:
    tensors = inputs((3,), 16, 24, torch.float32)
    asked = [tensors[i].requires_grad_() for i in wanted]
    ours = torch.autograd.grad(mlp("silu", *tensors, recompute=recompute).square().sum(), asked)
    close(ours, torch.autograd.grad(eager("silu", *tensors).square().sum(), asked))


def test_what_was_kept_is_let_go_during_backward() -> None:
    """When the last product runs, x and the weights are all that backward still holds."""
    import gc
    import weakref

    kept: list[Any] = []
    tensors = leaves()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (kept.append(weakref.ref(t)), t)[1], lambda t: t):
        y = mlp("silu", *tensors)
    at_the_end: list[int] = []
    y.register_hook(lambda grad: None)
    tensors[0].register_hook(lambda grad: at_the_end.append(sum(r() is not None for r in kept[7:])))
    y.sum().backward()
    del y
    gc.collect()
    assert all(r() is None for r in kept[7:])
    assert at_the_end == [0]


def test_functional_gradients_and_batches() -> None:
    tensors = inputs((3,), 16, 24, torch.float32)
    rest = tensors[1:]
    ours = torch.func.grad(lambda x: mlp("silu", x, *rest).square().sum())(tensors[0])
    close(ours, torch.func.grad(lambda x: eager("silu", x, *rest).square().sum())(tensors[0]))
    batch = torch.randn(4, 3, 16)
    close(torch.func.vmap(lambda x: mlp("silu", x, *rest))(batch), eager("silu", batch, *rest))
    per_sample = torch.func.vmap(torch.func.grad(lambda w, x: mlp("silu", x, w, *rest[1:]).sum()), (None, 0))
    expected = torch.func.vmap(torch.func.grad(lambda w, x: eager("silu", x, w, *rest[1:]).sum()), (None, 0))
    close(per_sample(rest[0], batch), expected(rest[0], batch))
    close(torch.func.vmap(glu)(batch, batch), glu(batch, batch))


def test_functional_call() -> None:
    module = GLUMLP(16, 24, "silu")
    x = torch.randn(2, 16)
    grads = torch.func.grad(lambda p: torch.func.functional_call(module, p, (x,)).sum())(
        dict(module.named_parameters())
    )
    module(x).sum().backward()
    for name, p in module.named_parameters():
        close(grads[name], p.grad)


def test_autocast_casts_everything_once() -> None:
    module = GLUMLP(16, 24, bias=True)
    x = torch.randn(5, 16)
    with torch.autocast("cpu", torch.bfloat16):
        y = module(x)
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, module.bfloat16()(x.bfloat16()))
    module.float()
    with torch.autocast("cpu", torch.bfloat16):
        module(x).sum().backward()
    assert module.gate_proj.weight.grad.dtype == torch.float32
