"""`rung climb`: the story in a terminal and as JSON, and the guess that goes with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rung.cli.app import run

DRAWN = "drawn from the article's published names and times, not recorded"
TOP = ["schema_version", "rung", "device", "parameters", "variants", "guess", "outcomes", "layouts", "diffs"]
VARIANT = {
    "name", "trace", "skipped", "kernels", "copies", "memsets", "launches", "gpu_busy_ns", "cpu_ns",
    "scene", "parameters", "drawn", "limit", "remarks",
}  # fmt: skip


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


def climb(*arguments: str) -> int:
    return run(["climb", *arguments])


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert climb(*arguments, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(found) == TOP
    assert found["schema_version"] == 1
    return found


ARTICLE = ["matmul-add", "linear", "mlp"]
OTHERS = ["attention", "block", "model", "mlp-recompile", "mlp-graph-break"]


@pytest.mark.parametrize(
    ("rung", "collection"),
    [*((rung, "article") for rung in ARTICLE), *((rung, "h200") for rung in (*ARTICLE, *OTHERS))],
)
class TestRecorded:
    def test_json_keeps_the_contract(
        self, rung: str, collection: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        found = as_json(capsys, rung, "--recorded", collection)
        assert found["rung"] == rung
        assert found["guess"] is None
        for variant in found["variants"]:
            assert set(variant) == VARIANT
            assert Path(variant["trace"]).exists()
            assert variant["drawn"] is (collection == "article")
            assert (variant["limit"] is None) is (collection == "article")
        scenes = [variant["scene"] for variant in found["variants"]]
        assert len(found["diffs"]) == len(scenes) - len(set(scenes))
        for diff in found["diffs"]:
            assert diff["drawn"] is (collection == "article")
            times = [s for s in [*diff["changed"], *diff["unchanged"]] if "µs" in s]
            assert not (times and collection == "article")

    def test_drawn_is_said_of_each_scene_and_of_none_else(
        self, rung: str, collection: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        scenes = {v["scene"] for v in as_json(capsys, rung, "--recorded", collection)["variants"]}
        assert climb(rung, "--recorded", collection) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert said.out.count(DRAWN) == (len(scenes) if collection == "article" else 0)
        assert ("recorded on" in said.out) is (collection == "h200")


def test_the_mlp_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert climb("mlp", "--recorded", "h200") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "GeGLU MLP   down(gelu_tanh(gate(x)) * up(x))"
    assert lines[2].startswith(
        "batch 64, seq 128, dim 768, hidden 3072, bf16   recorded on NVIDIA H200, torch 2.11"
    )
    assert lines[4].startswith(
        "eager   mlp_fwd, median of 3   5 kernels + 2 memsets, 7 launches   GPU 234 µs"
    )
    assert (
        "  · the [64, 128, 3072] result of aten::gelu, 50.3 MB, is no longer written to memory and read back"
        in lines
    )
    assert lines[-2].startswith("Next: rung why ")
    assert lines[-1].startswith("      rung show ")


def test_rows_name_the_weights_they_work_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert climb("mlp", "--recorded", "h200", "--variants", "eager,rung") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "FLOP/s" in line]
    named = [" ".join(row[1:3]) for row in rows if row[0].isdecimal()]
    assert named == ["gate aten::mm", "up aten::mm", "down aten::mm", "gate, up", "down aten::mm"]
    # Many kernels are gathered by name, and so are their weights.
    assert climb("block", "--recorded", "h200", "--variants", "eager") == 0
    said = capsys.readouterr().out
    assert "aten::mm gate, up " in said
    assert "aten::mm q, k, v, o, ... " in said


def test_a_training_step_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert climb("mlp", "--recorded", "h200", "--train", "--variants", "eager") == 0
    said = capsys.readouterr().out
    assert "a step is forward and backward" in said
    assert "eager   mlp_step, median of 3   19 kernels + 4 memsets, 23 launches" in said
    assert "Nine GEMMs" in said
    assert "grad of gate" in said


def test_without_transformers_the_model_is_exit_4(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert climb("model", "--device", "cpu", "--no-guess") == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert 'pip install "rung[models]"' in said


@pytest.mark.parametrize("more", [[], ["--sweep", "batch=1"], ["--shapes", "1x2"]])
def test_without_torch_the_command_that_needs_none(
    more: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert climb("mlp", *more) == 4
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith('pip install "rung[torch]"; or see it without: rung climb mlp --recorded h200\n')
    assert climb("mlp", *more, "--variants", "fast") == 2


@pytest.mark.parametrize("columns", ["0", "1", "20", "41"])
@pytest.mark.parametrize("more", [["mlp"], ["block"], ["mlp", "--shapes", "64x128,64x100,3x77"]])
def test_any_width_will_do(
    columns: str, more: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """0 is what some say who do not know: as wide as it needs to be."""
    monkeypatch.setenv("COLUMNS", columns)
    assert climb(*more, "--recorded", "h200", "--no-guess") == 0
    said = capsys.readouterr().out
    assert ("left out" in said or columns == "1") is (columns != "0")
    assert said.startswith("GeGLU" if more[0] == "mlp" else "Transformer") or columns == "1"


def test_commands_to_copy_are_quoted_and_never_broken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert climb("mlp", "--recorded", "article", "--out", "two words") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "Next: rung why 'two words/article/article_mlp_eager.json'"
    assert lines[-1].split("rung show ")[1] == (
        "'two words/article/article_mlp_eager.json' 'two words/article/article_mlp_compiled.json'"
    )


@pytest.mark.parametrize(("found", "typed"), [(False, ".venv/bin/rung"), (True, "rung")])
def test_commands_to_copy_are_found_by_the_shell(
    found: bool,
    typed: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As `make climb` calls it, from an environment that is not active; and from one that is."""
    own = tmp_path / ".venv/bin/rung"
    own.parent.mkdir(parents=True)
    own.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(own.parent) if found else str(tmp_path))
    monkeypatch.setattr(sys, "argv", [str(own)])
    assert climb("mlp", "--recorded", "h200", "--variants", "eager") == 0
    assert f"Next: {typed} why " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("guess", "code", "last"),
    [("kernels=5,gemm=3", 0, "The guess holds."), ("kernels=4", 1, "The guess does not hold.")],
)
def test_a_guess(guess: str, code: int, last: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert climb("mlp", "--recorded", "h200", "--guess", guess) == code
    assert last in capsys.readouterr().out
    assert climb("mlp", "--recorded", "h200", "--guess", guess, "--json") == code
    found = json.loads(capsys.readouterr().out)["guess"]
    assert found["held"] is (code == 0)
    assert len(found["scenes"]) == 1


def test_what_a_guess_missed_takes_one_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert climb("mlp", "--recorded", "h200", "--guess", "gemm=5,kernels=5") == 1
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("mlp_fwd (3 instances)")
    assert lines[at + 1].startswith("  gemm == 5      3, 3, 3   no    2 nvjet_") and len(lines[at + 1]) == 80
    assert lines[at + 1].endswith("\u2026")
    assert lines[at + 2 : at + 4] == ["  kernels == 5   5, 5, 5   yes", "The guess does not hold."]


def test_a_guess_is_held_against_each_scene(capsys: pytest.CaptureFixture[str]) -> None:
    assert climb("matmul-add", "--recorded", "h200", "--guess", "memsets=0", "--json") == 1
    held = [scene["held"] for scene in json.loads(capsys.readouterr().out)["guess"]["scenes"]]
    assert held == [True, True, False, False]


@pytest.mark.torch
@pytest.mark.slow
def test_climbed_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    sizes = ["--batch", "2", "--seq", "8", "--dim", "16", "--hidden", "32"]
    found = as_json(capsys, "mlp", "--device", "cpu", "--no-guess", "--variants", "eager,compiled", *sizes)
    assert found["parameters"]["hidden"] == 32
    told = {variant["name"]: variant for variant in found["variants"]}
    assert (told["eager"]["kernels"], told["eager"]["launches"]) == (5, 0)
    assert told["eager"]["limit"] == "no-gpu"
    assert Path(told["eager"]["trace"]) == Path("traces/mlp/eager.json.gz")
    if told["compiled"]["skipped"] is None:
        assert told["compiled"]["kernels"] == 4
        assert [len(diff["fused"]) for diff in found["diffs"]] == [1]
        assert found["diffs"][0]["stand_in"] is True
    assert run(["read", told["eager"]["trace"]]) == 0
    assert "stand in for kernels" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("written", "keys"),
    [
        ("kernels=5, gemm=3,", ["kernels", "gemm"]),
        ("order=[gemm, gemm, ..., gemm], kernels=5", ["order", "kernels"]),
        ('order = [ gemm, "a], b" ] , kernels=5', ["order", "kernels"]),
        ('kernel:"f<4, float>" == 0, gemm=3', ["kernel:f<4, float>", "gemm"]),
        ("kernel:nvjet[_a]*=3,gemm=3", ["kernel:nvjet[_a]*", "gemm"]),
    ],
)
def test_a_guess_is_parted_at_commas_that_are_in_no_list_and_no_quotes(
    written: str, keys: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    climb("mlp", "--recorded", "h200", "--variants", "eager", "--json", "--guess", written)
    (guess,) = json.loads(capsys.readouterr().out)["guess"]["scenes"]
    assert list(dict.fromkeys(check["key"] for check in guess["checks"])) == keys
