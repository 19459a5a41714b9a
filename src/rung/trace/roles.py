"""What an event is, by its category."""

from __future__ import annotations

from enum import IntEnum


class Role(IntEnum):
    """What a span is. Overhead is what the recorder and the driver did beside the program."""

    OTHER = 0
    OP = 1
    ANNOTATION = 2
    FRAME = 3
    CALL = 4
    KERNEL = 5
    COPY = 6
    MEMSET = 7
    OVERHEAD = 8


CPU_SIDE = frozenset({Role.OP, Role.ANNOTATION, Role.FRAME, Role.CALL})
DEVICE_SIDE = frozenset({Role.KERNEL, Role.COPY, Role.MEMSET})

ROLES = {
    "cpu_op": Role.OP,
    "operator": Role.OP,
    "user_annotation": Role.ANNOTATION,
    "python_function": Role.FRAME,
    "kernel": Role.KERNEL,
    "mtia_ccp_events": Role.KERNEL,
    "gpu_memcpy": Role.COPY,
    "memcpy": Role.COPY,
    "gpu_memset": Role.MEMSET,
    "memset": Role.MEMSET,
    "overhead": Role.OVERHEAD,
}
"""By category in lower case; the 2021 schema wrote `Kernel`, `Operator`, `Memcpy`."""

LEGACY = {"CPU functions": Role.OP, "CUDA functions": Role.KERNEL}
"""The legacy autograd exporter wrote no categories: it named the process instead."""


def role_of(category: str, pid: int | str | None) -> Role:
    """The role of a complete event. Runtime and driver calls are known by the end of their category."""
    category = category.lower()
    if category.endswith(("runtime", "driver")):
        return Role.CALL
    if not category:
        return LEGACY.get(pid, Role.OTHER) if isinstance(pid, str) else Role.OTHER
    return ROLES.get(category, Role.OTHER)
