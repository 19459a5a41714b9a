"""What stays of a trace that is scrubbed: what tells ops, launches, kernels, shapes and times. All else goes.

A list of what stays, not of what goes: a profiler to come may write down what nobody thought of.
"""

from __future__ import annotations

MEMBERS = frozenset({"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "bp", "s", "args"})
"""Of an event."""

_ORDER = {
    "External id", "external id", "Ev Idx", "Record function id", "Sequence number", "Fwd thread id",
    "Fwd Thread Id", "correlation", "Profiler Event Index", "Trace iteration", "Trace name", "Op count",
}  # fmt: skip
_SHAPES = {"Input Dims", "Input dims", "Input type", "Input Strides", "Output Dims", "Output type"}
_WORK = {
    "device", "context", "stream", "sycl queue", "queued", "registers per thread", "shared memory",
    "blocks per SM", "warps per SM", "est. achieved occupancy %", "grid", "block", "kind", "bytes",
    "memory bandwidth (GB/s)", "graph id", "graph node id", "priority", "flops",
}  # fmt: skip
_CALLS = {
    "cbid", "cid", "kernel", "cuda_sync_kind", "wait_on_stream", "wait_on_cuda_event_id",
    "wait_on_cuda_event_record_corr_id",
}  # fmt: skip
_COLLECTIVES = {
    "Collective name", "dtype", "In msg nelems", "Out msg nelems", "In split size", "Out split size",
    "Group size", "Process Group Name", "Process Group Description", "Process Group Ranks", "Rank",
    "Global rank start", "Global rank stride",
}  # fmt: skip
_COMPILED = {"kernel_backend", "kernel_name", "num_stages", "num_warps"}
_MEMORY = {"Bytes", "Device Id", "Device Type", "Total Allocated", "Total Reserved"}
_TRACKS = {"name", "labels", "sort_index"}
"""Of the metadata that names processes and threads."""

ARGUMENTS = frozenset().union(_ORDER, _SHAPES, _WORK, _CALLS, _COLLECTIVES, _COMPILED, _MEMORY, _TRACKS)
"""Of an event's `args`."""

HEADER = frozenset({
    "schemaVersion", "deviceProperties", "distributedInfo", "displayTimeUnit", "baseTimeNanoseconds",
    "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules", "cuda_driver_version",
    "cuda_runtime_version", "cupti_version", "roctracer_version", "hip_driver_version", "hip_runtime_version",
    "rung",
})  # fmt: skip
"""Of the members beside the events."""

RUNG = frozenset({
    "schema_version", "rung", "name", "variant", "region", "device", "device_name", "driver", "cuda", "torch",
    "triton", "python", "threads", "seed", "train", "schedule", "input_shapes", "input_dtypes", "dtypes",
    "parameters", "against_eager", "weights", "drawn", "emulated", "assumed",
})  # fmt: skip
"""Of what a recording of Rung's says of itself: not the command, the time, notes."""
