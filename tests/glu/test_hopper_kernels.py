"""The Gluon kernels as their launchers ask for them, compiled for sm_90 without one."""

from __future__ import annotations

import re
from functools import partial
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from compiling import machine_code, resources  # noqa: E402

from rung.glu import ACTIVATIONS, hopper, rules, training  # noqa: E402
from rung.glu.devices import Chip  # noqa: E402
from rung.glu.kernels.compiling import type_of  # noqa: E402
from rung.glu.kernels.launch import Kernel  # noqa: E402
from rung.glu.kernels.table_hopper import DOWN_BACKWARD_HOPPER, GATE_UP_BACKWARD_HOPPER  # noqa: E402
from rung.glu.operands import arrange  # noqa: E402
from rung.glu.rules import Tile  # noqa: E402

pytestmark = pytest.mark.torch

SHARED = 227 * 1024
"""Bytes of shared memory a block may have on sm_90."""
HALVES = [torch.bfloat16, torch.float16]


class Asked(NamedTuple):
    """What a launcher passed to `Kernel.prepare`."""

    kernel: Kernel
    spec: Any
    blocks: int
    operands: Any
    numbers: Any

    def compiled(self) -> Any:
        return self.kernel.binary(self.spec, [type_of(o) for o in self.operands], 90)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Asked]:
    seen: list[Asked] = []

    def prepare(kernel: Any, spec: Any, device: int, blocks: int, operands: Any, numbers: Any) -> Any:
        seen.append(Asked(kernel, spec, blocks, operands, numbers))
        return seen[-1]

    monkeypatch.setattr(Kernel, "prepare", prepare)
    monkeypatch.setattr(Kernel, "begin", lambda *_: None)
    monkeypatch.setattr(hopper, "chip", lambda index: Chip("NVIDIA H200", (9, 0), 132))
    return seen


def gate_up(tile: Tile, dtype: Any, activation: str, *, save: bool, bias: bool = False) -> None:
    x, g, u = (torch.empty(n, 768, dtype=dtype) for n in (1000, 3080, 3080))
    biases = [torch.empty(3080, dtype=dtype) if bias else None] * 2
    hopper.prepare(arrange(x, g, u, *biases), tile, (activation, False, save))


def down_backward(tile: Tile, dtype: Any, activation: str) -> None:
    grad, down = torch.empty(1000, 768, dtype=dtype), torch.empty(768, 3080, dtype=dtype)
    gate, up = (torch.empty(1000, 3080, dtype=dtype) for _ in range(2))
    hopper.down_backward(grad, down, gate, up, activation, tile).prepare()


def gate_up_backward(dtype: Any) -> None:
    both = torch.empty(1000, 2 * 3080, dtype=dtype)
    gate, up = (torch.empty(3080, 768, dtype=dtype) for _ in range(2))
    hopper.gate_up_backward(*both.chunk(2, dim=1), gate, up, rules.GATE_UP_BACKWARD).prepare()


def may_spill(binary: Any) -> int:
    """Bytes, of a thread. None, but with Triton 3.9 six registers of one kernel: a training step at
    [8192, 768], 3072 takes as long as with 3.6 (508 µs, 507 on the same H200)."""
    one = re.search("down_backward_hopper_.*_192x128x64", binary.metadata.name)
    return 24 if one and triton.__version__.startswith("3.9.") else 0


def products(code: str) -> tuple[int, int]:
    """(wgmma instructions, waits until none is in flight)."""
    return code.count("HGMMA."), len(re.findall(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x0", code))


@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("save", [False, True])
def test_gate_up(asked: list[Asked], save: bool, dtype: Any) -> None:
    for tile in rules.hopper(768):
        gate_up(tile, dtype, "gelu_tanh", save=save)
        binary = asked[-1].compiled()
        ptx, used = binary.asm["ptx"], resources(binary)
        # One product of twice the tile's width: gate and up share the instruction.
        assert f"wgmma.mma_async.sync.aligned.m64n{2 * tile.n}k" in ptx
        assert "cp.async.bulk.tensor.2d" in ptx
        assert used["stack"] == used["local"] == 0, (tile, used)
        assert used["shared"] <= SHARED, (tile, used)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_down_backward(asked: list[Asked], dtype: Any) -> None:
    for tile in rules.down_backward():
        down_backward(tile, dtype, "gelu_tanh")
        binary = asked[-1].compiled()
        used = resources(binary)
        assert used["stack"] <= may_spill(binary), (tile, used)
        assert used["local"] == 0, (tile, used)
        assert used["shared"] <= SHARED, (tile, used)


def test_instructions_stay_in_their_cache(asked: list[Asked]) -> None:
    """Written out for every piece and consumer the kernel was 153 KB, and took 136 µs where it takes 90 on an
    H200."""
    for tile in rules.down_backward():
        down_backward(tile, torch.bfloat16, "gelu_tanh")
        assert len(re.findall(r"/\*[0-9a-f]{4,5}\*/", machine_code(asked[-1].compiled()))) * 16 < 64 * 1024


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_gate_up_backward(asked: list[Asked], dtype: Any) -> None:
    gate_up_backward(dtype)
    binary = asked[-1].compiled()
    used = resources(binary)
    assert binary.metadata.name == "rung_gate_up_backward_hopper_192x128x64_s5"
    assert used["stack"] == used["local"] == 0
    assert used["shared"] <= SHARED
    assert asked[-1].numbers == (1000, 96, 3080)
    assert asked[-1].blocks == 6 * 6


@pytest.mark.parametrize(
    ("features", "outputs", "needs", "kernels"),
    [
        (768, 768, "xw", [DOWN_BACKWARD_HOPPER, GATE_UP_BACKWARD_HOPPER]),
        (768, 770, "xw", [GATE_UP_BACKWARD_HOPPER]),
        (764, 768, "xw", [DOWN_BACKWARD_HOPPER]),
        (1024, 768, "xw", [DOWN_BACKWARD_HOPPER]),  # its waves are half empty
        (768, 768, "w", [DOWN_BACKWARD_HOPPER]),
        (768, 768, "", []),
    ],
)
def test_backward_is_begun_as_it_will_be_asked_for(
    asked: list[Asked],
    monkeypatch: pytest.MonkeyPatch,
    features: int,
    outputs: int,
    needs: str,
    kernels: list[Kernel],
) -> None:
    begun: list[Asked] = []
    monkeypatch.setattr(
        Kernel, "begin", lambda self, spec, device, *rest: begun.append(Asked(self, spec, *rest))
    )
    monkeypatch.setattr(training, "chip", hopper.chip)
    monkeypatch.setattr(training, "why_no_kernel", lambda *_: None)
    make = partial(torch.empty, dtype=torch.bfloat16)
    x = make(4096, features, requires_grad="x" in needs)
    gate, up = (make(3072, features, requires_grad="w" in needs) for _ in range(2))
    down, dy, hidden, both = make(outputs, 3072), make(4096, outputs), make(4096, 3072), make(4096, 6144)
    training.begin(x, gate, up, down, "silu")
    assert [one.kernel for one in begun] == kernels
    if "w" in needs:
        training._through_down(dy, down, hidden, hidden, "silu")
    if "x" in needs:
        training._through_gate_up(both, gate, up)
    assert len(begun) == len(asked)
    for ahead, then in zip(begun, asked, strict=True):
        assert (ahead.kernel, ahead.spec, ahead.numbers) == (then.kernel, then.spec, then.numbers)
        assert list(map(type_of, ahead.operands)) == list(map(type_of, then.operands))


def test_products_overlap(asked: list[Asked]) -> None:
    """ptxas lets each wgmma wait for the one before where it does not understand a loop; here a consumer
    waits for all of them once a tile."""
    gate_up(rules.hopper(768)[0], torch.bfloat16, "silu", save=False)
    down_backward(rules.down_backward()[1], torch.bfloat16, "silu")
    gate_up_backward(torch.bfloat16)
    for one in asked:
        instructions, waits = products(machine_code(one.compiled()))
        assert instructions >= 2 * 2 * 2 * 4  # consumers, first step and loop, accumulators, K of 16
        assert waits == 2


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations(asked: list[Asked], activation: str) -> None:
    gate_up(rules.hopper(768)[0], torch.float16, activation, save=True)
    for tile in rules.down_backward():
        down_backward(tile, torch.float16, activation)
    names = []
    for one in asked:
        binary = one.compiled()
        names.append(binary.metadata.name)
        assert resources(binary)["stack"] <= may_spill(binary), activation
    assert names == [
        f"rung_gate_up_hopper_{activation}_192x64x64_s5_saved",
        f"rung_down_backward_hopper_{activation}_192x128x64_s4",
        f"rung_down_backward_hopper_{activation}_128x128x64_s5",
    ]


def test_what_the_launcher_passes(asked: list[Asked]) -> None:
    """[1000, 768] x [3080, 768]: 6 x 49 tiles of 192 x 64 in groups of 4, sizes in units of 8 where rows are
    16 bytes."""
    gate_up(rules.hopper(768)[0], torch.bfloat16, "silu", save=False, bias=True)
    assert asked[0].blocks == 132
    assert asked[0].numbers == (1000, 385, 768, 3, 4)
    assert asked[0].operands[0].box == (64, 64)
    assert asked[0].operands[3].box == (64, 64)


@pytest.mark.parametrize(
    ("capability", "kind", "width", "reason"),
    [
        ((9, 0), "half", 8, None),
        ((8, 0), "half", 8, "sm_80 takes the portable path"),
        ((9, 0), "tf32", 4, "the Gluon kernels are for 2-byte floats"),
        ((9, 0), "half", 1, "an address, a stride or a size is no multiple of 16 bytes"),
    ],
)
def test_why_not(capability: tuple[int, int], kind: Any, width: int, reason: str | None) -> None:
    assert hopper.why_no_gluon(capability, kind, width) == reason


def test_an_unknown_gluon_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton, "__version__", "4.0.1")
    assert hopper.why_no_gluon.__wrapped__((9, 0), "half", 8) == "Gluon of Triton 4.0.1 is not known"
