"""The registered operators: fake, autograd, compiled without breaks and without recompiling."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from calls import mlp
from errorbudget import inputs

import rung.glu
from rung.glu import GLUMLP, glu

OPCHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not:UserWarning")  # torch 2.14
@pytest.mark.parametrize("grad", [False, True])
def test_opcheck(grad: bool) -> None:
    x, g, u, d, bg, bu, bd = (t.requires_grad_(grad) for t in inputs((2, 3), 16, 24, torch.float32))
    gate, up = (torch.randn(3, 24, requires_grad=grad) for _ in range(2))
    ops = torch.ops.rung
    for keep in (True, False):
        inputs_ = (x, g, u, d, bg, None, bd, "silu", "single", keep)
        torch.library.opcheck(ops.glu_mlp_training.default, inputs_, test_utils=OPCHECKS)
    torch.library.opcheck(ops.glu.default, (gate, up, "gelu"), test_utils=OPCHECKS)
    torch.library.opcheck(ops.glu_backward.default, (gate.detach(), gate.detach(), up.detach(), "gelu"))
    if not grad:
        torch.library.opcheck(ops.glu_mlp.default, (x, g, u, d, bg, bu, bd, "silu", "single"))
        torch.library.opcheck(ops.gate_up.default, (x, g, u, None, bu, "silu", "eager", False))
        torch.library.opcheck(ops.gate_up.default, (x, g, u, bg, None, "silu", "single", True))
        torch.library.opcheck(ops.down_backward.default, (x[0], d, gate, up, "silu"))
        torch.library.opcheck(ops.gate_up_backward.default, (torch.cat([gate, up], 1), g, u))


def count_compilations() -> tuple[object, list[int]]:
    seen: list[int] = []

    def backend(graph: torch.fx.GraphModule, example: object) -> object:
        seen.append(len(graph.graph.nodes))
        return graph.forward

    return backend, seen


@pytest.mark.parametrize("train", [False, True])
def test_one_graph_serves_all_shapes(train: bool) -> None:
    torch._dynamo.reset()
    backend, seen = count_compilations()
    module = GLUMLP(16, 24, "silu").requires_grad_(train)
    compiled = torch.compile(module, fullgraph=True, dynamic=True, backend=backend)
    for rows in (3, 7, 64, 65, 100):
        x = torch.randn(rows, 16)
        torch.testing.assert_close(compiled(x), module(x), rtol=1e-5, atol=1e-6)
    assert len(seen) == 1


@pytest.mark.parametrize("train", [False, True])
def test_what_a_graph_calls(train: bool) -> None:
    """Without gradients nothing is kept for them, and a small batch has its own kernels."""
    torch._dynamo.reset()
    called: list[str] = []

    def backend(graph: Any, _: object) -> Any:
        called.extend(str(node.target) for node in graph.graph.nodes if node.op == "call_function")
        return graph

    module = GLUMLP(16, 24, "silu").requires_grad_(train)
    torch.compile(module, fullgraph=True, backend=backend)(torch.randn(3, 16))
    assert called[0] == ("rung.glu_mlp_training" if train else "rung.glu_mlp")


def test_compiled_training_step() -> None:
    torch._dynamo.reset()
    tensors = [t.requires_grad_() for t in inputs((5,), 16, 24, torch.float32)]
    compiled = torch.compile(lambda *t: mlp("gelu", *t), fullgraph=True, backend="aot_eager")
    ours = torch.autograd.grad(compiled(*tensors).sum(), tensors)
    plain = torch.autograd.grad(mlp("gelu", *tensors).sum(), tensors)
    torch.testing.assert_close(ours, plain)


def test_compiled_glu() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda a, b: glu(a, b, "silu"), fullgraph=True, backend="aot_eager")
    gate, up = torch.randn(3, 8), torch.randn(3, 8)
    assert torch.equal(compiled(gate, up), glu(gate, up, "silu"))


def test_fake_tensors() -> None:
    with torch._subclasses.FakeTensorMode():
        module = GLUMLP(16, 24)
        assert module(torch.randn(2, 5, 16)).shape == (2, 5, 16)


def test_profiled_calls_carry_the_operators_name() -> None:
    module = GLUMLP(16, 24).requires_grad_(False)
    with torch.profiler.profile(record_shapes=True) as profile:
        module(torch.randn(2, 16))
    assert "rung::glu_mlp" in {event.key for event in profile.key_averages()}


def test_warm_leaves_nothing_to_define() -> None:
    rung.glu.warm(torch.float32, "silu")
