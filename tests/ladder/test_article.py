from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rung.errors import UsageError
from rung.ladder import article
from rung.trace import Trace, read

ALL = [(rung, variant) for rung in article.drawn_rungs() for variant in article.drawn_variants(rung)]
REGIONS = {"matmul-add": "matmul_add", "linear": "linear_fwd", "mlp": "mlp_fwd"}

GATE_UP = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
DOWN = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn"
BIG = "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"
SMALL = "cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_32x1_tn_align8"


@pytest.fixture
def drawn(tmp_path: Path) -> Any:
    return lambda rung, variant: read(article.write(rung, variant, tmp_path))


def per_region(trace: Trace) -> list[list[tuple[str, int]]]:
    return [[(kernel.name, kernel.dur_ns) for kernel in region.kernels] for region in trace.regions]


def metadata(rung: str, variant: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(article.draw(rung, variant))["rung"]
    return found


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_it_reads_like_a_recording_without_a_warning(rung: str, variant: str, drawn: Any) -> None:
    trace = drawn(rung, variant)
    assert list(trace.warnings) == []
    assert trace.incomplete is None
    assert not trace.stand_in
    assert trace.device == "NVIDIA A100-SXM4-80GB"
    assert [region.name for region in trace.regions] == [REGIONS[rung]] * 3
    assert [region.step for region in trace.regions] == [2, 3, 4]
    properties = trace.header.device_properties[0]
    assert (properties["computeMajor"], properties["computeMinor"], properties["numSms"]) == (8, 0, 108)


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_occupancy_is_asked_for_before_each_gemm_and_before_nothing_else(
    rung: str, variant: str, drawn: Any
) -> None:
    asked = {kernel.name for kernel in drawn(rung, variant).kernels if kernel.occupancy_query}
    others = {kernel.name for kernel in drawn(rung, variant).kernels if not kernel.occupancy_query}
    assert asked
    assert all("gemm" in name for name in asked)
    assert not any("gemm" in name for name in others)


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_work_is_on_stream_7_launched_from_inside_its_op_and_starts_after_its_launch(
    rung: str, variant: str, drawn: Any
) -> None:
    trace = drawn(rung, variant)
    for kernel in trace.kernels:
        assert kernel.stream == 7
        assert kernel.op is not None
        assert kernel.op.start_ns <= kernel.launch.start_ns
        assert kernel.launch.start_ns + kernel.launch.dur_ns <= min(kernel.start_ns, kernel.op.end_ns)
        is_triton = kernel.name.startswith(("triton_", "_geglu"))
        launch = "cuLaunchKernel" if is_triton else "cudaLaunchKernel"
        assert kernel.launch.name == ("cudaMemcpyAsync" if kernel.category == "copy" else launch)


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_the_arrows_go_from_each_launch_to_its_work(rung: str, variant: str) -> None:
    events = json.loads(article.draw(rung, variant), parse_float=Decimal)["traceEvents"]
    spans = {"s": {}, "f": {}}
    for event in events:
        if event["ph"] == "X" and event["name"].startswith(("cudaLaunch", "cuLaunch", "cudaMemcpy")):
            spans["s"][event["args"]["correlation"]] = event["ts"]
        elif event["ph"] == "X" and event["cat"] in ("kernel", "gpu_memcpy"):
            spans["f"][event["args"]["correlation"]] = event["ts"]
    arrows = {end: {e["id"]: e["ts"] for e in events if e["ph"] == end} for end in "sf"}
    assert len(arrows["s"]) >= 3
    assert arrows == spans
    assert arrows["s"].keys() == arrows["f"].keys()


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_every_time_is_a_whole_number_of_nanoseconds(rung: str, variant: str) -> None:
    events = json.loads(article.draw(rung, variant), parse_float=Decimal)["traceEvents"]
    times = [event[key] for event in events for key in ("ts", "dur") if key in event]
    assert len(times) > 30
    assert all(isinstance(at, Decimal) and at * 1000 == int(at * 1000) for at in times)


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_drawn_twice_it_is_the_same_to_the_byte(rung: str, variant: str) -> None:
    assert article.draw(rung, variant) == article.draw(rung, variant)


@pytest.mark.parametrize(("rung", "variant"), ALL)
def test_it_says_that_it_is_drawn_and_from_what(rung: str, variant: str) -> None:
    found = metadata(rung, variant)
    part = "torch-profiler" if rung == "matmul-add" else "torch-mlp-fusion"
    assert found["schema_version"] == 1
    assert (found["name"], found["variant"], found["region"]) == (rung, variant, REGIONS[rung])
    assert found["device"] == "NVIDIA A100-SXM4-80GB"
    assert found["drawn"] is True
    assert found["source"] == f"https://huggingface.co/blog/{part}"
    assert found["note"] == "drawn from the article's published names and times, not recorded"
    assert not {BIG, SMALL, "Memcpy DtoD (Device -> Device)"} & set(found["completed_names"])


def test_the_mlp_runs_five_kernels_a_forward(drawn: Any) -> None:
    gate, up, gelu, mul, down = per_region(drawn("mlp", "eager"))[0]
    assert (gate, up, down) == ((GATE_UP, 190_000), (GATE_UP, 190_000), (DOWN, 170_000))
    # [8192, 3072] in bf16 is 50,331,648 bytes; gelu moves two of them at 2,039 bytes/ns, mul three.
    assert "GeluCUDAKernelImpl" in gelu[0]
    assert gelu[1] == 49_368
    assert "MulFunctor" in mul[0]
    assert mul[1] == 74_053
    assert per_region(drawn("mlp", "eager"))[1:] == [[gate, up, gelu, mul, down]] * 2


def test_the_compiler_makes_one_kernel_of_gelu_and_mul_and_leaves_the_gemms_alone(drawn: Any) -> None:
    fused = ("triton_poi_fused__unsafe_view_gelu_mul_0", 89_400)
    expected = [(GATE_UP, 190_000), (GATE_UP, 190_000), fused, (DOWN, 170_000)]
    assert per_region(drawn("mlp", "compiled")) == [expected] * 3


def test_liger_does_so_without_a_compiler(drawn: Any) -> None:
    trace = drawn("mlp", "liger")
    fused = ("_geglu_tanh_forward_kernel", 92_800)
    assert per_region(trace) == [[(GATE_UP, 190_000), (GATE_UP, 190_000), fused, (DOWN, 170_000)]] * 3
    assert trace.kernels[2].op.name == "LigerGELUMulFunction"
    assert sum(op.name == "aten::linear" for op in trace.ops) == 9
    assert not any("Dynamo" in op.name for op in trace.ops)


def test_an_eager_linear_walks_through_the_chain_that_the_article_shows(drawn: Any) -> None:
    chain = drawn("mlp", "eager").chain(drawn("mlp", "eager").kernels[0])
    assert [op.name for op in chain.ops] == ["aten::linear", "aten::matmul", "aten::mm"]
    outer, _, mm = chain.ops
    assert [child.name for child in outer.children] == ["aten::t", "aten::matmul"]
    assert mm.shapes == [[8192, 768], [768, 3072]]
    assert mm.strides == [[768, 1], [1, 768]]
    assert mm.dtypes == ["c10::BFloat16", "c10::BFloat16"]
    assert outer.shapes == [[64, 128, 768], [3072, 768], []]


def test_compiled_code_first_goes_through_dynamo_and_the_prologue(drawn: Any) -> None:
    trace = drawn("mlp", "compiled")
    names = [op.name for op in trace.regions[0].ops]
    assert names[:2] == ["TorchDynamo Cache Lookup", "Torch-Compiled Region: 0/0"]
    assert not any(op.name in ("aten::linear", "aten::t", "aten::matmul") for op in trace.ops)
    assert sum(op.name == "aten::mm" for op in trace.ops) == 9


def test_a_linear_is_one_and_the_same_kernel_eager_or_compiled(drawn: Any) -> None:
    eager, compiled = drawn("linear", "eager"), drawn("linear", "compiled")
    assert [[name for name, _ in kernels] for kernels in per_region(eager)] == [[SMALL]] * 3
    assert per_region(eager) == per_region(compiled)
    assert eager.kernels[0].op.shapes == [[64], [1024, 32], [32, 64], [], []]
    assert any(op.name == "aten::t" for op in eager.ops)
    assert not any(op.name == "aten::t" for op in compiled.ops)


def test_a_cold_first_step_waits_before_its_first_op(drawn: Any) -> None:
    trace = drawn("matmul-add", "64-cold-eager")
    assert [region.start_ns for region in trace.regions] == [138_736, 517_926, 610_039]
    gaps = [region.ops[0].start_ns - region.start_ns for region in trace.regions]
    assert gaps == [227_757, 5_521, 4_488]
    assert [region.ops[0].name for region in trace.regions] == ["aten::matmul"] * 3


def test_a_cold_run_adds_up_to_the_profilers_own_totals(drawn: Any) -> None:
    trace = drawn("matmul-add", "64-cold-eager")
    events = json.loads(article.draw("matmul-add", "64-cold-eager"), parse_float=Decimal)["traceEvents"]
    outermost = [e for e in events if e["name"].startswith(("ProfilerStep#", "cudaDeviceSynchronize"))]
    assert sum(e["dur"] for e in outermost) == Decimal("2314.000")
    assert outermost[-1]["dur"] == Decimal("1780.000")
    assert sum(kernel.dur_ns for kernel in trace.kernels) == 23_104
    gpu_span = trace.kernels[-1].end_ns - trace.kernels[0].start_ns
    assert round(gpu_span, -3) == 26_000
    first_step = min(e["ts"] for e in outermost)
    lanes_apart = trace.kernels[0].start_ns - int((first_step - 1_000_000) * 1000)
    assert 2_300_000 <= lanes_apart <= 2_500_000


def test_a_warm_run_has_no_wide_step(drawn: Any) -> None:
    widths = {region.cpu_ns for region in drawn("matmul-add", "64-warm-eager").regions}
    assert len(widths) == 1


@pytest.mark.parametrize(
    ("variant", "microseconds"),
    [("4096-warm-eager", [100, 70, 70]), ("4096-warm-compiled", [200, 100, 100])],
)
def test_steps_are_as_wide_as_the_table_says(variant: str, microseconds: list[int]) -> None:
    events = json.loads(article.draw("matmul-add", variant), parse_float=Decimal)["traceEvents"]
    assert [e["dur"] for e in events if e["name"].startswith("ProfilerStep#")] == microseconds
    assert not any(
        name.startswith("ProfilerStep#") for name in metadata("matmul-add", variant)["unpublished"]
    )


def test_a_compiled_matmul_add_copies_the_bias_and_runs_the_same_gemm(drawn: Any) -> None:
    eager, compiled = drawn("matmul-add", "4096-warm-eager"), drawn("matmul-add", "4096-warm-compiled")
    for region in compiled.regions:
        [copy], [gemm] = region.copies, region.kernels
        assert (copy.name, copy.dur_ns) == ("Memcpy DtoD (Device -> Device)", 33_000)
        assert copy.args["bytes"] == 4096 * 4096 * 2
        assert gemm.name == BIG
        assert copy.op == gemm.op
        assert gemm.op.name == "aten::addmm"
    for region in eager.regions:
        gemm, add = region.kernels
        assert (gemm.name, gemm.dur_ns) == (BIG, 580_000)
        assert (add.args["registers per thread"], add.args["shared memory"]) == (32, 0)


@pytest.mark.parametrize(
    ("rung", "variant", "not_printed", "printed"),
    [
        ("mlp", "eager", {"GeluCUDA", "MulFunctor"}, {GATE_UP, DOWN}),
        ("mlp", "compiled", set(), {GATE_UP, DOWN, "triton_poi_fused__unsafe_view_gelu_mul_0"}),
        ("mlp", "liger", set(), {GATE_UP, DOWN, "_geglu_tanh_forward_kernel"}),
        ("linear", "eager", {SMALL}, set()),
        ("linear", "compiled", {SMALL}, set()),
        ("matmul-add", "64-cold-eager", {"s16816gemm", "CUDAFunctor_add"}, {"cudaDeviceSynchronize"}),
        ("matmul-add", "64-warm-eager", {"s16816gemm", "CUDAFunctor_add", "cudaDeviceSynchronize"}, set()),
        ("matmul-add", "4096-warm-eager", {"CUDAFunctor_add"}, {BIG}),
        ("matmul-add", "4096-warm-compiled", {BIG}, {"Memcpy DtoD (Device -> Device)"}),
    ],
)
def test_a_time_by_rule_is_never_passed_off_as_the_articles(
    rung: str, variant: str, not_printed: set[str], printed: set[str]
) -> None:
    listed = metadata(rung, variant)["unpublished"]
    assert all(any(part in name for name in listed) for part in not_printed)
    assert not printed & set(listed)
    assert REGIONS[rung] in listed


def test_names_that_the_article_cuts_short_are_listed() -> None:
    completed = metadata("mlp", "eager")["completed_names"]
    assert {GATE_UP, DOWN} < set(completed)
    assert len(completed) == 4
    assert metadata("linear", "eager")["completed_names"] == []
    assert "ampere_bf16_s16816gemm_bf16_..." in metadata("matmul-add", "64-cold-eager")["completed_names"]


def test_of_the_small_gemm_no_tile_is_made_up(drawn: Any) -> None:
    [decoded] = {kernel.decoded.fields.get("tile") for kernel in drawn("matmul-add", "64-cold-eager").kernels}
    assert decoded is None


def test_every_width_that_is_not_listed_is_the_articles() -> None:
    """Compares against the times typed in from the article, in us, whatever the module under test says."""
    printed = {
        GATE_UP: {190},
        DOWN: {170},
        BIG: {580},
        "triton_poi_fused__unsafe_view_gelu_mul_0": {Decimal("89.4")},
        "_geglu_tanh_forward_kernel": {Decimal("92.8")},
        "Memcpy DtoD (Device -> Device)": {33},
        "cudaDeviceSynchronize": {1780},
        "ProfilerStep#2": {100, 200},
        "ProfilerStep#3": {70, 100},
        "ProfilerStep#4": {70, 100},
    }
    for rung, variant in ALL:
        trace = json.loads(article.draw(rung, variant), parse_float=Decimal)
        listed = set(trace["rung"]["unpublished"])
        for event in trace["traceEvents"]:
            if event["ph"] == "X" and event["name"] not in listed and event["cat"] != "cpu_op":
                assert event["dur"] in printed[event["name"]]


@pytest.mark.parametrize(
    ("rung", "variant", "says"),
    [("gemm", "eager", "matmul-add, linear, mlp"), ("mlp", "rung", "eager, compiled, liger")],
)
def test_what_the_article_has_not_is_refused_with_what_it_has(rung: str, variant: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"choose one of {says}"):
        article.draw(rung, variant)


def test_a_folder_that_cannot_be_made_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="choose another folder"):
        article.write("mlp", "eager", tmp_path / "file" / "inside")
    assert article.write("mlp", "eager", tmp_path / "new" / "folder").name == "article_mlp_eager.json"
