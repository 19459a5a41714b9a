"""The 24 damaged and odd files of the shared recordings, one by one; EXPECT.md there says what is right."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from rung.trace import Trace, read
from tracelib import codes

Reader = Callable[[str], Trace]


@pytest.fixture(params=["plain", "gzip"])
def broken(request: pytest.FixtureRequest, shared: Path, tmp_path: Path) -> Reader:
    """Read one of the broken files by its number, as it is or compressed: the result must be the same."""

    def reader(number: str) -> Trace:
        (path,) = (shared / "broken").glob(f"{number}-*.json")
        if request.param == "gzip":
            compressed = tmp_path / f"{path.name}.gz"
            compressed.write_bytes(gzip.compress(path.read_bytes()))
            return read(compressed)
        return read(path)

    return reader


def source(shared: Path, number: str) -> bytes:
    (path,) = (shared / "broken").glob(f"{number}-*.json")
    return path.read_bytes()


def assert_one_gemm(trace: Trace) -> None:
    """What most of the files hold: `toy_gemm` of 20 us, launched in the only step 30 us after its start."""
    (gemm,) = [kernel for kernel in trace.kernels if kernel.name == "toy_gemm"]
    assert (gemm.start_ns, gemm.dur_ns, gemm.stream, gemm.device) == (30_000, 20_000, 7, 0)
    assert gemm.launch is not None
    assert gemm.launch.name == "cudaLaunchKernel"
    assert gemm.region is not None
    assert gemm.region.name == "ProfilerStep#1"
    assert gemm.step == 1


def test_control_characters_are_kept_as_escapes(broken: Reader, shared: Path) -> None:
    trace = broken("01")
    assert [op.name for op in trace.ops] == ["cfg.py(0): \x01\x02"]
    assert (trace.events, trace.repaired_events, trace.skipped_events) == (4, 1, 0)
    (warning,) = trace.warnings
    assert (warning.code, warning.count) == ("control-character", 1)
    assert warning.offset == source(shared, "01").index(b"\x01")
    assert trace.incomplete is not None
    assert "control-character" in trace.incomplete
    assert_one_gemm(trace)


def test_an_event_torn_by_a_quote_is_skipped_alone(broken: Reader, shared: Path) -> None:
    trace = broken("02")
    assert (trace.events, trace.repaired_events, trace.skipped_events) == (3, 0, 1)
    assert len(trace.ops) == 0
    (warning,) = trace.warnings
    assert (warning.code, warning.count) == ("skipped-event", 1)
    torn = source(shared, "02")
    assert warning.offset == torn.rindex(b"{", 0, torn.index(b"lib = Library"))
    assert trace.incomplete is not None
    assert "skipped-event" in trace.incomplete
    assert_one_gemm(trace)


def test_lone_backslashes_are_literal(broken: Reader, shared: Path) -> None:
    trace = broken("03")
    assert [op.name for op in trace.ops] == ["torch\\cuda\\_init.py(219): _lazy"]
    assert (trace.events, trace.repaired_events, trace.skipped_events) == (4, 1, 0)
    (warning,) = trace.warnings
    assert (warning.code, warning.offset) == ("bad-escape", source(shared, "03").index(b"\\c"))
    assert_one_gemm(trace)


def test_inf_becomes_null_for_its_argument_alone(broken: Reader, shared: Path) -> None:
    trace = broken("04")
    (copied,) = [kernel for kernel in trace.kernels if kernel.category == "copy"]
    assert copied.args["memory bandwidth (GB/s)"] is None
    assert copied.args["bytes"] == 200
    assert codes(trace) == {"bad-number": 1, "unlinked": 1}
    assert trace.warnings[0].offset == source(shared, "04").index(b"inf\n")
    assert trace.regions[0].gpu_busy_ns == 20_000
    assert_one_gemm(trace)


def test_bytes_that_are_no_utf8_stay_distinct(broken: Reader, shared: Path) -> None:
    trace = broken("05")
    assert [op.name for op in trace.ops] == ["x\\xc3(\\xff(0): y"]
    (warning,) = trace.warnings
    assert (warning.code, warning.count) == ("bad-utf8", 1)
    assert warning.offset == source(shared, "05").index(b"\xc3")
    assert_one_gemm(trace)


def test_a_legacy_list_is_linked_by_its_arrow(broken: Reader) -> None:
    trace = broken("06")
    (kernel,) = trace.kernels
    assert (kernel.name, kernel.start_ns, kernel.dur_ns) == ("aten::mul", 1_500, 3_000)
    assert kernel.launch is None
    assert kernel.correlation is None
    assert kernel.op == trace.ops[0]
    assert not trace.stand_in
    assert codes(trace) == {"no-steps": 1, "no-device-properties": 1}
    assert "limited" in trace.warnings[-1].message
    assert [region.name for region in trace.regions] == ["whole trace"]


def test_a_cut_file_is_used_up_to_the_cut(broken: Reader, shared: Path) -> None:
    trace = broken("07")
    assert trace.events == 3
    assert codes(trace) == {"truncated": 1, "no-gpu": 1}
    assert trace.warnings[0].offset == len(source(shared, "07")) == 870
    assert trace.incomplete is not None
    assert "truncated" in trace.incomplete
    assert (len(trace.ops), len(trace.launches), len(trace.kernels)) == (1, 1, 0)


def test_a_cut_gzip_stream_gives_what_a_cut_file_gives(shared: Path, tmp_path: Path) -> None:
    whole = (
        (shared / "broken" / "01-control-char-in-name.json")
        .read_bytes()
        .replace(b"\x01", b"")
        .replace(b"\x02", b"")
    )
    packed = gzip.compress(whole)
    (tmp_path / "cut.json.gz").write_bytes(packed[:-8])  # without its trailer: all text is there
    trace = read(tmp_path / "cut.json.gz")
    assert trace.events == 4
    assert codes(trace) == {"truncated": 1}
    assert trace.warnings[0].offset == len(whole)


def test_a_trailing_comma_is_no_damage(broken: Reader) -> None:
    trace = broken("08")
    assert codes(trace) == {"no-device-properties": 1}
    assert (trace.events, trace.skipped_events, trace.repaired_events) == (4, 0, 0)
    assert trace.incomplete is None
    assert_one_gemm(trace)


def test_a_bracket_in_the_header_is_text(broken: Reader) -> None:
    trace = broken("10")
    assert trace.warnings == []
    assert trace.header.get("traceName") == "fit-profiler-[Strategy]Single-0.pt.trace.json"
    assert_one_gemm(trace)


def test_a_kernel_at_time_zero_counts_but_takes_no_time(broken: Reader) -> None:
    trace = broken("11")
    assert codes(trace) == {"zero-time": 1}
    assert trace.span_ns == 100_000
    (region,) = trace.regions
    assert (len(region.kernels), len(region.launches)) == (2, 2)
    assert (region.gpu_busy_ns, region.gpu_span_ns) == (20_000, 20_000)
    lost = trace.kernels[-1]
    assert (lost.name, lost.start_ns, lost.dur_ns) == ("lost_kernel", 0, 0)
    assert lost.op is not None
    assert lost.op.name == "aten::relu"
    assert_one_gemm(trace)


def test_unfinished_ops_reach_to_their_sibling_or_the_end_of_their_parent(broken: Reader) -> None:
    trace = broken("12")
    assert codes(trace) == {"unfinished-event": 2}
    assert [(op.name, op.dur_ns) for op in trace.ops] == [
        ("aten::mm", 30_000),
        ("aten::add", 0),
        ("aten::sub", 0),
    ]
    assert all(op.parent is None for op in trace.ops)
    assert trace.span_ns == 100_000
    assert_one_gemm(trace)


def test_fractions_of_a_microsecond_are_exact(broken: Reader) -> None:
    trace = broken("13")
    assert [(k.start_ns, k.dur_ns) for k in trace.kernels] == [(700, 200), (1_700, 200), (2_700, 200)]
    (region,) = trace.regions
    assert (region.gpu_busy_ns, region.gpu_span_ns, region.wall_ns) == (600, 2_200, 10_000)


def test_an_epoch_timestamp_keeps_its_nanoseconds(broken: Reader) -> None:
    trace = broken("14")
    parent, child = trace.ops
    assert trace.origin_ns == 1_719_853_884_123_456_789
    assert (parent.start_ns, parent.end_ns) == (0, 404)
    assert (child.start_ns, child.end_ns) == (123, 404)
    assert child.parent == parent


def test_without_steps_the_whole_trace_is_the_region(broken: Reader) -> None:
    trace = broken("16")
    assert codes(trace) == {"no-steps": 1}
    (region,) = trace.regions
    assert (region.name, region.step, region.start_ns, region.wall_ns) == ("whole trace", None, 0, 40_000)
    assert (len(region.kernels), len(region.launches), region.gpu_busy_ns) == (1, 1, 20_000)


def test_metadata_alone_has_no_gpu_activity(broken: Reader) -> None:
    trace = broken("18")
    assert trace.events == 2
    assert "no-gpu" in codes(trace)
    assert trace.incomplete is not None
    assert trace.incomplete.startswith("no GPU activity in this trace")
    assert (len(trace.kernels), trace.stand_in, trace.span_ns) == (0, False, 0)
    assert trace.regions[0].gpu_idle_share == 0


def test_correlation_zero_links_by_order(broken: Reader) -> None:
    trace = broken("19")
    gemm, first, second = trace.kernels
    assert (gemm.correlation, first.correlation, second.correlation) == (11, None, None)
    assert [k.launch.start_ns if k.launch else None for k in trace.kernels] == [20_000, 55_000, 75_000]
    assert first.op is not None
    assert first.op.name == "c10d::allreduce_"
    assert second.op is None  # launched at 1075, when c10d::allreduce_ had ended at 1070
    assert len(trace.launches) == 3
    assert "ambiguous-link" not in codes(trace)


def test_a_graph_is_one_launch_of_many_kernels(broken: Reader) -> None:
    trace = broken("21")
    (launch,) = trace.launches
    assert launch.is_graph
    assert launch.name == "cudaGraphLaunch"
    assert len(launch.kernels) == 3
    assert {kernel.op.name for kernel in trace.kernels if kernel.op} == {"MyModel.forward"}
    (region,) = trace.regions
    assert (len(region.kernels), len(region.launches), region.gpu_busy_ns) == (3, 1, 27_000)
    assert trace.warnings == []


def test_driver_and_runtime_launches_both_link(broken: Reader) -> None:
    trace = broken("22")
    assert [k.launch.name if k.launch else None for k in trace.kernels] == [
        "cuLaunchKernelEx",
        "cudaLaunchKernelExC",
    ]
    assert [k.op.name if k.op else None for k in trace.kernels] == ["triton_poi_fused_add_0", "aten::mm"]
    assert len(trace.regions[0].launches) == 2
    assert trace.warnings == []


def test_a_kernel_before_its_launch_shows_the_clocks_differ(broken: Reader) -> None:
    trace = broken("23")
    (kernel,) = trace.kernels
    assert codes(trace) == {"clock-skew": 1}
    assert "2500 ns on device 0" in trace.warnings[0].message
    assert (kernel.start_ns, kernel.latency_ns) == (17_500, 0)  # not shifted, latency clamped


def test_an_overlap_is_counted_and_nothing_clipped(broken: Reader) -> None:
    trace = broken("24")
    assert codes(trace) == {"overlap": 1}
    assert [kernel.dur_ns for kernel in trace.kernels] == [20_000, 20_000]
    assert trace.regions[0].gpu_busy_ns == 36_300


def test_busy_is_a_union_over_streams(broken: Reader) -> None:
    trace = broken("26")
    (region,) = trace.regions
    assert (len(region.kernels), region.gpu_busy_ns) == (2, 85_000)  # 1010-1090 and 1020-1095; no Stream Sync
    assert region.gpu_idle_share == pytest.approx(0.15)


def test_annotations_on_the_gpu_are_no_kernels(broken: Reader) -> None:
    trace = broken("27")
    assert [kernel.kind for kernel in trace.kernels] == ["collective"] * 3
    assert trace.regions[0].gpu_busy_ns == 90_000


def test_crossing_spans_are_clamped_and_counted(broken: Reader) -> None:
    trace = broken("31")
    assert codes(trace) == {"crossing-spans": 2, "no-gpu": 1}
    assert trace.stand_in
    assert trace.incomplete is None
    (mm,) = trace.kernels
    assert (mm.name, mm.category, mm.step) == ("aten::mm", "op", 1)


def test_orphans_at_the_window_edge_are_kept(broken: Reader) -> None:
    trace = broken("32")
    early, gemm = trace.kernels
    assert (early.name, early.launch, early.start_ns) == ("early_kernel", None, 0)
    assert (early.region, early.step) == (None, None)  # it began before the first step
    assert (gemm.step, gemm.start_ns) == (1, 55_000)  # by its launch: it ends in step 2
    assert [len(region.kernels) for region in trace.regions] == [1, 0]
    assert [len(region.launches) for region in trace.regions] == [1, 1]
    assert codes(trace) == {"unlinked": 1, "launch-without-kernel": 1}
    assert trace.warnings[1].message.endswith("1 in step 2")


def test_every_broken_file_is_tested(shared: Path) -> None:
    assert len(list((shared / "broken").glob("*.json"))) == 24
