"""The chains of ops that the rungs share, as the article shows them."""

from __future__ import annotations

from rung.ladder.article.scene import Input, Span, Tensor, Work, gemm, op, tensor

GRAPH = "## Call CompiledFxGraph (hash not printed) ##"


def transposed(weight: Tensor) -> Span:
    """`aten::t` of a weight: metadata only."""
    dims, strides = list(weight.mT.dims), list(weight.mT.strides)
    as_strided = op("aten::as_strided", weight, str(dims), str(strides), None)
    return op("aten::t", weight, inside=(op("aten::transpose", weight, "0", "1", inside=(as_strided,)),))


def linear(x: Tensor, weight: Tensor, work: Work) -> Span:
    """`aten::linear` without a bias: x [batch, seq, in], weight [out, in]; a GEMM over [batch * seq, in]."""
    batch, seq, features = x.dims
    flat, out = tensor(batch * seq, features), tensor(batch * seq, weight.dims[0])
    rows = str(list(flat.dims))
    matmul = op(
        "aten::matmul",
        x,
        weight.mT,
        inside=(
            op("aten::reshape", x, rows, inside=(op("aten::view", x, rows),)),
            op("aten::mm", flat, weight.mT, inside=gemm(work)),
            op("aten::_unsafe_view", out, str([batch, seq, weight.dims[0]])),
        ),
    )
    return op("aten::linear", x, weight, None, inside=(transposed(weight), matmul))


def addmm(
    bias: Tensor, x: Tensor, weight: Tensor, inside: tuple[Span, ...], *, out: Tensor | None = None
) -> Span:
    """`aten::addmm`: x @ weight + bias, as compiled code calls it where it brings its own `out`."""
    given: tuple[Input, ...] = (bias, x, weight, "1", "1")
    return op("aten::addmm", *given, *([out] if out else []), inside=inside)


def compiled(*spans: Span) -> tuple[Span, ...]:
    """What each call of compiled code goes through before its own `spans`.

    Rule: as in this project's recording of the compiled MLP on an H200, where Dynamo's look-up takes 28 us,
    the way to the prologue 53, the prologue 10 and the way to the first op 62.
    """
    graph = Span(GRAPH, "user_annotation", inside=spans, enter_ns=62_000)
    prologue = Span("AOTDispatcher Runtime Wrapper Prologue", enter_ns=10_000, leave_ns=0)
    return (
        Span("TorchDynamo Cache Lookup", enter_ns=28_000, leave_ns=0),
        Span("Torch-Compiled Region: 0/0", inside=(prologue, graph), enter_ns=53_000),
    )
