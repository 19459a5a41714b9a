"""What a guess says: in plain words before, and as a tree with the culprits marked after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rung.insight.guess import guess, load
from rung.insight.guessing import schema
from rung.insight.guessing.blame import culprits, explain
from rung.insight.guessing.language import parse
from rung.insight.guessing.words import in_words
from rung.show.guess import in_words as page
from rung.trace import Trace
from tracelib import annotation, kernel, launch, op, read

ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)"
BF16 = {"Input type": ["c10::BFloat16"] * 2, "Input Dims": [[8, 8], [8, 8]]}


@pytest.fixture
def trace() -> Trace:
    return read(
        annotation("fwd", 0, 200),
        op("aten::linear", 5, 40),
        op("aten::mm", 10, 30, **BF16),
        launch(12, 5, correlation=1),
        kernel("nvjet_a", 20, 10, correlation=1),
        op("aten::add", 50, 20),
        launch(52, 5, correlation=2),
        kernel(ADD, 60, 5, correlation=2),
        launch(100, 5, correlation=3),
        kernel("toy", 110, 5, correlation=3),
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kernels=5", "exactly 5 kernels"),
        ("gemm=1", "exactly 1 GEMM kernel"),
        ("copies=0", "no copies"),
        ("launches<=2", "at most 2 launches"),
        ("memsets in 0..2", "from 0 to 2 memsets"),
        ("op:aten::mm>=1", "at least 1 op named aten::mm"),
        ("kernel:triton_*!=2", "anything but 2 kernels named triton_*"),
        ("family:nvjet>3", "more than 3 kernels of the family nvjet"),
        ("dtype=bf16", "every GEMM multiplies in bf16"),
        ("dtype!=fp32", "no GEMM multiplies in fp32"),
        ("order=gemm,...,softmax", "the kernels run in this order: gemm, anything or nothing, softmax"),
        ("gpu_busy<220us", "the GPU is busy for less than 220 us"),
        ("gpu_idle_share<20%", "the GPU idles for less than 20 % of the wall time"),
        (
            "cpu<=baseline±10%",
            "the region is open on the CPU for at most the baseline's median, give or take 10 %,"
            " on the baseline's device only",
        ),
    ],
)
def test_in_plain_words(line: str, words: str) -> None:
    assert in_words(parse(line)) == words


def test_each_place_heads_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_text("kernels = 5\n[mlp]\ngemm = 3\n[cpu.mlp]\ngemm = 2\ncopies = 0\n")
    assert page(load(path)) == [
        "the outermost annotations",
        "  exactly 5 kernels",
        "mlp, except on cpu",
        "  exactly 3 GEMM kernels",
        "mlp, on cpu",
        "  exactly 2 GEMM kernels",
        "  no copies",
    ]


def test_the_tree_marks_what_broke_a_line(trace: Trace) -> None:
    lines = explain(guess("kernels=2", "gemm=1", "pointwise=1", "order=gemm,pointwise").judge(trace))
    assert lines[:3] == [
        "fwd: 3 kernels (1 gemm, 1 pointwise, 1 other), 3 launches",
        "  kernels == 2   is 3",
        "  order == gemm, pointwise   is gemm, pointwise, other",
    ]
    assert [line.strip().split("   ")[0] for line in lines[3:]] == [
        "aten::linear",
        "aten::mm",
        "cudaLaunchKernel",
        "GEMM",
        "aten::add",
        "cudaLaunchKernel",
        "pointwise add, 4 wide",
        "cudaLaunchKernel",
        "toy",
    ]
    marked = [line for line in lines if "<--" in line]
    assert len(marked) == 1
    assert marked[0].endswith("toy   <-- breaks kernels == 2, order")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("kernels=1", ["nvjet_a", ADD, "toy"]),
        ("kernels=4", []),
        ("kernels>=4", []),
        ("pointwise=0", [ADD]),
        ("kernel:n*=0", ["nvjet_a"]),
        ("dtype=fp16", ["nvjet_a"]),
        ("order=gemm,...,softmax,...", []),
        ("order=pointwise,...", ["nvjet_a"]),
        ("order=...,gemm,other", []),
        ("launches=2", []),
        ("gpu_busy<1us", []),
    ],
)
def test_culprits(line: str, names: list[str], trace: Trace) -> None:
    (judged,) = guess(line).judge(trace)
    assert not judged.measured.held
    assert [kernel.name for kernel in culprits(judged)] == names


def test_a_guess_that_holds_needs_no_explanation(trace: Trace) -> None:
    assert explain(guess(kernels=3).judge(trace)) == []


def test_a_long_region_is_told_around_its_culprits() -> None:
    events = [annotation("fwd", 0, 9000)]
    for i in range(200):
        events += [launch(20 * i, 2, correlation=i + 1)]
        events += [kernel("toy" if i != 100 else "culprit", 20 * i + 5, 2, correlation=i + 1)]
    lines = explain(guess("kernel:culprit=0").judge(read(*events)))
    assert len(lines) < 15
    assert sum("more kernels that broke no line" in line for line in lines) == 2
    assert any("culprit   <-- breaks kernel:culprit == 0" in line for line in lines)


def test_a_trace_equals_a_guess_that_holds_of_it(trace: Trace) -> None:
    assert trace == guess(kernels=3)
    assert guess(kernels=3) == trace
    assert trace != guess(kernels=2)
    assert guess(kernels=3) != 3


SHIPPED_SCHEMA = Path(schema.__file__).with_name("guess.schema.json")


def test_the_shipped_schema_is_the_one_the_language_makes() -> None:
    assert json.loads(SHIPPED_SCHEMA.read_text()) == schema.schema()


def test_the_schema_takes_the_ladders_files_and_refuses_mistakes() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    check = jsonschema.Draft7Validator(schema.schema())
    for path in (Path(__file__).parent.parent / "guesses").glob("*.guess.toml"):
        assert list(check.iter_errors(tomllib.loads(path.read_text()))) == []
    for wrong in (
        {"mlp": {"gem": 3}},
        {"kernels": "five"},
        {"cpu": {"mlp": {"kernels": True}}},
        {"extends": 3},
    ):
        assert list(check.iter_errors(wrong))
