"""`rung climb ceiling`"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rung.insight.ceilings import Ceiling
    from rung.recording.ceiling import Measured

SHORT = {
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float32": "fp32",
    "float64": "fp64",
    "float8": "fp8",
    "float8_e4m3fn": "fp8",
}


def refuse(**options: object) -> None:
    """Raises UsageError for an option of `rung climb` that says nothing about a ceiling."""
    from rung.errors import UsageError

    for name, value in options.items():
        if value is not None:
            word = "a size" if name == "sizes" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{word} is about a workload; ceiling takes --device, --dtype and --json.")


def measure(device: str | None, dtype: str | None, json: bool) -> None:
    """Measure what this device can do at most, keep it, and show it beside its data sheet.

    Raises:
        UsageError: there is no such device or dtype.
        MachineError: torch is missing, or the device is not there.
    """
    from rung.cli.output import print_json, stdout, working
    from rung.insight.ceilings import data_sheet, store
    from rung.recording import ceiling as recording
    from rung.recording.machine import default_device, resolve_device
    from rung.show import ceiling as shown

    wanted = [SHORT.get(word, word) for word in dtype.split(",")] if dtype else list(recording.DTYPES)
    chosen = resolve_device(device) if device else default_device()
    with working("measuring copies and matrix products"):
        measured = recording.measure(chosen, wanted)
    found = _ceiling(measured)
    sheet = data_sheet(found.device)
    kept = store(found)
    if json:
        print_json(shown.as_json(found, sheet, measured.skipped, measured.machine, kept))
    else:
        stdout().print(shown.page(found, sheet, measured.skipped, kept), crop=False)


def _ceiling(measured: Measured) -> Ceiling:
    from rung.insight.ceilings import Ceiling

    machine = measured.machine
    versions = [f"torch {machine['torch']}", *([f"driver {machine['driver']}"] if machine["driver"] else [])]
    return Ceiling(
        device=machine["device_name"],
        bytes_per_s=measured.bytes_per_s,
        flop_per_s=measured.flop_per_s,
        multiprocessors=measured.multiprocessors,
        source=f"measured on this device ({', '.join(versions)}) by rung climb ceiling",
    )
