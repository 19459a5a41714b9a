"""The Liger variant: from the Hugging Face kernel hub where it is reachable, else as installed."""

from __future__ import annotations

import http.client
import importlib
import importlib.metadata
import inspect
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

from rung.recording.machine import interpreted, require_torch
from rung.recording.swapping import (
    NO_MLP,
    PROJECTIONS,
    TOLERANCE,
    activation_of,
    glu_mlps,
    is_glu_mlp,
    swapped,
    with_linears_of,
)
from rung.recording.values import Skipped
from rung.recording.variants import Context, Ready

REPOSITORY, VERSION = "kernels-community/liger-kernels", 1

# A hub that is silent for this long is taken as absent: the client would wait for it more than two minutes.
ANSWER_SECONDS = 3.0


Part = Callable[[str], Any]
"""A name of Liger's -> the class or function, or None where this Liger has none."""

GLUS = {"gelu_tanh": "LigerGEGLUMLP", "silu": "LigerSwiGLUMLP"}
ROTARY = "apply_rotary_pos_emb"
"""The name by which attention modules call their rotary turn."""


def liger(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """`fn` with Liger's GLU MLPs, RMSNorms and rotary turns over its own weights, or why not."""
    refused = _refuse(fn)
    if refused is not None:
        return Skipped("liger", refused)
    emulated = interpreted()
    if context.device.type == "cpu" and not emulated:
        return Skipped("liger", "Liger's kernels are Triton kernels: they need a CUDA device")
    found = find_liger()
    if isinstance(found, Skipped):
        return found
    part, source = found
    module, made = swapped(fn, lambda old: _in_place_of(old, part))
    made.update(_turn_with(part("liger_rotary_pos_emb"), module))
    if not made:
        return Skipped("liger", f"{source} has nothing for the parts of {type(fn).__name__}")
    if emulated and (problem := _trial(module, context)):
        return Skipped("liger", f"Triton's interpreter cannot run {source}: {problem}")
    return Ready(module, {"source": source, "exchanged": dict(made)}, TOLERANCE, emulated)


def _refuse(fn: Callable[..., Any]) -> str | None:
    if not isinstance(fn, require_torch().nn.Module) or not any(map(is_glu_mlp, fn.modules())):
        return NO_MLP
    if all(any(getattr(m, name).bias is not None for name in PROJECTIONS) for m in glu_mlps(fn)):
        return "its projections must have no bias"
    return None


def _in_place_of(old: Any, part: Part) -> Any:
    """Liger's module for an old one, over the same weights; None where it has none."""
    if is_glu_mlp(old) and all(getattr(old, name).bias is None for name in PROJECTIONS):
        made = part(GLUS.get(activation_of(old) or "", ""))
        hidden, width = old.gate_proj.weight.shape
        config = SimpleNamespace(hidden_size=width, intermediate_size=hidden, hidden_act="silu")
        return None if made is None else with_linears_of(_unfilled(made, config), old)
    if type(old).__name__.endswith("RMSNorm") and getattr(old, "weight", None) is not None:
        return _norm(old, part("LigerRMSNorm"))
    return None


def _norm(old: Any, made: Any) -> Any:
    eps = getattr(old, "variance_epsilon", None) or getattr(old, "eps", None)
    if made is None or eps is None:
        return None
    # Gemma multiplies by 1 + weight, and in fp32.
    gemma = {"offset": 1.0, "casting_mode": "gemma"} if type(old).__name__.startswith("Gemma") else {}
    new = _unfilled(made, old.weight.shape[0], eps=eps, **gemma)
    new.weight = old.weight
    return new


def _unfilled(made: Any, *args: Any, **kwargs: Any) -> Any:
    """A module without memory for its weights, which it is to be given."""
    with require_torch().device("meta"):
        return made(*args, **kwargs)


def _turn_with(rotary: Any, module: Any) -> dict[str, int]:
    """Lets this module's attentions, and no others, turn with `rotary`; how many do.

    They look their function up in their source file's names, so each gets a forward with names of its own.
    """
    turned = 0
    for part in module.modules() if rotary is not None else ():
        forward = inspect.unwrap(type(part).forward)
        if ROTARY in getattr(getattr(forward, "__code__", None), "co_names", ()):
            names = {**forward.__globals__, ROTARY: rotary}
            rest = (forward.__name__, forward.__defaults__, forward.__closure__)
            own = FunctionType(forward.__code__, names, *rest)
            own.__kwdefaults__ = forward.__kwdefaults__
            part.forward = MethodType(own, part)
            turned += 1
    return {rotary.__name__: turned} if turned else {}


def find_liger() -> tuple[Part, str] | Skipped:
    """Liger's classes by name and where they came from, or both reasons why they are not to be had."""
    try:
        layers = load_from_hub()
        return (lambda name: getattr(layers, name, None)), f"{REPOSITORY} version {VERSION}"
    except Exception as error:
        # The client raises anything from ImportError to its HTTP library's errors; each means the same here.
        hub = _one_line(error)
    try:
        installed = importlib.import_module("liger_kernel.transformers")
        # Lazy: some of its names need transformers, the three used here do not.
        return (lambda name: getattr(installed, name, None)), (
            f"liger-kernel {importlib.metadata.version('liger-kernel')}"
        )
    except ImportError as error:
        return Skipped(
            "liger",
            f"not from the hub ({hub}) and not installed ({_one_line(error)}): pip install liger-kernel",
        )


def load_from_hub() -> Any:
    """Liger's layers through the `kernels` client: LOCAL_KERNELS first, then the hub, then its local cache.

    Raises whatever stood in the way, within seconds also where the network swallows packets.
    """
    import kernels

    with _offline_unless_reachable():
        return kernels.get_kernel(REPOSITORY, version=VERSION).layers


@contextmanager
def _offline_unless_reachable() -> Iterator[None]:
    """Keeps the client off the network where there is none: its own retries last for minutes."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = before or not _reachable(constants.ENDPOINT)
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _reachable(endpoint: str) -> bool:
    """Whether the hub answers anything at all, through a proxy where one is set."""
    try:
        with urllib.request.urlopen(urllib.request.Request(endpoint, method="HEAD"), timeout=ANSWER_SECONDS):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError, http.client.HTTPException):
        return False


def _trial(module: Callable[..., Any], context: Context) -> str | None:
    """One call under Triton's interpreter, which lacks some of what Liger uses (libdevice's tanh in 3.8)."""
    try:
        with require_torch().inference_mode():
            module(*context.args, **context.kwargs)
    except Exception as error:
        return _one_line(error)
    return None


def _one_line(error: BaseException) -> str:
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
