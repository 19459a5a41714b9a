"""Older and other ways to write a trace."""

from __future__ import annotations

import json

import pytest

from tracelib import annotation, codes, document, kernel, launch, op, read, read_bytes, span


def test_the_schema_of_2021() -> None:
    gpu = {"pid": 0, "tid": "stream 7"}
    trace = read(
        span("Operator", "ProfilerStep #3", 0, 100, tid="100"),
        span("Operator", "aten::mm", 10, 30, tid="100"),
        span("Runtime", "cudaLaunchKernel", 20, 5, tid="100", correlation="11"),
        span("Kernel", "gemm", 30, 20, **gpu, correlation="11", stream="7"),
        span("Memcpy", "Memcpy HtoD (Pageable -> Device)", 60, 5, **gpu),
        span("Memset", "Memset (Device)", 70, 5, **gpu),
        device=None,
    )
    assert [k.category for k in trace.kernels] == ["kernel", "copy", "memset"]
    gemm = trace.kernels[0]
    assert (gemm.op, gemm.step, gemm.stream, gemm.correlation) == (trace.ops[0], 3, 7, 11)
    assert [o.name for o in trace.ops] == ["aten::mm"]
    assert "no-device-properties" in codes(trace)
    assert trace.device is None


@pytest.mark.parametrize(
    "category", ["cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime", "mtia_runtime"]
)
def test_runtimes_of_all_makers(category: str) -> None:
    trace = read(span(category, "put_to_work", 10, 5, correlation=4), kernel("k", 20, 1, 4))
    assert trace.kernels[0].launch == trace.launches[0]


def test_mtia_events_are_kernels() -> None:
    trace = read(span("mtia_ccp_events", "fc", 10, 5, pid=0, tid=1))
    assert [(k.name, k.category) for k in trace.kernels] == [("fc", "kernel")]


def test_a_kernel_that_copies_is_no_copy() -> None:
    trace = read(kernel("void at::native::CatArrayBatchedCopy<float>()", 10, 5))
    assert trace.kernels[0].category == "kernel"
    assert trace.kernels[0].kind != "copy"


def test_a_bare_list() -> None:
    events = [annotation("f", 0, 50), launch(1, 1, 1), kernel("k", 20, 1, 1)]
    trace = read_bytes(json.dumps(events).encode())
    assert (len(trace.regions[0].kernels), trace.skipped_events) == (1, 0)


def test_the_header_is_at_hand() -> None:
    trace = read(
        op("aten::mm", 0, 1),
        distributedInfo={"rank": 3, "world_size": 8},
        traceName="x.json",
        rung={"variant": "eager"},
    )
    assert (trace.device, trace.rank) == ("Test GPU", 3)
    assert trace.header.get("traceName") == "x.json"
    assert trace.header.metadata["rung"] == {"variant": "eager"}
    assert trace.header.get("absent") is None
    assert "traceEvents" not in trace.header.metadata


@pytest.mark.parametrize("properties", [None, 5, "GPU", {"name": "x"}, [], [7], [{}], [{"name": 3}]])
def test_a_header_of_another_shape_names_no_device(properties: object) -> None:
    whole = document(kernel("k", 0, 1), device=None, deviceProperties=properties, distributedInfo=properties)
    trace = read_bytes(json.dumps(whole).encode())
    assert (trace.device, trace.rank) == (None, None)


def test_what_an_op_recorded() -> None:
    trace = read(
        op(
            "aten::addmm",
            0,
            1,
            **{
                "Input Dims": [[64], [8, 32], [32, 64], [], []],
                "Input type": ["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"],
                "Input Strides": [[1], [32, 1], [1, 32], [], []],
                "Concrete Inputs": ["", "", "", "1", "1"],
                "Sequence number": 12,
            },
        ),
        op("aten::t", 5, 1),
    )
    addmm, t = trace.ops
    assert addmm.shapes == [[64], [8, 32], [32, 64], [], []]
    assert addmm.dtypes[:1] == ["c10::BFloat16"]
    assert addmm.strides[2] == [1, 32]
    assert addmm.concrete_inputs[3:] == ["1", "1"]
    assert addmm.sequence_number == 12
    assert (t.shapes, t.dtypes, t.strides, t.concrete_inputs, t.sequence_number) == ([], [], [], [], None)
