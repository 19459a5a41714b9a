"""Tensors followed from kernel to kernel by size and dtype."""

from __future__ import annotations

from handmade import ADD, GELU, MUL, TILE_A, one, ran
from rung.insight.flow import flow
from rung.insight.forward import forward
from tracelib import annotation, kernel, launch, op, read

SQUARE = [64, 64]


def hands(*kernels) -> list[tuple[int, int, bool]]:  # type: ignore[no-untyped-def]
    found = flow(one(*kernels))
    return sorted((p.writer, p.reader, p.again) for given in found.given for p in given)


def test_a_kernel_reads_what_was_written_last() -> None:
    chain = [ran(GELU, "aten::gelu", SQUARE), ran(GELU, "aten::sin", SQUARE), ran(GELU, "aten::cos", SQUARE)]
    assert hands(*chain) == [(0, 1, False), (1, 2, False)]


def test_sizes_keep_tensors_apart() -> None:
    small, large = ran(GELU, "aten::gelu", [8]), ran(GELU, "aten::gelu", [16])
    assert hands(small, large, small, large) == [(0, 2, False), (1, 3, False)]


def test_so_do_dtypes() -> None:
    half = (GELU, "aten::gelu", {"Input Dims": [SQUARE], "Input type": ["c10::BFloat16"]}, 5)
    assert hands(ran(GELU, "aten::gelu", SQUARE), half) == []


def test_a_view_has_the_size_of_what_it_views() -> None:
    assert hands(ran(GELU, "aten::gelu", [64, 64]), ran(GELU, "aten::sin", [4096])) == [(0, 1, False)]


def test_the_second_reader_of_a_tensor_reads_it_again() -> None:
    first, other = ran(GELU, "aten::gelu", SQUARE), ran(GELU, "aten::sum", SQUARE)
    found = flow(one(first, other, other))
    assert [(p.writer, p.reader, p.again) for p in found.given[0]] == [(0, 1, False), (0, 2, True)]
    assert found.needed_outside({0, 1}) == {0} and found.needed_outside({0, 1, 2}) == set()


def test_one_kernels_inputs_are_two_tensors() -> None:
    """A residual add reads the product's result, and something older: not that result twice."""
    found = flow(
        one(
            ran(GELU, "aten::gelu", SQUARE),
            ran(GELU, "aten::sin", SQUARE),
            ran(TILE_A, "aten::mm", SQUARE, SQUARE),
            ran(ADD, "aten::add", SQUARE, SQUARE),
        )
    )
    assert sorted((p.writer, p.again) for p in found.received[3]) == [(1, True), (2, False)]


def test_products_in_a_row_read_one_input() -> None:
    """q, k and v of one width: k's input is as large as q's result, and is not it."""
    q = ran(TILE_A, "aten::mm", SQUARE, [64, 64])
    found = flow(one(ran(GELU, "aten::gelu", SQUARE), q, q, q))
    assert all(p.writer == 0 for row in (1, 2, 3) for p in found.received[row])


def test_a_copy_reads_its_source_and_writes_its_target() -> None:
    wide = {"Input Dims": [SQUARE, SQUARE], "Input type": ["float", "c10::BFloat16"]}
    found = flow(one(("void copy", "aten::copy_", wide, 5)))
    assert [t.dtype for t in found.reads[0]] == ["c10::BFloat16"]
    assert found.writes[0] is not None and found.writes[0].dtype == "float"


def test_a_cat_has_the_dtype_of_what_it_joins() -> None:
    """A list of tensors is recorded without dtypes: two halves of 2048, one written before as bf16."""
    half = {"Input Dims": [[32, 64]], "Input type": ["c10::BFloat16"]}
    both = {"Input Dims": [[[32, 64], [32, 64]], []], "Input type": ["TensorList", "Scalar"]}
    found = flow(one((GELU, "aten::neg", half, 5), ("void CatArrayBatchedCopy", "aten::cat", both, 5)))
    assert found.writes[1] is not None
    assert (found.writes[1].numel, found.writes[1].dtype) == (4096, "c10::BFloat16")


def test_of_a_replayed_graph_nothing_is_known() -> None:
    trace = read(
        annotation("fwd", 0, 50),
        op("aten::gelu", 1, 8, **{"Input Dims": [SQUARE], "Input type": ["float"]}),
        {**launch(2, 3, 1), "name": "cudaGraphLaunch"},
        kernel(GELU, 5, 5, 1),
        kernel(MUL, 10, 5, 1),
    )
    found = flow(forward(trace))
    assert found.reads == ((), ()) and found.writes == (None, None)


def test_a_copy_reads_no_copy_beside_it() -> None:
    """q and k laid out anew, one after the other: each reads its own product."""
    products = [ran(TILE_A, "aten::mm", [64, 32], [32, 64])] * 2
    laid_out = [ran("void copy", "aten::copy_", SQUARE, SQUARE)] * 2
    assert hands(*products, *laid_out) == [(0, 3, False), (1, 2, False)]
