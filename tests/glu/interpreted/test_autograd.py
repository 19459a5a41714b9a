"""Backward in all its forms."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch
from calls import mlp
from errorbudget import eager, error, inputs
from torch.nn import functional
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


@pytest.mark.parametrize("among", [(0,), (1,), (0, 1)])
def test_batches_of_some_of_the_tensors(among: tuple[int, ...]) -> None:
    """Those that are the same for all of a batch are repeated, not read beyond."""
    one = [torch.randn(4, 5) for _ in range(2)]
    many = [torch.randn(3, 4, 5) if i in among else tensor for i, tensor in enumerate(one)]
    dims = tuple(0 if i in among else None for i in range(2))
    expected = functional.silu(many[0]) * many[1]
    for operator in (glu, torch.ops.rung.glu):
        close(torch.func.vmap(partial(operator, activation="silu"), dims)(*many), expected)


def test_jacobians_push_a_batch_of_gradients() -> None:
    gate, up = torch.randn(2, 3), torch.randn(2, 3)

    def both(fn: Any) -> Any:
        return torch.func.jacrev(fn, argnums=(0, 1))(gate, up)

    close(both(partial(glu, activation="silu")), both(lambda gate, up: functional.silu(gate) * up))


@pytest.mark.parametrize("name", ["down_backward", "gate_up_backward"])
def test_batches_of_matrices(name: str) -> None:
    """[8, 16] and [8, 24] each; a batch of 8 that is taken for rows would not fail but be wrong."""
    grad, both, down = torch.randn(8, 8, 16), torch.randn(8, 8, 48), torch.randn(16, 24)
    gate, up, weights = torch.randn(8, 24), torch.randn(8, 24), (torch.randn(24, 16), torch.randn(24, 16))
    first, others = {
        "down_backward": (grad, (down, gate, up, "silu")),
        "gate_up_backward": (both, weights),
    }[name]
    operator = getattr(torch.ops.rung, name)
    batched = torch.vmap(operator, (0, *(None for _ in others)))(first, *others)
    close(batched, torch.stack([operator(one, *others) for one in first]))


@pytest.mark.parametrize("recompute", [False, True])
@pytest.mark.parametrize("leading", [(7,), (2, 3)])
def test_a_batch_of_gradients_at_once(leading: tuple[int, ...], recompute: bool) -> None:
    tensors = [t.requires_grad_() for t in inputs(leading, 16, 24, torch.float32)]
    many = torch.randn(5, *leading, 16)
    pulled = [
        torch.autograd.grad(y, tensors, many, is_grads_batched=True)
        for y in (mlp("silu", *tensors, recompute=recompute), eager("silu", *tensors))
    ]
    close(*pulled)


@pytest.mark.parametrize("nothing", range(4))
@pytest.mark.parametrize("leading", [(6,), (2, 3)])
def test_gradients_where_a_dimension_is_zero(leading: tuple[int, ...], nothing: int) -> None:
    """Rows, input, hidden or output features: as plain PyTorch has them, shapes of nothing or zeros."""
    sizes = [leading, 16, 24, 8]
    sizes[nothing] = (*leading[:-1], 0) if nothing == 0 else 0
    rows, features, hidden, outputs = sizes
    shapes = ((*rows, features), (hidden, features), (hidden, features), (outputs, hidden))
    tensors = [torch.randn(shape, requires_grad=True) for shape in shapes]
    ours, usual = (fn("silu", *tensors, None, None, None) for fn in (mlp, eager))
    grad = torch.randn_like(usual)
    close(torch.autograd.grad(ours, tensors, grad), torch.autograd.grad(usual, tensors, grad))


def test_backward_under_autocast_keeps_forwards_dtype() -> None:
    tensors = leaves()
    expected = torch.autograd.grad(mlp("silu", *tensors).sum(), tensors)
    result = mlp("silu", *tensors).sum()
    again = mlp("silu", *tensors).sum()
    with torch.autocast("cpu", torch.bfloat16):
        assert all(map(torch.equal, torch.autograd.grad(result, tensors), expected))
        close(torch.autograd.grad(again, tensors, create_graph=True), expected)


def test_functional_gradients_in_a_graph_are_refused() -> None:
    """A registered operator has none there; zeros would be silent."""
    tensors = inputs((3,), 16, 24, torch.float32)
    gradient = torch.func.grad(lambda x: mlp("silu", x, *tensors[1:]).sum())
    torch._dynamo.reset()
    with pytest.raises(Exception, match="Function with functorch"):
        torch.compile(gradient, backend="eager")(tensors[0])


def test_the_operator_that_keeps_nothing_has_gradients() -> None:
    tensors = leaves()
    y = torch.ops.rung.glu_mlp(*tensors, "silu", "single")
    usual = torch.autograd.grad(eager("silu", *tensors).sum(), tensors)
    close(torch.autograd.grad(y.sum(), tensors), usual)


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
