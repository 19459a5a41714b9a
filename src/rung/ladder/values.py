"""A rung: one workload with its parameters and its lesson."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rung.errors import UsageError

if TYPE_CHECKING:
    import torch

Parameters = Mapping[str, int]
Build = Callable[[Parameters, "torch.device", "torch.dtype"], tuple[Callable[..., Any], tuple[Any, ...]]]


@dataclass(frozen=True)
class Rung:
    """One step of the ladder.

    `gpu` and `cpu` are the parameter sets that it is climbed with, the first being the one that single
    parameters overlay. `kernels` is the number of kernels that one forward runs in each variant (copies and
    memsets aside; on a CPU the compute ops that stand in for kernels). `build(parameters, device, dtype)`
    gives the callable and its inputs. A rung that `opens_cold` shows the very first call before all else.
    `about` says of a variant what no trace shows.
    """

    name: str
    title: str
    expression: str
    region: str
    lesson: str
    kernels: Mapping[str, int]
    gpu: tuple[Parameters, ...]
    cpu: tuple[Parameters, ...]
    build: Build
    opens_cold: bool = False
    about: Mapping[str, str] = field(default_factory=dict)

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants that apply."""
        return tuple(self.kernels)

    def defaults(self, device_type: str) -> tuple[Parameters, ...]:
        """The parameter sets for `cpu` or `cuda`."""
        return self.cpu if device_type == "cpu" else self.gpu

    def parameters(self, device_type: str, given: Parameters) -> Parameters:
        """The first default set with `given` on top. Raises UsageError for one unknown or not positive."""
        defaults = self.defaults(device_type)[0]
        for key, value in given.items():
            if key not in defaults:
                known = ", ".join(defaults)
                raise UsageError(f"{self.name} has no parameter {key!r}: give {known}")
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise UsageError(f"{key} is {value}: it must be a whole number of at least 1")
        return {**defaults, **given}

    def folder(self, parameters: Parameters) -> str:
        """The artifacts' folder: of several parameter sets, none must overwrite another."""
        return "-".join([self.name, *map(str, parameters.values())]) if len(self.gpu) > 1 else self.name
