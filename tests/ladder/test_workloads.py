"""The ladder's workloads: parameters, what they compute, what their traces show."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.errors import UsageError  # noqa: E402
from rung.ladder import LINEAR, MATMUL_ADD, MLP, get_rung, linear_facts, make_rung, record_rung  # noqa: E402
from rung.ladder.climb import CPU_STEPS  # noqa: E402
from rung.ladder.linear_facts import Layout, asserted_layouts  # noqa: E402
from rung.recording import Recording, Settings, Skipped  # noqa: E402

pytestmark = pytest.mark.torch

# What computes on a CPU in the article's three: everything else in these traces is bookkeeping.
COMPUTE = ("aten::mm", "aten::addmm", "aten::add", "aten::gelu", "aten::mul")
ARTICLE = (MATMUL_ADD, LINEAR, MLP)

# Kernels of a forward, on a GPU and, by the ops that stand in for them, on a CPU.
COUNTS = {
    "matmul-add": {"eager": 2, "compiled": 1},
    "linear": {"eager": 1, "compiled": 1},
    "mlp": {"eager": 5, "compiled": 4, "liger": 4, "rung": 2},
}

TINY = {"batch": 2, "seq": 3, "dim": 16, "hidden": 32}


def kernels(recording: Recording) -> list[list[str]]:
    """Per instance of the region, the ops that stand in for kernels, in order."""
    events = json.loads(gzip.decompress(recording.path.read_bytes()))["traceEvents"]
    spans = sorted((e for e in events if e.get("ph") == "X"), key=lambda e: e["ts"])
    return [
        [
            e["name"]
            for e in spans
            if region["ts"] <= e["ts"] < region["ts"] + region["dur"]
            and (e["name"] in COMPUTE or "cpp_fused" in e["name"])
        ]
        for region in spans
        if region["name"] == recording.metadata["region"]
    ]


@pytest.mark.parametrize("rung", ARTICLE, ids=lambda rung: rung.name)
def test_recorded_kernels_are_those_the_lesson_speaks_of(tmp_path: Path, rung: Any) -> None:
    results = record_rung(rung, device="cpu", settings=Settings(out=tmp_path))
    assert len(results) == len(rung.cpu) * len(rung.variants)
    recorded = [result for result in results if isinstance(result, Recording)]
    assert {"eager", "compiled"} <= {recording.variant for recording in recorded}
    for recording in recorded:
        counts = [len(one) for one in kernels(recording)]
        assert counts == [COUNTS[rung.name][recording.variant]] * CPU_STEPS, recording.path
        assert recording.metadata["region"] == rung.region
        assert recording.metadata["dtypes"] == ["bfloat16"]
        if recording.variant != "eager":
            assert recording.metadata["against_eager"]["relative_error"] < 1e-2


def test_mlp_story_in_order(tmp_path: Path) -> None:
    settings = Settings(out=tmp_path)
    (eager,) = record_rung("mlp", TINY, variants=["eager"], device="cpu", settings=settings)
    assert isinstance(eager, Recording)
    assert kernels(eager) == [["aten::mm", "aten::mm", "aten::gelu", "aten::mul", "aten::mm"]] * CPU_STEPS
    assert eager.metadata["input_shapes"] == [[2, 3, 16]]
    assert eager.metadata["parameters"] == {**TINY, "rung": "mlp", "dtype": "bfloat16"}


def test_sizes_of_matmul_add_do_not_overwrite_each_other(tmp_path: Path) -> None:
    results = record_rung("matmul-add", variants=["eager"], device="cpu", settings=Settings(out=tmp_path))
    paths = [result.path for result in results if isinstance(result, Recording)]
    assert paths == [tmp_path / "matmul-add-64/eager.json.gz", tmp_path / "matmul-add-1024/eager.json.gz"]


def test_training_step_has_nine_products(tmp_path: Path) -> None:
    """Forward 3, and in the backward one for each weight and one for each linear's input."""
    settings = Settings(out=tmp_path, train=True)
    (eager,) = record_rung("mlp", TINY, variants=["eager"], device="cpu", settings=settings)
    assert isinstance(eager, Recording)
    assert eager.metadata["region"] == "mlp_step"
    assert [Counter(one)["aten::mm"] for one in kernels(eager)] == [9] * CPU_STEPS


def test_cold_recording_has_the_first_call(tmp_path: Path) -> None:
    settings = Settings(out=tmp_path, cold=True)
    (eager,) = record_rung("linear", {"batch": 4}, variants=["eager"], device="cpu", settings=settings)
    assert isinstance(eager, Recording)
    assert eager.metadata["parameters"]["batch"] == 4
    assert eager.metadata["parameters"]["in_dim"] == 32
    assert len(kernels(eager)) == 3


def test_same_seed_same_workload() -> None:
    one, two = (make_rung(MLP, TINY, "cpu", "float32", Settings(seed=4)) for _ in range(2))
    assert torch.equal(one.args[0], two.args[0])
    assert torch.equal(one.fn.gate_proj.weight, two.fn.gate_proj.weight)  # type: ignore[attr-defined]


def test_workloads_compute_their_expression() -> None:
    settings = Settings(seed=1)
    work = make_rung(MATMUL_ADD, {"size": 5}, "cpu", "float64", settings)
    x, w, b = work.args
    assert x.shape == w.shape == b.shape == (5, 5)
    torch.testing.assert_close(work.fn(x, w, b), torch.einsum("ik,kj->ij", x, w) + b)

    work = make_rung(MLP, TINY, "cpu", "float64", settings)
    (x,), mlp = work.args, work.fn
    gate, up, down = (getattr(mlp, f"{name}_proj").weight.T for name in ("gate", "up", "down"))
    # tanh-GELU from its definition: 0.5 g (1 + tanh(sqrt(2/pi) (g + 0.044715 g^3))).
    g = x @ gate
    gelu = 0.5 * g * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (g + 0.044715 * g**3)))
    torch.testing.assert_close(mlp(x), (gelu * (x @ up)) @ down)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"batch": 0}, "batch is 0: it must be a whole number of at least 1"),
        ({"seq": -1}, "seq is -1"),
        ({"hidden": 1.5}, "hidden is 1.5"),
        ({"dim": True}, "dim is True"),
        ({"size": 3}, "mlp has no parameter 'size': give batch, seq, dim, hidden"),
    ],
)
def test_senseless_parameters(tmp_path: Path, parameters: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        record_rung("mlp", parameters, device="cpu", settings=Settings(out=tmp_path))


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no rung 'mpl': give matmul-add, linear, mlp, attention"):
        get_rung("mpl")
    with pytest.raises(UsageError, match="linear has no variant 'liger': give eager, compiled"):
        record_rung("linear", variants=["liger"], device="cpu", settings=Settings(out=tmp_path))
    with pytest.raises(UsageError, match="dtype 'bf8' is not known"):
        record_rung("linear", device="cpu", dtype="bf8", settings=Settings(out=tmp_path))


def test_the_articles_parameters_are_the_gpus() -> None:
    assert MATMUL_ADD.gpu == ({"size": 64}, {"size": 4096})
    assert LINEAR.gpu == ({"batch": 1024, "in_dim": 32, "out_dim": 64},)
    assert MLP.gpu == ({"batch": 64, "seq": 128, "dim": 768, "hidden": 3072},)


def test_linear_facts() -> None:
    facts = linear_facts({"batch": 8, "in_dim": 3, "out_dim": 5}, device="cpu")
    assert facts.weight == Layout((5, 3), (3, 1))
    assert facts.transposed == Layout((3, 5), (1, 3))
    assert facts.same_storage
    assert facts.input == Layout((8, 3), (3, 1))
    assert set(facts.asserted) == {Layout((5,), (1,)), Layout((8, 3), (3, 1)), Layout((5, 3), (3, 1))}
    assert facts.other == Layout((8, 3), (1, 8))
    assert facts.recompiles == 1
    assert Layout((8, 3), (1, 8)) in facts.other_asserted


def test_linear_facts_survive_the_compilers_cache() -> None:
    parameters = {"batch": 8, "in_dim": 3, "out_dim": 5}
    assert linear_facts(parameters, device="cpu") == linear_facts(parameters, device="cpu")


def test_asserted_layouts_are_read_from_inductors_lines() -> None:
    source = """
assert_size_stride = torch._C._dynamo.guards.assert_size_stride
def call(args):
    assert_size_stride(arg1_1, (64, ), (1, ), 'input')
    assert_size_stride(arg2_1, (1024, 32), (32, 1))
    assert_size_stride(arg3_1, (s0, 32), (32, 1), 'input')
"""
    assert asserted_layouts(source) == (Layout((64,), (1,)), Layout((1024, 32), (32, 1)))


def test_asserted_layouts_are_read_from_one_call_for_all_inputs() -> None:
    source = (
        "assert_size_stride_grouped((arg2_1, arg0_1, arg1_1), ((5, ), (s0, 3), (5, 3)), "
        "((1, ), (3, 1), (3, 1)), 'input')"
    )
    assert asserted_layouts(source) == (Layout((5,), (1,)), Layout((5, 3), (3, 1)))


@pytest.mark.gpu
@pytest.mark.parametrize("rung", ARTICLE, ids=lambda rung: rung.name)
def test_kernels_on_a_gpu(tmp_path: Path, rung: Any) -> None:
    """Each variant runs as many kernels as the article counts; copies and memsets are other categories."""
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    counted = {}
    for result in record_rung(rung, device="cuda", settings=Settings(out=tmp_path)):
        if isinstance(result, Skipped):
            assert result.variant in ("liger", "rung"), result.reason
            continue
        events = json.loads(gzip.decompress(result.path.read_bytes()))["traceEvents"]
        assert len([e for e in events if e.get("cat") == "user_annotation" and e["name"] == rung.region]) == 3
        found = [e["name"] for e in events if e.get("cat") == "kernel"]
        counted[result.name, result.variant] = len(found) / 3
        assert len(found) == 3 * COUNTS[rung.name][result.variant], (result.path, found)
        assert result.metadata["device_name"] == torch.cuda.get_device_name()
        if result.variant != "eager":
            assert result.metadata["against_eager"]["relative_error"] < 2e-2
    assert len(counted) >= 2 * len(rung.gpu)
