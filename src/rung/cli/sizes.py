"""The options of `rung climb` that say how big a rung is: one for each parameter of the ladder's rungs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

SIZES = {
    "size": "matmul-add: rows and columns of all three matrices.",
    "batch": "linear, mlp, attention, block, model, mlp-graph-break: batch size.",
    "seq": "mlp, attention, block, model, mlp-graph-break: sequence length.",
    "dim": "mlp, attention, block, model, mlp-recompile, mlp-graph-break: model dimension.",
    "hidden": "mlp, block, model, mlp-recompile, mlp-graph-break: hidden dimension of the MLP.",
    "heads": "attention, block, model: attention heads.",
    "layers": "model: layers.",
    "vocab": "model: how many tokens there are.",
    "in_dim": "linear: input features.",
    "out_dim": "linear: output features.",
}
NAMES = {"family": "model: llama, gemma or qwen."}


def with_sizes(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb as a command that has these options too, and is handed those given as its first argument."""

    @wraps(verb)
    def command(**arguments: Any) -> None:
        given = {name: arguments.pop(name) for name in (*SIZES, *NAMES)}
        verb({name: value for name, value in given.items() if value is not None}, **arguments)

    taken = inspect.signature(verb, eval_str=True)
    _, *own = taken.parameters.values()
    required = [p for p in own if p.default is p.empty]
    parameters = [*required, *(p for p in own if p not in required), *_options()]
    # Typer reads a command's options off its signature.
    command.__signature__ = taken.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _options() -> list[inspect.Parameter]:
    kinds = [*((int, name, text) for name, text in SIZES.items()), *((str, n, t) for n, t in NAMES.items())]
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=None,
            annotation=Annotated[kind | None, typer.Option(help=text)],
        )
        for kind, name, text in kinds
    ]
