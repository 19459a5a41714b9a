"""Tensors in the backward pass: a gated MLP, trained, as the profiler nests autograd's nodes."""

from __future__ import annotations

from dataclasses import replace

from handmade import GELU, MUL, TILE_A, tensors
from rung.insight.ceilings import Ceiling
from rung.insight.flow import Flow, flow
from rung.insight.forward import Forward, forward
from rung.insight.opportunities import as_one_kernel, setting
from rung.insight.roofline import roofline
from tracelib import Event, annotation, arrow, kernel, launch, op, read

ENGINE = "autograd::engine::evaluate_function: "
LEAF = "torch::autograd::AccumulateGrad"
SQUARE = [64, 64]
BYTES = 64 * 64 * 4
ONE_GB_PER_S = Ceiling("Test GPU", 1e9, {"fp32": 1e12}, 100, "measured for this test")

PAIR = tensors(SQUARE, SQUARE)
KERNELS = [
    (TILE_A, "aten::mm", tensors([64, 32], [32, 64]), ""),  # 0: gate
    (TILE_A, "aten::mm", tensors([64, 32], [32, 64]), ""),  # 1: up
    (GELU, "aten::gelu", tensors(SQUARE), ""),  # 2
    (MUL, "aten::mul", PAIR, ""),  # 3
    (TILE_A, "aten::mm", tensors([64, 16], [16, 64]), "MmBackward0"),  # 4: the gradient of 3
    (MUL, "aten::mul", PAIR, "MulBackward0"),  # 5 and 6: those of its two inputs
    (MUL, "aten::mul", PAIR, "MulBackward0"),
    (GELU, "aten::gelu_backward", PAIR, "GeluBackward0"),  # 7
    (MUL, "aten::mul", tensors(SQUARE), LEAF),  # 8 and 9: gradients of weights, scaled
    (MUL, "aten::mul", tensors(SQUARE), LEAF),
]
FORWARD = {5: 3, 7: 2}


def trained(*, linked: bool = True) -> Forward:
    """Each kernel takes 20 us; `linked` tells which op a node differentiates."""
    ops: list[Event] = []
    nodes: dict[int, Event] = {}
    events: list[Event] = [annotation("step", 0, 100 * len(KERNELS))]
    for i, (name, by, args, node) in enumerate(KERNELS):
        at = 100 * i
        ops.append(op(by, at + 12, 30, **args))
        events += [ops[-1], launch(at + 14, 2, i + 1), kernel(name, at + 50, 20, i + 1)]
        if node and i != 6:  # 5 and 6 run in one node
            wide = 170 if i == 5 else 70
            nodes[i] = op(node, at + 11, wide - 2)
            events += [op(ENGINE + node, at + 10, wide), *([nodes[i]] if node != LEAF else [])]
    for i, source in FORWARD.items() if linked else ():
        events += arrow("fwdbwd", i, ops[source], nodes[i])
    return forward(read(*events))


def received(found: Flow, row: int) -> list[tuple[int, str]]:
    return [(p.writer, p.how) for p in found.received[row]]


def test_two_gradients_of_one_op_are_no_chain() -> None:
    """Both mul read the gradient that the product left, and each what the other input was."""
    found = flow(trained())
    assert received(found, 5)[0] == (4, "first") and received(found, 6)[0] == (4, "gradient")
    assert {received(found, row)[1] for row in (5, 6)} == {(2, "kept"), (0, "kept")}
    assert found.inside((5, 6)) == []


def test_a_node_reads_one_gradient_and_what_its_op_read() -> None:
    """gelu_backward has two inputs of one size: the gradient, and the product that gelu read."""
    assert received(flow(trained()), 7) == [(6, "first"), (1, "kept")]


def test_nobody_reads_the_gradient_of_a_weight() -> None:
    assert (8, "first") not in received(flow(trained()), 9)


def test_without_arrows_they_are_no_chain_either() -> None:
    """What was saved is unknown; that the two stand in one node is not."""
    assert flow(trained(linked=False)).inside((5, 6)) == []


def test_the_backward_pass_of_a_glu_is_one_chain() -> None:
    """mul, mul and gelu_backward move nine tensors of 16384 B. As one kernel they read the gradient once (one
    less) and pass one result on the chip (two less). At 10 GB/s the six that are left take 9.8 us, of 60."""
    found = trained()
    at = setting(roofline(found, replace(ONE_GB_PER_S, bytes_per_s=1e10)))
    predicted = as_one_kernel(at, (5, 6, 7))
    assert at.tensors.linked((5, 6, 7)) == [[5, 6, 7]]
    assert predicted.saved_bytes == 3 * BYTES
    assert predicted.saved_ns == 60_000 - 20_000  # no less than the shortest of them
    assert as_one_kernel(at, (5, 6)).saved_bytes == BYTES


def test_gradients_side_by_side_are_no_chain_by_themselves() -> None:
    assert flow(trained()).linked((5, 6)) == []


def test_what_is_computed_again_in_the_backward_pass_need_not_be_kept() -> None:
    """gelu's result is kept for backward. A kernel for gelu and mul, which reads gate and up, keeps those."""
    at = setting(roofline(trained(), ONE_GB_PER_S))
    assert as_one_kernel(at, (2, 3)).saved_bytes == 2 * BYTES


def test_products_are_kept() -> None:
    """Gate and up are still written in training: of the six round trips of a GLU two writes stay."""
    at = setting(roofline(trained(), ONE_GB_PER_S))
    assert as_one_kernel(at, (0, 1, 2, 3)).saved_bytes == 4 * BYTES
