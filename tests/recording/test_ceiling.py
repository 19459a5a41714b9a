"""Measuring what a device can do, with a clock that is made up."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.errors import UsageError  # noqa: E402
from rung.recording import ceiling  # noqa: E402

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small matrices; each round takes the next of these ns a call, the last one from then on."""
    monkeypatch.setattr(ceiling, "SIZES", {"cpu": (16, 32)})
    monkeypatch.setattr(ceiling, "COPY_BYTES", {"cpu": 4096})
    times: list[int] = [3000, 1000, 2000]

    def made_up(_: Any, run: Any) -> int:
        run()
        return ceiling.CALLS * (times.pop(0) if len(times) > 1 else times[0])

    monkeypatch.setattr(ceiling, "_cpu_ns", made_up)
    return times


def test_the_fastest_round_counts_and_a_copy_reads_and_writes(clock: list[int]) -> None:
    """2 x 16^3 FLOP in 1 us; the larger product and the copy in 2 us."""
    found = ceiling.measure(CPU, ["fp32"])
    assert found.flop_per_s == {"fp32": pytest.approx(max(2 * 16**3 / 1e-6, 2 * 32**3 / 2e-6))}
    assert found.bytes_per_s == pytest.approx(2 * 4096 / 2e-6)
    assert (found.skipped, found.multiprocessors) == ({}, None)
    assert found.machine["device"] == "cpu"


def test_each_dtype_is_multiplied_as_such(clock: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, Any]] = []
    plain = ceiling._multiplication

    def noted(torch_: Any, a: Any, b: Any, dtype: str) -> Any:
        run = plain(torch_, a, b, dtype)
        seen.append((dtype, run().dtype))
        return run

    monkeypatch.setattr(ceiling, "_multiplication", noted)
    ceiling.measure(CPU, ["bf16", "fp16", "fp32", "fp64", "int8"])
    results = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "fp64": torch.float64}
    assert dict(seen) == {**results, "int8": torch.int32}


def test_what_a_device_does_not_multiply_is_left_out_with_its_reason(clock: list[int]) -> None:
    found = ceiling.measure(CPU, ["tf32", "fp32"])
    assert set(found.flop_per_s) == {"fp32"}
    assert found.skipped == {"tf32": "only CUDA devices multiply fp32 matrices in TF32"}


def test_the_precision_of_fp32_products_stays_as_it_was(clock: list[int]) -> None:
    before = torch.get_float32_matmul_precision()
    ceiling.measure(CPU, ["tf32", "fp32"])
    assert torch.get_float32_matmul_precision() == before


def test_an_unknown_dtype() -> None:
    with pytest.raises(UsageError, match=r"no ceiling for 'bf17': give some of bf16, fp16, tf32"):
        ceiling.measure(CPU, ["bf17"])


def test_a_real_clock_runs_forward() -> None:
    assert ceiling._cpu_ns(CPU, lambda: torch.ones(8).sum()) > 0


@pytest.mark.gpu
def test_on_a_gpu_narrower_is_faster() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    found = ceiling.measure(torch.device("cuda"), ["bf16", "fp32"])
    assert found.flop_per_s["bf16"] > found.flop_per_s["fp32"] > 0
    assert found.multiprocessors
