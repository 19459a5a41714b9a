"""Convolutions, forward and backward.

Counted as a direct convolution has it, `torch.utils.flop_counter.conv_flop_count`: each weight of a filter
meets each output point, 2 FLOP. A kernel that goes by Winograd or by FFT does fewer; its rate is that of the
direct one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rung.insight.counting.demand import Count, Demand
from rung.insight.tensors import Call, Tensor

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Places:
    """Positions of stride, padding, dilation, and of what makes it a transposed one."""

    stride: int
    padding: int
    dilation: int | None
    transposed: int | None = None


_ATEN = _Places(3, 4, 5, 6)
_CUDNN = _Places(3, 2, 4)
_PADDING_FIRST = _Places(4, 3, 5)
_FORWARD = {
    "aten::convolution": _ATEN,
    "aten::_convolution": _ATEN,
    "aten::convolution_overrideable": _ATEN,
    **dict.fromkeys(("aten::conv1d", "aten::conv2d", "aten::conv3d"), _Places(3, 4, 5)),
    "aten::cudnn_convolution": _CUDNN,
    "aten::cudnn_convolution_relu": _Places(3, 4, 5),
    "aten::miopen_convolution": _PADDING_FIRST,
    "aten::miopen_convolution_relu": _Places(3, 4, 5),
    "aten::mkldnn_convolution": _PADDING_FIRST,
    "aten::_slow_conv2d_forward": _Places(4, 5, None),
    "aten::slow_conv3d_forward": _Places(4, 5, None),
}


def _forward(call: Call) -> Demand | None:
    tensors = call.given(0, 1)
    places = _FORWARD[call.name]
    transposed = call.flag(places.transposed) if places.transposed is not None else False
    if tensors is None or transposed is None:
        return None
    x, weight = tensors
    out = _output(call, places, transposed, x.shape, weight.shape)
    if out is None or min(out) < 0:
        return None
    bias = [tensor for tensor in call.some(2) if len(tensor.shape) == 1]
    points = x.shape if transposed else out
    return Demand(_flop(points, weight.shape), (x, weight, *bias), (Tensor(out, x.dtype),))


def _flop(points: Shape, weight: Shape) -> int:
    """2 FLOP for each weight at each point: those of the output, of a transposed one those of the input."""
    return 2 * points[0] * math.prod(points[2:]) * math.prod(weight)


def _output(call: Call, places: _Places, transposed: bool, x: Shape, weight: Shape) -> Shape | None:
    """[n, c_out, ...], from the arithmetic in the documentation of `torch.nn.Conv2d` and
    `ConvTranspose2d`."""
    rank = len(x) - 2
    stride = _each(call.numbers(places.stride), rank)
    padding = _each(call.numbers(places.padding), rank)
    dilation = _each(call.numbers(places.dilation) if places.dilation is not None else (1,), rank)
    if rank < 1 or len(weight) != len(x) or not (stride and padding and dilation) or min(stride) < 1:
        return None
    sizes = zip(x[2:], weight[2:], stride, padding, dilation, strict=True)
    if not transposed:
        return (x[0], weight[0], *((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes))
    extra, groups = _each(call.numbers(7), rank), call.numbers(8)
    if not extra or not groups:
        return None
    spatial = ((n - 1) * s - 2 * p + d * (k - 1) + 1 for n, k, s, p, d in sizes)
    return (x[0], weight[1] * groups[0], *(n + more for n, more in zip(spatial, extra, strict=True)))


def _each(numbers: Shape | None, rank: int) -> Shape | None:
    """One number for all dimensions, or one for each."""
    if not numbers:
        return None
    return numbers * rank if len(numbers) == 1 else numbers if len(numbers) == rank else None


def gradient(call: Call, direction: str | None) -> Demand | None:
    """One of the two products of `convolution_backward`: `"backward_data"`, the transposed convolution, or
    `"backward_weight"`. Without a direction that which the call asked for, if it was one only."""
    wanted = _wanted(call)
    if direction is None and len(wanted) == 1:
        direction = wanted[0]
    return _product(call, direction) if direction in ("backward_data", "backward_weight") else None


def _both(call: Call) -> Demand | None:
    """All that a call asked for, as one op that computes it."""
    found = [_product(call, direction) for direction in _wanted(call)]
    products = [demand for demand in found if demand is not None]
    if not products or len(products) < len(found):
        return None
    reads = dict.fromkeys(tensor for demand in products for tensor in demand.reads)
    return Demand(
        sum(demand.flop or 0 for demand in products),
        tuple(reads),
        tuple(tensor for demand in products for tensor in demand.writes),
    )


def _wanted(call: Call) -> list[str]:
    """Which gradients a call asked for, from its `output_mask`."""
    mask = call.text(10).strip("[]").replace(" ", "").split(",")
    return [
        name
        for name, asked in zip(("backward_data", "backward_weight"), mask, strict=False)
        if asked == "True"
    ]


def _product(call: Call, direction: str) -> Demand | None:
    """Each weight meets each output point, as in the forward pass."""
    tensors, transposed = call.given(0, 1, 2), call.flag(7)
    if tensors is None or transposed is None:
        return None
    grad, x, weight = tensors
    other, written = (weight, x) if direction == "backward_data" else (x, weight)
    flop = _flop(x.shape if transposed else grad.shape, weight.shape)
    return Demand(flop, (grad, other), (Tensor(written.shape, written.dtype),))


COUNTS: dict[str, Count] = {
    **dict.fromkeys(_FORWARD, _forward),
    "aten::convolution_backward": _both,
}
