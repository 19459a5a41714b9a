"""How an expectation is written: what is read, what is refused and with which words, and back to text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.errors import UsageError
from rung.insight.guessing.language import KEYS, Expectation, expect, parse
from rung.insight.guessing.wants import Amount, DtypeWant, Order


def count(comparison: str, *bounds: int) -> Amount:
    return Amount(comparison, tuple(map(Fraction, bounds)), "count")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "key", "want"),
    [
        ("kernels=5", "kernels", count("==", 5)),
        ("  gemm  >=  3 ", "gemm", count(">=", 3)),
        ("copies!=0", "copies", count("!=", 0)),
        ("launches in 6..7", "launches", count("in", 6, 7)),
        ("op:aten::addmm>=1", "op:aten::addmm", count(">=", 1)),
        ("kernel:triton_poi_*==0", "kernel:triton_poi_*", count("==", 0)),
        ("family:nvjet<3", "family:nvjet", count("<", 3)),
        ("kernel:*kernel<4, float>==1", "kernel:*kernel<4, float>", count("==", 1)),
        ("kernel:f<4, g<int> >>=1", "kernel:f<4, g<int> >", count(">=", 1)),
        ('kernel:"f<4>"=1', "kernel:f<4>", count("==", 1)),
        ("kernel:'f<4>' >= 1", "kernel:f<4>", count(">=", 1)),
        (r'kernel:"say \"a\\b\""=1', r'kernel:say "a\b"', count("==", 1)),
        ("kernel:[!a]*=2", "kernel:[!a]*", count("==", 2)),
        ("op:CompiledFunction in 1..2", "op:CompiledFunction", count("in", 1, 2)),
        ("dtype=bf16", "dtype", DtypeWant("==", "bf16")),
        ("dtype!=torch.float32", "dtype", DtypeWant("!=", "fp32")),
        ("order=gemm, gemm,pointwise", "order", Order(("gemm", "gemm", "pointwise"))),
        ('order=[..., "f<4, float>", softmax]', "order", Order(("...", "f<4, float>", "softmax"))),
        ("gpu_busy<0.25ms", "gpu_busy", Amount("<", (Fraction(250_000),), "time")),
        ("cpu<=3 µs", "cpu", Amount("<=", (Fraction(3_000),), "time")),
        ("cpu in 100..250 us", "cpu", Amount("in", (Fraction(100_000), Fraction(250_000)), "time")),
        ("gpu_idle_share<12.5%", "gpu_idle_share", Amount("<", (Fraction(1, 8),), "share")),
        ("gpu_idle_share<=0.2", "gpu_idle_share", Amount("<=", (Fraction(1, 5),), "share")),
    ],
)
def test_an_expectation_reads_as_it_is_meant(text: str, key: str, want: object) -> None:
    found = parse(text)
    assert (found.key, found.want) == (key, want)
    assert parse(str(found)) == found


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gem=3", "unknown key 'gem'. Did you mean 'gemm'? Keys: kernels, gemm,"),
        ("GEMM=3", "Did you mean 'gemm'?"),
        ("kern:foo*=1", "Did you mean 'kernel:foo*'?"),
        ("aten::mm=1", "Did you mean 'op:aten::mm'?"),
        ("triton_poi_*=0", "Did you mean 'kernel:triton_poi_*'?"),
        ("op=1", "Did you mean 'op:GLOB'?"),
        ("kernel:=1", "kernel: needs a name or glob"),
        ("kernels", "'kernels' compares nothing"),
        ("", "compares nothing"),
        ("kernels=five", "kernels takes a whole number, such as 5, not 'five'"),
        ("kernels=-1", "kernels takes a whole number"),
        ("kernels=2.5", "kernels takes a whole number"),
        ("kernels=2..4", "a range is written 'in 2..4'"),
        ("kernels in 4..2", "the range '4..2' is empty"),
        ("kernels in 4", "'in' takes a range"),
        ("gpu_busy<250", "gpu_busy takes a time with its unit"),
        ("cpu<0.5ns", "no finer than 1 ns"),
        ("gpu_idle_share<20", "gpu_idle_share takes a share from 0 to 1 or in %"),
        ("dtype=bf17", "'bf17' is no dtype"),
        ("dtype>bf16", "dtype is compared with == or !=, not >"),
        ("order=", "order is empty"),
        ("order=gemm,,gemm", "order takes a list"),
        ("order>gemm", "order is compared with =="),
        ("kernel:f<4>=1", "can be read two ways"),
        ('kernel:"f<4>=1', "the quote is not closed"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unknown_key_lists_all_there_are() -> None:
    with pytest.raises(UsageError, match=", ".join(KEYS)):
        parse("zebra=1")


@pytest.mark.parametrize(
    ("key", "value", "same_as"),
    [
        ("kernels", 5, "kernels=5"),
        ("kernels", "5", "kernels=5"),
        ("pointwise", ">= 2", "pointwise>=2"),
        ("memsets", "in 0..2", "memsets in 0..2"),
        ("gpu_idle_share", 0.25, "gpu_idle_share=25%"),
        ("dtype", "bf16", "dtype=bf16"),
        ("order", ["gemm", "triton_*"], "order=gemm,triton_*"),
        ("order", "gemm, triton_*", "order=gemm,triton_*"),
        ("kernel:f<4>", "> 0", 'kernel:"f<4>" > 0'),
    ],
)
def test_a_key_apart_from_its_value_says_the_same(key: str, value: object, same_as: str) -> None:
    assert expect(key, value) == parse(same_as)


@pytest.mark.parametrize("value", [True, None, [5], {"a": 1}, float("nan"), 1.5, "gemm", ">= two"])
def test_a_value_of_the_wrong_sort_names_its_key(value: object) -> None:
    with pytest.raises(UsageError, match=r"^kernels"):
        expect("kernels", value)


def test_order_takes_a_list_of_texts_only() -> None:
    with pytest.raises(UsageError, match="order takes a list of kinds and globs"):
        expect("order", ["gemm", 3])


@pytest.mark.parametrize(
    ("comparison", "holds"),
    [("==", "5"), ("!=", "46"), ("<", "4"), ("<=", "45"), (">", "6"), (">=", "56")],
)
def test_comparisons_around_five(comparison: str, holds: str) -> None:
    want = count(comparison, 5)
    assert "".join(str(got) for got in (4, 5, 6) if want.accepts(got)) == holds


def test_a_range_has_both_its_ends() -> None:
    assert [got for got in range(7) if count("in", 2, 4).accepts(got)] == [2, 3, 4]


KERNELS = [("gemm", "nvjet_a"), ("pointwise", "triton_poi_0"), ("gemm", "nvjet_b")]


@pytest.mark.parametrize(
    ("items", "holds"),
    [
        (("gemm", "pointwise", "gemm"), True),
        (("gemm", "triton_*", "nvjet_b"), True),
        (("gemm", "pointwise"), False),
        (("gemm", "..."), True),
        (("...", "gemm"), True),
        (("...", "pointwise"), False),
        (("...", "pointwise", "..."), True),
        (("...",), True),
        (("gemm", "...", "pointwise", "gemm"), True),
        (("gemm", "gemm", "pointwise"), False),
        (("gemm", "pointwise", "gemm", "..."), True),
        (("gemm", "pointwise", "gemm", "gemm"), False),
        (("softmax", "...", "..."), False),
    ],
)
def test_order_is_every_kernel_in_turn(items: tuple[str, ...], holds: bool) -> None:
    assert Order(items).accepts(KERNELS) is holds


texts = st.one_of(
    st.text(),
    st.text(alphabet="kernel:op=<>!in .\"'\\,[]*5us%gemmdtypeorder"),
    st.builds(
        "{}{}{}".format,
        st.sampled_from(KEYS),
        st.sampled_from(["=", "==", "!=", "<", "<=", ">", ">="]),
        st.text(),
    ),
    st.builds('kernel:"{}"={}'.format, st.text(), st.integers(0)),
)


@given(texts)
def test_any_text_reads_or_is_refused_and_what_reads_prints_back(text: str) -> None:
    try:
        found = parse(text)
    except UsageError:
        return
    assert parse(str(found)) == found


times = st.integers(0, 10**14)
wants = st.one_of(
    st.tuples(st.sampled_from(["kernels", "gemm", "copies", "op:aten::mm"]), st.integers(0, 10**17)),
    st.tuples(st.sampled_from(["gpu_busy", "cpu"]), times.map("{} ns".format)),
    st.tuples(
        st.just("gpu_idle_share"), st.integers(0, 10**9).map(lambda n: f"{n // 10**7}.{n % 10**7:07} %")
    ),
    st.tuples(st.just("order"), st.lists(st.text(min_size=1), min_size=1)),
    st.tuples(st.text(min_size=1).filter(str.strip).map("kernel:{}".format), st.integers(0, 99)),
)


@given(wants)
def test_whatever_is_expected_can_be_written_on_the_command_line(pair: tuple[str, object]) -> None:
    found = expect(*pair)
    assert parse(str(found)) == found


@given(times)
def test_times_are_exact(ns: int) -> None:
    assert expect("cpu", f"{ns} ns").want == Amount("==", (Fraction(ns),), "time")
    assert isinstance(parse(f"cpu <= {ns // 1000}.{ns % 1000:03} us"), Expectation)
    assert expect("cpu", f"{ns // 1000}.{ns % 1000:03} us") == expect("cpu", f"{ns} ns")
