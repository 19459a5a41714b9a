"""`rung read` and `rung diff`: what they print, and the JSON that scripts rely on."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from handmade import GELU, MUL, TILE_A, events, ran
from recordings import all_of, h200
from rung.cli.app import run
from rung.ladder import article
from tracelib import annotation, kernel, launch, op, step, text, write

KINDS = {
    "gemm", "pointwise", "reduction", "normalization", "softmax", "attention", "convolution", "copy",
    "memset", "collective", "other",
}  # fmt: skip
MAYBE_INT, MAYBE_STR = (int, type(None)), (str, type(None))
TRACE = {
    "path": str, "events": int, "skipped_events": int, "repaired_events": int, "warnings": list,
    "device": MAYBE_STR, "rank": MAYBE_INT, "span_ns": int, "stand_in": bool, "incomplete": MAYBE_STR,
    "drawn": bool,
}  # fmt: skip
WARNING = {"code": str, "count": int, "offset": MAYBE_INT, "message": str}
REGION = {
    "name": str, "step": MAYBE_INT, "start_ns": int, "cpu_ns": int, "wall_ns": int, "kernels": int,
    "copies": int, "memsets": int,
    "launches": int, "gpu_busy_ns": int, "gpu_span_ns": int, "gpu_idle_share": (float, int),
}  # fmt: skip
KERNEL = {
    "name": str, "family": str, "kind": str, "start_ns": int, "dur_ns": int, "raw_dur_ns": int,
    "device": (int, str, type(None)), "stream": (int, str, type(None)), "correlation": MAYBE_INT,
    "op": MAYBE_STR,
    "region": MAYBE_STR, "step": MAYBE_INT, "launch": MAYBE_STR, "occupancy_query": bool, "decoded": dict,
}  # fmt: skip
PAIRS = {"kernels", "copies", "memsets", "launches", "gpu_busy_ns", "cpu_ns"}
DIFF = {
    "schema_version": int, "a": str, "b": str, "region": str, "drawn": bool, "stand_in": bool, "same": list,
    "gone": list, "new": list, "fused": list, "round_trips_removed": list, "per_region": dict,
    "changed": list, "unchanged": list,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS of whoever runs the tests would wrap what goes to a pipe."""
    monkeypatch.delenv("COLUMNS", raising=False)


def fits(value: dict[str, Any], schema: dict[str, Any]) -> None:
    assert set(value) == set(schema)
    for key, kind in schema.items():
        assert isinstance(value[key], kind), (key, value[key])
        assert isinstance(value[key], bool) is (kind is bool), (key, value[key])


def out(arguments: Sequence[object], capsys: pytest.CaptureFixture[str]) -> str:
    assert run([str(argument) for argument in arguments]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def as_json(arguments: Sequence[object], capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(out([*arguments, "--json"], capsys))


RECORDED = [*all_of("h200"), *all_of("broken")]


@pytest.mark.skipif(not RECORDED, reason="the shared traces are not beside this checkout")
def test_every_recording_and_every_damage_keeps_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    for path in RECORDED:
        found = as_json(["read", path], capsys)
        assert list(found) == ["schema_version", "trace", "regions", "kernels"]
        assert found["schema_version"] == 1
        fits(found["trace"], TRACE)
        for warning in found["trace"]["warnings"]:
            fits(warning, WARNING)
        for region in found["regions"]:
            fits(region, REGION)
            assert region["gpu_busy_ns"] <= region["gpu_span_ns"] <= region["wall_ns"]
            assert 0 <= region["gpu_idle_share"] <= 1
        for one in found["kernels"]:
            fits(one, KERNEL)
            assert one["kind"] in KINDS
            assert one["raw_dur_ns"] >= one["dur_ns"] >= 0 or one["raw_dur_ns"] < 0


def test_the_mlp_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    found = as_json(["read", h200("03_mlp_eager")], capsys)
    assert found["trace"]["device"] == "NVIDIA H200"
    keys = ("name", "step", "kernels", "copies", "memsets", "launches")
    counted = [tuple(region[key] for key in keys) for region in found["regions"]]
    assert counted == [("mlp_fwd", number, 5, 0, 2, 7) for number in (2, 3, 4)]
    assert len(found["kernels"]) == 21
    assert {k["op"] for k in found["kernels"]} == {"aten::mm", "aten::gelu", "aten::mul"}
    second = as_json(["read", h200("03_mlp_eager"), "--step", 3], capsys)
    assert [r["cpu_ns"] for r in second["regions"]] == [160_559]
    assert [k["step"] for k in second["kernels"]] == [3] * 7


def test_the_mlp_in_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line.rstrip() for line in out(["read", h200("03_mlp_eager")], capsys).splitlines()]
    assert (
        "mlp_fwd, median of 3   5 kernels + 2 memsets, 7 launches   GPU 233 µs   CPU 161 µs   GPU idle 4 %"
        in lines
    )
    assert any(line.startswith("├── aten::linear > matmul > mm  x2") for line in lines)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = out(["read", h200("03_mlp_eager")], capsys).splitlines()
    assert max(map(len, narrow)) <= 80


def test_a_step_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = events(ran("k", "x")), events(ran("k", "x"), at=100, first=9)
    path = write(tmp_path / "a.json", step(1, 0, 90), *first, step(2, 100, 90), *second)
    assert "median of 2" in out(["read", path], capsys)
    assert "median of" not in out(["read", path, "--step", 2], capsys)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(
    packed: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = text(*events(ran(GELU, "aten::gelu")))
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(data) if packed else data))
    monkeypatch.setattr("sys.stdin", stdin)
    found = as_json(["read", "-"], capsys)
    assert [k["name"] for k in found["kernels"]] == [GELU]


def test_packed_and_unpacked_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = events(ran(GELU, "aten::gelu"))
    a, b = (as_json(["read", write(tmp_path / name, *made)], capsys) for name in ("a.json", "b.json.gz"))
    assert a["kernels"] == b["kernels"]
    assert a["regions"] == b["regions"]


def test_diff_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = h200("03_mlp_eager"), h200("03_mlp_compile")
    found = as_json(["diff", a, b], capsys)
    fits(found, DIFF)
    assert (found["a"], found["b"], found["region"]) == (str(a), str(b), "mlp_fwd")
    (fused,) = found["fused"]
    assert fused["from"] == ["aten::_unsafe_view", "aten::gelu", "aten::mul"]
    assert fused["into"] == "triton_poi_fused__unsafe_view_gelu_mul_0"
    assert fused["measured_saved_ns"] == 29_856 + 36_031 - 37_664
    assert fused["predicted_saved_ns"] == pytest.approx(fused["measured_saved_ns"], rel=0.25)
    assert found["round_trips_removed"] == [
        {"tensor_bytes": 50_331_648, "shape": [64, 128, 3072], "between": ["aten::gelu", "aten::mul"]}
    ]
    assert set(found["per_region"]) == PAIRS
    assert found["per_region"]["launches"] == [7, 6]
    assert found["per_region"]["cpu_ns"] == [160_559, 437_125]
    assert len(found["same"]) == 5


def test_diff_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        line.rstrip()
        for line in out(["diff", h200("03_mlp_eager"), h200("03_mlp_compile")], capsys).splitlines()
    ]
    assert lines[0].startswith("A   ")
    assert lines[0].endswith("03_mlp_eager.json.gz   mlp_fwd, median of 3")
    assert "GPU busy          233 µs  207 µs (-11 %)" in lines
    assert "  · launches a forward: 7 -> 6" in lines
    assert "  · the 3 GEMMs, name for name" in lines


def test_drawn_is_said_and_no_time_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = (article.write("mlp", variant, tmp_path) for variant in ("eager", "compiled"))
    assert "drawn from published names and times" in out(["read", a], capsys)
    assert as_json(["read", a], capsys)["trace"]["drawn"] is True
    assert out(["diff", a, b], capsys).count("drawn from published names and times") == 2
    found = as_json(["diff", a, b], capsys)
    assert found["drawn"] is True
    assert not any("µs" in sentence for sentence in [*found["changed"], *found["unchanged"]])


def test_stand_ins_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "cpu.json", annotation("fwd", 0, 50), op("aten::mm", 5, 9))
    assert as_json(["read", path], capsys)["trace"]["stand_in"] is True
    assert as_json(["diff", path, path], capsys)["stand_in"] is True
    assert "stand in for kernels" in out(["read", path], capsys)
    assert "stand in for kernels" in out(["diff", path, path], capsys)


def test_markup_and_escapes_in_names_are_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["[/]", "[bold]x", "\x1b[31mred"]
    path = write(tmp_path / "a.json", *events(*(ran(name, name) for name in names)))
    for arguments in (["read", path], ["read", path, "--all"], ["diff", path, path]):
        said = out(arguments, capsys)
        assert "\x1b" not in said
    said = out(["read", path], capsys)
    assert all(shown in said for shown in ("[/]", "[bold]x", "␛[31mred"))
    assert [k["name"] for k in as_json(["read", path], capsys)["kernels"]] == names


def piped(arguments: Sequence[object], **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "rung", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_closed_pipe_is_no_traceback(flags: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", *events(*(ran(f"k{i}" * 50, "x") for i in range(400))))
    process = piped(["read", path, "--all", *flags])
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


def test_into_a_pipe_go_whole_lines_without_colour(tmp_path: Path) -> None:
    name = "a_name_of_" + "x" * 300
    path = write(
        tmp_path / "a.json", *events(ran(TILE_A, "aten::mm"), ran(name, name), ran(MUL, "aten::mul"))
    )
    said, complaint = piped(["read", path]).communicate()
    assert complaint == b""
    assert b"\x1b" not in said
    assert sum(name in line for line in said.decode().splitlines()) >= 2


def test_a_terminal_that_knows_no_micro_gets_an_escape(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", annotation("fwd", 0, 50), launch(1, 1, 1), kernel("k", 5, 5, 1))
    said, complaint = piped(["read", path], PYTHONIOENCODING="ascii").communicate()
    assert complaint == b""
    assert b"GPU 5.00 \\xb5s" in said


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == run(["--help"]) == 0
    said = capsys.readouterr()
    assert said.out.count("Usage: rung") == 2
    assert all(verb in said.out for verb in ("climb", "record", "read", "diff", "guess", "name"))
