"""Guesses about real recordings, whose truth was read off the profiler's own tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.insight.guess import Verdict, guess
from rung.trace import read

TRACES = Path(__file__).parents[3] / "shared" / "traces"


def judge(name: str, *expectations: str, allow_incomplete: bool = False) -> Verdict:
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"{path} is not there: the shared traces are not beside this checkout")
    return guess(*expectations).check(read(path), allow_incomplete=allow_incomplete)


EAGER = "h200/03_mlp_eager.json.gz"
COMPILED = "h200/03_mlp_compile.json.gz"


@pytest.mark.parametrize(
    ("name", "expectations"),
    [
        (EAGER, ("kernels=5", "gemm=3", "pointwise=2", "memsets=2", "launches=7", "copies=0")),
        (EAGER, ("order=gemm,gemm,pointwise,pointwise,gemm", "dtype=bf16", "op:aten::linear=3")),
        (EAGER, ("gpu_busy in 231..238 us", "gpu_idle_share<14%", "cpu>150us", "family:nvjet=3")),
        (COMPILED, ("kernels=4", "gemm=3", "pointwise=1", "memsets=2", "launches=6")),
        (COMPILED, ("kernel:triton_poi_*=1", "op:aten::linear=0", "order=gemm, gemm, triton_poi_*, gemm")),
        ("h200/03_mlp_manual_cudagraph.json.gz", ("kernels=5", "launches=1")),
        ("h200/03_mlp_fp32_eager.json.gz", ("dtype=fp32", "kernels>=5")),
        ("h200/08_h2d_copy_mlp.json.gz", ("copies>=1",)),
        ("broken/08-trailing-comma-unclosed.json", ("kernels=1",)),
    ],
)
def test_the_truth_holds_of_every_instance(name: str, expectations: tuple[str, ...]) -> None:
    verdict = judge(name, *expectations)
    assert verdict, str(verdict)


def test_a_wrong_guess_about_the_compiled_mlp_names_the_fused_kernel() -> None:
    verdict = judge(COMPILED, "kernels=2", "kernel:triton_poi_*==0")
    assert verdict.reason is None
    assert [check.got for check in verdict.checks] == [4, 4, 4, 1, 1, 1]
    assert "no    triton_poi_fused__unsafe_view_gelu_mul_0" in str(verdict)


def test_kernels_from_before_the_window_are_spoken_of() -> None:
    verdict = judge("h200/03_mlp_fp32_eager.json.gz", "kernels=5")
    assert [check.got for check in verdict.checks] == [8, 5, 5]
    assert verdict.notes[0].startswith("4 device events with no launch in the file")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("broken/02-unescaped-quote-newline.json", "skipped-event"),
        ("broken/07-truncated.json", "truncated"),
        ("broken/18-metadata-only.json", "no GPU activity"),
    ],
)
def test_what_is_not_whole_is_not_judged(name: str, word: str) -> None:
    verdict = judge(name, "kernels>=0")
    assert not verdict
    assert verdict.reason is not None
    assert word in verdict.reason
    assert judge(name, "kernels>=0", allow_incomplete=True)


def test_a_step_whose_kernel_was_not_flushed_is_not_judged() -> None:
    verdict = judge("broken/32-window-edge-orphans.json", "kernels<=1")
    assert [(check.got, check.held) for check in verdict.checks] == [(1, True), (None, False)]


def test_a_replayed_graph_tells_no_dtype() -> None:
    verdict = judge("h200/03_mlp_manual_cudagraph.json.gz", "dtype!=fp32")
    assert verdict.reason is not None
    assert not verdict
