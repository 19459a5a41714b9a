"""`rung why`: what it prints, the JSON that scripts rely on, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import rung
from handmade import GELU, TILE_A, events, ran
from recordings import TRACES, all_of, h200
from rung.cli.app import run
from tracelib import annotation, kernel, launch, op, step, text, write

EAGER, SMALL = "03_mlp_eager", "01_matmul_add_64_bf16_warm_eager"
FINDING = {"id", "title", "region", "step", "cost_ns", "share", "severity", "evidence", "advice"}
CHANGE = {"side", "what", "title", "delta_ns", "sure", "before", "after"}


@pytest.fixture(autouse=True)
def no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS of whoever runs the tests would wrap what goes to a pipe."""
    monkeypatch.delenv("COLUMNS", raising=False)


def why(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert run(["why", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(why(capsys, *arguments, "--json"))
    assert found.pop("schema_version") == 1
    return found


class TestPage:
    def test_the_answer_first_then_the_price(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = why(capsys, h200(SMALL)).splitlines()
        assert lines[0] == "overhead-bound: the GPU works 2.79 µs of each 52.5 µs (95 % idle)"
        assert lines[1] == "With its GPU work alone, as a CUDA graph has it, it would take 2.79 µs."
        assert lines[2] == ""
        assert lines[3].split()[:5] == ["49.7", "µs", "95", "%", "overhead-bound"]

    def test_it_fits_a_screen_and_says_what_it_leaves_out(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = why(capsys, h200("06_llama_eager")).splitlines()
        assert len(lines) < 24
        assert lines[-1].endswith(" more with --all")
        everything = why(capsys, h200("06_llama_eager"), "--all").splitlines()
        assert len(everything) > len(lines)
        assert not everything[-1].endswith(" more with --all")

    def test_several_regions(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        made = [annotation("a", 0, 50), launch(1, 1, 1), kernel(GELU, 5, 45, 1), annotation("b", 100, 20)]
        said = why(capsys, write(tmp_path / "t.json", *made))
        assert "region  times     wall  GPU busy  verdict" in said
        assert "a           1  50.0 µs   45.0 µs  memory-bound" in said
        assert "b           1  20.0 µs            no-gpu" in said
        assert "memory-bound  a: 100 % of the GPU's time moves bytes" in said

    def test_a_name_from_the_trace_is_text(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        made = [annotation("[bold]\x1b[31m", 0, 50), launch(1, 1, 1), kernel("[/]\x1b", 5, 4, 1)]
        said = why(capsys, write(tmp_path / "t.json", *made, annotation("b", 100, 20)))
        assert "\x1b" not in said
        assert "[bold]" in said

    def test_two_traces(self, capsys: pytest.CaptureFixture[str]) -> None:
        lines = why(capsys, h200(EAGER), h200("03_mlp_compile")).splitlines()
        assert lines[0].startswith("mlp_fwd takes 196 µs longer, 241 µs -> 437 µs (+81 %), more than")
        assert lines[1] == "The GPU works 25.2 µs less and waits 221 µs longer. 6 launches instead of 7."
        assert lines[3].split()[:4] == ["+342", "µs", "CPU", "new:"]
        assert "Found in B alone" in lines
        assert "No longer found" in lines


class TestJson:
    def test_of_one_trace(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = as_json(capsys, h200(SMALL))
        assert list(found) == ["trace", "verdict", "findings", "regions"]
        assert found["verdict"] == "overhead-bound"
        assert all(set(one) == FINDING for one in found["findings"])
        assert found["findings"][0]["id"] == "overhead-bound"
        assert found["findings"][0]["cost_ns"] == 49_724
        assert found["regions"][0]["prospects"]["gpu_work_ns"] == 2_785

    def test_every_finding_that_fires(self, capsys: pytest.CaptureFixture[str]) -> None:
        ids = {one["id"] for one in as_json(capsys, h200(EAGER))["findings"]}
        assert {"zero-kernel-ops", "same-op-other-kernel", "fusible-chain", "compute-bound"} <= ids

    def test_of_two(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = as_json(capsys, h200(EAGER), h200("03_mlp_fp32_eager"))
        assert all(set(one) == CHANGE for one in found["changes"])
        assert found["wall"]["sure"] is True
        assert found["launches"] == [7, 6]
        assert found["wall"]["delta_ns"] == found["gpu"]["delta_ns"] + found["waiting_delta_ns"]
        assert "precision-fallback" in {one["id"] for one in found["findings"]}
        assert all(set(one) == FINDING for one in found["findings"] + found["no_longer"])


class TestOptions:
    def test_only_and_ignore(self, capsys: pytest.CaptureFixture[str]) -> None:
        only = as_json(capsys, h200(EAGER), "--only", "hotspot", "--only", "overhead-bound")
        assert [one["id"] for one in only["findings"]] == ["hotspot"]
        left = as_json(capsys, h200(EAGER), "--ignore", "hotspot")
        assert "hotspot" not in {one["id"] for one in left["findings"]}

    @pytest.mark.parametrize("share", ["20%", "20 %", "0.2"])
    def test_min_share(self, share: str, capsys: pytest.CaptureFixture[str]) -> None:
        found = as_json(capsys, h200(EAGER), "--min-share", share)
        assert [one["id"] for one in found["findings"]] == ["compute-bound", "hotspot", "fusible-glu"]

    def test_a_region_and_a_step(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        made = [step(1, 0, 60), *events(ran(GELU, "aten::gelu")), step(2, 100, 60)]
        made += events(ran(TILE_A, "aten::mm"), at=100, first=5)
        path = write(tmp_path / "t.json", *made)
        found = as_json(capsys, path, "--region", "fwd", "--step", 2)
        assert [one["instances"] for one in found["regions"]] == [1]

    def test_standard_input(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(text(*events(ran(GELU, "aten::gelu")))))
        )
        assert as_json(capsys, "-")["verdict"] == "overhead-bound"


class TestExitCodes:
    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            (["--only", "hotpot"], 2, "there is no finding 'hotpot'; there are compute-bound"),
            (["--ignore", "hotpot"], 2, "there is no finding 'hotpot'"),
            (["--step", "9"], 2, "has no step 9"),
            (["--region", "other"], 2, "has no region 'other'"),
            (["--min-share", "much"], 2, "--min-share"),
            (["absent.json"], 3, "absent.json does not exist"),
        ],
    )
    def test_what_makes_no_sense(
        self, arguments: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        path = write(tmp_path / "t.json", *events(ran(GELU, "aten::gelu")))
        assert run(["why", str(path), *arguments]) == code
        captured = capsys.readouterr()
        assert captured.out == ""
        assert said in captured.err
        assert captured.err.count("\n") == 1

    def test_standard_input_holds_one_trace(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["why", "-", "-"]) == 2
        assert "standard input holds one trace" in capsys.readouterr().err

    def test_a_damaged_trace_is_explained_and_says_so(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        whole = text(*events(ran(GELU, "aten::gelu")), *events(ran(GELU, "aten::gelu"), at=100, first=9))
        path = tmp_path / "cut.json"
        path.write_bytes(whole[:-200])
        assert "the recording is not whole: truncated" in why(capsys, path)
        assert as_json(capsys, path)["trace"]["cautions"]

    def test_a_cpu_has_the_verdict_no_gpu(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = write(tmp_path / "t.json", annotation("fwd", 0, 50), op("aten::mm", 0, 30), device=None)
        assert as_json(capsys, path)["verdict"] == "no-gpu"
        assert why(capsys, path).startswith("no GPU work: the ops that compute stand in for kernels")


@pytest.mark.parametrize("path", all_of("broken"), ids=lambda path: path.name)
def test_every_broken_file_is_explained_or_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["why", str(path), "--json"])
    captured = capsys.readouterr()
    assert code in (0, 3)
    assert json.loads(captured.out)["verdict"] if code == 0 else captured.err.count("\n") == 1


def test_ranks_of_one_job(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [TRACES / f"h200_ranks/mlp_ddp_straggler_rank{rank}.json.gz" for rank in (0, 1)]
    if not paths[0].exists():
        pytest.skip(f"{paths[0]} is not there: the shared traces are not beside this checkout")
    assert "straggler" in {one["id"] for one in as_json(capsys, *paths)["findings"]}


README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("variants", [("eager",), ("eager", "compiled")])
def test_the_readme_shows_what_is_printed(
    variants: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of recordings that ship, 112 columns wide."""
    monkeypatch.chdir(README.parent)
    monkeypatch.setenv("COLUMNS", "112")
    paths = [f"src/rung/ladder/recordings/h200/mlp/{variant}.json.gz" for variant in variants]
    assert f"$ rung why {' '.join(paths)}\n{why(capsys, *paths)}```" in README.read_text()


def test_the_readme_names_the_verdict_that_python_gets() -> None:
    trace = rung.read(README.parent / "src/rung/ladder/recordings/h200/mlp/eager.json.gz")
    assert f'rung.why(trace).verdict  # "{rung.why(trace).verdict}" on an H200' in README.read_text()
