"""A call like an earlier one takes its plan: what must not be carried over from call to call."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from calls import mlp
from errorbudget import eager, error, in_double, inputs
from torch.utils.flop_counter import FlopCounterMode

import rung.glu
from rung.glu import GLUMLP, forward, glu, plans
from rung.glu.modes import ordinary

ROWS = [1, 3, 70]


@pytest.fixture(autouse=True)
def _fresh() -> None:
    plans.forget()


def right(tensors: list[Any]) -> bool:
    exact = eager("silu", *in_double(tensors))
    return error(mlp("silu", *tensors), exact) <= 2 * error(eager("silu", *tensors), exact) + 1e-6


def made(call: Any) -> int:
    """How many plans `call` makes."""
    before = len(plans._PLANS)
    call()
    return len(plans._PLANS) - before


@pytest.mark.parametrize("rows", ROWS)
def test_second_call_makes_no_plan(rows: int) -> None:
    tensors = inputs((rows,), 16, 24, torch.float32)
    assert made(lambda: mlp("silu", *tensors)) == 1
    assert made(lambda: mlp("silu", *tensors)) == 0
    assert made(lambda: mlp("silu", *inputs((rows,), 16, 24, torch.float32, seed=1))) == 0
    assert made(lambda: mlp("gelu", *tensors)) == 1
    assert made(lambda: mlp("silu", *tensors, rounding="eager")) == 1


@pytest.mark.parametrize("rows", ROWS)
def test_weights_may_change_between_calls(rows: int) -> None:
    """In place, by `.data`, to other sizes and strides: a plan holds no address."""
    tensors = inputs((rows,), 16, 24, torch.float32)
    other = inputs((rows,), 16, 24, torch.float32, seed=1)
    larger = inputs((rows,), 16, 40, torch.float32, seed=2)
    assert right(tensors)
    for at in (1, 2, 3):
        tensors[at].mul_(0.5)
        assert right(tensors)
        tensors[at].data = other[at].data
        assert right(tensors)
        tensors[at].data = tensors[at].t().contiguous().t()
        assert right(tensors)
    for at in range(1, 7):
        tensors[at].data = larger[at].data
    assert right(tensors)
    tensors[1], tensors[2] = tensors[2], tensors[1]
    assert right(tensors)
    tensors[2] = tensors[1]
    assert right(tensors)


def test_moved_by_one_element() -> None:
    """Shapes and strides stay, the alignment does not."""
    tensors = inputs((3,), 16, 24, torch.float32)
    for at in range(7):
        assert right(tensors)
        odd = torch.cat([torch.zeros(1), tensors[at].flatten()])[1:].view(tensors[at].shape)
        assert odd.data_ptr() % 16
        tensors[at] = odd
    assert right(tensors)


@pytest.mark.parametrize("rows", [3, 70])
def test_rows_that_no_single_stride_walks(rows: int) -> None:
    """They are copied at each call; those of three dimensions that one walks are not."""
    tensors = inputs((2, rows), 16, 24, torch.float32)
    apart = torch.cat([tensors[0], tensors[0]], 1)[:, :rows]
    for x in (tensors[0], apart, tensors[0], apart):
        for _ in range(2):
            assert right([x, *tensors[1:]])


def test_a_call_seen_before_takes_neither_checks_nor_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = inputs((3,), 16, 24, torch.bfloat16)
    expected = [mlp("silu", *tensors) for _ in range(2)][1]
    monkeypatch.setattr(forward, "key", None)
    assert torch.equal(mlp("silu", *tensors), expected)
    tensors[1].mul_(2)
    with pytest.raises(TypeError):
        mlp("silu", *inputs((4,), 16, 24, torch.bfloat16))
    assert not torch.equal(mlp("silu", *tensors), expected)


@pytest.mark.parametrize("rows", ROWS)
def test_results_do_not_alias(rows: int) -> None:
    tensors = inputs((rows,), 16, 24, torch.float32)
    first = mlp("silu", *tensors)
    kept = first.clone()
    second = mlp("silu", *inputs((rows,), 16, 24, torch.float32, seed=1))
    assert first.untyped_storage().data_ptr() != second.untyped_storage().data_ptr()
    assert torch.equal(first, kept)


@pytest.mark.parametrize("rows", ROWS)
def test_tensors_negated_lazily(rows: int) -> None:
    """As `.conj().imag` is: their memory holds the opposite."""
    tensors = inputs((rows,), 16, 24, torch.float32)
    for at in (0, 1, 6):
        expected = mlp("silu", *tensors)
        pair = torch.stack([tensors[at], -tensors[at]], dim=-1)
        tensors[at] = torch.view_as_complex(pair).conj().imag
        assert tensors[at].is_neg()
        for _ in range(3):
            assert torch.equal(mlp("silu", *tensors), expected)
        tensors[at] = tensors[at].resolve_neg().clone()
    gate = torch.view_as_complex(torch.randn(3, 4, 2)).conj().imag
    for _ in range(2):
        torch.testing.assert_close(glu(gate, gate), glu(gate.resolve_neg(), gate.resolve_neg()))


def test_wrong_arguments_after_right_ones() -> None:
    x, g, u, d, *_ = inputs((3,), 16, 24, torch.float32)
    rung.glu.glu_mlp(x, g, u, d)
    with pytest.raises(ValueError, match=r"up_weight has shape \[23, 16\]: expected \[24, 16\]"):
        rung.glu.glu_mlp(x, g, u[1:], d)
    with pytest.raises(TypeError, match=r"down_weight is torch\.float64: expected"):
        rung.glu.glu_mlp(x, g, u, d.double())
    with pytest.raises(TypeError, match="up_weight is NoneType: expected a tensor"):
        rung.glu.glu_mlp(x, g, None, d)
    with pytest.raises(ValueError, match="rounding is 'none'"):
        rung.glu.glu_mlp(x, g, u, d, rounding="none")
    glu(g, u)
    with pytest.raises(ValueError, match="up has shape"):
        glu(g, u[1:])


def test_gradients_after_a_call_without() -> None:
    module = GLUMLP(16, 24)
    x = torch.randn(3, 16)
    with torch.no_grad():
        expected = module(x)
    y = module(x)
    assert y.requires_grad
    torch.testing.assert_close(y, expected)


def test_what_is_no_ordinary_call() -> None:
    x, w = torch.randn(3, 16), torch.nn.Parameter(torch.randn(16, 16))
    assert ordinary((x, x), (None,))
    assert not ordinary((x, None))
    assert not ordinary((x, [1.0]))
    assert not ordinary((x, w))
    with torch.no_grad():
        assert ordinary((x, w))
    with torch.inference_mode():
        assert ordinary((x, w))
    with torch.autocast("cpu", torch.bfloat16):
        assert not ordinary((x, x))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        assert not ordinary((x, x))
    with FlopCounterMode(display=False):
        assert not ordinary((x, x))
    seen = []
    torch.func.vmap(lambda row: (seen.append(ordinary((row, row))), row)[1])(x)
    torch.func.grad(lambda t: (seen.append(ordinary((t, t))), t.sum())[1])(x)
    assert seen == [False, False]
    compiled = torch.compile(lambda t: t + ordinary((t, t)), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), x)


def test_plans_are_forgotten_before_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MOST", 2)
    tensors = inputs((5,), 16, 24, torch.float32)
    for rows in (1, 2, 3, 1):
        assert right([tensors[0][:rows], *tensors[1:]])
    assert len(plans._PLANS) == 2
