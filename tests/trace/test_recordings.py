"""Real recordings: what is read of each equals a plain count over its JSON."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rung.trace import Trace, read

SHARED = Path(__file__).parents[3] / "shared" / "traces"
RECORDINGS = sorted(
    path for folder in ("h200", "h200_ranks", "public") for path in (SHARED / folder).rglob("*.json*")
)

needs_recordings = pytest.mark.skipif(not RECORDINGS, reason=f"no recordings at {SHARED}")


SORTS = {
    "kernel": "kernel",
    "mtia_ccp_events": "kernel",
    "gpu_memcpy": "copy",
    "memcpy": "copy",
    "gpu_memset": "memset",
    "memset": "memset",
    "cpu_op": "op",
    "operator": "op",
    "user_annotation": "annotation",
}
PYTORCH_OWN = re.compile(
    r"ProfilerStep|## Call CompiledFxGraph |Optimizer\.|.*_data: .*compile_id=|DistributedDataParallel\.|FSDP"
    r"|enumerate\(DataLoader\)|nccl:|gloo:|hccl:"
)


def count_by_hand(path: Path) -> dict[str, int]:
    """With `json` alone: events by sort, and device work whose correlation some call carries too."""
    data = path.read_bytes()
    whole: Any = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    events = whole if isinstance(whole, list) else whole["traceEvents"]
    spans = [event for event in events if event.get("ph") == "X"]
    called = {
        event.get("args", {}).get("correlation")
        for event in spans
        if event["cat"].lower().endswith(("runtime", "driver"))
    }
    counts = Counter(events=len(events))
    for event in spans:
        sort = SORTS.get(event["cat"].lower())
        if sort == "op" and event["name"].startswith("ProfilerStep"):
            continue
        if sort == "annotation" and PYTORCH_OWN.match(event["name"]):
            continue
        correlation = event.get("args", {}).get("correlation")
        counts[sort or "other"] += 1
        counts["linked"] += (
            sort in ("kernel", "copy", "memset") and bool(correlation) and correlation in called
        )
    del counts["other"]
    return dict(+counts)


def count_in(trace: Trace) -> dict[str, int]:
    kernels = [] if trace.stand_in else list(trace.kernels)
    counts = Counter(kernel.category for kernel in kernels)
    counts["events"] = trace.events
    counts["op"] = len(trace.ops)
    counts["annotation"] = sum(
        not re.match("ProfilerStep|whole trace$", region.name) for region in trace.regions
    )
    counts["linked"] = sum(kernel.launch is not None and bool(kernel.correlation) for kernel in kernels)
    return dict(+counts)


@needs_recordings
@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: str(path.relative_to(SHARED)))
def test_a_recording_is_read_whole(path: Path) -> None:
    trace = read(path)
    assert count_in(trace) == count_by_hand(path)
    assert trace.skipped_events == trace.repaired_events == 0
    for region in trace.regions:
        assert 0 <= region.gpu_busy_ns <= region.gpu_span_ns <= region.wall_ns
    for kernel in trace.kernels[:200]:
        chain = trace.chain(kernel)
        assert all(inner.parent == outer for outer, inner in zip(chain.ops, chain.ops[1:], strict=False))
        if chain.ops and kernel.launch:
            assert chain.ops[-1].start_ns <= kernel.launch.start_ns <= chain.ops[-1].end_ns


FORWARDS = {
    # recording: kernels, copies, memsets, launches of one forward
    "02_linear_1024x32x64_eager": (1, 0, 0, 1),
    "02_linear_1024x32x64_compile": (1, 0, 0, 1),
    "03_mlp_eager": (5, 0, 2, 7),
    "03_mlp_compile": (4, 0, 2, 6),
    "03_mlp_compile_cudagraph": (5, 0, 2, 2),
    "01_matmul_add_4096_bf16_warm_eager": (2, 0, 1, 3),
    "01_matmul_add_4096_bf16_warm_compile": (1, 1, 1, 3),
}


@needs_recordings
@pytest.mark.parametrize("name", FORWARDS)
def test_what_one_forward_launches(name: str) -> None:
    trace = read(SHARED / "h200" / f"{name}.json.gz")
    forwards = [region for region in trace.regions if region.name.endswith(("_fwd", "matmul_add"))]
    assert len(forwards) == 3
    assert [region.step for region in forwards] == sorted({step.number for step in trace.steps})[-3:]
    for region in forwards:
        found = (len(region.kernels), len(region.copies), len(region.memsets), len(region.launches))
        assert found == FORWARDS[name]
    assert trace.device == "NVIDIA H200"


@needs_recordings
def test_a_captured_mlp_is_one_launch() -> None:
    trace = read(SHARED / "h200" / "03_mlp_manual_cudagraph.json.gz")
    assert {len(region.launches) for region in trace.regions} == {1}
    assert all(region.launches[0].is_graph for region in trace.regions)
    assert not [warning for warning in trace.warnings if warning.code == "ambiguous-link"]


@needs_recordings
@pytest.mark.parametrize("name", ["03_mlp_fp32_eager", "08_h2d_copy_mlp"])
def test_kernels_launched_before_the_window_are_unlinked(name: str) -> None:
    trace = read(SHARED / "h200" / f"{name}.json.gz")
    unlinked = [kernel for kernel in trace.kernels if kernel.launch is None]
    assert unlinked
    assert [warning.count for warning in trace.warnings if warning.code == "unlinked"] == [len(unlinked)]


@needs_recordings
def test_old_gemms_ask_for_their_occupancy_and_pointwise_kernels_do_not() -> None:
    trace = read(SHARED / "h200" / "03_mlp_fp32_eager.json.gz")
    assert {k.kind for k in trace.kernels if k.occupancy_query} <= {"gemm"}


@needs_recordings
def test_each_backward_op_points_at_a_forward_op_with_its_number() -> None:
    trace = read(SHARED / "h200" / "07_mlp_train_eager.json.gz")
    pairs = [(op, op.forward) for op in trace.ops if op.forward]
    assert len(pairs) > 10
    assert all(back.sequence_number == forward.sequence_number for back, forward in pairs)
    assert all(back.start_ns > forward.start_ns for back, forward in pairs)
