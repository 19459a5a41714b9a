"""Clean copies: what they keep to the letter, what they mend, and what several share."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recordings import TRACES, all_of, h200
from rung.errors import UnreadableTraceError
from rung.trace import read
from rung.trace.export import Exported, Part, Stretch, export
from rung.trace.export.raw import open_raw
from rung.trace.export.tracks import Slice, _moved, _trimmed
from tracelib import annotation, frame, kernel, launch, op, write


def made(tmp_path: Path, *parts: Part, name: str = "out.json") -> tuple[Exported, dict[str, Any]]:
    target = tmp_path / name
    told = export(parts, target)
    raw = target.read_bytes()
    return told, json.loads(gzip.decompress(raw) if name.endswith(".gz") else raw)


def slices(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["name"] == name]


class TestOne:
    @pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
    def test_a_sound_trace_stays_as_it_is(self, tmp_path: Path, name: str) -> None:
        source = h200("03_mlp_eager")
        told, copy = made(tmp_path, Part(str(source), "mlp"), name=name)
        assert copy == json.loads(gzip.decompress(source.read_bytes()))
        assert (told.events, told.trimmed, told.moved, told.repaired) == (243, 0, 0, 0)

    def test_an_epoch_keeps_its_nanoseconds(self, tmp_path: Path) -> None:
        """1732800000123456.789 us is more than a float64 can hold."""
        text = '{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1732800000123456.789,"dur":0.001}]}'
        (tmp_path / "in.json").write_text(text)
        export([Part(str(tmp_path / "in.json"), "a")], tmp_path / "out.json")
        assert '"ts":1732800000123456.789' in (tmp_path / "out.json").read_text()

    def test_the_inner_one_of_two_that_cross_ends_with_the_outer_one(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.json", op("outer", 10, 20), op("inner", 20, 15))
        told, copy = made(tmp_path, Part(str(source), "a"))
        assert told.trimmed == 1
        assert slices(copy, "inner")[0]["dur"] == 10
        assert slices(copy, "outer")[0]["dur"] == 20

    def test_a_frame_ends_where_the_annotation_it_opens_begins(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.json", frame("__enter__", 0, 10), annotation("fwd", 8, 100))
        _, copy = made(tmp_path, Part(str(source), "a"))
        assert slices(copy, "__enter__")[0]["dur"] == 8
        assert slices(copy, "fwd")[0]["dur"] == 100

    def test_overlapping_kernels_both_stay_whole(self, tmp_path: Path) -> None:
        source = write(
            tmp_path / "in.json",
            launch(0, 1, 1),
            launch(2, 1, 2),
            kernel("first", 10, 20, 1),
            kernel("second", 25, 20, 2),
            kernel("third", 45, 5, 3),
        )
        told, copy = made(tmp_path, Part(str(source), "a"))
        assert told.moved == 1
        tids = [slices(copy, name)[0]["tid"] for name in ("first", "second", "third")]
        assert tids == [7, "7 overlapping 1", 7]
        assert slices(copy, "second")[0]["dur"] == 20
        assert len(read(tmp_path / "out.json").kernels) == 3

    def test_a_stretch_keeps_what_touches_it(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.json", op("before", 0, 5), op("across", 8, 5), op("after", 30, 5))
        told, copy = made(tmp_path, Part(str(source), "a", Stretch(10_000, 20_000)))
        assert [event["name"] for event in copy["traceEvents"]] == ["across"]
        assert told.left_out == 2

    def test_an_end_goes_with_its_begin(self, tmp_path: Path) -> None:
        place = {"pid": 1, "tid": 1, "cat": "cpu_op"}
        events = [
            {"ph": "B", "name": "early", "ts": 1, **place},
            {"ph": "E", "name": "early", "ts": 12, **place},
            {"ph": "B", "name": "kept", "ts": 13, **place},
            {"ph": "E", "name": "kept", "ts": 40, **place},
        ]
        source = write(tmp_path / "in.json", *events)
        _, copy = made(tmp_path, Part(str(source), "a", Stretch(10_000, 20_000)))
        assert [(e["ph"], e["name"]) for e in copy["traceEvents"]] == [("B", "kept"), ("E", "kept")]

    def test_of_a_region_only_its_own_work_is_kept(self, tmp_path: Path) -> None:
        source = write(
            tmp_path / "in.json",
            launch(0, 1, 1),
            launch(11, 1, 2),
            kernel("old", 12, 3, 1),
            kernel("own", 16, 3, 2),
        )
        _, copy = made(tmp_path, Part(str(source), "a", Stretch(10_000, 20_000, frozenset({2}))))
        assert [e["name"] for e in copy["traceEvents"] if e["cat"] == "kernel"] == ["own"]


class TestDamaged:
    @pytest.mark.parametrize("path", all_of("broken"), ids=lambda path: path.stem)
    def test_the_copy_of_a_damaged_trace_is_sound(self, tmp_path: Path, path: Path) -> None:
        """As many kernels as `read` finds, in a file that plain `json` takes."""
        told, copy = made(tmp_path, Part(str(path), "a"))
        assert len(copy["traceEvents"]) == told.events
        before, after = read(path, salvage=True), read(tmp_path / "out.json")
        assert [k.name for k in after.kernels] == [k.name for k in before.kernels]
        assert not {w.code for w in after.warnings} & {
            "control-character",
            "bad-utf8",
            "truncated",
            "skipped-event",
        }

    def test_what_is_no_trace_is_refused_and_leaves_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "in.json").write_text("hello")
        with pytest.raises(UnreadableTraceError, match="is not a trace"):
            export([Part(str(tmp_path / "in.json"), "a")], tmp_path / "out.json")
        assert [path.name for path in tmp_path.iterdir()] == ["in.json"]


class TestSeveral:
    def test_two_recordings_keep_their_ids_apart(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.json", op("aten::mm", 0, 9), launch(2, 3, 5), kernel("gemm", 10, 5, 5))
        _, copy = made(tmp_path, Part(str(source), "eager"), Part(str(source), "compiled"))
        first, second = slices(copy, "gemm")
        assert first["args"]["correlation"] == 5 and second["args"]["correlation"] == 10_000_000_005
        assert first["args"]["stream"] == "7 (eager)" and second["args"]["stream"] == "7 (compiled)"
        assert first["pid"] != second["pid"]
        both = read(tmp_path / "out.json")
        assert [k.op.name for k in both.kernels if k.op] == ["aten::mm", "aten::mm"]
        assert both.warnings == read(source).warnings

    def test_a_clock_is_moved_to_the_nanosecond(self, tmp_path: Path) -> None:
        source = write(tmp_path / "in.json", op("a", 1732800000123456, 1))
        export([Part(str(source), "x"), Part(str(source), "y", shift_ns=-1)], tmp_path / "out.json")
        assert '"ts":1732800000123455.999' in (tmp_path / "out.json").read_text()

    def test_the_ranks_of_a_job(self, tmp_path: Path) -> None:
        paths = [TRACES / "h200_ranks" / f"mlp_ddp_straggler_rank{i}.json.gz" for i in (0, 1)]
        if not all(path.exists() for path in paths):
            pytest.skip(f"{paths[0]} is not there: the shared traces are not beside this checkout")
        made(tmp_path, *(Part(str(path), f"rank {i}") for i, path in enumerate(paths)))
        both = read(tmp_path / "out.json")
        assert len(both.kernels) == sum(len(read(path).kernels) for path in paths)
        assert sum(k.launch is None for k in both.kernels) == sum(
            k.launch is None for path in paths for k in read(path).kernels
        )


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30), st.booleans()), max_size=25)


class TestStacks:
    """Whatever overlaps on a track, what comes out nests."""

    @given(SPANS)
    def test_a_trimmed_track_is_a_stack(self, spans: list[tuple[int, int, bool]]) -> None:
        given_ = [Slice(s, s + d, i, f) for i, (s, d, f) in enumerate(spans)]
        cut = dict(_trimmed(given_))
        after = [(s.start, s.start + cut.get(s.number, s.end - s.start)) for s in given_]
        assert not crossings(after)
        assert all(0 <= cut[n] <= given_[n].end - given_[n].start for n in cut)

    @given(SPANS)
    def test_moved_ones_cross_nothing_where_they_go(self, spans: list[tuple[int, int, bool]]) -> None:
        given_ = [Slice(s, s + d, i, False) for i, (s, d, _) in enumerate(spans)]
        moved = dict(_moved(given_))
        for place in {0, *moved.values()}:
            assert not crossings([(s.start, s.end) for s in given_ if moved.get(s.number, 0) == place])


def crossings(spans: list[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of which one begins within the other and outlasts it, by looking at all pairs."""
    return [(a, b) for a in spans for b in spans if a[0] < b[0] < a[1] < b[1]]


def test_events_can_be_gone_through_again(tmp_path: Path) -> None:
    source = write(tmp_path / "in.json", op("a", 1, 2), op("b", 4, 2))
    raw = open_raw(str(source))
    assert [text for _, text in raw.events()] == [text for _, text in raw.events()]
