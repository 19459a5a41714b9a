"""Ten traces of other projects, read through: what must be found, its number counted by plain JSON, and what
would be wrong to say of them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

import rung
from recordings import TRACES
from rung.insight.findings import Finding, examine, findings

COMPILED = {"graph-break", "recompile", "compile-pre-ops", "fused-by-compiler"}
RANKS = {"comm-exposed", "straggler"}
GRAPH = {"graph-launch"}


@dataclass(frozen=True)
class Plain:
    """A trace as its JSON has it: the complete events, and sums over them in whole ns."""

    events: list[dict[str, Any]]

    def of(self, *categories: str) -> list[dict[str, Any]]:
        return [e for e in self.events if str(e.get("cat", "")).lower() in categories]

    @property
    def kernels(self) -> list[dict[str, Any]]:
        return self.of("kernel")

    def ops(self, *names: str) -> list[dict[str, Any]]:
        return [e for e in self.of("cpu_op", "operator") if e["name"] in names]

    def named(self, *parts: str) -> list[dict[str, Any]]:
        """Kernels with one of these in their name."""
        return [e for e in self.kernels if any(part in e["name"] for part in parts)]

    def copies(self, direction: str) -> list[dict[str, Any]]:
        return [e for e in self.of("gpu_memcpy", "memcpy") if direction in e["name"]]

    def launched_in(self, call: str, *ops: str) -> int:
        """How many calls of a name lie in one of these ops, by time and thread."""
        around = self.ops(*ops)
        calls = [e for e in self.of("cuda_runtime", "runtime") if e["name"] == call]
        return sum(
            any(o["tid"] == c["tid"] and o["ts"] <= c["ts"] < o["ts"] + o["dur"] for o in around)
            for c in calls
        )

    def replayed(self) -> int:
        """Kernels whose correlation is a graph launch's."""
        calls = self.of("cuda_runtime", "cuda_driver", "runtime")
        graphs = {e["args"].get("correlation") for e in calls if "GraphLaunch" in e["name"]}
        return sum(e["args"].get("correlation") in graphs for e in self.kernels)


def ns(events: list[dict[str, Any]]) -> int:
    return sum(round(e["dur"] * 1000) for e in events)


def total(found: list[Finding], key: str) -> int:
    return sum(one.evidence[key] for one in found)


Check = Callable[[list[Finding], Plain], tuple[object, object]]


@dataclass(frozen=True)
class Reviewed:
    """What was found by reading the trace: by id the number that the finding gives and what it should be."""

    fires: dict[str, Check]
    silent: set[str] = field(default_factory=set)


REVIEWED = {
    # Qwen 1.5 0.5B, eager, bf16 with the rotary tables in fp32: q, k, v have a bias, the others none
    "tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz": Reviewed(
        {
            "bias-in-epilogue": lambda f, p: (f[0].evidence["one_kernel"], len(p.ops("aten::addmm"))),
            "hidden-copy": lambda f, p: (
                f[0].evidence["count"],
                p.launched_in("cudaMemsetAsync", "aten::mm", "aten::addmm"),
            ),
            "layout-copy": lambda f, p: (
                f[0].evidence["by"]["aten::contiguous"],
                len(p.ops("aten::contiguous")),
            ),
            "precision-fallback": lambda f, p: (
                f[0].evidence["kernels"],
                [p.named("simt_sgemm")[0]["name"]],
            ),
            "memory-bound": lambda f, p: (f[0].region, "ProfilerStep"),
        },
        COMPILED
        | RANKS
        | GRAPH
        | {"overhead-bound", "h2d-blocking", "stream-serial", "cold-start", "unfused-attention"},
    ),
    # BERT small, eager: 26 linears, all with a bias
    "tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz": Reviewed(
        {
            "overhead-bound": lambda f, p: (f[0].share > 0.9, ns(p.kernels) < 0.1 * 4_430_000),
            "bias-in-epilogue": lambda f, p: (f[0].evidence["one_kernel"], len(p.ops("aten::addmm"))),
            "same-op-other-kernel": lambda f, p: (
                len(f[0].evidence["kernels"]),
                len({e["name"] for e in p.named("gemm")}),
            ),
        },
        COMPILED
        | RANKS
        | GRAPH
        | {"precision-fallback", "layout-copy", "hidden-copy", "cold-start", "unfused-attention"},
    ),
    # a step of vLLM on 8 B200, eager but for one compiled region that had been specialised before
    "tracelens/b200/eager_trace.json.gz": Reviewed(
        {
            "comm-exposed": lambda f, p: (
                f[0].evidence["collective_ns"],
                ns(p.named("all_reduce", "allreduce", "ncclDevKernel")),
            ),
            "compile-pre-ops": lambda f, p: (
                f[0].cost_ns,
                ns(
                    p.ops(
                        "TorchDynamo Cache Lookup",
                        "Pregraph bytecode",
                        "AOTDispatcher Runtime Wrapper Prologue",
                    )
                ),
            ),
            "bias-in-epilogue": lambda f, p: (f[0].evidence["named_bias"], len(p.ops("aten::addmm"))),
            "h2d-blocking": lambda f, p: (f[0].evidence["copies"], len(p.copies("HtoD"))),
            "fused-by-compiler": lambda f, p: (
                f[0].evidence["kernels"][0]["name"],
                p.named("_fused_")[0]["name"],
            ),
        },
        GRAPH
        | {"graph-break", "recompile", "straggler", "precision-fallback", "cold-start", "unfused-attention"},
    ),
    # Qwen3 8B decoding on MI300X, all of it in one HIP graph
    "tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz": Reviewed(
        {"graph-launch": lambda f, p: (f[0].evidence["kernel"], p.replayed())},
        COMPILED | RANKS | {"precision-fallback", "layout-copy", "bias-in-epilogue", "unfused-attention"},
    ),
    "tracelens/inference/vllm_decode_full/graph_execution.json.gz": Reviewed(
        {
            "graph-launch": lambda f, p: (f[0].evidence["kernel"], p.replayed()),
            "fused-by-compiler": lambda f, p: (
                sum(one["count"] for one in f[0].evidence["kernels"]),
                len(p.named("triton_poi_fused_constant_pad_nd_moe_forward")),
            ),
        },
        RANKS | {"graph-break", "recompile", "precision-fallback", "bias-in-epilogue", "overhead-bound"},
    ),
    # a compiled Llama block on MI300X
    "tracelens/torch_compile_triton/trace.json.gz": Reviewed(
        {
            "compute-bound": lambda f, p: (f[0].evidence["compute_ns"] > 0.9 * ns(p.kernels), True),
            "fused-by-compiler": lambda f, p: (
                sum(one["ns"] for one in f[0].evidence["kernels"]),
                ns(p.named("_fused_")),
            ),
            "compile-pre-ops": lambda f, p: (
                f[0].cost_ns,
                ns(
                    p.ops(
                        "TorchDynamo Cache Lookup",
                        "Pregraph bytecode",
                        "AOTDispatcher Runtime Wrapper Prologue",
                    )
                ),
            ),
            "same-op-other-kernel": lambda f, p: (
                len(f[0].evidence["kernels"]),
                len({e["name"] for e in p.named("Cijk_")}),
            ),
        },
        RANKS
        | GRAPH
        | {"graph-break", "recompile", "overhead-bound", "memory-bound", "h2d-blocking", "many-names"},
    ),
    # ResNet-50 on a V100 in 2021's schema, the batch from pageable memory; old cuBLAS copies the bias first
    "kineto/samples/resnet50_num_workers_0/2d19c634-worker0.pt.trace.json.gz": Reviewed(
        {
            "h2d-blocking": lambda f, p: (f[0].evidence["copies"] * 6, len(p.copies("HtoD"))),
            "hidden-copy": lambda f, p: (sorted(one.evidence["count"] for one in f)[0], 1),
        },
        COMPILED
        | RANKS
        | GRAPH
        | {
            "bias-in-epilogue",
            "precision-fallback",
            "layout-copy",
            "unfused-attention",
            "separate-projections",
        },
    ),
    # ResNet under DDP on an A100, three steps: channels-last kernels on NCHW tensors
    "hta/nccl_parser_config/nccl_data.json.gz": Reviewed(
        {
            "comm-exposed": lambda f, p: (
                3 * sum(sum(one.evidence["collectives"].values()) for one in f),
                len(p.named("nccl")),
            ),
            "layout-copy": lambda f, p: (
                sorted(k for one in f for k in one.evidence["by"]),
                ["aten::conv2d", "aten::convolution_backward"],
            ),
            "precision-fallback": lambda f, p: (
                sorted(k for one in f for k in one.evidence["ops"]),
                ["aten::addmm", "aten::mm"],
            ),
        },
        COMPILED
        | GRAPH
        | {"straggler", "bias-in-epilogue", "h2d-blocking", "unfused-attention", "separate-projections"},
    ),
    # DLRM on V100, one rank of eight
    "param/dlrm_kineto.d/dlrm_kineto/worker0_step_12.1694128201545.pt.trace.json.gz": Reviewed(
        {
            "comm-exposed": lambda f, p: (total(f, "collective_ns"), ns(p.named("nccl"))),
            "bias-in-epilogue": lambda f, p: (f[0].evidence["addmm"], len(p.ops("aten::addmm"))),
            "forced-sync": lambda f, p: (bool(f), True),
        },
        COMPILED | GRAPH | {"straggler", "precision-fallback", "unfused-attention"},
    ),
    # AlexNet on an A100, cold, inputs and weights from pageable memory
    "hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz": Reviewed(
        {
            "cold-start": lambda f, p: (len(f), 1),
            "h2d-blocking": lambda f, p: (
                f[0].evidence["bytes"],
                sum(e["args"]["bytes"] for e in p.copies("HtoD")),
            ),
            "hidden-copy": lambda f, p: (
                f[0].evidence["count"],
                p.launched_in("cudaMemsetAsync", "aten::addmm"),
            ),
            "precision-fallback": lambda f, p: (
                f[0].evidence["ops"],
                {"aten::addmm": len(p.ops("aten::addmm"))},
            ),
        },
        COMPILED | RANKS | GRAPH | {"bias-in-epilogue", "unfused-attention", "separate-projections"},
    ),
}


@cache
def looked_at(name: str) -> tuple[dict[str, list[Finding]], Plain]:
    path = TRACES / "public" / name
    if not path.exists():
        pytest.skip(f"{path} is not there: the shared traces are not beside this checkout")
    by_id: dict[str, list[Finding]] = {}
    for one in findings(examine(rung.read(path))):
        by_id.setdefault(one.id, []).append(one)
    said = json.loads(gzip.decompress(path.read_bytes()))
    events = said["traceEvents"] if isinstance(said, dict) else said
    return by_id, Plain([e for e in events if e.get("ph") == "X"])


@pytest.mark.parametrize("name", REVIEWED)
def test_what_is_there_is_found_with_its_number(name: str) -> None:
    by_id, plain = looked_at(name)
    for id_, check in REVIEWED[name].fires.items():
        assert id_ in by_id, f"{id_} is not found"
        got, expected = check(by_id[id_], plain)
        assert got == expected, id_


@pytest.mark.parametrize("name", REVIEWED)
def test_what_is_not_there_is_not(name: str) -> None:
    by_id, _ = looked_at(name)
    wrong = {id_: [one.title for one in by_id[id_]] for id_ in REVIEWED[name].silent if id_ in by_id}
    assert wrong == {}


def test_the_list_is_of_ten_and_speaks_of_most_findings() -> None:
    assert len(REVIEWED) == 10
    said = Counter(id_ for one in REVIEWED.values() for id_ in (*one.fires, *one.silent))
    assert len(said) > 20
