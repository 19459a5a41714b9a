"""Running a whole script under the profiler: one window from its first line to its last."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rung.errors import UsageError
from rung.recording.artifacts import check_writable
from rung.recording.machine import default_device, require_torch, resolve_device, synchronize
from rung.recording.metadata import run_metadata
from rung.recording.recorder import write
from rung.recording.targets import FORMS, check_python, user_code
from rung.recording.values import Recording, Settings
from rung.recording.window import make_profiler, only_profiler, quiet

VARIANT = "script"


def record_script(
    script: Path,
    arguments: Sequence[str],
    settings: Settings,
    *,
    name: str | None = None,
    device: str | None = None,
) -> Recording:
    """Runs `script` as `python script arguments...` would, profiled from start to end.

    Writes `<out>/<name>/script.json.gz` and `.txt`. Regions are those that the script itself marks with
    record_function; steps there are none. Raises UsageError where there is no such script, where it is no
    Python file or uses torch.profiler itself, RungError with one line where it fails.
    """
    if not script.is_file():
        raise UsageError(f"there is no script {script}: {FORMS}")
    check_python(script)
    torch = require_torch()
    where = resolve_device(device) if device else default_device()
    name = name or script.stem
    check_writable(settings.out / name)
    if settings.seed is not None:
        torch.manual_seed(settings.seed)
    profiler = make_profiler(where, settings, scheduled=False)
    with _as_main(script, arguments), quiet(), only_profiler(profiler, str(script)), profiler:
        with user_code(str(script)):
            _run(script)
        synchronize(where)
    about = {
        "script": script.name,
        "arguments": list(arguments),
        **({} if _ran_an_op(profiler) else {"without_ops": True}),
    }
    metadata = run_metadata(
        name=name, variant=VARIANT, region=None, device=where, settings=settings, work=about
    )
    path, table_path = write(profiler, where, settings, name, VARIANT, metadata)
    return Recording(name, VARIANT, path, table_path, metadata)


def _ran_an_op(profiler: Any) -> bool:
    """Every operator's name has a namespace, `aten::mm`; annotations and calls of the runtime have none."""
    return any("::" in event.name for event in profiler.events())


def _run(script: Path) -> None:
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            raise


@contextmanager
def _as_main(script: Path, arguments: Sequence[str]) -> Iterator[None]:
    argv, path = sys.argv, list(sys.path)
    sys.argv = [str(script), *arguments]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
