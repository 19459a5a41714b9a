"""What the linear rung shows besides its trace: strides, before and after t(), eager and compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rung.ladder.climb import make_rung
from rung.ladder.rungs.linear import LINEAR
from rung.ladder.values import Parameters
from rung.recording.machine import default_device, require_torch, resolve_device
from rung.recording.values import Settings
from rung.recording.window import quiet


@dataclass(frozen=True)
class Layout:
    """Shape and stride of a tensor, in elements."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]


@dataclass(frozen=True)
class LinearFacts:
    """`weight` and its `transposed` view share their storage where `same_storage`: t() moves no byte.

    `asserted` are the layouts that the compiled code checks its inputs against (`assert_size_stride`), in the
    order of the code. An input of the same shape in layout `other` costs `recompiles` compilations, after
    which the new code asserts `other_asserted`.
    """

    weight: Layout
    transposed: Layout
    same_storage: bool
    input: Layout
    asserted: tuple[Layout, ...]
    other: Layout
    recompiles: int
    other_asserted: tuple[Layout, ...]


def linear_facts(
    parameters: Parameters | None = None, *, device: str | None = None, dtype: str = "bfloat16"
) -> LinearFacts:
    """Builds the linear rung, compiles it (seconds), and reads its layouts out of Inductor's code.

    Raises what `record_rung` raises for the same arguments.
    """
    torch = require_torch()
    where = resolve_device(device) if device else default_device()
    chosen = LINEAR.parameters(where.type, parameters or {})
    work = make_rung(LINEAR, chosen, str(where), dtype, Settings())
    weight, (x,) = work.fn.weight, work.args  # type: ignore[attr-defined]
    other = x.t().contiguous().t()
    with quiet(), torch.inference_mode():
        torch.compiler.reset()
        compiled = torch.compile(work.fn)
        asserted, _ = _compiled_layouts(compiled, x)
        other_asserted, recompiles = _compiled_layouts(compiled, other)
    transposed = weight.t()
    return LinearFacts(
        weight=_layout(weight),
        transposed=_layout(transposed),
        same_storage=transposed.data_ptr() == weight.data_ptr(),
        input=_layout(x),
        asserted=asserted,
        other=_layout(other),
        recompiles=recompiles,
        other_asserted=other_asserted,
    )


def _compiled_layouts(fn: Callable[..., Any], x: Any) -> tuple[tuple[Layout, ...], int]:
    """Calls `fn`; the layouts asserted by the code that this compiled, and how many graphs it compiled."""
    from torch._dynamo.utils import counters
    from torch._inductor.utils import run_and_get_code

    before = counters["stats"]["unique_graphs"]
    _, sources = run_and_get_code(fn, x)
    return asserted_layouts("\n".join(sources)), counters["stats"]["unique_graphs"] - before


def asserted_layouts(source: str) -> tuple[Layout, ...]:
    """The layouts that Inductor's code asserts, in its order: a call each, `assert_size_stride(name, shape,
    stride, ...)`, or since torch 2.14 one call for all inputs. Shapes that are known only when it runs are
    left out."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    layouts: list[Layout] = []
    for call in sorted(calls, key=lambda call: call.lineno):
        name = getattr(call.func, "id", None)
        if name == "assert_size_stride":
            layouts += _literal(*call.args[1:3])
        elif name == "assert_size_stride_grouped":
            shapes, strides = (node.elts for node in call.args[1:3] if isinstance(node, ast.Tuple))
            layouts += [one for pair in zip(shapes, strides, strict=True) for one in _literal(*pair)]
    return tuple(layouts)


def _literal(shape: ast.expr, stride: ast.expr) -> list[Layout]:
    try:
        return [Layout(ast.literal_eval(shape), ast.literal_eval(stride))]
    except ValueError:
        return []


def _layout(tensor: Any) -> Layout:
    return Layout(tuple(tensor.shape), tuple(tensor.stride()))
