"""The `nn.Linear` of part 2: x [1024, 32] @ weight [64, 32] transposed + bias [64]."""

from __future__ import annotations

from rung.ladder.article import published
from rung.ladder.article.ops import addmm, compiled, transposed
from rung.ladder.article.scene import Drawing, Span, gemm, kernel, op, tensor
from rung.ladder.article.timeline import steps

X, WEIGHT, BIAS, Y = tensor(1024, 32), tensor(64, 32), tensor(64), tensor(1024, 64)
GEMM = kernel(
    published.LINEAR_GEMM,
    published.memory_time_ns(X.nbytes + WEIGHT.nbytes + BIAS.nbytes + Y.nbytes),
    published=False,
)


def eager() -> Drawing:
    chain = transposed(WEIGHT), addmm(BIAS, X, WEIGHT.mT, gemm(GEMM))
    return _drawing("eager", op("aten::linear", X, WEIGHT, BIAS, inside=chain))


def compiled_by_inductor() -> Drawing:
    return _drawing("compiled", *compiled(addmm(BIAS, X, WEIGHT.mT, gemm(GEMM), out=Y)))


def _drawing(variant: str, *spans: Span) -> Drawing:
    parameters = {"batch": 1024, "in_dim": 32, "out_dim": 64, "dtype": "bfloat16"}
    return Drawing("linear", variant, "linear_fwd", published.PART_2, parameters, spans, steps(spans))
