"""The `torch.add(torch.matmul(x, w), b)` of part 1, all three [size, size]."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from rung import units
from rung.ladder.article import published
from rung.ladder.article.ops import addmm, compiled
from rung.ladder.article.scene import Drawing, Span, Step, Tensor, Work, gemm, kernel, launch, op, tensor
from rung.ladder.article.timeline import BREAK_NS, LEAD_NS, Steps, steps_of

STEP_NAMES = frozenset({"ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"})


def cold_64() -> Drawing:
    """A first call. Its steps follow from the published starts, and from the CPU's total less the wait."""
    starts = [at - LEAD_NS for at in published.COLD_REGION_STARTS_NS]
    widths = [following - start - BREAK_NS for start, following in pairwise(starts)]
    widths.append(published.COLD_SELF_CPU_NS - published.COLD_SYNC_NS - sum(widths))
    begun = zip(published.COLD_MATMUL_STARTS_NS, published.COLD_REGION_STARTS_NS, strict=True)
    first, second, third = map(Step, starts, widths, [matmul - region for matmul, region in begun])
    sync_end = third.start_ns + third.width_ns + BREAK_NS + published.COLD_SYNC_NS
    return replace(
        _eager_64("64-cold-eager", (first, second, third)),
        published=frozenset({"cudaDeviceSynchronize"}),
        gpu_ready_ns=sync_end - published.COLD_GPU_SPAN_NS,
        sync_ns=published.COLD_SYNC_NS,
        printed=_cold_story(),
    )


def warm_64() -> Drawing:
    """After a warm-up each step takes a similar time, no number printed. Rule: the cold run's second step."""
    _, second, third = published.COLD_REGION_STARTS_NS
    return _eager_64("64-warm-eager", steps_of((third - second - BREAK_NS,) * 3))


def warm_4096() -> Drawing:
    """The GEMM takes its typical time each step; part 1 shows the second taking longer, not how long."""
    x = tensor(4096, 4096)
    spans = _matmul_add(x, kernel(published.GEMM_4096, published.GEMM_4096_NS))
    drawing = _drawing("4096-warm-eager", x, spans, steps_of(published.EAGER_STEPS_NS))
    story = "compute-bound at this size: the GPU's time outgrows the CPU's, as part 1 prints"
    return replace(drawing, published=STEP_NAMES, printed=(story,))


def compiled_4096() -> Drawing:
    """The bias is copied into the output, the GEMM adds to it. Rule: the GEMM takes as long as eager."""
    x = tensor(4096, 4096)
    calls = launch(_copy(), "cudaMemcpyAsync"), *gemm(_unprinted(published.GEMM_4096, published.GEMM_4096_NS))
    spans = compiled(addmm(x, x, x, calls, out=x))
    drawing = _drawing("4096-warm-compiled", x, spans, steps_of(published.COMPILED_STEPS_NS))
    story = "mm and add became one aten::addmm, but the GEMM is the very same kernel: ops fused, not kernels"
    return replace(drawing, published=STEP_NAMES, printed=(story,))


def _cold_story() -> tuple[str, ...]:
    """Part 1's reading of its own numbers."""
    begun = zip(published.COLD_MATMUL_STARTS_NS, published.COLD_REGION_STARTS_NS, strict=True)
    gaps = [units.duration(matmul - region) for matmul, region in begun]
    cpu, gpu = units.duration(published.COLD_SELF_CPU_NS), units.duration(published.COLD_SELF_CUDA_NS)
    return (
        f"overhead-bound: {cpu} on the CPU for {gpu} of GPU work, three steps together",
        f"the first step is wide: {gaps[0]} pass before aten::matmul begins, then {gaps[1]} and {gaps[2]}",
    )


def _copy() -> Work:
    gigabytes_per_second = published.COPY_BYTES / published.COPY_NS
    args = {"bytes": published.COPY_BYTES, "memory bandwidth (GB/s)": gigabytes_per_second}
    return Work(published.COPY, (published.COPY_NS,) * 3, category="gpu_memcpy", args=args)


def _eager_64(variant: str, steps: Steps) -> Drawing:
    """Rule: the three GEMMs share what the three adds leave of the GPU's published total."""
    x = tensor(64, 64)
    left = published.COLD_SELF_CUDA_NS - 3 * _add_ns(x)
    third = left // 3
    return _drawing(
        variant, x, _matmul_add(x, _unprinted(published.GEMM_64, (left - 2 * third, third, third))), steps
    )


def _unprinted(name: str, ns: int | tuple[int, int, int]) -> Work:
    return kernel(name, ns, published=False)


def _add_ns(x: Tensor) -> int:
    return published.memory_time_ns(3 * x.nbytes)


def _matmul_add(x: Tensor, multiply: Work) -> tuple[Span, Span]:
    add = kernel(published.ADD, _add_ns(x), published=False, **published.ADD_FOOTPRINT)
    return (
        op("aten::matmul", x, x, inside=(op("aten::mm", x, x, inside=gemm(multiply)),)),
        op("aten::add", x, x, "1", inside=(launch(add),)),
    )


def _drawing(variant: str, x: Tensor, spans: tuple[Span, ...], steps: Steps) -> Drawing:
    parameters = {"size": x.dims[0], "dtype": "bfloat16"}
    return Drawing("matmul-add", variant, "matmul_add", published.PART_1, parameters, spans, steps)
