"""The ways to run a GLU MLP that are timed beside each other, and the products alone.

A peer takes a set of inputs, prepares what it may prepare (packed weights, a compiled function), and gives
the forward that is timed. Whatever is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from rung.glu import glu, glu_mlp


class Inputs(NamedTuple):
    """x [T, D], gate and up weights [H, D], down weight [D, H], and the gradient of the output [T, D]."""

    x: Tensor
    gate: Tensor
    up: Tensor
    down: Tensor
    dy: Tensor


class Ready(NamedTuple):
    """A forward, and the tensors that a training step takes gradients for."""

    forward: Callable[[], Any]
    leaves: tuple[Tensor, ...]


Peer = Callable[[Inputs], Ready]


def draw(rows: int, width: int, hidden: int, seed: int, device: str = "cuda") -> Inputs:
    """Random bf16 inputs of a network's usual sizes."""
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape: int, size: float = 1.0) -> Tensor:
        return (torch.randn(*shape, device=device, generator=generator) * size).bfloat16()

    gate, up = normal(hidden, width, size=1.5 * width**-0.5), normal(hidden, width, size=width**-0.5)
    return Inputs(
        normal(rows, width), gate, up, normal(width, hidden, size=hidden**-0.5), normal(rows, width)
    )


def eager(x: Any, gate: Any, up: Any, down: Any) -> Any:
    hidden = functional.gelu(functional.linear(x, gate), approximate="tanh") * functional.linear(x, up)
    return functional.linear(hidden, down)


def eager_glu(gate: Any, up: Any) -> Any:
    return functional.gelu(gate, approximate="tanh") * up


def three_gemms(x: Any, gate: Any, up: Any, down: Any) -> Any:
    """The products alone, by cuBLAS; down multiplies what gate gave."""
    hidden = functional.linear(x, gate)
    functional.linear(x, up)
    return functional.linear(hidden, down)


def nine_gemms(x: Any, gate: Any, up: Any, down: Any, dy: Any) -> None:
    """A training step's products alone: three forward, two for each of their gradients."""
    with torch.no_grad():
        hidden = functional.linear(x, gate)
        functional.linear(x, up)
        functional.linear(hidden, down)
        grad = dy @ down
        for product in ((dy.t(), hidden), (grad, gate), (grad, up), (grad.t(), x), (grad.t(), x)):
            torch.mm(*product)


def liger(x: Any, gate: Any, up: Any, down: Any) -> Any:
    """What `LigerGEGLUMLP` runs."""
    from liger_kernel.ops.geglu import LigerGELUMulFunction

    hidden = LigerGELUMulFunction.apply(functional.linear(x, gate), functional.linear(x, up))
    return functional.linear(hidden, down)


def plain(function: Callable[..., Any]) -> Peer:
    """A function of x and the three weights."""

    def ready(inputs: Inputs) -> Ready:
        arguments = inputs[:4]
        return Ready(lambda: function(*arguments), arguments)

    return ready


def compiled(function: Callable[..., Any], mode: str | None = None, dynamic: bool | None = False) -> Any:
    """`function` under torch.compile. Of a code object of its own: what is compiled for one piece of code
    shares its limits, and every call walks through all of it."""
    if mode is not None and mode.startswith("max-autotune"):
        _quiet()
    copy = types.FunctionType(function.__code__.replace(), function.__globals__, function.__name__)
    return torch.compile(copy, mode=mode, dynamic=dynamic)


def _quiet() -> None:
    """max-autotune tells each of its choices and each that did not fit."""
    import torch._inductor.select_algorithm as selecting

    selecting.PRINT_AUTOTUNE = False
    selecting.config.max_autotune_report_choices_stats = False
    logging.getLogger("torch._inductor.select_algorithm").setLevel(logging.CRITICAL)


def reduce_overhead() -> Peer:
    """`eager` in Inductor's CUDA graphs, weights where they are, as a module's parameters would be."""
    function = compiled(eager, "reduce-overhead")

    def ready(inputs: Inputs) -> Ready:
        for weight in inputs[1:4]:
            torch._dynamo.mark_static_address(weight)
        return Ready(lambda: function(*inputs[:4]), inputs[:4])

    return ready


def packed(multiply: Callable[[Any, Any], Any]) -> Peer:
    """Gate and up weights in one buffer and one GEMM, then `multiply`, then down."""

    def ready(inputs: Inputs) -> Ready:
        both = torch.cat([inputs.gate, inputs.up])

        def forward() -> Any:
            gate, up = functional.linear(inputs.x, both).chunk(2, dim=-1)
            return functional.linear(multiply(gate, up), inputs.down)

        return Ready(forward, (inputs.x, both, inputs.down))

    return ready


def quack(inputs: Inputs) -> Ready:
    """quack's gated GEMM over interleaved rows of gate and up; without gradients cuBLAS goes down."""
    from quack.gemm_interface import gemm_gated
    from quack.mlp import mlp_func

    _let_quack_key_its_epilogues()
    both = torch.stack([inputs.gate, inputs.up], dim=1).reshape(-1, inputs.x.shape[1]).contiguous()

    def forward() -> Any:
        if torch.is_grad_enabled():
            return mlp_func(inputs.x, both, inputs.down, activation="geglu", tuned=False)
        _, hidden = gemm_gated(inputs.x, both.t(), activation="geglu", store_preact=False, tuned=False)
        return functional.linear(hidden, inputs.down)

    if inputs.x.requires_grad:
        both = both.detach().requires_grad_()
    return Ready(forward, (inputs.x, both, inputs.down))


def _let_quack_key_its_epilogues() -> None:
    """quack 0.6.5 finds no cache key for its own epilogues with cutlass-dsl 4.7 and 4.8, which reach a logger
    and a context variable. Named, they do no harm to a process that compiles a few."""
    from quack.gemm_runtime import identity

    strict = identity.semantic_value_key

    def named(value: Any, seen: Any) -> Any:
        try:
            return strict(value, seen)
        except TypeError:
            return (
                "named",
                type(value).__qualname__,
                getattr(value, "__qualname__", getattr(value, "name", "")),
            )

    if strict.__name__ != named.__name__:
        for module in list(sys.modules.values()):
            if getattr(module, "semantic_value_key", None) is strict:
                module.semantic_value_key = named  # type: ignore[attr-defined]


MLPS: dict[str, Callable[[], Peer]] = {
    "rung": lambda: plain(glu_mlp),
    "rung, recompute": lambda: plain(lambda *arguments: glu_mlp(*arguments, recompute=True)),
    "eager": lambda: plain(eager),
    "compile": lambda: plain(compiled(eager)),
    "max-autotune": lambda: plain(compiled(eager, "max-autotune-no-cudagraphs")),
    "reduce-overhead": reduce_overhead,
    "liger": lambda: plain(liger),
    "quack": lambda: quack,
    "packed, glu": lambda: packed(glu),
    "packed, Inductor": lambda: packed(compiled(eager_glu)),
    "three GEMMs": lambda: plain(three_gemms),
}
ONLY_PRODUCTS = ("three GEMMs",)
_NEEDS = {"liger": "liger_kernel", "quack": "quack"}


def installed(names: Iterable[str]) -> list[str]:
    """Those of the peers that can run here."""
    return [name for name in names if importlib.util.find_spec(_NEEDS.get(name, "torch"))]
