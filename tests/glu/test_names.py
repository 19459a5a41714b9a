"""The names that the kernels carry into a trace, read back."""

from __future__ import annotations

import pytest

from rung.names import decode


def test_gate_up_says_its_tile_and_epilogue() -> None:
    read = decode("rung_gate_up_tma_gelu_tanh_128x128x64_s4")
    assert (read.family, read.kind) == ("rung", "gemm")
    assert read.fields["tile"] == [128, 128, 64]
    assert read.fields["stages"] == 4
    assert read.fields["epilogue"] == ["gelu_tanh", "mul"]
    assert read.fields["unit"] == "wgmma"
    assert "also_writes" in decode("rung_gate_up_silu_64x32x64_s4_saved").fields
    assert decode("rung_gate_up_hopper_silu_192x64x64_s5").fields["unit"] == "wgmma"


def test_backward_through_down() -> None:
    read = decode("rung_down_backward_hopper_gelu_tanh_128x128x64_s5")
    assert (read.family, read.kind) == ("rung", "gemm")
    assert read.fields["tile"] == [128, 128, 64]
    assert read.fields["epilogue"] == ["gelu_tanh_backward", "mul"]


def test_backward_through_gate_and_up() -> None:
    read = decode("rung_gate_up_backward_hopper_192x128x64_s5")
    assert (read.family, read.kind) == ("rung", "gemm")
    assert (read.fields["tile"], read.fields["stages"]) == ([192, 128, 64], 5)
    assert "epilogue" not in read.fields


def test_down_and_pointwise() -> None:
    assert decode("rung_down_16x32x128_s4").fields["tile"] == [16, 32, 128]
    assert decode("rung_glu_backward_gelu").fields == {
        "functor": "glu", "direction": "backward", "ops": ["gelu", "mul"],
    }  # fmt: skip
    assert decode("rung_gate_up_row_silu_1x4x256").fields["tile"] == [1, 4, 256]
    assert decode("rung_gate_up_sixteen_gelu_16x64x128_s3").fields["tile"] == [16, 64, 128]
    assert decode("rung_down_sixteen_16x32x128_s4").fields["stages"] == 4
    assert "stages" not in decode("rung_down_row_1x8x512").fields
    assert decode("rung_glu_tanh").family != "rung"


def test_every_kernel_is_decoded() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    import specs

    for dtype, precision in [(torch.bfloat16, "tf32"), (torch.float32, "ieee")]:
        for _, kernel, spec, _ in specs.every(dtype, precision):
            constants = dict(zip(kernel.constants, spec.constants, strict=True))
            name = kernel.function.repr(type("Proxy", (), {"constants": constants}))
            assert decode(name).family == "rung", name
            assert decode(name).unknown == ()
