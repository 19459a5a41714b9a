"""What `torch.compile` leaves in a trace: breaks, recompilations, what each call pays."""

from __future__ import annotations

import pytest

from handmade import GELU, MUL
from rung.insight.findings import examine, explanations, findings
from rung.trace import Trace
from seen import recorded, seen, the_one
from tracelib import Event, annotation, kernel, launch, op, read, step


def compiled(frame: str, start: float, dur: float) -> Event:
    return op(f"Torch-Compiled Region: {frame}", start, dur)


class TestGraphBreak:
    def test_one_break_into_two_regions(self) -> None:
        """From the end of the fused gelu to the start of the next mm: 214.685, 178.140 and 166.012 us."""
        found = the_one("graph-break", recorded("03_mlp_compile_graph_break"))
        assert (found.evidence["breaks"], found.evidence["regions"]) == (1, ["0/0", "1/0"])
        (place,) = found.evidence["where"]
        assert (place["after"], place["before"]) == ("triton_poi_fused__unsafe_view_gelu_0", "aten::mm")
        assert found.title.startswith(
            "1 graph break a call, 2 compiled regions (0/0, 1/0): after view + gelu, before aten::mm; "
        )
        assert found.cost_ns == 178_140
        assert found.share == pytest.approx(178_140 / 885_493)

    def call(self, at: float = 0) -> list[Event]:
        """gelu until 30, the next graph from 40, mul from 52 on: 22 us on the way."""
        ops = [compiled("3/0", at + 1, 90), op("aten::gelu", at + 10, 20), compiled("4/0", at + 40, 40)]
        number = int(at) + 1
        first = [launch(at + 12, 1, number), kernel(GELU, at + 15, 5, number)]
        second = [
            op("aten::mul", at + 52, 10),
            launch(at + 53, 1, number + 1),
            kernel(MUL, at + 60, 5, number + 1),
        ]
        return [annotation("fwd", at, 100), *ops, *first, *second]

    def test_the_way_from_one_graph_to_the_next(self) -> None:
        found = the_one("graph-break", read(*self.call(), *self.call(200)))
        assert found.cost_ns == 22_000
        assert found.evidence["where"] == [{"after": "aten::gelu", "before": "aten::mul", "cpu_ns": 22_000}]

    def test_side_by_side_they_may_have_been_compiled_apart(self) -> None:
        trace = read(annotation("fwd", 0, 100), compiled("0/0", 1, 20), compiled("1/0", 30, 20))
        assert "1 graph break a call, 2 compiled regions (0/0, 1/0), unless they were compiled apart" in (
            the_one("graph-break", trace).title
        )
        assert seen("graph-break", read(compiled("0/0", 1, 20), compiled("1/0", 30, 20))) == []

    @pytest.mark.parametrize(
        "name", ["03_mlp_compile", "03_mlp_compile_recompile", "06_llama_compile", "03_mlp_eager"]
    )
    def test_none_where_nothing_was_interrupted(self, name: str) -> None:
        assert seen("graph-break", recorded(name)) == []

    def test_one_frame_called_twice_is_not_interrupted(self) -> None:
        assert (
            seen("graph-break", read(annotation("fwd", 0, 100), *(compiled("0/0", at, 20) for at in (1, 30))))
            == []
        )


class TestRecompile:
    def test_two_with_their_calls_and_seconds(self) -> None:
        """The op `dynamo` lasts 1_959_406.9 us in the third call, 766_714.0 in the fifth."""
        first, second = seen("recompile", recorded("03_mlp_compile_recompile"))
        assert [one.evidence["compiled"] for one in (first, second)] == ["0/1", "0/2"]
        assert [one.evidence["call"] for one in (first, second)] == [3, 5]
        assert [one.step for one in (first, second)] == [2, 4]
        assert [round(one.cost_ns, -5) for one in (first, second)] == [1_959_400_000, 766_700_000]
        assert first.title == (
            "recompilation 1 of 2: frame 0 again, as 0/1; "
            "call 3 of mlp_fwd took 2.09 s, 1.96 s of it compiling"
        )
        assert second.share == pytest.approx(766_714.0 / 869_695.554, rel=1e-6)

    @pytest.mark.parametrize("name", ["03_mlp_cold_compile", "03_mlp_compile", "03_mlp_compile_graph_break"])
    def test_the_first_compilation_is_none(self, name: str) -> None:
        assert seen("recompile", recorded(name)) == []

    def calls(self, *frames: tuple[str, float], compiling: int | None = None) -> Trace:
        """One `fwd` a frame, of the given width; one of them with a compilation of 30 us."""
        made: list[Event] = []
        for i, (frame, width) in enumerate(frames):
            at = 10_000 * i
            made += [annotation("fwd", at, width), compiled(frame, at + width - 10, 9)]
            if i == compiling:
                made += [op("dynamo", at + 1, 30), op("_compile.compile_inner (dynamo_timed)", at + 2, 20)]
        return read(*made)

    def test_of_one_step_or_one_region_alone(self) -> None:
        trace = recorded("03_mlp_compile_recompile")
        assert [one.evidence["call"] for one in findings(examine(trace, step=4), only=["recompile"])] == [5]
        ops = [compiled("0/0", 5, 9), op("dynamo", 110, 50), compiled("0/1", 170, 9)]
        other = annotation("load", 300, 20)
        two = read(annotation("fwd", 0, 90), annotation("fwd", 100, 90), other, *ops)
        assert len(findings(examine(two, "fwd"), only=["recompile"])) == 1
        assert findings(examine(two, "load"), only=["recompile"]) == ()

    def test_a_compilation_inside_another_counts_once(self) -> None:
        found = the_one("recompile", self.calls(("0/0", 100), ("0/1", 150), compiling=1))
        assert (found.evidence["compile_ns"], found.evidence["call_ns"]) == (30_000, 150_000)

    def test_a_new_version_without_a_record_of_compiling(self) -> None:
        """Ten times as wide as the median tells; less may be the other version's longer work."""
        usual = [("0/0", 100.0)] * 3
        found = the_one("recompile", self.calls(*usual, ("0/1", 1000)))
        assert (found.evidence["compile_ns"], found.evidence["call"]) == (None, 4)
        assert found.title.endswith("call 4 of fwd took 1.00 ms")
        assert seen("recompile", self.calls(*usual, ("0/1", 999))) == []

    def test_versions_compiled_before_the_recording_are_none(self) -> None:
        assert seen("recompile", self.calls(("0/1", 100), ("0/2", 100), ("0/1", 100))) == []

    def test_steps_go_by_their_number(self) -> None:
        ops = [compiled("2/0", 5, 9), op("dynamo", 110, 50), compiled("2/1", 170, 9)]
        found = the_one("recompile", read(step(7, 0, 90), step(8, 100, 90), *ops))
        assert "; ProfilerStep#8 took 90.0 µs, 50.0 µs of it compiling" in found.title
        assert found.step == 8


class TestCompilePreOps:
    def test_the_three_parts_of_it(self) -> None:
        """Medians of the three calls, each part by itself."""
        found = the_one("compile-pre-ops", recorded("03_mlp_compile"))
        assert found.cost_ns == sum(found.evidence["pre_ops_ns"].values())
        assert found.title.startswith("every call pays 34.7 µs before its graph runs, 8 % of its CPU time: ")

    def test_all_graphs_of_a_call_pay(self) -> None:
        ops = [op("TorchDynamo Cache Lookup", at, 4) for at in (1, 40)]
        found = the_one(
            "compile-pre-ops", read(annotation("fwd", 0, 100), *ops, op("Pregraph bytecode", 10, 2))
        )
        assert found.evidence["pre_ops_ns"] == {"TorchDynamo Cache Lookup": 8_000, "Pregraph bytecode": 2_000}
        assert (found.cost_ns, found.share) == (10_000, 0.1)

    def test_eager_pays_none(self) -> None:
        assert seen("compile-pre-ops", recorded("03_mlp_eager")) == []


def test_below_a_list_of_kernels_they_are_told_in_turn() -> None:
    """By price the second one, of 50 us, would come before the first, of 30."""
    frames = [compiled("0/0", 5, 9), compiled("0/1", 170, 9), compiled("0/2", 290, 9)]
    compiling = [op("dynamo", 110, 30), op("dynamo", 210, 50)]
    steps = [step(i, 100 * i, 100) for i in range(3)]
    said = explanations(examine(read(*steps, *frames, *compiling)))
    assert [one.title[:21] for one in said] == ["recompilation 1 of 2:", "recompilation 2 of 2:"]
