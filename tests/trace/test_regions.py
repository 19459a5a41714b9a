"""Regions, steps, and what belongs to them."""

from __future__ import annotations

import pytest

from tracelib import (
    BACKWARD,
    PROCESS,
    annotation,
    call,
    codes,
    copy,
    kernel,
    launch,
    memset,
    op,
    read,
    step,
    work,
)


def test_a_kernel_belongs_to_the_innermost_annotation_and_counts_in_all_around_it() -> None:
    trace = read(
        step(3, 0, 100),
        annotation("block", 5, 80),
        annotation("mlp", 10, 30),
        launch(20, 5, 1),
        launch(50, 5, 2),
        kernel("in mlp", 200, 10, 1),  # long after its annotation ended: the launch decides
        kernel("in block", 220, 10, 2),
    )
    block, mlp = trace.regions
    assert [k.region for k in trace.kernels] == [mlp, block]
    assert [k.step for k in trace.kernels] == [3, 3]
    assert (len(block.kernels), len(block.launches), len(mlp.kernels), len(mlp.launches)) == (2, 2, 1, 1)
    assert (mlp.parent, block.parent, mlp.step) == (block, None, 3)
    assert (block.cpu_ns, block.gpu_busy_ns, block.gpu_span_ns, block.wall_ns) == (
        80_000,
        20_000,
        30_000,
        80_000,
    )
    assert block.gpu_idle_share == pytest.approx(0.75)


def test_kernels_copies_and_memsets_stand_apart() -> None:
    trace = read(
        annotation("fwd", 0, 50),
        *(launch(1, 1, 1), launch(3, 1, 2), call("cudaMemcpyAsync", 5, 1, correlation=3)),
        call("cudaMemsetAsync", 7, 1, correlation=4),
        *(kernel("a", 10, 2, 1), kernel("b", 20, 2, 2), copy(30, 4, 3), memset(40, 1, 4)),
    )
    (region,) = trace.regions
    assert (len(region.kernels), len(region.copies), len(region.memsets), len(region.launches)) == (
        2,
        1,
        1,
        4,
    )
    assert (region.gpu_busy_ns, region.gpu_span_ns) == (9_000, 31_000)
    assert [k.kind for k in region.copies] == ["copy"]
    assert [k.kind for k in region.memsets] == ["memset"]


def test_a_launch_from_the_backward_thread_belongs_to_the_annotation_around_its_time() -> None:
    trace = read(
        annotation("forward", 0, 40),
        annotation("backward", 50, 40),
        launch(10, 1, 1),
        launch(60, 1, 2, tid=BACKWARD),
        launch(95, 1, 3, tid=BACKWARD),
        *(kernel("f", 20, 1, 1), kernel("b", 70, 1, 2), kernel("none", 98, 1, 3)),
    )
    assert [k.region.name if k.region else None for k in trace.kernels] == ["forward", "backward", None]


def test_the_own_thread_goes_before_any_other() -> None:
    trace = read(
        annotation("main", 0, 100),
        annotation("worker", 20, 60, tid=BACKWARD),
        launch(30, 1, 1),
        launch(40, 1, 2, tid=BACKWARD),
        *(kernel("m", 50, 1, 1), kernel("w", 60, 1, 2)),
    )
    main, worker = trace.regions
    assert [k.region for k in trace.kernels] == [main, worker]
    assert worker.parent == main
    assert (len(main.kernels), len(worker.kernels)) == (2, 1)


def test_annotations_of_two_threads_that_cross_hold_their_own() -> None:
    trace = read(
        annotation("a", 0, 50),
        annotation("b", 30, 50, tid=BACKWARD),
        launch(60, 1, 1, tid="a third"),
        kernel("k", 90, 1, 1),
    )
    assert trace.kernels[0].region == trace.regions[1]
    assert trace.regions[1].parent is None


def test_unlinked_work_belongs_where_it_ran() -> None:
    trace = read(
        annotation("a", 10, 10), annotation("b", 30, 10), kernel("k", 35, 1, 9), kernel("l", 5, 1, 8)
    )
    assert [k.region.name if k.region else None for k in trace.kernels] == [None, "b"]


@pytest.mark.parametrize(
    "name",
    [
        "## Call CompiledFxGraph fabc ##",
        "Optimizer.step#AdamW.step",
        "Optimizer.zero_grad#SGD.zero_grad",
        "aot_collect_metadata_data: {} compile_id=0/0",
        "DistributedDataParallel.forward",
        "FSDP::pre_forward",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
        "nccl:all_reduce",
        "gloo:broadcast",
        "hccl:all_gather",
    ],
)
def test_annotations_of_pytorch_itself_are_no_regions(name: str) -> None:
    trace = read(
        annotation("mine", 0, 100), annotation(name, 10, 50), launch(20, 1, 1), kernel("k", 30, 1, 1)
    )
    assert [region.name for region in trace.regions] == ["mine"]
    alone = read(step(1, 0, 100), annotation(name, 10, 50), launch(20, 1, 1), kernel("k", 30, 1, 1))
    assert [region.name for region in alone.regions] == ["ProfilerStep#1"]


def test_annotations_of_the_gpu_are_no_regions() -> None:
    shadow = work("gpu_user_annotation", "fwd", 20, 30)
    trace = read(annotation("fwd", 0, 10), shadow, kernel("k", 20, 30))
    assert len(trace.regions) == 1
    assert len(trace.kernels) == 1


def test_without_annotations_the_steps_are_the_regions() -> None:
    trace = read(step(4, 0, 50), step(5, 50, 50), launch(60, 1, 1), kernel("k", 120, 1, 1))
    assert [(r.name, r.step, len(r.kernels)) for r in trace.regions] == [
        ("ProfilerStep#4", 4, 0),
        ("ProfilerStep#5", 5, 1),
    ]
    assert [(s.name, s.number, s.start_ns, s.cpu_ns) for s in trace.steps] == [
        ("ProfilerStep#4", 4, 0, 50_000),
        ("ProfilerStep#5", 5, 50_000, 50_000),
    ]
    assert "no-steps" not in codes(trace)


def test_annotations_without_steps_are_said_so() -> None:
    trace = read(annotation("fwd", 0, 50), launch(10, 1, 1), kernel("k", 20, 1, 1))
    assert codes(trace) == {"no-steps": 1}
    assert (trace.regions[0].step, trace.kernels[0].step, len(trace.steps)) == (None, None, 0)


def test_instances_of_a_name_are_numbered() -> None:
    trace = read(annotation("f", 0, 5), annotation("g", 10, 5), annotation("f", 20, 5), op("aten::mm", 21, 1))
    assert [(r.name, r.instance) for r in trace.regions] == [("f", 0), ("g", 0), ("f", 1)]


def test_ops_of_a_region_are_the_outermost_inside() -> None:
    trace = read(
        op("around", 0, 100),
        annotation("f", 10, 50),
        op("a", 20, 20),
        op("a.inner", 22, 5),
        op("b", 50, 5),
        launch(23, 1, 1),
        kernel("k", 30, 1, 1),
    )
    assert [o.name for o in trace.regions[0].ops] == ["a", "b"]


def test_an_annotation_without_an_end_lasts_to_the_next_or_the_end_of_its_parent() -> None:
    trace = read(
        step(1, 0, 100),
        annotation("a", 10, -1),
        annotation("b", 50, -1),
        *(launch(20, 1, 1), launch(60, 1, 2), launch(120, 1, 3)),
        *(kernel("x", 30, 1, 1), kernel("y", 70, 1, 2), kernel("z", 130, 1, 3)),
    )
    assert [k.region.name if k.region else None for k in trace.kernels] == ["a", "b", None]
    assert [r.cpu_ns for r in trace.regions] == [0, 0]
    assert codes(trace)["unfinished-event"] == 2


def test_everything_is_relative_to_the_first_event() -> None:
    trace = read(annotation("f", 1_000, 50), launch(1_010, 1, 1), kernel("k", 1_020, 5, 1), op("o", 995, 100))
    assert (trace.origin_ns, trace.span_ns) == (995_000, 100_000)
    assert (trace.regions[0].start_ns, trace.kernels[0].start_ns, trace.launches[0].start_ns) == (
        5_000,
        25_000,
        15_000,
    )


def test_two_processes_do_not_share_a_thread() -> None:
    other = PROCESS + 1
    trace = read(op("mine", 0, 100), launch(10, 1, 1, pid=other), kernel("k", 20, 1, 1))
    assert trace.kernels[0].op is None
