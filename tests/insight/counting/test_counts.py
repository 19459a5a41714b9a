"""What each family of ops is counted as, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from rung.insight.counting import demand_of_call
from rung.insight.counting.demand import Demand
from rung.insight.counting.pointwise import OPERANDS
from rung.insight.tensors import Call, call_of
from tracelib import op, read

BF16 = "c10::BFloat16"
FP8 = "c10::Float8_e4m3fn"
F = "float"
Given = list[Any]
"""`[shape, dtype]`, a scalar's text, or None for what is absent; strides may follow."""


def call(name: str, *given: Any) -> Call:
    dims, types, strides, texts = [], [], [], []
    for one in given:
        shape, dtype, *rest = one if isinstance(one, list) else ([], "" if one is None else "Scalar")
        dims.append(shape)
        types.append(dtype)
        strides.append(rest[0] if rest else [])
        texts.append(one if isinstance(one, str) else "")
    args = {"Input Dims": dims, "Input type": types, "Input Strides": strides, "Concrete Inputs": texts}
    return call_of(read(op(name, 0, 10, **args)).ops[0])


def counted(name: str, *given: Any) -> tuple[int | None, int | None]:
    demand = demand_of_call(call(name, *given))
    assert demand is not None
    return demand.flop, demand.nbytes


def uncounted(name: str, *given: Any) -> bool:
    return demand_of_call(call(name, *given)) is None


class TestProducts:
    def test_the_mlp(self) -> None:
        """38.65 GFLOP; 12.6 + 4.7 + 50.3 MB."""
        flop, nbytes = counted("aten::mm", [[8192, 768], BF16], [[768, 3072], BF16])
        assert flop == 38_654_705_664
        assert nbytes == 12_582_912 + 4_718_592 + 50_331_648

    def test_a_bias_is_read_too(self) -> None:
        product = [[2, 3], F], [[3, 5], F]
        assert counted("aten::addmm", [[5], F], *product, "1", "1") == (60, 4 * (5 + 6 + 15 + 10))
        assert counted("aten::linear", [[4, 2, 3], F], [[5, 3], F], [[5], F]) == (240, 4 * (24 + 15 + 5 + 40))

    def test_a_batch_whose_second_operand_is_one_matrix_expanded(self) -> None:
        """Stride 0: [3, 5] is in memory once."""
        a, b = [[7, 2, 3], F, [6, 3, 1]], [[7, 3, 5], F, [0, 5, 1]]
        assert counted("aten::bmm", a, b) == (7 * 60, 4 * (42 + 15 + 70))

    def test_fp8_needs_to_be_told_the_output_dtype(self) -> None:
        given = [[16, 32], FP8], [[32, 64], FP8], [[], F], [[], F], None, None
        assert counted("aten::_scaled_mm", *given, "15", "False") == (65536, 512 + 2048 + 2 * 1024)
        assert counted("aten::_scaled_mm", *given, None, "False") == (65536, None)

    def test_integers(self) -> None:
        given = [[16, 32], "signed char"], [[32, 64], "signed char"]
        assert counted("aten::_int_mm", *given) == (65536, 512 + 2048 + 4 * 1024)

    @pytest.mark.parametrize(
        ("a", "b", "flop", "elements"),
        [
            ([10, 4], [3, 4, 5], 2 * 10 * 5 * 4, 40 + 60 + 50),
            ([4, 10], [10, 5], 2 * 4 * 5 * 10, 40 + 50 + 3 * 20),
            ([3, 2, 4], [3, 4, 5], 3 * 2 * 2 * 5 * 4, 24 + 60 + 30),
        ],
    )
    def test_groups(self, a: list[int], b: list[int], flop: int, elements: int) -> None:
        """Rows of three groups; terms of three groups, a matrix each; a batch."""
        offsets = [[3], "int"] if len(a) == 2 else None
        there = 12 if offsets else 0
        assert counted("aten::_grouped_mm", [a, BF16], [b, BF16], offsets) == (flop, 2 * elements + there)

    @pytest.mark.parametrize(
        ("a", "b", "flop"),
        [([2, 3], [3, 5], 60), ([7, 2, 3], [3, 5], 420), ([7, 2, 3], [7, 3, 5], 420), ([3], [3], 6)],
    )
    def test_matmul(self, a: list[int], b: list[int], flop: int) -> None:
        assert counted("aten::matmul", [a, F], [b, F])[0] == flop

    def test_what_does_not_fit_is_no_product(self) -> None:
        assert uncounted("aten::mm", [[2, 3], F], [[4, 5], F])
        assert uncounted("aten::matmul", [[7, 2, 3], F], [[1, 3, 5], F])
        assert uncounted("aten::_grouped_mm", [[4], F], [[4, 5], F])


IMAGES, FILTERS = [[2, 3, 8, 8], F], [[4, 3, 3, 3], F]


class TestConvolution:
    def test_each_weight_meets_each_output_point(self) -> None:
        """2 images of 64 points, 108 weights."""
        flop = 2 * 2 * 64 * 108
        rest = None, "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"
        assert counted("aten::convolution", IMAGES, FILTERS, *rest) == (flop, 4 * (384 + 108 + 512))
        cudnn = "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"
        assert counted("aten::cudnn_convolution", IMAGES, FILTERS, *cudnn)[0] == flop

    def test_stride_padding_and_dilation(self) -> None:
        """(8 + 2 - 2 x 2 - 1) // 2 + 1 = 3 points each way."""
        rest = None, "[2, 2]", "[1, 1]", "[2, 2]", "False", "[0, 0]", "1"
        assert counted("aten::convolution", IMAGES, FILTERS, *rest)[0] == 2 * 2 * 9 * 108

    def test_a_depthwise_one_has_few_weights(self) -> None:
        rest = None, "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "3"
        assert counted("aten::convolution", IMAGES, [[3, 1, 3, 3], F], *rest)[0] == 2 * 2 * 64 * 27

    def test_backward_is_two_products_or_the_one_that_was_asked_for(self) -> None:
        rest = None, "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"
        grad, one = [[2, 4, 8, 8], F], 2 * 2 * 64 * 108
        both = counted("aten::convolution_backward", grad, IMAGES, FILTERS, *rest, "[True, True, False]")
        assert both == (2 * one, 4 * (512 + 108 + 384 + 384 + 108))
        weight = counted("aten::convolution_backward", grad, IMAGES, FILTERS, *rest, "[False, True, False]")
        assert weight == (one, 4 * (512 + 384 + 108))

    def test_without_the_numbers_the_output_is_unknown(self) -> None:
        assert uncounted("aten::convolution", IMAGES, FILTERS, None, None, None, None, None, None, None)
        assert uncounted("aten::conv2d", IMAGES, FILTERS, None, "[1, 1]", "same", "[1, 1]", "1")


class TestAttention:
    def test_heads_before_and_behind_the_sequence(self) -> None:
        """2 products of 2 x 2 x 4 heads, 16 x 16 scores, 8 wide; 4 tensors of 1024 elements."""
        first, behind = [[2, 4, 16, 8], BF16], [[2, 16, 4, 8], BF16]
        flop, nbytes = 2 * 2 * 2 * 4 * 16 * 16 * 8, 4 * 1024 * 2
        cudnn = None, None, None, "16", "16", "False", "0."
        flash = None, None, "16", "16", "0."
        assert counted("aten::_cudnn_attention_forward", *[first] * 3, *cudnn, "False") == (flop, nbytes)
        assert counted("aten::_flash_attention_forward", *[behind] * 3, *flash, "False") == (flop, nbytes)

    def test_a_causal_one_does_half(self) -> None:
        q = [[2, 4, 16, 8], BF16]
        full = counted("aten::_scaled_dot_product_flash_attention", q, q, q, "0.", "False")
        half = counted("aten::_scaled_dot_product_flash_attention", q, q, q, "0.", "True")
        assert half == (full[0] // 2, full[1])  # type: ignore[operator]
        masks = [
            counted("aten::_efficient_attention_forward", q, q, q, *[None] * 5, "0.", kind)[0]
            for kind in "012"
        ]
        assert masks[1] == masks[2] == masks[0] // 2  # type: ignore[operator]

    def test_a_mask_is_read(self) -> None:
        q, mask = [[2, 4, 16, 8], BF16], [[2, 1, 16, 16], BF16]
        _, nbytes = counted(
            "aten::_scaled_dot_product_efficient_attention", q, q, q, mask, "False", "0.", "False"
        )
        assert nbytes == 4 * 2048 + 1024

    def test_fewer_heads_for_keys_and_values(self) -> None:
        """Grouped queries: the scores are those of all query heads, the bytes those of one key head."""
        q, k = [[2, 4, 16, 8], BF16], [[2, 1, 24, 8], BF16]
        found = counted("aten::_scaled_dot_product_flash_attention", q, k, k, "0.", "False")
        assert found == (2 * 2 * 8 * 16 * 24 * 8, 2 * (2 * 1024 + 2 * 384))

    def test_backward_is_five_products(self) -> None:
        q, lse = [[2, 16, 4, 8], BF16], [[2, 4, 16], F]
        given = *[q] * 5, lse, None, None, "16", "16", "0."
        one = 2 * 2 * 4 * 16 * 16 * 8
        assert counted("aten::_flash_attention_backward", *given, "False") == (5 * one, 8 * 2048)

    def test_what_is_not_told_is_not_counted(self) -> None:
        q, k = [[2, 4, 16, 8], BF16], [[2, 4, 24, 8], BF16]
        assert uncounted("aten::_scaled_dot_product_flash_attention", q, k, k, "0.", "True")
        assert uncounted("aten::_scaled_dot_product_flash_attention", q, k, k, "0.", None)
        paged = [[2, 16, 4, 8], BF16], [[99, 16, 4, 8], BF16], [[99, 16, 4, 8], BF16]
        flash = None, None, "16", "16", "0.", "False", "False", "0.1"
        assert uncounted("aten::_flash_attention_forward", *paged, *flash)
        same = [paged[0]] * 3
        assert uncounted("aten::_flash_attention_forward", *same, *flash, "128", "0")
        assert not uncounted("aten::_flash_attention_forward", *same, *flash, "-1", "-1")
        ragged = [[33, 4, 8], BF16], [[33, 4, 8], BF16], [[33, 4, 8], BF16], [[4], "int"], [[4], "int"]
        assert uncounted("aten::_flash_attention_forward", *ragged, "16", "16", "0.", "False")


class TestPointwise:
    @pytest.mark.parametrize(
        ("name", "given", "nbytes"),
        [
            ("aten::add", ([[8, 8], F], [[8, 8], F], "1"), 4 * 3 * 64),
            ("aten::add_", ([[8, 8], F], [[8], F], "1"), 4 * (64 + 8 + 64)),
            ("aten::add", ([[8, 8], F], [[8], F], "1", [[8, 8], F]), 4 * (64 + 8 + 64)),
            ("aten::mul", ([[8, 8], BF16], [[8, 8], F]), 2 * 64 + 4 * 64 + 4 * 64),
            ("aten::mul", ([[8, 8], BF16], [[], F]), 2 * 2 * 64),
            ("aten::gelu", ([[8, 8], BF16], "none"), 2 * 2 * 64),
            ("aten::gelu", ([[8, 8], BF16], "none", [[8, 8], BF16]), 2 * 2 * 64),
            ("aten::gelu_backward", ([[8, 8], BF16], [[8, 8], BF16], "none"), 2 * 3 * 64),
            ("aten::clamp", ([[8, 8], F], "0", None, [[8, 8], F]), 4 * 2 * 64),
            ("aten::lt", ([[8, 8], F], "0"), 4 * 64 + 64),
            ("aten::where", ([[8, 8], "bool"], [[8, 8], BF16], [[8], BF16]), 64 + 128 + 16 + 128),
            ("aten::masked_fill_", ([[8, 8], BF16], [[8, 8], "bool"], "0"), 128 + 64 + 128),
            ("aten::masked_fill", ([[8, 8], BF16], [[8, 8], "bool"], [[], BF16]), 128 + 64 + 2 + 128),
            ("aten::add", ([[8], "long int"], [[8], "int"], "1"), 64 + 32 + 64),
            ("aten::mul", ([[8], "long int"], "2.5"), None),
            ("aten::abs", ([[8], "c10::complex<float>"],), None),
            ("aten::div", ([[8], "long int"], [[8], "long int"]), None),
            ("aten::native_dropout", ([[8, 8], BF16], "0.1", "True"), 128 + 128 + 64),
            ("aten::copy_", ([[8, 8], F], [[8, 8], BF16], "False"), 128 + 256),
            ("aten::fill_", ([[8, 8], F], "0"), 256),
            ("aten::uniform_", ([[8, 8], F], "0", "1", None), 256),
            ("aten::div", ([[8, 8], F, [0, 0]], [[], "long int"]), 4 + 8 + 256),
            ("aten::copy_", ([[8, 8], F, [8, 1]], [[8, 8], F, [1, 0]], "False"), 32 + 256),
        ],
    )
    def test_operands_once_and_the_result_once(self, name: str, given: Any, nbytes: int | None) -> None:
        """Among them an `out=`, broadcasts, promotions, results of other dtypes and expanded gradients."""
        assert counted(name, *given) == (None, nbytes)

    def test_what_does_not_broadcast_is_not_counted(self) -> None:
        assert uncounted("aten::add", [[4], F], [[3], F], "1")

    def test_the_tables_are_those_of_pytorchs_schemas(self) -> None:
        """No op has a tensor argument behind its operands, and none has fewer arguments."""
        torch = pytest.importorskip("torch")
        most: dict[str, int] = {}
        for schema in torch._C._jit_get_all_schemas():
            given = [a for a in schema.arguments if not a.is_out]
            places = [i for i, a in enumerate(given) if str(a.type) in ("Tensor", "Optional[Tensor]")]
            if schema.name.startswith("aten::") and places:
                op_name = schema.name.removeprefix("aten::")
                most[op_name] = max(most.get(op_name, 0), max(places) + 1)
        assert {name: most[name] for name in OPERANDS} == OPERANDS


class TestReductions:
    @pytest.mark.parametrize(
        ("name", "given", "nbytes"),
        [
            ("aten::mean", ([[4, 8], F], "[-1]", "True", None), 4 * (32 + 4)),
            ("aten::sum", ([[4, 8], "bool"], "[0]", "False", None), 32 + 8 * 8),
            ("aten::sum", ([[4, 8], BF16], None), 64 + 2),
            ("aten::sum", ([[4, 8], BF16], "[0, 1]", "False", "6"), 64 + 4),
            ("aten::sum", ([[4, 8], F], "[]", "False", None), 128 + 4),
            ("aten::amax", ([[4, 8], F], "[1]", "False"), 4 * 36),
            ("aten::max", ([[4, 8], F], "1", "False"), 128 + 16 + 32),
            ("aten::argmax", ([[4, 8], F], "1", "False"), 128 + 32),
            ("aten::all", ([[4, 8], "bool"],), 33),
            ("aten::linalg_vector_norm", ([[4, 8], F], "2", "[1]", "False", None), 4 * 36),
            ("aten::var_mean", ([[4, 8], F], "[1]", "1", "False"), 4 * (32 + 4 + 4)),
            ("aten::_softmax", ([[4, 8], BF16], "1", "False"), 128),
            ("aten::_softmax", ([[4, 8], BF16], "1", "True"), 64 + 128),
            ("aten::_softmax_backward_data", ([[4, 8], F], [[4, 8], F], "1", "15"), 256 + 64),
        ],
    )
    def test_input_and_result(self, name: str, given: Any, nbytes: int) -> None:
        assert counted(name, *given) == (None, nbytes)

    def test_which_dimensions_has_to_be_known(self) -> None:
        assert uncounted("aten::mean", [[4, 8], F], None, "True", None)
        assert uncounted("aten::mean", [[4, 8], F], "[2]", "True", None)
        assert uncounted("aten::max", [[4, 8], F], [[4, 8], F])


ROWS = [[4, 8], BF16]


class TestNorms:
    def test_input_result_and_weights(self) -> None:
        layer = counted("aten::native_layer_norm", ROWS, "[8]", [[8], BF16], [[8], BF16], "1e-05")
        assert layer == (None, 2 * (32 + 32 + 8 + 8))
        assert counted("aten::_fused_rms_norm", ROWS, "[8]", [[8], BF16], None) == (None, 2 * (64 + 8))
        bare = counted("aten::native_layer_norm", ROWS, "[8]", None, None, "1e-05")
        assert bare == (None, 2 * 64)

    def test_a_batch_norm(self) -> None:
        x, channels = [[2, 4, 8, 8], F], [[4], F]
        assert counted("aten::cudnn_batch_norm", x, *[channels] * 4, "True") == (None, 4 * (1024 + 8))
        back = counted("aten::cudnn_batch_norm_backward", x, x, *[channels] * 5)
        assert back == (None, 4 * (3 * 512 + 4))


class TestRows:
    @pytest.mark.parametrize(
        ("name", "given", "nbytes"),
        [
            ("aten::embedding", ([[100, 8], BF16], [[2, 3], "long int"], "-1"), 6 * 8 + 2 * 6 * 8 * 2),
            ("aten::index_select", ([[5, 7], F], "1", [[3], "long int"]), 24 + 2 * 15 * 4),
            ("aten::gather", ([[5, 7], F], "1", [[5, 2], "long int"]), 80 + 2 * 10 * 4),
            ("aten::scatter_", ([[5, 7], F], "1", [[5, 2], "long int"], [[5, 2], F]), 80 + 2 * 10 * 4),
            ("aten::scatter_", ([[5, 7], F], "1", [[5, 2], "long int"], "1"), 80 + 10 * 4),
        ],
    )
    def test_what_is_named_moves_and_no_more(self, name: str, given: Any, nbytes: int) -> None:
        assert counted(name, *given) == (None, nbytes)

    def test_a_dimension_that_is_not_there(self) -> None:
        assert uncounted("aten::index_select", [[5, 7], F], "2", [[3], "long int"])


def test_a_dtype_that_is_not_known_leaves_nothing_to_count() -> None:
    assert uncounted("aten::mm", [[2, 3], "c10::Float4_e2m1fn_x2"], [[3, 5], BF16])
    assert uncounted("aten::add", [[8], F], [[8], "c10::quint8"], "1")
    assert uncounted("aten::add", [[8], F], [[8], ""], "1")


def test_where_no_dtypes_were_recorded_a_product_still_has_its_flop() -> None:
    """As PyTorch 1.8 wrote them."""
    trace = read(op("aten::mm", 0, 10, **{"Input dims": [[2, 3], [3, 5]], "Input type": []}))
    demand = demand_of_call(call_of(trace.ops[0]))
    assert isinstance(demand, Demand)
    assert (demand.flop, demand.nbytes) == (60, None)


def test_an_op_that_nobody_counts() -> None:
    assert uncounted("aten::sort", [[8], F])
    assert uncounted("mine::op", [[8], F])
