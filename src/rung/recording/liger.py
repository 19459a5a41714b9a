"""The Liger variant: from the Hugging Face kernel hub where it is reachable, else as installed."""

from __future__ import annotations

import http.client
import importlib.metadata
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from rung.recording.glu_mlp import TOLERANCE, copy_weights, refuse
from rung.recording.machine import require_torch
from rung.recording.values import Skipped
from rung.recording.variants import Context, Ready

REPOSITORY, VERSION = "kernels-community/liger-kernels", 1

# A hub that is silent for this long is taken as absent: the client would wait for it more than two minutes.
ANSWER_SECONDS = 3.0


def liger_mlp(fn: Callable[..., Any], context: Context) -> Ready | Skipped:
    """LigerGEGLUMLP with the weights of `fn`, or why not."""
    refused = refuse("liger", fn)
    if refused is not None:
        return refused
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    if context.device.type == "cpu" and not interpreted:
        return Skipped(
            "liger", "Liger's kernels are Triton kernels: they need a CUDA device (or TRITON_INTERPRET=1)"
        )
    found = find_liger()
    if isinstance(found, Skipped):
        return found
    module_class, source = found
    hidden, width = fn.gate_proj.weight.shape  # type: ignore[attr-defined]
    module = copy_weights(fn, module_class(SimpleNamespace(hidden_size=width, intermediate_size=hidden)))
    if interpreted and (problem := _trial(module, context)):
        return Skipped("liger", f"Triton's interpreter cannot run {source}: {problem}")
    return Ready(module, {"source": source}, TOLERANCE)


def find_liger() -> tuple[Any, str] | Skipped:
    """The class LigerGEGLUMLP and where it came from, or both reasons why it is not to be had."""
    try:
        return load_from_hub(), f"{REPOSITORY} version {VERSION}"
    except Exception as error:
        # The client raises anything from ImportError to its HTTP library's errors; each means the same here.
        hub = _one_line(error)
    try:
        from liger_kernel.transformers.geglu import LigerGEGLUMLP

        return LigerGEGLUMLP, f"liger-kernel {importlib.metadata.version('liger-kernel')}"
    except ImportError as error:
        return Skipped(
            "liger",
            f"not from the hub ({hub}) and not installed ({_one_line(error)}): pip install liger-kernel",
        )


def load_from_hub() -> Any:
    """LigerGEGLUMLP through the `kernels` client: LOCAL_KERNELS first, then the hub, then its local cache.

    Raises whatever stood in the way, within seconds also where the network swallows packets.
    """
    import kernels

    with _offline_unless_reachable():
        return kernels.get_kernel(REPOSITORY, version=VERSION).layers.LigerGEGLUMLP


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
