"""Results as JSON: the contracts that scripts rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import msgspec

from rung.insight.diff import Diff
from rung.insight.forward import Forward, is_drawn, is_emulated
from rung.insight.guess import Verdict
from rung.ladder.story import Scene, Story
from rung.trace import Kernel, Region, Trace

SCHEMA_VERSION = 1


def encode(value: dict[str, Any]) -> str:
    """Indented JSON text, `schema_version` first."""
    return msgspec.json.format(msgspec.json.encode({"schema_version": SCHEMA_VERSION, **value})).decode()


def trace_json(trace: Trace, regions: list[Region], kernels: list[Kernel]) -> dict[str, Any]:
    """`rung read --json`. Times in ns, relative to the trace's first event."""
    return {
        "trace": {
            "path": trace.path,
            "events": trace.events,
            "skipped_events": trace.skipped_events,
            "repaired_events": trace.repaired_events,
            "warnings": [asdict(warning) for warning in trace.warnings],
            "device": trace.device,
            "rank": trace.rank,
            "span_ns": trace.span_ns,
            "stand_in": trace.stand_in,
            "incomplete": trace.incomplete,
            "drawn": is_drawn(trace),
            **({"emulated": True} if is_emulated(trace) else {}),
        },
        "regions": [_region(region) for region in regions],
        "kernels": [_kernel(kernel) for kernel in kernels],
    }


def _region(region: Region) -> dict[str, Any]:
    return {
        "name": region.name,
        "step": region.step,
        "start_ns": region.start_ns,
        "cpu_ns": region.cpu_ns,
        "wall_ns": region.wall_ns,
        "kernels": len(region.kernels),
        "copies": len(region.copies),
        "memsets": len(region.memsets),
        "launches": len(region.launches),
        "gpu_busy_ns": region.gpu_busy_ns,
        "gpu_span_ns": region.gpu_span_ns,
        "gpu_idle_share": region.gpu_idle_share,
    }


def _kernel(kernel: Kernel) -> dict[str, Any]:
    op, region, launch = kernel.op, kernel.region, kernel.launch
    return {
        "name": kernel.name,
        "family": kernel.family,
        "kind": kernel.kind,
        "start_ns": kernel.start_ns,
        "dur_ns": kernel.dur_ns,
        "raw_dur_ns": kernel.raw_dur_ns,
        "device": kernel.device,
        "stream": kernel.stream,
        "correlation": kernel.correlation,
        "op": op.name if op else None,
        "region": region.name if region else None,
        "step": kernel.step,
        "launch": launch.name if launch else None,
        "occupancy_query": kernel.occupancy_query,
        "decoded": kernel.decoded.fields,
    }


def diff_json(diff: Diff, a: str, b: str) -> dict[str, Any]:
    """`rung diff --json`, medians over the instances of the region. `a` and `b` are the traces' paths.

    Where one was drawn, its sentences leave out times.
    """
    traces = (diff.a.example.trace, diff.b.example.trace)
    drawn = any(map(is_drawn, traces))
    return {
        "a": a,
        "b": b,
        "region": diff.a.region,
        "drawn": drawn,
        "stand_in": any(trace.stand_in for trace in traces),
        "same": list(diff.same),
        "gone": list(diff.gone),
        "new": list(diff.new),
        "fused": [
            {
                "from": list(f.sources),
                "into": f.into,
                "measured_saved_ns": f.measured_ns,
                "predicted_saved_ns": f.predicted.saved_ns,
                "assumption": f.predicted.assumption,
            }
            for f in diff.fused
        ],
        "round_trips_removed": [
            {"tensor_bytes": t.tensor_bytes, "shape": list(t.shape), "between": list(t.between)}
            for t in diff.round_trips_removed
        ],
        "per_region": {
            "kernels": [diff.a.kernels, diff.b.kernels],
            "copies": [diff.a.copies, diff.b.copies],
            "memsets": [diff.a.memsets, diff.b.memsets],
            "launches": [diff.a.launches, diff.b.launches],
            "gpu_busy_ns": [diff.a.gpu_busy_ns.median, diff.b.gpu_busy_ns.median],
            "cpu_ns": [diff.a.cpu_ns.median, diff.b.cpu_ns.median],
        },
        "changed": list(diff.changed),
        "unchanged": list(diff.unchanged),
    }


def forward_json(forward: Forward) -> dict[str, Any]:
    """One variant's medians, as `rung climb --json` lists them."""
    return {
        "kernels": forward.kernels,
        "copies": forward.copies,
        "memsets": forward.memsets,
        "launches": forward.launches,
        "gpu_busy_ns": forward.gpu_busy_ns.median,
        "cpu_ns": forward.cpu_ns.median,
    }


def story_json(story: Story, verdicts: list[Verdict]) -> dict[str, Any]:
    """`rung climb --json`. Its parameters are those of the first scene; each variant names its own."""
    told = [scene for scene in story.scenes if scene.chapters]
    parameters = [_parameters(scene) for scene in told]
    return {
        "rung": story.rung.name,
        "device": next((_device(scene) for scene in told), None),
        "parameters": parameters[0] if parameters else {},
        "variants": [variant for scene in story.scenes for variant in _variants(scene)],
        "guess": {"held": all(verdicts), "scenes": [v.to_dict() for v in verdicts]} if verdicts else None,
        "outcomes": {scene.name: scene.outcome for scene in told},
        "layouts": asdict(story.layouts) if story.layouts else None,
        "diffs": [
            diff_json(diff, str(scene.chapters[0].path), str(chapter.path))
            for scene in told
            for diff, chapter in zip(scene.diffs, scene.chapters[1:], strict=True)
        ],
    }


def _device(scene: Scene) -> str | None:
    return scene.device or scene.made.get("device_name") or scene.made.get("device")


def _parameters(scene: Scene) -> dict[str, Any]:
    return dict(scene.made.get("parameters") or {})


def _variants(scene: Scene) -> list[dict[str, Any]]:
    common = {"scene": scene.name, "parameters": _parameters(scene), "drawn": bool(scene.made.get("drawn"))}
    nothing = dict.fromkeys(("kernels", "copies", "memsets", "launches", "gpu_busy_ns", "cpu_ns"))
    told = [
        {
            "name": chapter.variant,
            "trace": str(chapter.path),
            "skipped": None,
            **forward_json(chapter.forward),
            **common,
            **({"emulated": True} if chapter.emulated else {}),
            "limit": None if scene.drawn or chapter.emulated else chapter.bound.limit,
            "remarks": list(chapter.remarks),
        }
        for chapter in scene.chapters
    ]
    left_out = [
        {"name": source.variant, "trace": None, "skipped": source.skipped, **nothing, **common}
        for source in scene.skipped
    ]
    return [*told, *left_out]
