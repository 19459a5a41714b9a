# mypy: ignore-errors
"""Activations and their derivatives in fp32, and the three points of rounding."""

from __future__ import annotations

import triton
import triton.language as tl
from triton import knobs

# Triton's interpreter holds bf16 as integers: it would multiply those, and it cuts fp32 off where a GPU
# rounds.
INTERPRETED = tl.constexpr(knobs.runtime.interpret)


@triton.jit
def narrow(x, dtype: tl.constexpr):
    """fp32 rounded to `dtype`, to the nearest, ties to even."""
    if INTERPRETED and dtype == tl.bfloat16:
        bits = x.to(tl.int32, bitcast=True)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & -65536
        x = tl.where(x != x, x, rounded.to(tl.float32, bitcast=True))
    return x.to(dtype)


@triton.jit
def dot(a, b, acc, PRECISION: tl.constexpr):
    if INTERPRETED:
        a = a.to(tl.float32)
        b = b.to(tl.float32)
    return tl.dot(a, b, acc, input_precision=PRECISION)


@triton.jit
def logistic(t):
    """1 / (1 + 2**t) in two special-function instructions, each right to 2**-22; a division takes more."""
    if INTERPRETED:
        return 1.0 / (1.0 + tl.exp2(t))
    return tl.inline_asm_elementwise(
        """{ .reg .f32 e;
        ex2.approx.ftz.f32 e, $1;
        add.f32 e, e, 0f3F800000;
        rcp.approx.ftz.f32 $0, e; }""",
        "=f,f", [t], dtype=tl.float32, is_pure=True, pack=1,
    )  # fmt: skip


@triton.jit
def sigmoid(g):
    return logistic(g * -1.4426950408889634)


@triton.jit
def sigmoid_of_gelu(g):
    """sigmoid(2u), u = sqrt(2 / pi) (g + 0.044715 g^3): g times it is tanh-GELU in the form that does not
    cancel for g < -4, as 0.5 g (1 + tanh u) does."""
    return logistic(g * (-2.302208198 + -0.1029432407 * (g * g)))


@triton.jit
def activate(g, ACT: tl.constexpr):
    if ACT == "gelu_tanh":
        return g * sigmoid_of_gelu(g)
    elif ACT == "gelu":
        return g * (0.5 * (1.0 + tl.erf(g * 0.7071067811865476)))
    elif ACT == "silu":
        return g * sigmoid(g)
    elif ACT == "relu":
        return tl.where(g <= 0.0, 0.0, g)  # NaN stays
    elif ACT == "sigmoid":
        return sigmoid(g)
    else:
        return g


@triton.jit
def chain(g, d, ACT: tl.constexpr):
    """d * act'(g)."""
    if ACT == "gelu_tanh":
        s = sigmoid_of_gelu(g)
        slope = 1.5957691216057308 + 0.2140644384766124 * (g * g)
        return d * (s + g * s * (1.0 - s) * slope)
    elif ACT == "gelu":
        cdf = 0.5 * (1.0 + tl.erf(g * 0.7071067811865476))
        return d * (cdf + g * (0.3989422804014327 * tl.exp(-0.5 * g * g)))
    elif ACT == "silu":
        s = sigmoid(g)
        return d * (s * (1.0 + g * (1.0 - s)))
    elif ACT == "relu":
        return tl.where(g <= 0.0, 0.0, d)  # not d * 0: an infinite d must vanish too
    elif ACT == "sigmoid":
        s = sigmoid(g)
        return d * (s * (1.0 - s))
    else:
        return d


@triton.jit
def gated(g, u, ACT: tl.constexpr, EAGER: tl.constexpr, dtype: tl.constexpr):
    """act(g) * u in fp32; with EAGER gate, up and the activation are rounded to `dtype` on the way."""
    if EAGER:
        g = narrow(g, dtype).to(tl.float32)
        u = narrow(u, dtype).to(tl.float32)
        return narrow(activate(g, ACT), dtype).to(tl.float32) * u
    else:
        return activate(g, ACT) * u
