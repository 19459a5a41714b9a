"""The code that runs here as a wheel, so that just this code runs elsewhere."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from rung.errors import MachineError

PACKAGE = Path(__file__).parents[1]


def own_wheel(folder: Path) -> Path:
    """Packs the package as it lies here, whether it was installed or is edited, as a wheel into `folder`.

    No build backend is asked: name, requirements and extras are those it was installed with.

    Raises:
        MachineError: Rung is run from its source without being installed, so there is no metadata.
    """
    try:
        installed = distribution("rung")
    except PackageNotFoundError:
        raise MachineError(
            "this Rung is not installed, so it cannot be packed; install it (pip install -e .) or give --from"
        ) from None
    info = f"rung-{installed.version}.dist-info"
    wheel = folder / f"rung-{installed.version}-py3-none-any.whl"
    record = []
    with ZipFile(wheel, "w", ZIP_DEFLATED) as packed:
        for name, content in _content(info):
            packed.writestr(name, content)
            digest = urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")
        packed.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]))
    return wheel


def _content(info: str) -> Iterator[tuple[str, bytes]]:
    for path in sorted(PACKAGE.rglob("*")):
        parts = path.relative_to(PACKAGE).parts
        if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
            yield "/".join(("rung", *parts)), path.read_bytes()
    yield f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: rung\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    installed = distribution("rung")
    for name in ("METADATA", "entry_points.txt"):
        yield f"{info}/{name}", (installed.read_text(name) or "").encode()
