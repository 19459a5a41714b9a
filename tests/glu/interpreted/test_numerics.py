"""Every kernel's arithmetic within the error budget, forward and all gradients."""

from __future__ import annotations

from functools import partial

import pytest
import specs
import torch
from calls import mlp
from errorbudget import budget, check, eager, error, in_double, inputs

from rung.glu import ACTIVATIONS, backend, glu, rules
from rung.glu.kernels import table
from rung.glu.kernels.launch import Map
from rung.glu.reference import glu as reference_glu

# What a GPU does quietly, numpy remarks on.
pytestmark = pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")

DTYPES = [torch.float32, torch.bfloat16, torch.float16]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_forward_and_gradients(activation: str, dtype: torch.dtype) -> None:
    check(mlp, activation, inputs((5,), 32, 48, dtype))


@pytest.mark.parametrize("rows", [(0,), (1,), (2, 3), (20,), (70,), ()], ids=str)
@pytest.mark.parametrize("sizes", [(32, 48), (33, 37), (16, 600), (1, 1)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_any_shape_forward(rows: tuple[int, ...], sizes: tuple[int, int], bias: bool) -> None:
    tensors = inputs(rows, *sizes, torch.bfloat16, bias=bias)
    exact, usual = eager("silu", *in_double(tensors)), eager("silu", *tensors)
    ours = mlp("silu", *tensors)
    assert ours.shape == (*rows, sizes[0])
    if ours.numel() > 20:
        assert error(ours, exact) <= budget(torch.bfloat16, error(usual, exact), forward=True)
    else:
        assert torch.allclose(ours.double(), exact, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("rows", [1, 5, 20, 70])
@pytest.mark.parametrize("alone", range(3), ids=("gate", "up", "down"))
def test_one_bias_alone(alone: int, rows: int) -> None:
    x, g, u, d, *biases = inputs((rows,), 24, 40, torch.float32)
    one = [bias if i == alone else None for i, bias in enumerate(biases)]
    assert torch.allclose(
        mlp("silu", x, g, u, d, *one), eager("silu", x, g, u, d, *one), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("present", range(4))
@pytest.mark.parametrize("swapped", [False, True])
def test_gate_up_by_one_map_of_both_weights(swapped: bool, present: int) -> None:
    """The kernel that sm_90 falls back to, which interpreted calls never choose: three tiles of rows, two of
    columns, the last ones cut off, and whichever weight lies lower."""
    tile = rules.tiles("tma", "tf32", 4, True)[0]._replace(m=16, n=16, k=16)
    x, gate, up, _, gate_bias, up_bias, _ = inputs((40,), 24, 28, torch.float32)
    first, second = (up, gate) if swapped else (gate, up)
    written = Map(torch.float32, (40, 28), (28, 1), (16, 16))
    weights = Map(torch.float32, (2, 28, 24), (28 * 24, 24, 1), (2, 16, 16))
    operands = (
        Map(torch.float32, (40, 24), (24, 1), (16, 16)),
        weights,
        *[written] * 3,
        *[torch.float32] * 2,
    )
    biases = (up_bias, gate_bias) if swapped else (gate_bias, up_bias)
    h, one, two = (torch.full((40, 28), torch.nan) for _ in range(3))
    launch = table.GATE_UP_TMA.prepare(
        specs.tma(torch.float32, tile, save=True, activation="silu")[0], 0, 2, operands,
        (40, 28 // 4, 24 // 4, present, int(swapped), 2),
    )  # fmt: skip
    launch(x, torch.stack([first, second]), h, one, two, *biases)
    sums = [
        x @ w.t() + (b if present & bit else 0)
        for w, b, bit in zip((first, second), biases, (1, 2), strict=True)
    ]
    close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-5)
    close(one, sums[0])
    close(two, sums[1])
    close(h, reference_glu(*(sums[::-1] if swapped else sums), "silu"))


@pytest.mark.parametrize("rows", [3, 20, 70])
def test_any_strides(rows: int) -> None:
    x, g, u, d, *biases = inputs((rows,), 24, 40, torch.float32)
    exact = mlp("gelu", x, g, u, d, *biases)
    wide = torch.randn(rows, 2, 24)
    wide[:, 1] = x
    cases = {
        "a column slice of a wider tensor": (wide[:, 1], g, u, d),
        "weights stored transposed": (
            x,
            g.t().contiguous().t(),
            u.t().contiguous().t(),
            d.t().contiguous().t(),
        ),
        "x stored transposed": (x.t().contiguous().t(), g, u, d),
        "an address off by one element": (
            torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape),
            g,
            u,
            d,
        ),
        "gate and up interleaved": (x, *torch.stack([g, u], 1).unbind(1), d),
    }
    for name, (one, *weights) in cases.items():
        assert torch.allclose(mlp("gelu", one, *weights, *biases), exact, rtol=1e-5, atol=1e-6), name
    expanded = mlp("gelu", x[:1].expand(rows, 24), g, u, d, *biases)
    assert torch.allclose(expanded, exact[:1].expand(rows, 24), rtol=1e-5, atol=1e-6)
    scalar = torch.full((1,), 0.5).expand(rows, 24)
    assert torch.allclose(
        mlp("gelu", scalar, g, u, d, *biases), mlp("gelu", scalar.contiguous(), g, u, d, *biases)
    )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pointwise_strides(dtype: torch.dtype) -> None:
    both = torch.randn(3, 5, 2 * 32).to(dtype)
    gate, up = both.chunk(2, dim=-1)
    for a, b in [(gate, up), (gate.transpose(0, 1), up.transpose(0, 1)), (gate[..., ::3], up[..., 1:12])]:
        assert torch.equal(glu(a, b), glu(a.contiguous(), b.contiguous()))
        assert torch.allclose(glu(a, b), reference_glu(a, b, "gelu_tanh"), rtol=1e-2, atol=1e-3)
    assert glu(gate[0, 0, 0], up[0, 0, 0]).shape == ()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_special_values_as_eager(activation: str) -> None:
    """Infinities, NaN and values so large that their powers overflow: NaN and infinities where eager has
    them."""
    special = torch.tensor(
        [0.0, -0.0, 1.0, -1.0, 30.0, -30.0, 1e4, -1e4, float("inf"), -float("inf"), float("nan")]
    )
    gate, up = (t.contiguous() for t in torch.meshgrid(special, special, indexing="ij"))
    usual = ACTIVATIONS[activation](gate)
    if activation == "gelu":
        usual = gate * (0.5 * (1 + torch.erf(gate * 0.5**0.5)))  # CPUs have gelu(inf) = NaN, GPUs infinity
    ours, exact = glu(gate, up, activation), usual * up
    assert torch.equal(ours.isnan(), exact.isnan())
    assert torch.equal(ours.isinf(), exact.isinf())
    finite = exact.isfinite()
    assert torch.allclose(ours[finite], exact[finite], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 30.0, 1000.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_magnitudes(scale: float, dtype: torch.dtype) -> None:
    for activation in ("gelu_tanh", "gelu", "silu"):
        check(mlp, activation, inputs((4,), 32, 40, dtype, scale=scale))


def test_eager_rounding_rounds_where_eager_does() -> None:
    """On powers of two, where the order of summation cannot matter, it is eager's result to the bit."""
    tensors = inputs((6,), 16, 16, torch.bfloat16)
    rounded = [None if t is None else torch.round(t * 4) / 4 for t in tensors]
    rounded[3] = torch.eye(16, dtype=torch.bfloat16)
    rounded[6] = None
    assert torch.equal(mlp("relu", *rounded, rounding="eager"), eager("relu", *rounded))
    single = mlp("relu", *rounded)
    exact = eager("relu", *in_double(rounded))
    assert error(single, exact) <= error(eager("relu", *rounded), exact)


def test_small_batches_sum_parts_in_order() -> None:
    """More than one part along K, twice: the same bits, and within the budget."""
    tensors = inputs((2,), 32, 1100, torch.bfloat16)
    assert backend(*tensors[:4]).name == "few-rows"
    first = mlp("silu", *tensors)
    assert torch.equal(first, mlp("silu", *tensors))
    exact = eager("silu", *in_double(tensors))
    assert error(first, exact) <= error(eager("silu", *tensors), exact)


@pytest.mark.parametrize("rows", [3, 20, 70])
def test_a_row_does_not_depend_on_the_others(rows: int) -> None:
    tensors = inputs((rows,), 32, 48, torch.float32)
    before = mlp("gelu", *tensors)[1].clone()
    tensors[0][0], tensors[0][2:] = 7.0, -3.0
    assert torch.equal(mlp("gelu", *tensors)[1], before)
