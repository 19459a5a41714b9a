"""The clients of the stores, imported when an address asks for one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rung.errors import MachineError

CLIENTS = {
    "hf": ("huggingface_hub", "hub"),
    "s3": ("s3fs", "s3"),
    "gs": ("gcsfs", "gcs"),
    "gcs": ("gcsfs", "gcs"),
    "az": ("adlfs", "azure"),
    "abfs": ("adlfs", "azure"),
}
"""By scheme: the library, and the extra of Rung that installs it."""


def client(scheme: str) -> Any:
    """The library for such addresses.

    Raises:
        MachineError: it is not installed; the message has the command that installs it.
    """
    name, extra = CLIENTS[scheme]
    try:
        return import_module(name)
    except ImportError:
        raise MachineError(f"{scheme}:// needs {name}: pip install 'rung[{extra}]'.") from None
