"""What torch.compile did meanwhile, from its own metrics."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

RESUMED = "torch_dynamo_resume_in_"
"""How the name of a function begins that goes on after a graph break."""


@dataclass
class Compiled:
    """Filled in when the block is left. `ns` went to compiling `graphs` graphs, `recompiles` of them for a
    frame that had been compiled before; `breaks` of them go on after a graph break."""

    ns: int = 0
    graphs: int = 0
    recompiles: int = 0
    breaks: int = 0


@contextmanager
def compiled_during() -> Iterator[Compiled]:
    """What was compiled inside the block."""
    from torch._dynamo.utils import clear_compilation_metrics, get_compilation_metrics

    clear_compilation_metrics()
    found = Compiled()
    yield found
    for one in get_compilation_metrics():
        if getattr(one, "is_runtime", False):  # a kernel tuned when it first ran, no graph
            continue
        found.ns += round((one.entire_frame_compile_time_s or 0) * 1e9)
        found.graphs += 1
        found.recompiles += not str(one.compile_id).endswith("/0")
        found.breaks += str(one.co_name).startswith(RESUMED)
