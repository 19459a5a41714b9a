"""What two traces were recorded with: said where it differs, and then no time is compared."""

from __future__ import annotations

from rung.insight.guessing.devices import device_of
from rung.trace import Trace

VERSIONS = ("torch", "triton", "cuda", "driver")


def differences(base: Trace, new: Trace) -> list[str]:
    """`device: NVIDIA H200, then NVIDIA A100`, for the device and each version that both or one name."""
    pairs = [("device", _device(base), _device(new))]
    pairs += [(name, _made(base, name), _made(new, name)) for name in VERSIONS]
    return [f"{name}: {a or 'not named'}, then {b or 'not named'}" for name, a, b in pairs if a != b]


def why_no_time(base: Trace, new: Trace) -> str | None:
    """Why times of the two are not compared; None if they are."""
    found = differences(base, new)
    if found:
        return f"times are compared on one machine only ({'; '.join(found)})"
    return None if device_of(base) else "neither trace names its device, so no time is compared"


def _device(trace: Trace) -> str | None:
    return device_of(trace) or ("a CPU" if trace.stand_in else None)


def _made(trace: Trace, name: str) -> str | None:
    value = trace.header.made.get(name)
    return value if isinstance(value, str) else None
