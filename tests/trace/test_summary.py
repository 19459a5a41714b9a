"""A trace prints as a few lines."""

from __future__ import annotations

from tracelib import annotation, kernel, launch, op, read, step

EVENTS = [
    step(1, 0, 100),
    annotation("fwd", 5, 40),
    annotation("fwd", 50, 40),
    op("aten::mm", 10, 30),
    launch(20, 5, correlation=11),
    kernel("k", 30, 20, correlation=11),
    kernel("lost", 60, 5),
]


def test_regions_work_and_warnings() -> None:
    *lines, warning = str(read(*EVENTS)).splitlines()
    assert lines == [
        "hand-made.json: Test GPU, 100 µs, 7 events",
        "  regions: fwd x2",
        "  2 kernels, 1 launch, 1 op, GPU busy 25.0 µs",
    ]
    assert warning.startswith("  unlinked x1: device events with no launch in the file")


def test_many_regions_are_not_all_named() -> None:
    trace = read(*(annotation(f"r{i}", 10 * i, 5) for i in range(9)), op("aten::mm", 1, 2))
    assert str(trace).splitlines()[1:3] == [
        "  regions: r0, r1, r2, r3, r4, r5 and 3 more",
        "  1 stand-in op, 0 launches, 1 op",
    ]


def test_html_is_escaped() -> None:
    trace = read(annotation("<script>alert(1)</script>", 0, 9), *EVENTS[3:6])
    assert "<script>" not in trace._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in trace._repr_html_()
