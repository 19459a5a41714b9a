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
    dilation: int
    transposed: int | None = None
    output_padding: int | None = None


_ATEN = _Places(3, 4, 5, 6, 7)
_OURS = _Places(3, 2, 4)
_OTHERS = _Places(4, 3, 5)
_FORWARD = {
    "aten::convolution": _ATEN,
    "aten::_convolution": _ATEN,
    "aten::convolution_overrideable": _ATEN,
    "aten::conv1d": _Places(3, 4, 5),
    "aten::conv2d": _Places(3, 4, 5),
    "aten::conv3d": _Places(3, 4, 5),
    "aten::cudnn_convolution": _OURS,
    "aten::cudnn_convolution_relu": _Places(3, 4, 5),
    "aten::miopen_convolution": _OTHERS,
    "aten::miopen_convolution_relu": _Places(3, 4, 5),
    "aten::mkldnn_convolution": _OTHERS,
}


def _forward(call: Call) -> Demand | None:
    tensors = call.given(0, 1)
    if tensors is None:
        return None
    x, weight = tensors
    out = _output(call, _FORWARD[call.name], x.shape, weight.shape)
    if out is None:
        return None
    reads = [x, weight] + [t for t in call.some(2) if len(t.shape) == 1]
    transposed = out[1] != weight.shape[0]
    return Demand(_flop(x.shape if transposed else out, weight.shape), tuple(reads), (Tensor(out, x.dtype),))


def _flop(points: Shape, weight: Shape) -> int:
    """2 FLOP for each weight at each point: those of the output, of a transposed one those of the input."""
    return 2 * points[0] * math.prod(points[2:]) * math.prod(weight)


def _output(call: Call, places: _Places, x: Shape, weight: Shape) -> Shape | None:
    """[n, c_out, ...], from the arithmetic in `torch.nn.Conv2d`'s documentation."""
    rank = len(x) - 2
    transposed = call.flag(places.transposed) if places.transposed is not None else False
    stride, padding, dilation = (
        _each(call.numbers(at), rank) for at in (places.stride, places.padding, places.dilation)
    )
    if rank < 1 or len(weight) != len(x) or transposed is None or not (stride and padding and dilation):
        return None
    sizes = zip(x[2:], weight[2:], stride, padding, dilation, strict=True)
    if not transposed:
        spatial = tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)
        return (x[0], weight[0], *spatial)
    extra = _each(call.numbers(places.output_padding or 0), rank)
    groups = call.numbers((places.output_padding or 0) + 1)
    if not extra or not groups:
        return None
    spatial = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + e + 1 for (n, k, s, p, d), e in zip(sizes, extra, strict=True)
    )
    return (x[0], weight[1] * groups[0], *spatial)


def _each(numbers: Shape | None, rank: int) -> Shape | None:
    """One number for all dimensions, or one for each."""
    if not numbers:
        return None
    return numbers * rank if len(numbers) == 1 else numbers if len(numbers) == rank else None


def to_input(call: Call) -> Demand | None:
    """The gradient of the input of `convolution_backward`: the transposed convolution."""
    return _backward(call, 2, 1)


def to_weight(call: Call) -> Demand | None:
    """The gradient of its weight: each weight has met each output point, as in the forward pass."""
    return _backward(call, 1, 2)


def _backward(call: Call, read: int, like: int) -> Demand | None:
    tensors = call.given(0, 1, 2)
    transposed = call.flag(7)
    if tensors is None or transposed is None:
        return None
    grad, x, weight = tensors
    points = x.shape if transposed else grad.shape
    written = tensors[like]
    return Demand(_flop(points, weight.shape), (grad, tensors[read]), (Tensor(written.shape, written.dtype),))


def _only_one(call: Call) -> Demand | None:
    """`convolution_backward` asked for one of its two products."""
    wanted = call.text(10).strip("[]").replace(" ", "").split(",")[:2]
    return (
        to_input(call)
        if wanted == ["True", "False"]
        else to_weight(call)
        if wanted == ["False", "True"]
        else None
    )


COUNTS: dict[str, Count] = {
    **dict.fromkeys(_FORWARD, _forward),
    "aten::convolution_backward": _only_one,
}
