"""A rung: one workload with its parameters and its lesson."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from rung.errors import UsageError

if TYPE_CHECKING:
    import torch

Parameters = Mapping[str, Any]
"""Whole numbers of at least 1, and names where a rung has `choices`."""


class Built(NamedTuple):
    """A callable with its inputs; `turns` are further inputs, which later calls take in rotation."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    turns: tuple[tuple[Any, ...], ...] = ()


Build = Callable[[Parameters, "torch.device", "torch.dtype"], Built]


@dataclass(frozen=True)
class Rung:
    """One step of the ladder.

    `gpu` and `cpu` are the parameter sets that it is climbed with, the first being the one that single
    parameters overlay. `build(parameters, device, dtype)` gives the callable and its inputs. A rung that
    `opens_cold` shows the very first call before all else; one with `first_calls` is about these, and that
    many are recorded without a warm-up. `about` says of a variant what no trace shows. `train_lesson` is that
    of forward and backward, where it is another one. `rows` are the parameters with which a sweep's batch
    counts rows.
    """

    name: str
    title: str
    expression: str
    region: str
    lesson: str
    variants: tuple[str, ...]
    gpu: tuple[Parameters, ...]
    cpu: tuple[Parameters, ...]
    build: Build
    opens_cold: bool = False
    first_calls: int = 0
    about: Mapping[str, str] = field(default_factory=dict)
    train_lesson: str = ""
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: Parameters = field(default_factory=dict)

    def defaults(self, device_type: str) -> tuple[Parameters, ...]:
        """The parameter sets for `cpu` or `cuda`."""
        return self.cpu if device_type == "cpu" else self.gpu

    def parameters(self, device_type: str, given: Parameters) -> Parameters:
        """The first default set with `given` on top. Raises UsageError for an unknown or senseless one."""
        defaults = self.defaults(device_type)[0]
        for key, value in given.items():
            if key not in defaults:
                known = ", ".join(defaults)
                raise UsageError(f"{self.name} has no parameter {key!r}: give {known}")
            self._check(key, value)
        return {**defaults, **given}

    def _check(self, key: str, value: Any) -> None:
        if key in self.choices:
            if value not in self.choices[key]:
                raise UsageError(f"{key} is {value!r}: give {', '.join(self.choices[key])}")
        elif not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise UsageError(f"{key} is {value}: it must be a whole number of at least 1")

    def folder(self, parameters: Parameters) -> str:
        """The artifacts' folder: of several parameter sets, none must overwrite another."""
        told = parameters.values() if len(self.gpu) > 1 else [parameters[key] for key in self.choices]
        return "-".join([self.name, *map(str, told)])

    def folders(self) -> set[str]:
        """Every folder that a GPU's parameter sets have, whichever of its choices is made."""
        chosen = [dict(zip(self.choices, names, strict=True)) for names in product(*self.choices.values())]
        return {self.folder({**one, **names}) for one in self.gpu for names in chosen}

    def lesson_of(self, train: bool) -> str:
        """What a forward teaches, or forward and backward."""
        return self.train_lesson if train and self.train_lesson else self.lesson
