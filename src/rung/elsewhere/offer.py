"""What a job's hardware is and costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LIMIT = 30
"""Minutes after which a job is stopped, come what may: so what it costs has an end."""

MINUTES = {"minute": 1, "hour": 60}


@dataclass(frozen=True, slots=True)
class Offer:
    """Hardware and its price, in millionths of a US dollar a `unit`."""

    flavor: str
    hardware: str
    micro_usd: int
    unit: str

    @classmethod
    def of(cls, info: Any) -> Offer:
        """Of a JobHardwareInfo."""
        parts = [info.pretty_name, info.cpu, info.ram]
        if (gpu := info.accelerator) is not None:
            parts.insert(1, f"{gpu.quantity} x {gpu.model}, {gpu.vram}")
        return cls(info.name, ", ".join(parts), info.unit_cost_micro_usd, info.unit_label)

    def __str__(self) -> str:
        price = f"{self.flavor}: {self.hardware}; {dollars(self.micro_usd)} per {self.unit}"
        if self.unit not in MINUTES:
            return f"{price}; it is stopped after {LIMIT} minutes"
        most = dollars(self.micro_usd * LIMIT // MINUTES[self.unit])
        return f"{price}; it is stopped after {LIMIT} minutes, which cost {most}"


def dollars(micro_usd: int) -> str:
    """To a hundredth of a cent, but not without the cents: 16667 -> $0.0167, 500000 -> $0.50"""
    text = f"{micro_usd / 1_000_000:.4f}"
    return f"${text[:-2]}{text[-2:].rstrip('0')}"
