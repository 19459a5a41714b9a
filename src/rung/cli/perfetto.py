"""`rung show --perfetto`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rung.trace import Trace


def open_perfetto(
    names: Sequence[str],
    region: str | None,
    step: int | None,
    between: tuple[int, int] | None,
    *,
    online: bool,
    no_open: bool,
    json: bool,
) -> None:
    """Hand a clean copy of the traces to Perfetto, and serve it until its page is closed.

    Raises:
        MachineError: the offline UI is not installed.
        UsageError: a trace has no such region or step, or is standard input, which can be read but once.
    """
    from rung.cli.loading import load
    from rung.cli.opening import open_page
    from rung.cli.output import print_json, stderr, stdout, working
    from rung.cli.parts import parts_of
    from rung.errors import UsageError
    from rung.show.exported import lines
    from rung.show.perfetto import Handed, find_ui, serve
    from rung.trace.export import export

    if "-" in names:
        raise UsageError("--perfetto goes through a file twice: save standard input to one first.")
    if not online:
        find_ui()  # says what is missing before the work is done
    traces = [load(name, salvage=True) for name in names]
    parts = parts_of(traces, None, None, between)
    with TemporaryDirectory() as folder:
        with working("making a clean copy"):
            made = export(parts, Path(folder) / "trace.json")
        for line in list(lines(made))[1:]:
            stderr().print(line)
        title = ", ".join(part.label for part in parts)

        def opened(address: str) -> None:
            if json:
                print_json({"artifacts": [{"url": address, "bytes": made.path.stat().st_size}]})
            else:
                stdout().print(address)
            stderr().print("Close the page, or press Ctrl-C, to stop.")
            if not no_open:
                open_page(address)

        serve(Handed(made.path, title, _view(traces[0], region, step)), opened, online=online)


def _view(trace: Trace, region: str | None, step: int | None) -> tuple[float, float] | None:
    """The first instance of the region, in seconds of the trace's clock."""
    from rung.insight.forward import instances

    found = instances(trace, region, step) if region or step is not None or len(trace.regions) else []
    if not found:
        return None
    start = trace.origin_ns + found[0].start_ns
    return start / 1e9, (start + found[0].wall_ns) / 1e9
