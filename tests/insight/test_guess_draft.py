"""Drafts hold of their own trace; an update changes what no longer holds, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from rung.errors import UsageError
from rung.insight.guess import load
from rung.insight.guessing.draft import LEVELS, draft
from rung.insight.guessing.update import update
from rung.ladder import shipped
from rung.trace import Trace, read
from tracelib import annotation, copy, kernel, launch, op, read_bytes, step, text
from tracelib import call as runtime_call
from tracelib import read as made

SHIPPED = sorted(shipped.RECORDINGS.glob(f"*/*/*{shipped.SUFFIX}"))
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int[8])"
H200 = {"id": 0, "name": "NVIDIA H200"}


def forward(*counts: int, device: object = None, extra: str = ADD) -> Trace:
    """One GEMM of 10 us and so many additions of 2 us in each instance of `fwd`."""
    events = []
    for number, count in enumerate(counts):
        at, n = 1000 * number, 100 * number
        events += [step(number, at, 900), annotation("fwd", at, 800)]
        events += [launch(at + 10, 5, correlation=n + 1), kernel("nvjet_a", at + 20, 10, correlation=n + 1)]
        for i in range(count):
            start = at + 50 + 10 * i
            events += [
                launch(start, 5, correlation=n + 2 + i),
                kernel(extra, start + 5, 2, correlation=n + 2 + i),
            ]
    return made(*events, device=device or H200)


def write(folder: Path, content: str) -> Path:
    path = folder / "one.guess.toml"
    path.write_text(content)
    return path


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.name.split('.')[0]}")
def test_a_draft_holds_of_its_own_trace(path: Path, level: str, tmp_path: Path) -> None:
    trace = read(path)
    assert load(write(tmp_path, draft(trace, level))).check(trace)


def test_three_levels() -> None:
    loose, normal, strict = (draft(forward(1, 1), level).split("\n\n")[1] for level in LEVELS)
    assert loose == '[h200.fwd]\nkernels = "<= 2"\nlaunches = "<= 2"\n'
    assert normal == "[h200.fwd]\nkernels = 2\ngemm = 1\npointwise = 1\ncopies = 0\nlaunches = 2\n"
    escaped = ADD.replace("[", "[[]")  # a name is written so that the glob matches nothing else
    assert strict == (
        f'{normal}order = [\n    "nvjet_a",\n    "{escaped}",\n]\ngpu_busy = "<= 12 us ± 10 %"\n'
    )


def test_instances_that_differ_give_a_range() -> None:
    assert '\nkernels = "in 2..4"\ngemm = 1\npointwise = "in 1..3"\n' in draft(forward(1, 3))
    assert '\nkernels = "<= 4"\n' in draft(forward(1, 3), "loose")


def test_a_draft_is_for_the_devices_section() -> None:
    rtx = draft(forward(1, device={"id": 0, "name": "NVIDIA GeForce RTX 4090"}), "strict")
    assert 'devices = ["4090"]\n' in rtx
    assert "[4090.fwd]" in rtx
    work = [launch(1, 2, correlation=1), kernel("toy", 5, 2, correlation=1)]
    nameless = made(annotation("fwd", 0, 50), *work, device=None)
    assert "[gpu.fwd]" in draft(nameless, "strict")
    assert "gpu_busy" not in draft(nameless, "strict")
    cpu = draft(made(annotation("a b", 0, 50), op("aten::mm", 1, 9), device=None))
    assert cpu.endswith('\n[cpu."a b"]\nkernels = 1\ngemm = 1\n')


def test_steps_and_whole_traces_can_be_drafted(tmp_path: Path) -> None:
    work = [launch(10, 5, correlation=1), kernel("toy", 20, 5, correlation=1)]
    for trace in (made(step(1, 0, 50), *work), made(*work)):
        assert load(write(tmp_path, draft(trace, "strict"))).check(trace)
    assert '[gpu."ProfilerStep*"]' in draft(made(step(1, 0, 50), *work, device=None))


def test_what_no_guess_judges_is_not_drafted() -> None:
    cut = read_bytes(text(annotation("fwd", 0, 50), kernel("toy", 5, 5))[:-20])
    with pytest.raises(UsageError, match="nothing is drafted from a trace that no guess judges: truncated"):
        draft(cut)
    with pytest.raises(UsageError, match="strictness 'harsh' is not known: give loose, normal and strict"):
        draft(forward(1), "harsh")


def test_a_count_in_doubt_is_left_out_and_said(tmp_path: Path) -> None:
    work = [launch(1, 2, correlation=1), kernel("toy", 5, 2, correlation=1), launch(10, 5, correlation=9)]
    lost = made(annotation("fwd", 0, 50), *work, device=H200)
    lines = draft(lost).splitlines()
    assert "# kernels: some launches left no work in the trace, so it cannot be judged" in lines
    assert "launches = 2" in lines
    assert load(write(tmp_path, draft(lost))).check(lost)


WRITTEN = """# What we promise.
[fwd]  # one forward
kernels   =  2   # a GEMM, an addition
pointwise = "<= 1"
gemm = ">= 1"
launches = "in 2..2"
"kernel:void*" = '== 1'  # quoted one way
order = [
    "gemm",  # first
    "pointwise",
]
cpu = "< 700 us"
copies = 0
"""


def test_an_update_changes_only_the_values_that_no_longer_hold(tmp_path: Path) -> None:
    path = write(tmp_path, WRITTEN)
    trace = forward(3, 3)
    said = update(path, trace)
    assert path.read_text() == (
        WRITTEN.replace("=  2 ", "=  4 ")
        .replace('"<= 1"', '"<= 3"')
        .replace('"in 2..2"', '"in 4..4"')
        .replace("'== 1'", "3")
        .replace(
            '[\n    "gemm",  # first\n    "pointwise",\n]', '["gemm", "pointwise", "pointwise", "pointwise"]'
        )
        .replace('"< 700 us"', '"<= 800 us"')
    )
    assert said[0] == f"{path}: line 3, column 1: kernels = 2 -> 4"
    assert len(said) == 6
    assert load(path).check(trace)
    assert update(path, trace) == []


def test_an_update_keeps_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_bytes(b"[fwd]\r\nkernels = 1\r\ngemm = 1\r\n")
    update(path, forward(1))
    assert path.read_bytes() == b"[fwd]\r\nkernels = 2\r\ngemm = 1\r\n"


def test_an_inherited_line_is_overridden_not_changed(tmp_path: Path) -> None:
    base = tmp_path / "base.guess.toml"
    base.write_text('kernels = 9\n[fwd]\n"kernel:nvjet*" = 3\n[h200.fwd]\npointwise = 5\n')
    path = write(tmp_path, "extends = 'base.guess.toml'\n[fwd]\ngemm = 1 # ours\n")
    trace = forward(1)
    said = update(path, trace)
    assert base.read_text().startswith("kernels = 9\n")
    assert path.read_text() == (
        "extends = 'base.guess.toml'\nkernels = 2\n[fwd]\ngemm = 1 # ours\n\"kernel:nvjet*\" = 1\n\n"
        "[h200.fwd]\npointwise = 1\n"
    )
    assert f"kernels = 2 now replaces that of {base}: line 1, column 1" in said[0]
    assert load(path).check(trace)


def test_a_device_without_a_section_gets_one(tmp_path: Path) -> None:
    path = write(tmp_path, "[cpu]\nkernels = 5 # stays\n")
    said = update(path, forward(1, device={"id": 0, "name": "Fast 9000"}))
    assert said == [f"{path}: a new section for 9000"]
    assert path.read_text().startswith(
        'devices = ["9000"]\n[cpu]\nkernels = 5 # stays\n\n[9000.fwd]\nkernels = 2\n'
    )
    assert load(path).check(forward(1, device={"id": 0, "name": "Fast 9000"}))


def test_a_file_that_is_not_there_is_drafted(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "new.guess.toml"
    said = update(path, forward(1), level="loose")
    assert said == [f"{path}: new, 2 lines"]
    assert load(path).check(forward(1))


def test_what_no_value_can_mend_stays_and_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "[fwd]\nkernels = '!= 2'\ndtype = 'bf16'\n")
    said = update(path, forward(1))
    assert path.read_text() == "[fwd]\nkernels = '!= 2'\ndtype = 'bf16'\n"
    assert "kernels != 2 stays: no single value would hold" in said[0]
    assert "dtype == bf16 stays: neither the name" in said[1]


def test_times_and_shares_are_updated_so_that_they_hold(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "[h200.fwd]\ngpu_busy = '<= 1 us ± 10 %'\ncpu = 3e0\n".replace("3e0", "'> 900 us'")
        + "gpu_idle_share = '< 1 %'\n",
    )
    trace = forward(1)
    update(path, trace)
    assert path.read_text() == (
        '[h200.fwd]\ngpu_busy = "<= 12 us ± 10 %"\ncpu = ">= 800 us"\ngpu_idle_share = "<= 98.5 %"\n'
    )
    assert load(path).check(trace)


def test_copies_stand_in_a_draft() -> None:
    moved = [runtime_call("cudaMemcpyAsync", 5, 5, correlation=1), copy(20, 5, correlation=1)]
    assert "\nkernels = 0\ncopies = 1\nlaunches = 1\n" in draft(made(annotation("move", 0, 50), *moved))
