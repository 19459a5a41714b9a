"""What `rung record` says: a line for each variant, and the list of files it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rung.recording.values import Recording, Skipped
from rung.show.plain import EMULATED

SCHEMA_VERSION = 1


def recorded_paths(results: Sequence[Recording | Skipped]) -> str:
    """The written traces, one path a line."""
    return "\n".join(str(result.path) for result in results if isinstance(result, Recording))


def traces_of(said: dict[str, Any]) -> str:
    """The same of what `recorded_json` made, elsewhere."""
    return "\n".join(one["path"] for one in said["artifacts"] if one["kind"] == "trace")


def recorded_json(results: Sequence[Recording | Skipped]) -> dict[str, Any]:
    """`{"schema_version", "artifacts": [{"path", "kind", "variant", "name"}], "skipped": [...]}`."""
    artifacts: list[dict[str, Any]] = []
    skipped: list[dict[str, str]] = []
    for result in results:
        about: dict[str, Any] = {"variant": result.variant, "name": result.name}
        if isinstance(result, Skipped):
            skipped.append({**about, "reason": result.reason})
        else:
            about |= {"emulated": True} if result.metadata.get("emulated") else {}
            artifacts.append({"path": str(result.path), "kind": "trace", **about})
            artifacts.append({"path": str(result.table_path), "kind": "table", **about})
    return {"schema_version": SCHEMA_VERSION, "artifacts": artifacts, "skipped": skipped}


def recorded_line(result: Recording | Skipped) -> str:
    """One line of commentary: what a recording holds, or why there is none."""
    if isinstance(result, Skipped):
        return f"skipped {result.variant}: {result.reason}"
    schedule, region = result.metadata["schedule"], result.metadata["region"]
    if region is None:
        return "recorded the whole run" + _without_ops(result)
    when = "cold" if schedule["cold"] else f"after {schedule['warmup']} warm-up calls"
    emulated = f"; {EMULATED}" if "emulated" in result.metadata else ""
    return f"recorded {result.variant}: {schedule['active']} steps of {region}, {when}{emulated}"


def _without_ops(result: Recording) -> str:
    """Where a script only defined functions, what was meant is mostly one of them."""
    if "without_ops" not in result.metadata:
        return ""
    factory = f"{result.metadata['script']}:factory"
    return f", in which no op ran: to record a function, name a factory that returns it, such as {factory}"
