"""FLOP of real modules, recorded on the CPU, against PyTorch's own counter, op by op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402
from torch.utils import flop_counter  # noqa: E402

from rung.insight.counting import demand_of_call  # noqa: E402
from rung.insight.tensors import call_of  # noqa: E402
from rung.insight.work import work_of  # noqa: E402
from rung.trace import Trace, read  # noqa: E402

pytestmark = pytest.mark.torch

Run = Callable[[], Any]
CPU_ATTENTION = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def _sdpa(q: Any, k: Any, v: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return flop_counter.sdpa_flop_count(q, k, v)


def _sdpa_backward(grad: Any, q: Any, k: Any, v: Any, *_: Any, out_shape: Any = None, **__: Any) -> int:
    return flop_counter.sdpa_backward_flop_count(grad, q, k, v)


def trained(module: Any, *inputs: Any) -> Run:
    return lambda: module(*inputs).sum().backward()


def x(*shape: int, dtype: Any = None) -> Any:
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def mlp() -> Run:
    nn = torch.nn
    return trained(nn.Sequential(nn.Linear(24, 96), nn.GELU(), nn.Linear(96, 24, bias=False)), x(2, 8, 24))


RUNS: dict[str, Callable[[], Run]] = {
    "mlp": mlp,
    "mm in bf16": lambda: trained(torch.mm, x(8, 24, dtype=torch.bfloat16), x(24, 16, dtype=torch.bfloat16)),
    "bmm": lambda: trained(torch.bmm, x(3, 8, 24), x(3, 24, 16)),
    "baddbmm": lambda: trained(torch.baddbmm, x(3, 8, 16), x(3, 8, 24), x(3, 24, 16)),
    "matmul, broadcast": lambda: trained(torch.matmul, x(2, 3, 8, 24), x(24, 16)),
    "conv1d": lambda: trained(torch.nn.Conv1d(4, 6, 5, stride=2), x(2, 4, 31)),
    "conv2d": lambda: trained(torch.nn.Conv2d(4, 6, (3, 5), padding=(1, 2), dilation=2), x(2, 4, 16, 20)),
    "conv2d, strided": lambda: trained(
        torch.nn.Conv2d(4, 6, 3, stride=(2, 3), padding="valid"), x(2, 4, 16, 20)
    ),
    "conv3d": lambda: trained(torch.nn.Conv3d(2, 3, 2), x(1, 2, 5, 6, 7)),
    "transposed": lambda: trained(
        torch.nn.ConvTranspose2d(4, 6, 3, stride=2, padding=1, output_padding=1), x(2, 4, 8, 9)
    ),
    "transposed, as many channels": lambda: trained(torch.nn.ConvTranspose2d(4, 4, 3), x(2, 4, 8, 9)),
    "attention": lambda: trained(
        functional.scaled_dot_product_attention, x(2, 4, 16, 8), x(2, 4, 24, 8), x(2, 4, 24, 8)
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_flop_are_those_that_pytorch_counts(name: str, tmp_path: Path) -> None:
    run = RUNS[name]()
    expected = _counted(run)
    trace = _recorded(run, tmp_path / "trace.json")
    assert expected
    assert _by_op(trace, set(expected)) == expected
    assert sum(work_of(kernel).flop or 0 for kernel in trace.kernels) == sum(expected.values())


def _counted(run: Run) -> dict[str, int]:
    mapping = {
        CPU_ATTENTION: _sdpa,
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _sdpa_backward,
    }
    with flop_counter.FlopCounterMode(display=False, custom_mapping=mapping) as counter:
        run()
    return {str(op).replace(".", "::"): n for op, n in counter.get_flop_counts()["Global"].items()}


def _recorded(run: Run, file: Path) -> Trace:
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as profile:
        run()
    profile.export_chrome_trace(str(file))
    return read(str(file))


def _by_op(trace: Trace, ops: set[str]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for op in trace.ops:
        if op.name in ops:
            demand = demand_of_call(call_of(op))
            assert demand is not None and demand.flop is not None, (op.name, op.args)
            found[op.name] += demand.flop
    return dict(found)
