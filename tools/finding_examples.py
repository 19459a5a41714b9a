"""An example trace for each finding: a recording that ships, one of the article's, or one made by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from rung import read
from rung.ladder import get_rung
from rung.ladder.shipped import recorded
from rung.trace import Trace

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import tracelib as t  # noqa: E402  it lies in tests/

H200 = ROOT / "src/rung/ladder/recordings/h200"
DEVICE = {"id": 0, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0}

GELU = "void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl(int)>"
MUL = "void at::native::vectorized_elementwise_kernel<8, at::native::MulFunctor<float>>"
GEMM = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"
FP32 = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4"
REDUCE = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


@dataclass(frozen=True, slots=True)
class Example:
    """Where a trace is from, in words, and how to get at it (and at those of the other ranks)."""

    source: str
    traces: Callable[[], tuple[Trace, ...]]


def ships(name: str) -> Example:
    return Example(f"`{name}`, recorded on an H200", lambda: (read(H200 / f"{name}.json.gz", cache=False),))


def drawn(rung: str, name: str) -> Example:
    def traces() -> tuple[Trace, ...]:
        with TemporaryDirectory() as folder:
            found = recorded(get_rung(rung), "article", Path(folder))
            path = next(one.path for one in found if one.path and one.path.stem.endswith(name))
            return (read(path, cache=False),)

    return Example("the article's trace, drawn", traces)


def by_hand(what: str, *traces: Callable[[], list[t.Event]], **header: object) -> Example:
    def made() -> tuple[Trace, ...]:
        ranks = [
            {"distributedInfo": {"rank": rank}} if len(traces) > 1 else {} for rank in range(len(traces))
        ]
        headers = [{"device": DEVICE, **header, **rank} for rank in ranks]
        return tuple(t.read(*events(), **given) for events, given in zip(traces, headers, strict=True))

    return Example(f"made by hand: {what}", made)


def ran(
    by: str, name: str, at: float, dur: float, number: int, *shapes: list[int], cpu: float = 8
) -> list[t.Event]:
    """An op that launches one kernel, which starts 4 us later."""
    args = {"Input Dims": list(shapes), "Input type": ["c10::BFloat16"] * len(shapes)} if shapes else {}
    return [
        t.op(by, at, cpu, **args),
        t.launch(at + 1, 2, number),
        t.kernel(name, at + 4, dur, number),
    ]


def asking() -> list[t.Event]:
    item = [t.op("aten::item", 30, 50), t.op("aten::_local_scalar_dense", 31, 48)]
    moved = t.copy(78, 1, 2, bytes=4) | {"name": "Memcpy DtoH (Device -> Pageable)"}
    calls = [t.call("cudaMemcpyAsync", 32, 3, correlation=2), t.call("cudaStreamSynchronize", 36, 42)]
    return [t.annotation("step", 0, 100), *ran("aten::mm", GEMM, 5, 68, 1), *item, *calls, moved]


def replaying() -> list[t.Event]:
    work = [t.kernel(name, 20 + 10 * i, 9, 1) for i, name in enumerate((GEMM, GELU, GEMM))]
    return [t.annotation("fwd", 0, 60), t.call("cudaGraphLaunch", 5, 6, correlation=1), *work]


def short_calls() -> list[t.Event]:
    calls = [ran("aten::add_", MUL, 10 * i, 1, i + 1, [64]) for i in range(200)]
    return [t.annotation("step", 0, 2010), *(event for one in calls for event in one)]


def taking_turns() -> list[t.Event]:
    work = [t.kernel(GELU, 10, 20, 1), t.kernel(MUL, 30, 15, 2, stream=8)]
    return [t.annotation("fwd", 0, 50), t.launch(1, 1, 1), t.launch(3, 1, 2), *work]


def one_in_fp32() -> list[t.Event]:
    half = [[8192, 768], [768, 3072]]
    work = [ran("aten::mm", GEMM, 60 * i, 57, i + 1, *half) for i in range(2)]
    slow = t.op(
        "aten::bmm", 120, 8, **{"Input Dims": [[16, 512, 64], [16, 64, 512]], "Input type": ["float"] * 2}
    )
    return [
        t.annotation("fwd", 0, 160),
        *(event for one in work for event in one),
        *(slow, t.launch(121, 2, 3), t.kernel(FP32, 124, 30, 3)),
    ]


def feeding() -> list[t.Event]:
    moved = t.copy(10, 450, 1, bytes=25_165_824) | {"name": "Memcpy HtoD (Pageable -> Device)"}
    copying = [t.op("aten::copy_", 1, 460), t.call("cudaMemcpyAsync", 2, 458, correlation=1), moved]
    return [t.annotation("step", 0, 560), *copying, *ran("aten::mm", GEMM, 470, 80, 2)]


def rank(late: float) -> Callable[[], list[t.Event]]:
    """Three all-reduces that end together; each starts `late` us later than it could."""

    def events() -> list[t.Event]:
        made = [t.step(1, 0, 1000), t.annotation("train_step", 1, 990)]
        for i in range(3):
            start = 100 + 300 * i + late
            made += ran("aten::mm", GEMM, 300 * i + late + 20, 70, 10 + i)
            made += [t.launch(start - 3, 2, i + 1), t.kernel(REDUCE, start, 250 - late, i + 1, stream=9)]
        return made

    return events


def throttled() -> list[t.Event]:
    """Five steps of one product; the device slows down in the last two."""
    made = []
    for i, dur in enumerate((52, 53, 52, 61, 70)):
        made += [t.annotation("fwd", 100 * i, 80), *ran("aten::mm", GEMM, 100 * i + 5, dur, i + 1)]
    return made


def cut_off() -> list[t.Event]:
    return [
        t.annotation("fwd", 0, 60),
        *ran("aten::mm", GEMM, 5, 20, 1),
        t.launch(30, 2, 2),
        t.kernel(GELU, 40, 5, 9),
    ]


EXAMPLES = {
    "memory-bound": ships("attention/math"),
    "forced-sync": by_hand("`loss.item()` inside a step", asking),
    "graph-launch": by_hand("a replayed graph of three kernels", replaying),
    "many-small-calls": by_hand("200 calls of `add_` on 64 elements", short_calls),
    "stream-serial": by_hand("two kernels on two streams", taking_turns),
    "precision-fallback": by_hand("one fp32 product in a bf16 model", one_in_fp32),
    "separate-projections": ships("model-llama/eager"),
    "unfused-attention": ships("attention/math"),
    "graph-break": ships("mlp-graph-break/compiled"),
    "recompile": ships("mlp-recompile/compiled"),
    "h2d-blocking": by_hand("a batch of 25 MB from pageable memory", feeding),
    "layout-copy": ships("attention/math"),
    "comm-exposed": by_hand("all-reduces with nothing beside them", rank(0)),
    "straggler": by_hand("two ranks, of which one starts each all-reduce 120 µs late", rank(0), rank(120)),
    "incomplete-trace": by_hand("a launch without a kernel, a kernel without a launch", cut_off),
    "kernel-jitter": by_hand("five calls, the last two on a device that slows down", throttled),
    "heavy-launch": drawn("mlp", "eager"),
    "compile-pre-ops": ships("mlp/compiled"),
    "compute-bound": ships("matmul-add-4096/eager"),
    "overhead-bound": ships("linear/eager"),
    "gpu-gap": ships("mlp/liger"),
    "hotspot": ships("mlp/compiled"),
    "hidden-copy": ships("matmul-add-4096/compiled"),
    "same-op-other-kernel": ships("mlp/eager"),
    "many-names": ships("linear/eager"),
    "zero-kernel-ops": ships("linear/eager"),
    "fusible-glu": ships("mlp/eager"),
    "cold-start": ships("matmul-add-64-cold/eager"),
    "profiler-artifact": ships("linear/eager"),
}
"""By id; a finding that is not here takes the first recording that ships and shows it."""
