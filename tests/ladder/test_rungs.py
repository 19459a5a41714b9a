"""The rungs above the MLP: what runs on a CPU, by the ops that stand in for kernels."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.errors import MachineError, UsageError  # noqa: E402
from rung.insight.forward import Forward, forward, instances  # noqa: E402
from rung.ladder import LADDER, get_rung, make_rung, record_rung  # noqa: E402
from rung.recording import Recording, Settings, Skipped  # noqa: E402

pytestmark = pytest.mark.torch

TINY = {"batch": 2, "seq": 8, "dim": 32, "hidden": 64, "heads": 4, "layers": 1, "vocab": 50}


def sizes(rung: str, **given: Any) -> dict[str, Any]:
    known = get_rung(rung).cpu[0]
    return {**{key: value for key, value in TINY.items() if key in known}, **given}


def recorded(rung: str, tmp_path: Path, variants: list[str], train: bool = False) -> dict[str, Recording]:
    settings = Settings(out=tmp_path, train=train)
    results = record_rung(rung, sizes(rung), variants=variants, device="cpu", settings=settings)
    assert all(isinstance(result, Recording) for result in results)
    return {result.variant: result for result in results if isinstance(result, Recording)}


def told(recording: Recording) -> Forward:
    return forward(recording.trace)


def kinds(one: Forward) -> Counter[str]:
    return Counter(row.kind for row in one.rows)


def test_attention_is_four_products_around_one_kernel_or_eleven(tmp_path: Path) -> None:
    """Written out: q and k laid out anew, their product, scaled, masked, its softmax, v's product, and what
    `masked_fill` and the heads' transposes copy."""
    found = {name: told(one) for name, one in recorded("attention", tmp_path, ["eager", "math"]).items()}
    assert kinds(found["eager"]) == {"gemm": 4, "attention": 1}
    math = found["math"]
    assert kinds(math) == {"gemm": 6, "softmax": 1, "pointwise": 7}
    small = [row.op for row in math.rows if row.kind == "pointwise" and row.op != "aten::copy_"]
    assert small == ["aten::mul", "aten::masked_fill_"]


def test_compiled_attention_has_nothing_left_to_fuse(tmp_path: Path) -> None:
    made = recorded("attention", tmp_path, ["compiled"])["compiled"]
    assert kinds(told(made)) == {"gemm": 4, "attention": 1}
    assert made.metadata["against_eager"]["relative_error"] < 1e-2


def test_a_block_has_seven_products_and_many_small_kernels(tmp_path: Path) -> None:
    """A norm is a cast, a square, a mean (sum and div), an add, a root, two products and a cast; twice. The
    turn is a product, a negation, a cat, a product and a sum for each of q and k. Two residuals, a GLU."""
    one = told(recorded("block", tmp_path, ["eager"])["eager"])
    found = Counter(str(row.op).removeprefix("aten::") for row in one.rows if row.kind != "gemm")
    assert kinds(one)["gemm"] == 7
    assert found == {
        "copy_": 4,
        "pow": 2,
        "sum": 2,
        "div_": 2,
        "rsqrt": 2,
        "mul": 4 + 4 + 1,
        "neg": 2,
        "cat": 2,
        "add": 2 + 2 + 2,
        "gelu": 1,
        "_scaled_dot_product_flash_attention_for_cpu": 1,
    }


@pytest.mark.slow
def test_compiled_a_block_keeps_the_products_and_few_of_the_rest(tmp_path: Path) -> None:
    one = told(recorded("block", tmp_path, ["compiled"])["compiled"])
    assert (kinds(one)["gemm"], kinds(one)["attention"]) == (7, 1)
    assert all("cpp_fused" in row.name for row in one.rows if row.kind not in ("gemm", "attention"))


@pytest.mark.parametrize("rung", ["matmul-add", "linear", "mlp", "attention", "block"])
def test_backward_has_two_products_for_each_of_forwards(rung: str, tmp_path: Path) -> None:
    """One for the weight, one for the input; attention's own is one op either way."""
    forward_only = told(recorded(rung, tmp_path, ["eager"])["eager"])
    made = recorded(rung, tmp_path, ["eager"], train=True)["eager"]
    assert made.path.parent.name.endswith("-train")
    both = told(made)
    assert both.region == f"{get_rung(rung).region.removesuffix('_fwd')}_step"
    assert kinds(both)["gemm"] == 3 * kinds(forward_only)["gemm"]
    assert kinds(both)["attention"] == 2 * kinds(forward_only)["attention"]


def test_every_rung_says_something_of_training_or_the_same() -> None:
    for rung in LADDER.values():
        assert rung.lesson_of(train=True)
        assert rung.lesson_of(train=False) == rung.lesson
    assert get_rung("mlp").lesson_of(train=True) != get_rung("mlp").lesson


@pytest.mark.parametrize("family", ["llama", "gemma", "qwen"])
def test_a_model_is_made_from_its_config(family: str, tmp_path: Path) -> None:
    """A layer has seven products, and the logits are one more."""
    pytest.importorskip("transformers")
    settings = Settings(out=tmp_path)
    given = sizes("model", family=family)
    (made,) = record_rung("model", given, variants=["eager"], device="cpu", settings=settings)
    assert isinstance(made, Recording)
    assert made.path == tmp_path / f"model-{family}" / "eager.json.gz"
    assert kinds(told(made))["gemm"] == 7 + 1
    assert made.metadata["parameters"]["family"] == family
    work = make_rung(get_rung("model"), {**get_rung("model").cpu[0], **given}, "cpu", "float32", settings)
    assert work.fn(*work.args).logits.shape == (2, 8, 50)


@pytest.mark.slow
def test_a_model_trains_and_compiles(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    found = recorded("model", tmp_path, ["eager", "compiled"], train=True)
    assert {kinds(told(one))["gemm"] for one in found.values()} == {3 * (7 + 1)}


def test_without_transformers_there_is_no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MachineError, match=r'install it with: pip install "rung\[models\]"'):
        record_rung("model", device="cpu", settings=Settings(out=tmp_path))


@pytest.mark.parametrize(
    ("rung", "given", "message"),
    [
        ("model", {"family": "gpt"}, "family is 'gpt': give llama, gemma, qwen"),
        ("attention", {"heads": 3}, "dim is 64: 3 heads need an equal share"),
        ("block", {"dim": 20}, "dim is 20: 4 heads need an even, equal share"),
        ("mlp", {"heads": 3}, "mlp has no parameter 'heads'"),
    ],
)
def test_senseless_sizes(rung: str, given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        record_rung(rung, given, device="cpu", settings=Settings(out=tmp_path))


def test_the_recompile_rung_goes_through_its_shapes_twice(tmp_path: Path) -> None:
    settings = Settings(out=tmp_path)
    (made,) = record_rung(
        "mlp-recompile", {"dim": 16, "hidden": 32}, variants=["eager"], device="cpu", settings=settings
    )
    assert isinstance(made, Recording)
    assert made.metadata["input_shapes"] == [[64, 128, 16], [64, 100, 16], [3, 77, 16]]
    assert made.metadata["schedule"]["cold"] is True
    rows = [[k.op.shapes[0][0] for k in one.work if k.kind == "gemm"] for one in instances(made.trace)]
    assert rows == [[8192] * 3, [6400] * 3, [231] * 3] * 2


@pytest.mark.slow
def test_compiled_it_compiles_three_times_and_then_no_more(tmp_path: Path) -> None:
    settings = Settings(out=tmp_path)
    (made,) = record_rung(
        "mlp-recompile", {"dim": 16, "hidden": 32}, variants=["compiled"], device="cpu", settings=settings
    )
    assert isinstance(made, Recording)
    found = [
        sorted(
            {o.name for o in made.trace.ops if o.name.startswith("Torch-Compiled Region") and inside(o, r)}
        )
        for r in instances(made.trace)
    ]
    assert found[:3] == [[f"Torch-Compiled Region: 0/{again}"] for again in range(3)]
    assert all(
        names[0] in ("Torch-Compiled Region: 0/2", "Torch-Compiled Region: 0/0") for names in found[3:]
    )


def inside(op: Any, region: Any) -> bool:
    return bool(region.start_ns <= op.start_ns < region.start_ns + region.cpu_ns)


def test_the_graph_break_rung_stops_where_the_data_decides(tmp_path: Path) -> None:
    found = recorded("mlp-graph-break", tmp_path, ["eager", "compiled"])
    assert told(found["eager"]).op_names["aten::_local_scalar_dense"] == 1
    regions = [name for name in told(found["compiled"]).op_names if name.startswith("Torch-Compiled Region")]
    assert sorted(regions) == ["Torch-Compiled Region: 0/0", "Torch-Compiled Region: 1/0"]
    work = make_rung(get_rung("mlp-graph-break"), sizes("mlp-graph-break"), "cpu", "float32", Settings())
    with pytest.raises(FloatingPointError, match="not finite"):
        work.fn(torch.full((1, 32), float("inf")))


def test_variants_that_need_a_gpu_say_so(tmp_path: Path) -> None:
    results = record_rung(
        "block", sizes("block"), variants=["liger", "rung"], device="cpu", settings=Settings(out=tmp_path)
    )
    assert all(isinstance(result, Skipped) and "CUDA device" in result.reason for result in results)
