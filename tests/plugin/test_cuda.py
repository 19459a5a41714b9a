"""`rung_record` on a CUDA device: what the H200 runs, held against guesses."""

from __future__ import annotations

from typing import Any

import pytest

from rung import guess

torch = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


def mlp() -> Any:
    from rung.ladder.modules import GeGLUMLP

    return GeGLUMLP(768, 3072).to("cuda", torch.bfloat16)


def rows() -> Any:
    return torch.randn(512, 768, device="cuda", dtype=torch.bfloat16)


def test_eager(rung_record: Any) -> None:
    assert rung_record(mlp(), rows(), device="cuda") == guess(kernels=5, gemm=3, pointwise=2, dtype="bf16")


def test_compiled(rung_record: Any) -> None:
    recording = rung_record(mlp(), rows(), variant="compiled", device="cuda")
    assert recording == guess({"gemm": 3, "kernel:triton_poi_*": 1})


def test_rungs_own(rung_record: Any) -> None:
    assert rung_record(mlp(), rows(), variant="rung", device="cuda") == guess(kernels=2, gemm=2)


def test_a_wrong_guess_does_not_hold(rung_record: Any) -> None:
    assert rung_record(mlp(), rows(), device="cuda") != guess(kernels=4)
