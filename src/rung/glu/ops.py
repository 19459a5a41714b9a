"""The operators `rung::*`: what torch.compile, torch.func, fake tensors and the profiler see.

Eager code calls the same implementations directly. Every operator is opaque and takes any shape, so one
traced graph serves them all; which kernel runs is decided inside, at each call.
"""

from __future__ import annotations

from typing import Any

import torch

from rung.glu import autograd, batching, forward, gate_up, pointwise, training

_LIBRARY = torch.library.Library("rung", "DEF")
_WEIGHTS = "Tensor gate_weight, Tensor up_weight"
_BIASES = "Tensor? gate_bias, Tensor? up_bias"
_SCHEMAS = {
    "glu": "(Tensor gate, Tensor up, str activation) -> Tensor",
    "glu_backward": "(Tensor grad, Tensor gate, Tensor up, str activation) -> (Tensor, Tensor)",
    "gate_up": f"(Tensor x, {_WEIGHTS}, {_BIASES}, str activation, str rounding, bool save)"
    " -> (Tensor, Tensor, Tensor)",
    "glu_mlp": f"(Tensor x, {_WEIGHTS}, Tensor down_weight, {_BIASES}, Tensor? down_bias, "
    "str activation, str rounding) -> Tensor",
    "glu_mlp_training": f"(Tensor x, {_WEIGHTS}, Tensor down_weight, {_BIASES}, Tensor? down_bias, "
    "str activation, str rounding, bool keep) -> (Tensor, Tensor, Tensor, Tensor)",
    "down_backward": "(Tensor grad, Tensor down_weight, Tensor gate, Tensor up, str activation) -> Tensor",
    "gate_up_backward": f"(Tensor both, {_WEIGHTS}) -> Tensor",
}


def _fake_glu(gate: Any, up: Any, activation: str) -> Any:
    return torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)


def _fake_glu_backward(grad: Any, gate: Any, up: Any, activation: str) -> Any:
    return _fake_glu(gate, up, activation), _fake_glu(gate, up, activation)


def _fake_gate_up(
    x: Any,
    gate_weight: Any,
    up_weight: Any,
    gate_bias: Any,
    up_bias: Any,
    activation: str,
    rounding: str,
    save: bool,
) -> Any:
    shape = (*x.shape[:-1], gate_weight.shape[0])
    return x.new_empty(shape), x.new_empty(shape if save else 0), x.new_empty(shape if save else 0)


def _fake_glu_mlp(x: Any, gate_weight: Any, up_weight: Any, down_weight: Any, *rest: Any) -> Any:
    return x.new_empty((*x.shape[:-1], down_weight.shape[0]))


def _fake_glu_mlp_training(x: Any, gate_weight: Any, up_weight: Any, down_weight: Any, *rest: Any) -> Any:
    *_, keep = rest
    kept = (*x.shape[:-1], gate_weight.shape[0]) if keep else (0,)
    return _fake_glu_mlp(x, gate_weight, up_weight, down_weight), *(x.new_empty(kept) for _ in range(3))


def _fake_down_backward(grad: Any, down_weight: Any, *rest: Any) -> Any:
    return grad.new_empty((grad.shape[0], 2 * down_weight.shape[1]))


def _fake_gate_up_backward(both: Any, gate_weight: Any, up_weight: Any) -> Any:
    return both.new_empty((both.shape[0], gate_weight.shape[1]))


_IMPLEMENTATIONS = {
    "glu": (pointwise.glu, _fake_glu),
    "glu_backward": (pointwise.glu_backward, _fake_glu_backward),
    "gate_up": (gate_up.gate_up, _fake_gate_up),
    "glu_mlp": (forward.glu_mlp, _fake_glu_mlp),
    "glu_mlp_training": (training.forward, _fake_glu_mlp_training),
    "down_backward": (training.down_backward, _fake_down_backward),
    "gate_up_backward": (training.gate_up_backward, _fake_gate_up_backward),
}
_BATCHED = {
    "glu": batching.elementwise,
    "glu_backward": batching.elementwise,
    "down_backward": batching.one_by_one,
    "gate_up_backward": batching.one_by_one,
}
_GRADIENTS = {
    "glu": (autograd.glu_gradient, autograd.setup_glu),
    "glu_backward": (autograd.backward_gradient, autograd.setup_backward),
    "glu_mlp": (autograd.forward_gradient, autograd.setup_forward),
    "glu_mlp_training": (autograd.mlp_gradient, autograd.setup_mlp),
}


def _register() -> None:
    for name, schema in _SCHEMAS.items():
        implementation, fake = _IMPLEMENTATIONS[name]
        _LIBRARY.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
        _LIBRARY.impl(name, implementation, "CompositeExplicitAutograd")
        torch.library.register_fake(f"rung::{name}", fake, lib=_LIBRARY)
        operator = getattr(torch.ops.rung, name)
        rule = _BATCHED.get(name, batching.over_rows)(operator)
        torch.library.register_vmap(f"rung::{name}", rule, lib=_LIBRARY)
        if name in _GRADIENTS:
            gradient, setup = _GRADIENTS[name]
            torch.library.register_autograd(f"rung::{name}", gradient, setup_context=setup, lib=_LIBRARY)


_register()
