"""Which op of a recording read which of the module's weights, told by where the weights lie in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rung.recording.machine import require_torch

READERS = frozenset(
    f"aten::{name}"
    for name in (
        *("mm", "addmm", "addmm_", "bmm", "baddbmm", "baddbmm_", "mv", "addmv", "_addmm_activation"),
        *("mul", "embedding", "_fused_rms_norm", "native_layer_norm"),
    )
)
"""ATen's ops that compute with a weight; the others on its way, such as `aten::t`, pass it on."""


def weight_readers(profiler: Any, fn: Callable[..., Any]) -> dict[str, list[int]]:
    """Weights of a module by name, and the `External id` of each op in the window that computed with one.

    The profiler notes the address of every input; a weight stays at its own from the first call to the last,
    whichever variant shares it. Empty where `fn` is no module or no shapes were recorded. Of weights that
    share memory the first one's name is told.
    """
    if not isinstance(fn, require_torch().nn.Module):
        return {}
    names: dict[int, str] = {}
    for name, weight in fn.named_parameters():
        names.setdefault(weight.untyped_storage().data_ptr(), name.removesuffix(".weight"))
    found: dict[str, list[int]] = {}
    for event in _events(profiler.profiler.kineto_results.experimental_event_tree()):
        if event.name in READERS or not event.name.startswith("aten::"):
            for name in {names.get(address) for address in _addresses(event)} - {None}:
                found.setdefault(str(name), []).append(event.correlation_id)
    return found


def _events(tree: Iterable[Any]) -> Iterator[Any]:
    for event in tree:
        yield event
        yield from _events(event.children)


def _addresses(event: Any) -> Iterator[int]:
    for value in getattr(event.extra_fields, "inputs", ()):
        address = getattr(value, "storage_data_ptr", None)
        if address:
            yield address
