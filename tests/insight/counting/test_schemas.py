"""Positions of arguments, against PyTorch's own schemas; and counts of whatever a recording may hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.insight import counting
from rung.insight.counting import attention, convolution, demand_of_call, gemm, reduction
from rung.insight.counting.demand import SCALAR_TYPES
from rung.insight.tensors import DTYPE_BYTES, call_of
from rung.insight.work import work_of
from rung.trace import Op, Region
from rung.trace import read as read_file
from tracelib import kernel, launch, op, read


def schemas(name: str) -> Iterator[list[str]]:
    """The names of an op's arguments, for each of its overloads without `out=`."""
    torch = pytest.importorskip("torch")
    found = [s for s in torch._C._jit_get_all_schemas() if s.name == name]
    if not found:
        pytest.skip(f"this torch has no {name}")
    for schema in found:
        if not any(a.is_out for a in schema.arguments) and schema.overload_name not in OTHER_OVERLOADS:
            yield [a.name for a in schema.arguments]


OTHER_OVERLOADS = {"quantized", "padding", "deprecated", "tensor_lr", "names_dim"}
"""Overloads with other arguments, whose texts do not read as those of the usual ones (fp8 scales, words)."""


def at(arguments: list[str], position: int | None) -> str | None:
    return arguments[position] if position is not None and position < len(arguments) else None


@pytest.mark.parametrize("name", [*attention._FORWARD, *attention._BACKWARD])
def test_attention(name: str) -> None:
    back = name in attention._BACKWARD
    places = (attention._BACKWARD if back else attention._FORWARD)[name]
    for arguments in schemas(name):
        first = 1 if back else 0
        assert arguments[first : first + 3] == ["query", "key", "value"]
        assert at(arguments, places.causal) in ("is_causal", "custom_mask_type")
        assert at(arguments, places.bias) in (None, "bias", "attn_bias", "attn_mask")
        assert at(arguments, places.offsets) in (None, "cum_seq_q", "cu_seqlens_q")
        assert at(arguments, places.out) in (None, "out")
        assert all("window_size" in arguments[i] for i in places.window)
        assert (places.bias is None) == (not {"bias", "attn_bias", "attn_mask"} & set(arguments))
        assert (places.offsets is None) == (not {"cum_seq_q", "cu_seqlens_q"} & set(arguments))
        assert (not places.window) == (not any("window_size" in name for name in arguments))


@pytest.mark.parametrize("name", convolution._FORWARD)
def test_convolutions(name: str) -> None:
    places = convolution._FORWARD[name]
    for arguments in schemas(name):
        assert arguments[0] in ("input", "self") and arguments[1] == "weight"
        wanted = ("stride", "padding", "dilation", "transposed")
        found = [at(arguments, getattr(places, word)) for word in wanted]
        assert found == [word if getattr(places, word) is not None else None for word in wanted]
        assert (places.transposed is None) == ("transposed" not in arguments)
        if places.transposed is not None:
            assert arguments[7:9] == ["output_padding", "groups"]


def test_backward_of_a_convolution() -> None:
    for arguments in schemas("aten::convolution_backward"):
        assert arguments[:3] == ["grad_output", "input", "weight"]
        assert (arguments[7], arguments[10]) == ("transposed", "output_mask")


@pytest.mark.parametrize("name", gemm._PRODUCTS)
def test_products(name: str) -> None:
    product = gemm._PRODUCTS[name]
    for arguments in schemas(name):
        assert arguments[product.b] in ("mat2", "vec", "vec2", "tensor", "batch2", "weight", "other")
        assert at(arguments, product.out_dtype) in (None, "out_dtype")
        if "out_dtype" in arguments and product.out_dtype is not None:
            assert arguments.index("out_dtype") == product.out_dtype


@pytest.mark.parametrize("name", reduction._DIMS)
def test_reductions(name: str) -> None:
    """Each overload without a dimension there is one over all of them."""
    for arguments in schemas(f"aten::{name}"):
        place = at(arguments, reduction._DIMS[name])
        assert place in (None, "dim", "dtype", "other", "unbiased", "keepdim", "p")
        if "dim" in arguments and place != "dim":
            pytest.fail(f"{name}{arguments}")


def test_numbers_of_dtypes(tmp_path: Path) -> None:
    """A recorded cast says its dtype as a number."""
    torch = pytest.importorskip("torch")
    words = dict(zip(SCALAR_TYPES.values(), TORCH_NAMES, strict=True))
    x = torch.ones(2)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as profile:
        for name in words.values():
            with torch.profiler.record_function(name):
                x.to(getattr(torch, name), copy=True)
    profile.export_chrome_trace(str(tmp_path / "casts.json"))
    casts = [one for one in read_file(str(tmp_path / "casts.json")).ops if one.name == "aten::_to_copy"]
    said = {region.name: one.concrete_inputs[1] for one in casts if (region := _around(one)) is not None}
    assert said == {name: number for number, name in zip(SCALAR_TYPES, words.values(), strict=True)}
    assert {name: getattr(torch, words[name]).itemsize for name in words} == {
        name: DTYPE_BYTES[name] for name in words
    }


TORCH_NAMES = (
    *("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("bool", "bfloat16", "float8_e5m2", "float8_e4m3fn"),
)


def _around(found: Op) -> Region | None:
    inside = [r for r in found.trace.regions if r.start_ns <= found.start_ns < r.start_ns + r.cpu_ns]
    return inside[-1] if inside else None


shapes = st.one_of(
    st.lists(st.integers(0, 5), max_size=5),
    st.lists(st.lists(st.integers(0, 5), max_size=3), max_size=3),
    st.integers(),
    st.none(),
    st.text(max_size=2),
)
dtypes = st.one_of(
    st.sampled_from([*DTYPE_BYTES, "", "Scalar", "TensorList", "c10::quint8"]), st.none(), st.integers()
)
texts = st.one_of(
    st.sampled_from(["", "True", "False", "[1, 1]", "[-1]", "[]", "[0, 0]", "²", "0", "1", "15", "0."]),
    st.integers(),
)


arguments = st.fixed_dictionaries(
    {
        "Input Dims": st.lists(shapes, max_size=14),
        "Input type": st.lists(dtypes, max_size=14),
        "Concrete Inputs": st.lists(texts, max_size=14),
        "Input Strides": st.lists(shapes, max_size=14),
    }
)
GELU = "triton_poi_fused__unsafe_view_gelu_mul_0"
APPLY = (
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
    "TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>>(int)"
)
LAUNCHES = [
    (GELU, GELU),
    ("triton_red_fused_sum_0", "triton_red_fused_sum_0"),
    ("triton_mm_0", "triton_mm_0"),
    ("aten::_foreach_add_", APPLY),
    ("aten::cat", "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3>(int)"),
    ("aten::convolution_backward", "void cudnn::detail::dgrad_engine<float, 512>(int)"),
    ("aten::embedding_dense_backward", "void at::native::embedding_backward_feature_kernel<float>(int)"),
    ("rung::glu_mlp", "rung_gate_up_gelu_tanh_64x64x32_s3"),
    ("rung::glu_mlp", "rung_down_64x64x32_s3"),
    ("rung::down_backward", "rung_down_backward_hopper_silu_128x128x64_s5"),
    ("rung::gate_up_backward", "rung_gate_up_backward_hopper_192x128x64_s5"),
    ("aten::mm", "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"),
]


@given(
    st.sampled_from(LAUNCHES),
    arguments,
    st.lists(
        st.one_of(st.lists(st.integers(0, 9), max_size=3), st.none(), st.text(max_size=1)),
        min_size=1,
        max_size=3,
    ),
)
def test_whatever_a_recording_says_of_a_kernel_its_work_is_a_number_or_none(
    names: tuple[str, str], args: dict[str, Any], grids: list[Any]
) -> None:
    events = [op(names[0], 0, 100, **args)]
    for i, grid in enumerate(grids):
        events += [launch(1 + i, 1, i + 1), kernel(names[1], 10 + 10 * i, 5, i + 1, grid=grid)]
    for one in read(*events).kernels:
        work = work_of(one)
        assert work.flop is None or work.flop >= 0
        assert work.nbytes is None or work.nbytes >= 0


@given(st.sampled_from(sorted(counting._COUNTS)), arguments)
def test_whatever_a_recording_says_a_count_is_a_number_or_none(name: str, args: dict[str, Any]) -> None:
    demand = demand_of_call(call_of(read(op(name, 0, 10, **args)).ops[0]))
    if demand is not None:
        assert demand.flop is None or demand.flop >= 0
        assert demand.nbytes is None or demand.nbytes >= 0
