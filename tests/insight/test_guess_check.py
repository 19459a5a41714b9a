"""A guess against hand-made traces whose numbers are plain to see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rung.errors import UsageError
from rung.insight.guess import Guess, guess, load
from rung.insight.guessing.language import parse
from rung.insight.guessing.wants import Amount, Comparison, DtypeWant
from rung.trace import Trace
from tracelib import (
    Event,
    annotation,
    call,
    copy,
    kernel,
    launch,
    memset,
    op,
    read,
    read_bytes,
    step,
    text,
)

DENIAL: dict[str, Comparison] = {"==": "!=", "!=": "=="}

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
NVJET = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"
BF16: dict[str, Any] = {"Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Dims": [[8, 8], [8, 8]]}


def forward(at: float, number: int, first: str = NVJET, **inputs: Any) -> list[Event]:
    """Memset, GEMM, addition in 100 us; the GPU works 10 + 30 of 50 us, the region is open for 80 us."""
    n = 10 * number
    return [
        step(number, at, 100),
        annotation("fwd", at + 5, 80),
        op("aten::linear", at + 10, 30),
        op("aten::mm", at + 12, 25, **inputs),
        call("cudaMemsetAsync", at + 14, 2, correlation=n),
        memset(at + 15, 2, correlation=n),
        launch(at + 20, 5, correlation=n + 1),
        kernel(first, at + 30, 10, correlation=n + 1),
        op("aten::add", at + 45, 20),
        launch(at + 50, 5, correlation=n + 2),
        kernel(ADD, at + 50, 30, correlation=n + 2),
    ]


@pytest.fixture
def trace() -> Trace:
    return read(*forward(0, 1, **BF16), *forward(1000, 2, **BF16))


@pytest.mark.parametrize(
    "held",
    [
        "kernels=2",
        "gemm=1",
        "pointwise=1",
        "softmax=0",
        "copies=0",
        "memsets=1",
        "memset=1",
        "launches=3",
        "family:nvjet=1",
        "op:aten::mm=1",
        "op:aten::*=3",
        "kernel:nvjet_*=1",
        "kernel:*CUDAFunctor_add<float>* == 1",
        f'kernel:"{ADD}" = 1',
        "dtype=bf16",
        "dtype!=fp32",
        "order=gemm, pointwise",
        "order=memset, gemm, pointwise",
        "order=nvjet_*, ...",
        "gpu_busy=42us",
        "cpu in 80..80 us",
        "gpu_idle_share=47.5%",
    ],
)
def test_what_is_there_holds_and_its_denial_does_not(held: str, trace: Trace) -> None:
    assert guess(held).check(trace)
    said = parse(held)
    if isinstance(said.want, Amount | DtypeWant) and said.want.comparison in DENIAL:
        denied = replace(said.want, comparison=DENIAL[said.want.comparison])
        assert not Guess((replace(said, want=denied),)).check(trace)


def test_the_verdict_says_what_each_instance_showed(trace: Trace) -> None:
    verdict = guess(kernels=3, gpu_busy="< 1 ms").check(trace)
    assert (verdict.held, verdict.reason) == (False, None)
    assert verdict.to_dict()["checks"] == [
        {"region": "fwd", "step": 1, "key": "kernels", "want": "== 3", "got": 2, "held": False},
        {"region": "fwd", "step": 2, "key": "kernels", "want": "== 3", "got": 2, "held": False},
        {"region": "fwd", "step": 1, "key": "gpu_busy", "want": "< 1 ms", "got": 42_000, "held": True},
        {"region": "fwd", "step": 2, "key": "gpu_busy", "want": "< 1 ms", "got": 42_000, "held": True},
    ]


def test_it_prints_a_line_for_each_expectation_and_what_was_counted_where_it_fails(trace: Trace) -> None:
    verdict = guess("gemm=1", "kernel:nvjet_*==0", "kernels=3").check(trace)
    assert str(verdict).splitlines() == [
        "fwd (2 instances)",
        "  gemm == 1             1, 1   yes",
        f"  kernel:nvjet_* == 0   1, 1   no    {NVJET}",
        "  kernels == 3          2, 2   no    1 gemm, 1 pointwise",
        "The guess does not hold.",
    ]
    assert "&" not in str(verdict)
    assert verdict._repr_html_() == f"<pre>{verdict}</pre>"


def test_all_instances_must_hold() -> None:
    extra = [launch(1060, 2, correlation=9), kernel("toy", 1090, 2, correlation=9)]
    verdict = guess(kernels=2).check(read(*forward(0, 1), *forward(1000, 2), *extra))
    assert [check.got for check in verdict.checks] == [2, 3]
    assert not verdict


NESTED = [
    annotation("outer", 0, 100),
    annotation("inner_a", 10, 30),
    launch(15, 2, correlation=1),
    kernel("toy", 20, 5, correlation=1),
    annotation("inner_b", 50, 30),
    launch(55, 2, correlation=2),
    kernel("toy", 60, 5, correlation=2),
]


def test_the_outermost_annotation_is_judged_unless_a_region_is_named() -> None:
    trace = read(*NESTED)
    assert [(c.region, c.got) for c in guess(kernels=2).check(trace).checks] == [("outer", 2)]
    assert [(c.region, c.got) for c in guess(kernels=1, region="inner_*").check(trace).checks] == [
        ("inner_a", 1),
        ("inner_b", 1),
    ]
    tables = guess({"kernels": 2, "inner_a": {"kernels": 1}, "inner_b": {"gemm": 0}})
    assert tables.check(trace)
    with pytest.raises(UsageError, match=r"no region 'iner' in .*; there are: outer, inner_a, inner_b"):
        guess(kernels=1, region="iner").check(trace)


def test_without_annotations_steps_serve_and_without_steps_the_whole_trace() -> None:
    work = [launch(20, 5, correlation=11), kernel("toy", 30, 20, correlation=11)]
    steps = guess(kernels="<= 1").check(read(step(1, 0, 50), *work, step(2, 50, 50), op("aten::mm", 60, 5)))
    assert [(check.region, check.step, check.got) for check in steps.checks] == [
        ("ProfilerStep#1", 1, 1),
        ("ProfilerStep#2", 2, 0),
    ]
    assert str(steps).startswith("profiler steps (2 instances)\n")
    assert [check.region for check in guess(kernels=1).check(read(*work)).checks] == ["whole trace"]


def test_a_cut_trace_is_not_judged_unless_asked_to() -> None:
    whole = text(*NESTED)
    cut = read_bytes(whole[: whole.rindex(b'{"ph"') + 20])
    verdict = guess(kernels=1).check(cut)
    assert not verdict
    assert verdict.reason is not None
    assert verdict.reason.startswith("truncated")
    assert verdict.checks == ()
    allowed = guess(kernels=1).check(cut, allow_incomplete=True)
    assert allowed
    assert str(allowed).startswith("Incomplete, judged all the same: truncated")


def test_lost_work_makes_its_own_counts_doubtful_and_no_others() -> None:
    lost = read(*forward(0, 1), launch(60, 2, correlation=99))
    verdict = guess("kernel:foo=0").check(lost)
    assert not verdict
    assert verdict.reason == (
        "kernel:foo in fwd: 1 of its launches left no work in this trace (cudaLaunchKernel)"
    )
    assert guess(memsets=1, launches=4, cpu="80us").check(lost)
    assert guess("kernel:foo=0").check(lost, allow_incomplete=True)

    no_memset = read(*forward(0, 1), call("cudaMemsetAsync", 60, 2, correlation=99))
    assert guess(kernels=2).check(no_memset)
    assert not guess(memsets=1).check(no_memset)
    assert not guess(gpu_busy="> 0 us").check(no_memset)


@pytest.mark.parametrize(
    ("name", "inputs", "dtype"),
    [
        (NVJET, BF16, "bf16"),
        (NVJET, {"Input type": ["c10::Half", "c10::Half", "Scalar"]}, "fp16"),
        (
            NVJET,
            {"Input type": ["float", "c10::Half", "c10::Half"], "Input Dims": [[8], [8, 8], [8, 8]]},
            "fp16",
        ),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma", {}, "fp32"),
        ("cutlass_80_tensorop_s1688tf32gemm_256x128_16x3_tn_align4", {}, "tf32"),
        ("cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8", {}, "bf16"),
    ],
)
def test_a_gemms_dtype_comes_from_its_name_else_from_its_matrices(
    name: str, inputs: dict[str, Any], dtype: str
) -> None:
    trace = read(*forward(0, 1, name, **inputs))
    verdict = guess(dtype=dtype).check(trace)
    assert [check.got for check in verdict.checks] == [dtype]
    assert verdict


@pytest.mark.parametrize(
    "inputs",
    [
        {},
        {"Input type": ["float", "float"], "Input Dims": [[8, 8], [8, 8]]},  # fp32, or TF32: who knows
        {"Input type": ["c10::Half", "float"], "Input Dims": [[8, 8], [8, 8]]},
    ],
)
@pytest.mark.parametrize("comparison", ["== fp32", "!= fp32", "!= bf16"])
def test_a_dtype_that_nothing_tells_never_holds(inputs: dict[str, Any], comparison: str) -> None:
    verdict = guess(dtype=comparison).check(read(*forward(0, 1, **inputs)))
    assert not verdict
    assert verdict.reason is not None
    assert NVJET in verdict.reason


def test_without_a_gemm_no_dtype_is_judged() -> None:
    verdict = guess(dtype="!= fp32").check(read(*forward(0, 1, "toy")))
    assert verdict.reason == "dtype in fwd: there is no GEMM in this region"


def cpu_only() -> Trace:
    float32 = {"Input type": ["float", "float"], "Input Dims": [[8, 8], [8, 8]]}
    return read(
        annotation("fwd", 0, 100),
        op("aten::linear", 10, 40, **float32),
        op("aten::t", 12, 5),
        op("aten::mm", 20, 20, **float32),
        op("aten::gelu", 60, 20),
        device=None,
    )


def test_on_a_cpu_ops_stand_in_for_kernels_and_the_verdict_says_so() -> None:
    verdict = guess(
        "op:aten::t=1", kernels=2, gemm=1, pointwise=1, dtype="fp32", launches=0, order=["gemm", "*gelu"]
    )
    found = verdict.check(cpu_only())
    assert found
    assert str(found).startswith("No GPU work in this trace: ops stand in for kernels.")


@pytest.mark.parametrize("key", ["gpu_busy", "gpu_idle_share"])
def test_gpu_time_is_not_judged_on_a_cpu(key: str) -> None:
    verdict = guess({key: "== 0 us" if key == "gpu_busy" else "== 0%"}).check(cpu_only())
    assert verdict.reason == f"{key} in fwd: there is no GPU work in this trace"


def test_work_without_a_time_leaves_gpu_time_unjudged() -> None:
    trace = read(*forward(10_000, 1), launch(10_060, 2, correlation=99), kernel("toy", 0, 0, correlation=99))
    assert guess(kernels=3).check(trace)
    verdict = guess(gpu_busy="< 1 s").check(trace)
    assert verdict.reason == "gpu_busy in fwd: some of its device work has no time in this trace"


def test_copies_stand_apart_from_kernels() -> None:
    trace = read(
        annotation("move", 0, 50), call("cudaMemcpyAsync", 5, 5, correlation=1), copy(20, 5, correlation=1)
    )
    assert guess(kernels=0, copies=1, copy=1, memsets=0, order=["copy"]).check(trace)


def test_guesses_add_up_and_say_themselves() -> None:
    both = guess(kernels=5) + guess("gemm>=3", region="mlp*") + guess(kernels=5)
    assert str(both) == "kernels == 5\ngemm >= 3  in mlp*"


@pytest.mark.parametrize("nothing", [(), ({},)])
def test_nothing_expected_is_no_guess(nothing: tuple[dict[str, object], ...]) -> None:
    with pytest.raises(UsageError, match="expects something"):
        guess(*nothing)


def test_a_file_holds_a_table_for_each_region(tmp_path: Path) -> None:
    path = tmp_path / "mlp.guess.toml"
    path.write_text(
        "kernels = 2\n"
        "[fwd]\n"
        'gemm = "1"\n'
        'pointwise = ">= 1"\n'
        '"op:aten::mm" = 1\n'
        'order = ["gemm", "pointwise"]\n'
    )
    assert load(path) == guess({"kernels": 2}) + guess(
        "gemm=1", "pointwise>=1", "op:aten::mm=1", "order=gemm,pointwise", region="fwd"
    )
    assert load(path, "f*").expectations[0].region == "f*"
    assert load(path).check(read(*forward(0, 1)))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[mlp]\ngem = 3\n", "[mlp] unknown key 'gem'. Did you mean 'gemm'?"),
        ("[mlp]\nkernels = true\n", "[mlp] kernels takes a number or a comparison"),
        ("kernels = 3\nkernels = 4\n", "line 2"),
        ("[mlp]\nop:aten::mm = 3\n", "line 2"),
        ("[mlp.fwd]\nkernels = 3\n", "[mlp]: 'fwd' is a table"),
        ("", "expects nothing"),
    ],
)
def test_a_bad_file_is_named_with_the_place(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.guess.toml"
    path.write_text(content)
    with pytest.raises(UsageError) as refused:
        load(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert says in str(refused.value)


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml: cannot be read: No such file"):
        load(tmp_path / "none.toml")


def test_a_long_story_is_told_shortly() -> None:
    endless = read(*forward(0, 1, "k" * 5000))
    assert max(map(len, str(guess("kernel:k*=0").check(endless)).splitlines())) < 150
    assert max(map(len, str(guess("kernels=1", "order=" + "k" * 90).check(endless)).splitlines())) < 300

    many = read(*(event for at in range(9) for event in forward(1000 * at, at + 1)))
    verdict = guess(kernels=1, order="gemm").check(many)
    assert str(verdict).splitlines()[:3] == [
        "fwd (9 instances)",
        "  kernels == 1    2 (x9)                 no    1 gemm, 1 pointwise",
        "  order == gemm   gemm, pointwise (x9)   no",
    ]


def test_a_guess_is_a_value() -> None:
    assert isinstance(guess(kernels=5), Guess)
    assert guess(kernels=5) == guess("kernels == 5") == guess({"kernels": "5"})
    assert hash(guess(kernels=5)) == hash(guess("kernels=5"))
