"""CPU ops: the kind of work, and which of them do none."""

from __future__ import annotations

import pytest

from rung.names import decode_op, is_metadata_op
from rung.names.operator_table import KINDS, METADATA_OPS


@pytest.mark.parametrize(
    ("name", "family", "kind"),
    [
        ("aten::mm", "aten-op", "gemm"),
        ("aten::addmm", "aten-op", "gemm"),
        ("aten::baddbmm", "aten-op", "gemm"),
        ("aten::addmv_", "aten-op", "gemm"),
        ("aten::mkldnn_linear", "aten-op", "gemm"),
        ("mkldnn::_linear_pointwise", "torch-op", "gemm"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "aten-op", "attention"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu_backward", "aten-op", "attention"),
        ("aten::native_layer_norm", "aten-op", "normalization"),
        ("aten::_softmax", "aten-op", "softmax"),
        ("aten::_log_softmax_backward_data", "aten-op", "softmax"),
        ("aten::sum", "aten-op", "reduction"),
        ("aten::mean", "aten-op", "reduction"),
        ("aten::gelu", "aten-op", "pointwise"),
        ("aten::gelu_backward", "aten-op", "pointwise"),
        ("aten::mul", "aten-op", "pointwise"),
        ("aten::__and__", "aten-op", "pointwise"),
        ("aten::convolution_backward", "aten-op", "convolution"),
        ("aten::embedding", "aten-op", "other"),
        ("aten::no_such_op", "aten-op", "other"),
        ("mylib::fused_thing", "torch-op", "other"),
        ("c10d::allreduce_", "torch-op", "collective"),
        ("graph_0_cpp_fused__unsafe_view_gelu_mul_0", "inductor", "pointwise"),
        ("triton_red_fused_sum_1", "inductor", "reduction"),
        ("no op at all", "unknown", "other"),
    ],
)
def test_kind_of_work(name: str, family: str, kind: str) -> None:
    decoded = decode_op(name)
    assert (decoded.name, decoded.family, decoded.kind) == (name, family, kind)


@pytest.mark.parametrize(
    ("name", "functor"),
    [
        ("aten::gelu", "gelu"),
        ("aten::add_", "add"),
        ("aten::copy_", "copy"),
        ("aten::_to_copy", "copy"),
        ("aten::clone", "copy"),
        ("aten::zero_", "fill"),
        ("aten::fill_", "fill"),
        ("aten::sum", "sum"),
        ("aten::_foreach_mul_", "mul"),
    ],
)
def test_functor(name: str, functor: str) -> None:
    assert decode_op(name).fields["functor"] == functor


def test_an_op_that_no_table_has_is_said_to_be_unknown() -> None:
    assert decode_op("mylib::fused_thing").unknown == ("fused_thing",)
    assert decode_op("aten::mm").unknown == ()


METADATA = """
    t transpose view reshape as_strided _unsafe_view resolve_conj resolve_neg detach alias expand
    permute slice select unsqueeze squeeze empty empty_like empty_strided result_type to contiguous"""
WRAPPERS = [
    "TorchDynamo Cache Lookup",
    "Pregraph bytecode",
    "AOTDispatcher Runtime Wrapper Prologue",
    "Torch-Compiled Region: 0/1",
    "CompiledFunction",
    "AddmmBackward0",
    "torch::autograd::AccumulateGrad",
    "autograd::engine::evaluate_function: TBackward0",
    "detach",
    "record_param_comms",
    "GraphLowering.run (dynamo_timed)",
]


@pytest.mark.parametrize("name", [*(f"aten::{op}" for op in METADATA.split()), *WRAPPERS])
def test_ops_that_do_no_work(name: str) -> None:
    assert is_metadata_op(name)


WORKING = "mm copy_ clone _to_copy cat zero_ gelu_backward no_such_op"


@pytest.mark.parametrize(
    "name", [*(f"aten::{op}" for op in WORKING.split()), "cpp_fused_gelu_0", "mylib::view", "my op", ""]
)
def test_ops_that_work_or_are_not_known(name: str) -> None:
    assert not is_metadata_op(name)


def test_no_op_both_works_and_does_not() -> None:
    assert not set(KINDS) & METADATA_OPS


ELSEWHERE = """
    H T _convolution_pointwise _cudnn_attention _efficient_attention _flash_attention
    _linear_pointwise _mkl_linear bitcast cudnn_convolution_backward_input
    cudnn_convolution_backward_weight data dim flex_attention inductor_lookup_seed inductor_randint
    inductor_random inductor_seeds is_leaf mH mT matrix_H moe_forward numel numpy_T
    qlinear_pointwise requires_grad_ size stride"""


@pytest.mark.torch
def test_every_op_of_the_tables_exists_in_torch() -> None:
    """A misspelt op would never match. Properties, older ops and those of elsewhere have no ATen schema."""
    torch = pytest.importorskip("torch", minversion="2.13", reason="the tables follow torch 2.13")
    known = {name.split("::")[1].split(".")[0] for name in torch._C._dispatch_get_all_op_names()}
    bare = {op for op in (*KINDS, *METADATA_OPS) if op not in known and op.removesuffix("_") not in known}
    assert bare - set(ELSEWHERE.split()) == set()
    assert "mm" in known
