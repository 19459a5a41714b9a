"""What ops are said to leave behind, against what they leave on the CPU, op by op."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from rung.insight.counting import demand_of_call  # noqa: E402
from rung.insight.tensors import call_of  # noqa: E402
from rung.trace import read  # noqa: E402

pytestmark = pytest.mark.torch

NAMES = {
    torch.float32: "float",
    torch.float64: "double",
    torch.bfloat16: "c10::BFloat16",
    torch.float16: "c10::Half",
    torch.int64: "long int",
    torch.int32: "int",
    torch.int8: "signed char",
    torch.bool: "bool",
}
Left = tuple[tuple[int, ...], str]


class Noting(TorchDispatchMode):
    """The results of ops of some names, in order."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.left: list[list[Left]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket._qualified_op_name == self.name:
            several = result if isinstance(result, tuple) else (result,)
            self.left.append([(tuple(t.shape), NAMES[t.dtype]) for t in several if torch.is_tensor(t)])
        return result


F32, BF16 = torch.float32, torch.bfloat16
X = torch.linspace(-2, 2, 24).reshape(4, 6)
H = X.to(BF16)
N = torch.arange(24).reshape(4, 6)
IDS = torch.tensor([[0, 3], [1, 1]])

RUNS: list[tuple[str, Callable[[], Any]]] = [
    ("aten::add", lambda: X + X[:1]),
    ("aten::add", lambda: X + H),
    ("aten::add", lambda: N + N.int()),
    ("aten::add", lambda: N.to(torch.int8) + N.to(torch.uint8).int()),
    ("aten::add", lambda: X + torch.tensor(2.0, dtype=torch.float64)),
    ("aten::add", lambda: H + X.half()),
    ("aten::add", lambda: torch.add(X, X, out=torch.empty(4, 6))),
    ("aten::add_", lambda: H.clone().add_(X)),
    ("aten::mul", lambda: H * 2.5),
    ("aten::mul", lambda: N * 2),
    ("aten::div", lambda: X / N),
    ("aten::sub", lambda: X[:, :1] - X[:1]),
    ("aten::lt", lambda: H < X),
    ("aten::logical_and", lambda: torch.logical_and(X, N)),
    ("aten::where", lambda: torch.where(X > 0, H, H[:1])),
    ("aten::where", lambda: torch.where(X > 0, X, H)),
    ("aten::masked_fill", lambda: H.masked_fill(X > 0, 0.0)),
    ("aten::clamp", lambda: H.clamp(0, 1)),
    ("aten::gelu", lambda: torch.nn.functional.gelu(H)),
    ("aten::silu", lambda: torch.nn.functional.silu(X)),
    ("aten::pow", lambda: H.pow(2)),
    ("aten::rsqrt", lambda: X.abs().rsqrt()),
    ("aten::addcmul", lambda: torch.addcmul(X, X, X[:1])),
    ("aten::lerp", lambda: torch.lerp(X, X, 0.5)),
    ("aten::copy_", lambda: torch.empty(4, 6, dtype=BF16).copy_(X[:1])),
    ("aten::fill_", lambda: torch.empty(4, 6).fill_(1.0)),
    ("aten::sum", lambda: H.sum()),
    ("aten::sum", lambda: X.sum(0)),
    ("aten::sum", lambda: X.sum((0, 1), keepdim=True, dtype=torch.float64)),
    ("aten::sum", lambda: (X > 0).sum(-1)),
    ("aten::mean", lambda: H.mean(-1)),
    ("aten::amax", lambda: X.amax(1)),
    ("aten::max", lambda: X.max(1)),
    ("aten::max", lambda: X.max()),
    ("aten::argmax", lambda: X.argmax(0)),
    ("aten::all", lambda: (X > 0).all()),
    ("aten::any", lambda: (X > 0).any(1)),
    ("aten::var", lambda: X.var(1)),
    ("aten::var_mean", lambda: torch.var_mean(X, 1)),
    ("aten::linalg_vector_norm", lambda: torch.linalg.vector_norm(X, dim=1)),
    ("aten::_softmax", lambda: H.softmax(-1)),
    ("aten::_log_softmax", lambda: X.log_softmax(0)),
    ("aten::native_layer_norm", lambda: torch.nn.functional.layer_norm(H, (6,), H[0], H[0])),
    ("aten::embedding", lambda: torch.nn.functional.embedding(IDS, H)),
    ("aten::index_select", lambda: X.index_select(1, IDS[0])),
    ("aten::gather", lambda: H.gather(1, IDS)),
    ("aten::mm", lambda: X @ X.t()),
    ("aten::mm", lambda: torch.mm(H, H.t(), out=torch.empty(4, 4, dtype=BF16))),
    ("aten::addmm", lambda: torch.addmm(X[0, :4], X, X.t())),
    ("aten::mv", lambda: X @ X[0]),
    ("aten::bmm", lambda: H[None].expand(2, 4, 6) @ H.t()[None].expand(2, 6, 4)),
    ("aten::_int_mm", lambda: torch._int_mm(*(torch.ones(32, 32, dtype=torch.int8) for _ in range(2)))),
    (
        "aten::convolution",
        lambda: torch.nn.functional.conv2d(torch.ones(2, 3, 9, 7), torch.ones(4, 3, 3, 2), stride=2),
    ),
    (
        "aten::convolution",
        lambda: torch.nn.functional.conv_transpose1d(
            torch.ones(2, 4, 9), torch.ones(4, 3, 3), stride=2, padding=1, output_padding=1, dilation=2
        ),
    ),
    (
        "aten::_scaled_dot_product_flash_attention_for_cpu",
        lambda: torch.nn.functional.scaled_dot_product_attention(
            *(torch.ones(2, 4, 8, 16) for _ in range(3))
        ),
    ),
]


@pytest.mark.parametrize("at", range(len(RUNS)), ids=lambda at: f"{at}-{RUNS[at][0].removeprefix('aten::')}")
def test_shapes_and_dtypes_of_results(at: int, tmp_path: Path) -> None:
    name, run = RUNS[at]
    with Noting(name) as noting:
        run()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as profile:
        run()
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    said = []
    for op in read(str(tmp_path / "trace.json")).ops:
        if op.name == name and (op.parent is None or op.parent.name != name):  # some call their own `out=`
            demand = demand_of_call(call_of(op))
            assert demand is not None, op.args
            said.append([(t.shape, t.dtype) for t in demand.writes])
    assert noting.left
    assert [_without_ones(one) for one in said] == [_without_ones(one[: len(said[0])]) for one in noting.left]


def _without_ones(left: list[Left]) -> list[Left]:
    """Elements and dtype are what bytes are made of: a kept dimension of one is none."""
    return [(tuple(n for n in shape if n != 1), dtype) for shape, dtype in left]
