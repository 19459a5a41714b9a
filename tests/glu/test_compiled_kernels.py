"""Every kernel compiles for every architecture, without a GPU; tensor cores, spills and shared memory as
stated."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import specs  # noqa: E402
from compiling import compile_for, resources  # noqa: E402

from rung.glu import ACTIVATIONS, rules  # noqa: E402
from rung.glu.kernels import table  # noqa: E402

pytestmark = pytest.mark.torch

SHARED = {80: 163 * 1024, 86: 99 * 1024, 89: 99 * 1024, 90: 227 * 1024, 100: 227 * 1024, 120: 99 * 1024}
"""Bytes of shared memory a block may have."""
PRECISIONS = [(torch.bfloat16, "tf32"), (torch.float32, "tf32"), (torch.float32, "ieee")]


@pytest.mark.parametrize("arch", [80, 86, 89, 90, 100])
@pytest.mark.parametrize(("dtype", "precision"), PRECISIONS, ids=str)
def test_portable_kernels(arch: int, dtype: torch.dtype, precision: str) -> None:
    for label, kernel, spec, fixed in specs.every(dtype, precision):
        binary = compile_for(kernel, spec, arch, fixed)
        used = resources(binary)
        assert used["shared"] <= SHARED[arch], label
        # Odd rows keep every address in registers, fp32 on ordinary cores its operands.
        limit = 0 if spec.aligned and precision != "ieee" else 192
        assert used["stack"] + used["local"] <= limit, (label, used)


@pytest.mark.parametrize("save", [False, True])
@pytest.mark.parametrize(("dtype", "precision"), PRECISIONS[:2], ids=str)
def test_tma_kernel_on_sm_90(dtype: torch.dtype, precision: str, save: bool) -> None:
    for tile in rules.tma(specs.kind(dtype, precision), save):
        spec, fixed = specs.tma(dtype, tile, save=save)
        binary = compile_for(table.GATE_UP_TMA, spec, 90, fixed)
        ptx, used = binary.asm["ptx"], resources(binary)
        # One product of twice the tile's width: gate and up share the instruction.
        assert f"wgmma.mma_async.sync.aligned.m64n{2 * tile.n}k" in ptx
        assert "cp.async.bulk.tensor.3d" in ptx
        assert used["stack"] == used["local"] == 0, (tile, used)
        assert used["shared"] <= SHARED[90], (tile, used)


def test_gate_and_up_meet_in_registers() -> None:
    """The halves of the accumulator are a thread's own: nothing but h goes through shared memory."""
    spec, fixed = specs.tma(torch.bfloat16, rules.tma("half", False)[0])
    binary = compile_for(table.GATE_UP_TMA, spec, 90, fixed)
    assert "convert_layout" not in binary.asm["ttgir"].replace("tt.convert_layout %h", "")


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_compile(activation: str) -> None:
    spec, fixed = specs.tma(torch.bfloat16, rules.tma("half", False)[1], activation=activation)
    assert compile_for(table.GATE_UP_TMA, spec, 90, fixed).metadata.name.startswith(
        f"rung_gate_up_tma_{activation}_"
    )
    for eager in (False, True):
        spec = specs.gate_up(
            torch.float16, rules.portable("half", 8)[1], width=8, activation=activation, eager=eager
        )
        assert f"gate_up_{activation}_64x32x64_s4" in compile_for(table.GATE_UP, spec, 80).metadata.name
