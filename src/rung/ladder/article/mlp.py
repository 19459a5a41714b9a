"""The GeGLU MLP of part 2: down(gelu_tanh(gate(x)) * up(x)), x [64, 128, 768], hidden 3072."""

from __future__ import annotations

from rung.ladder.article import published
from rung.ladder.article.ops import compiled, linear
from rung.ladder.article.scene import Drawing, Span, gemm, kernel, launch, op, tensor
from rung.ladder.article.timeline import steps

X, GATE, DOWN = tensor(64, 128, 768), tensor(3072, 768), tensor(768, 3072)
HIDDEN = tensor(64, 128, 3072)
FLAT_X, FLAT_HIDDEN, FLAT_Y = tensor(8192, 768), tensor(8192, 3072), tensor(8192, 768)

GATE_UP_GEMM = kernel(published.GATE_UP_GEMM, published.GATE_UP_NS)
DOWN_GEMM = kernel(published.DOWN_GEMM, published.DOWN_NS)


def eager() -> Drawing:
    gelu = kernel(published.GELU, published.memory_time_ns(2 * HIDDEN.nbytes), published=False)
    mul = kernel(published.MUL, published.memory_time_ns(3 * HIDDEN.nbytes), published=False)
    return _drawing(
        "eager",
        linear(X, GATE, GATE_UP_GEMM),
        linear(X, GATE, GATE_UP_GEMM),
        op("aten::gelu", HIDDEN, None, inside=(launch(gelu),)),
        op("aten::mul", HIDDEN, HIDDEN, inside=(launch(mul),)),
        linear(HIDDEN, DOWN, DOWN_GEMM),
    )


def compiled_by_inductor() -> Drawing:
    fused = launch(kernel(published.FUSED, published.FUSED_NS), "cuLaunchKernel")
    return _drawing(
        "compiled",
        *compiled(
            op("aten::mm", FLAT_X, GATE.mT, FLAT_HIDDEN, inside=gemm(GATE_UP_GEMM)),
            op("aten::mm", FLAT_X, GATE.mT, FLAT_HIDDEN, inside=gemm(GATE_UP_GEMM)),
            op(published.FUSED, HIDDEN, FLAT_HIDDEN, str(8192 * 3072), inside=(fused,)),
            op("aten::mm", FLAT_HIDDEN, DOWN.mT, FLAT_Y, inside=gemm(DOWN_GEMM)),
        ),
    )


def liger() -> Drawing:
    geglu = launch(kernel(published.LIGER, published.LIGER_NS), "cuLaunchKernel")
    return _drawing(
        "liger",
        linear(X, GATE, GATE_UP_GEMM),
        linear(X, GATE, GATE_UP_GEMM),
        op("LigerGELUMulFunction", HIDDEN, HIDDEN, inside=(geglu,)),
        linear(HIDDEN, DOWN, DOWN_GEMM),
    )


def _drawing(variant: str, *spans: Span) -> Drawing:
    parameters = {"batch": 64, "seq": 128, "dim": 768, "hidden": 3072, "dtype": "bfloat16"}
    return Drawing("mlp", variant, "mlp_fwd", published.PART_2, parameters, spans, steps(spans))
