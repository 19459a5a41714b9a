"""Whatever the text: it decodes, nothing of it is lost in thin air, nothing is made up."""

from __future__ import annotations

import re
from typing import get_args

from hypothesis import example, given
from hypothesis import strategies as st

from rung.names import Kind, cpp, decode, decode_op, explain, is_metadata_op, short
from rung.names.families.inductor import split_ops

_WORDS = """
    nvjet_ sm90_ tst_ 128x128_ 64x4_ splitK_ TNT ampere_ s16816gemm_ bf16_ tn cutlass_80_ tensorop_
    cutlass3x_sm90_ align8 at::native:: vectorized_elementwise_kernel reduce_kernel float
    at::native::AddFunctor<float> > (int) {lambda(float)#1} operator() triton_poi_fused_ cpp_fused_
    gelu_ _softmax_ 0 ncclDevKernel_ AllReduce_ Sum_ RING_ LL _ZN 5aiter 9999 Li128E Cijk_Alik_Bljk_
    MT1x2x3_ flash_fwd_kernel sm80_xmma_gemm_ f32f32_ splitKreduce_kernel softmax_warp_forward cub::
    vllm:: < >> ( ) :: _
"""
_WITH_SPACES = [
    "(anonymous namespace)::",
    "Flash_fwd_kernel_traits<64, 64, 64, 4>",
    "Memcpy HtoD (",
    "Memset (",
    "void ",
    "<4, ",
    "Device -> ",
    ", ",
    " ",
    "\ue000",
    "std::enable_if<(8>0), void>::type ",
]
REAL_BITS = st.sampled_from([*_WORDS.split(), *_WITH_SPACES])
TEXT = st.one_of(st.text(max_size=80), st.lists(REAL_BITS, max_size=12).map("".join))
CATEGORY = st.sampled_from(
    [None, "kernel", "Kernel", "gpu_memcpy", "gpu_memset", "Memcpy", "mtia_ccp_events", "?"]
)


@given(TEXT, CATEGORY)
@example("", None)
@example("at::0operator()", None)
@example("void (anonymous namespace)::f<(anonymous namespace)::G>(int)", "kernel")
def test_any_text_decodes(name: str, category: str | None) -> None:
    decoded = decode(name, category)
    assert decoded.name == name
    assert decoded.kind in get_args(Kind)
    assert all(token and token in name for token in decoded.unknown)
    if decoded.kind == "copy":
        assert (category or "memcpy").lower().endswith("memcpy")
    if decoded.kind == "memset":
        assert (category or "memset").lower().endswith("memset")


@given(TEXT)
def test_any_text_has_words(name: str) -> None:
    for decoded in (decode(name), decode_op(name)):
        assert decoded.kind in get_args(Kind)
        assert isinstance(short(decoded), str)
        lines = explain(decoded)
        assert lines
        assert all(isinstance(line, str) for line in lines)
    assert is_metadata_op(name) in (True, False)


OPS = st.sampled_from(
    ["_unsafe_view", "_to_copy", "gelu", "mul", "native_layer_norm", "add", "_softmax", "mean"]
)
UNHEARD_OF = st.sampled_from(["qqq", "frob", "zork"])


@given(st.lists(OPS, min_size=1, max_size=6))
def test_known_ops_come_back_in_order(ops: list[str]) -> None:
    assert split_ops("_".join(ops)) == (ops, ())


@given(st.lists(st.one_of(OPS, UNHEARD_OF), min_size=1, max_size=6))
def test_unknown_ops_are_left_over_and_the_known_still_found(ops: list[str]) -> None:
    found, left = split_ops("_".join(ops))
    strangers = [op for op in ops if op in ("qqq", "frob", "zork")]
    assert found == [op for op in ops if op not in strangers]
    assert "_".join(left).split("_") == (strangers or [""])


IDENTIFIER = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
TYPE = st.recursive(
    IDENTIFIER, lambda inner: st.builds("{0}<{1}, 4> ".format, IDENTIFIER, inner), max_leaves=4
)


@given(st.lists(IDENTIFIER, min_size=1, max_size=3), st.lists(TYPE.map(str.strip), max_size=3))
def test_a_cpp_name_comes_apart_as_it_was_put_together(path: list[str], args: list[str]) -> None:
    arguments = f"<{', '.join(args)}>" if args else ""
    parsed = cpp.parse(f"void {'::'.join(path)}{arguments}(int, {path[0]}<float>)")
    if path[0].startswith("_ZN"):
        return
    assert (list(parsed.scope), parsed.base, list(parsed.args)) == (path[:-1], path[-1], args)


@given(st.lists(IDENTIFIER, min_size=1, max_size=4))
def test_a_mangled_nested_name_gives_its_identifiers(path: list[str]) -> None:
    mangled = "_ZN" + "".join(f"{len(part)}{part}" for part in path) + "ILi128EEvPT_"
    parsed = cpp.parse(mangled)
    assert [*parsed.scope, parsed.base] == path
    assert parsed.tail == "ILi128EEvPT_"
    assert cpp.identifiers(mangled) == path


def test_identifiers_ignores_numbers_in_literals() -> None:
    assert cpp.identifiers("_ZN2ck6kernelILi12ENS_4GemmEEvv") == ["ck", "kernel", "Gemm"]
    assert not re.search(r"\d", "".join(cpp.identifiers("ILi4ELb0ELi128EE")))
