"""Recording a rung: build its workload, record it once a variant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rung.errors import MachineError, UsageError
from rung.ladder.values import Parameters, Rung
from rung.ladder.workloads import get_rung
from rung.recording import Recording, Settings, Skipped, Work, record_work
from rung.recording.calls import map_tensors
from rung.recording.machine import default_device, require_torch, resolve_device, resolve_dtype

TRAIN, COLD = "-train", "-cold"
"""What a folder's name ends with, so that no way of recording overwrites another."""


CPU_STEPS = 11
"""A laptop does other things meanwhile: a disturbed step of three moves the median, of eleven it does not."""


def record_rung(
    rung: Rung | str,
    parameters: Parameters | None = None,
    *,
    variants: Iterable[str] | None = None,
    device: str | None = None,
    dtype: str = "bfloat16",
    settings: Settings | None = None,
) -> list[Recording | Skipped]:
    """Records `rung` in each variant (default: all that apply), writing `<out>/<rung>/<variant>.json.gz`.

    Without `parameters` every default set for the device is recorded (matmul-add has two sizes, in folders
    `matmul-add-64`, ...); with some, one set: the first default with these on top. `device` defaults to CUDA
    where there is one; on a CPU `CPU_STEPS` are recorded, unless `settings` asks for another number.

    Raises UsageError for an unknown rung, variant, parameter or dtype, MachineError for a device that is not
    there.
    """
    rung = get_rung(rung) if isinstance(rung, str) else rung
    settings = settings or Settings()
    if rung.first_calls:
        settings = replace(settings, cold=True, active=rung.first_calls)
    chosen = check_variants(rung, variants)
    require_torch_for(rung)
    where = resolve_device(device) if device else default_device()
    if parameters:
        sets: tuple[Parameters, ...] = (rung.parameters(where.type, parameters),)
    else:
        sets = rung.defaults(where.type)
    if where.type == "cpu" and not settings.cold and settings.active == Settings().active:
        settings = replace(settings, active=CPU_STEPS)
    return [
        result
        for one in sets
        for result in record_work(make_rung(rung, one, str(where), dtype, settings), chosen, settings)
    ]


def record_opening(
    rung: Rung, *, device: str | None = None, dtype: str = "bfloat16", settings: Settings | None = None
) -> list[Recording | Skipped]:
    """Records the rung's first parameter set cold, eager alone: only what runs first in a process is cold.

    Raises what `record_rung` raises.
    """
    require_torch_for(rung)
    where = resolve_device(device) if device else default_device()
    cold = replace(settings or Settings(), cold=True)
    first = rung.defaults(where.type)[0]
    return record_rung(rung, first, variants=["eager"], device=str(where), dtype=dtype, settings=cold)


def make_rung(rung: Rung, parameters: Parameters, device: str, dtype: str, settings: Settings) -> Work:
    """The rung's workload as a Work, from the settings' seed: the same weights and inputs each time."""
    torch = require_torch()
    chosen = resolve_dtype(dtype)
    if settings.seed is not None:
        torch.manual_seed(settings.seed)
    built = rung.build(parameters, resolve_device(device), chosen)
    args, turns, region = built.args, built.turns, rung.region
    if settings.train:
        region = f"{region.removesuffix('_fwd')}_step"
        # In a model the layer before wants its gradient: that is one GEMM more for each linear.
        args, turns = map_tensors(_wanting_gradient, (args, turns))
    about = {**parameters, "rung": rung.name, "dtype": str(chosen).removeprefix("torch.")}
    cold = settings.cold and not rung.first_calls
    folder = rung.folder(parameters) + (TRAIN if settings.train else "") + (COLD if cold else "")
    return Work(built.fn, args, {}, folder, region, about, turns)


def require_torch_for(rung: Rung) -> None:
    """Raises MachineError where there is no torch, with the command that shows the rung without."""
    try:
        require_torch()
    except MachineError as error:
        from rung.ladder.shipped import device_with  # which is made of this

        there = device_with(rung)
        instead = f"; or see it without: rung climb {rung.name} --recorded {there}" if there else ""
        raise MachineError(f"{error}{instead}") from None


def check_variants(rung: Rung, variants: Iterable[str] | None) -> list[str]:
    """The variants wanted, all that apply by default. Raises UsageError for one that does not apply."""
    chosen = list(rung.variants if variants is None else variants)
    other = [name for name in chosen if name not in rung.variants]
    if other:
        raise UsageError(f"{rung.name} has no variant {other[0]!r}: give {', '.join(rung.variants)}")
    return chosen


def _wanting_gradient(x: Any) -> Any:
    return x.requires_grad_() if x.is_floating_point() else x
