"""Guess files: sections for devices, inheritance, tolerances, and where a mistake stands."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rung.errors import UnreadableTraceError, UsageError
from rung.insight.guess import guess, load
from rung.insight.guessing.places import entries, place_of
from rung.trace import Trace
from tracelib import annotation, kernel, launch, op, read, write

EVENTS = [
    annotation("fwd", 0, 100),
    launch(10, 5, correlation=1),
    kernel("nvjet_a", 20, 40, correlation=1),
]


def gpu(name: str = "NVIDIA H200") -> Trace:
    return read(*EVENTS, device={"id": 0, "name": name})


def cpu(**header: object) -> Trace:
    return read(
        annotation("fwd", 0, 100), op("aten::mm", 10, 30), op("aten::gelu", 50, 30), device=None, **header
    )


def wanted(folder: Path, text: str, trace: Trace, name: str = "one.guess.toml") -> dict[str, str]:
    """What the file expects of this trace: key -> comparison."""
    path = folder / name
    path.write_text(text)
    return {j.expectation.key: str(j.expectation.want) for j in load(path).judge(trace)}


SECTIONS = """
kernels = 9
[fwd]
gemm = 9
memsets = 0
[gpu.fwd]
gemm = 8
[h200]
kernels = 1
[h200.fwd]
gemm = 1
[cpu.fwd]
gemm = 2
[default.fwd]
copies = 7
"""


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("NVIDIA H200", {"kernels": "== 1", "gemm": "== 1", "memsets": "== 0"}),
        ("NVIDIA A100-SXM4-80GB", {"kernels": "== 9", "gemm": "== 8", "memsets": "== 0"}),
        (None, {"kernels": "== 9", "gemm": "== 2", "memsets": "== 0"}),
    ],
)
def test_the_closest_section_speaks_for_a_device(
    device: str | None, expected: dict[str, str], tmp_path: Path
) -> None:
    trace = gpu(device) if device else cpu()
    assert wanted(tmp_path, SECTIONS, trace) == expected


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("NVIDIA H200", {"kernels": "== 1"}),
        ("NVIDIA A100-SXM4-80GB", {"kernels": "== 3"}),
        (None, {"kernels": "== 2"}),
    ],
)
def test_default_is_for_devices_without_a_section(
    device: str | None, expected: dict[str, str], tmp_path: Path
) -> None:
    text = "[default]\nkernels = 3\n[h200]\nkernels = 1\n[cpu]\nkernels = 2\n"
    assert wanted(tmp_path, text, gpu(device) if device else cpu()) == expected


def test_a_device_of_another_name_is_declared(tmp_path: Path) -> None:
    text = "devices = ['rtx_4090']\n[rtx_4090]\nkernels = 1\n[cpu]\nkernels=2\n"
    assert wanted(tmp_path, text, gpu("NVIDIA GeForce RTX 4090")) == {"kernels": "== 1"}
    assert wanted(tmp_path, text, gpu("NVIDIA GeForce RTX 3090")) == {}
    with pytest.raises(UsageError, match=r"line 1, column 1: \[rtx_4090\]: 'fwd' is a table; .* devices = "):
        wanted(tmp_path, "[rtx_4090.fwd]\nkernels = 1\n", gpu())


def test_an_undeclared_name_is_a_region(tmp_path: Path) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_text("[rtx_4090]\nkernels = 1\n")
    with pytest.raises(UsageError, match=r"no region 'rtx_4090' in .*there are: fwd"):
        load(path).check(gpu())


def test_nothing_for_this_device_never_holds(tmp_path: Path) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_text("[h200]\nkernels = 1\n")
    verdict = load(path).check(gpu("NVIDIA A100"))
    assert not verdict
    assert verdict.reason == "the guess has nothing for this device, NVIDIA A100; its sections are [h200]"


def test_a_file_inherits_and_replaces_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "far.guess.toml").write_text("[fwd]\nkernels = 9\ncopies = 0\n[cpu.fwd]\ngemm = 4\n")
    (tmp_path / "base.guess.toml").write_text('extends = "far.guess.toml"\n[fwd]\nkernels = 8\nmemsets = 0\n')
    text = 'extends = ["base.guess.toml"]\n[fwd]\nkernels = 1\n'
    assert wanted(tmp_path, text, gpu()) == {"copies": "== 0", "memsets": "== 0", "kernels": "== 1"}
    assert wanted(tmp_path, text, cpu()) == {
        "copies": "== 0",
        "memsets": "== 0",
        "kernels": "== 1",
        "gemm": "== 4",
    }
    places = {
        e.key: (Path(e.place.file).name, e.place.line)
        for e in load(tmp_path / "one.guess.toml").expectations
        if e.place
    }
    assert places == {
        "copies": ("far.guess.toml", 3),
        "memsets": ("base.guess.toml", 4),
        "kernels": ("one.guess.toml", 3),
        "gemm": ("far.guess.toml", 5),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "kernels = 1\n\n[mlp]\n  gem = 3\n",
            "line 4, column 3: [mlp] unknown key 'gem'. Did you mean 'gemm'?",
        ),
        ("[mlp]\nkernels  =  'two'\n", "line 2, column 13: [mlp] kernels takes a whole number"),
        ("[cpu.mlp]\norder = ['gemm',\n  3]\n", "line 2, column 9: [cpu.mlp] order takes a list"),
        ("[mlp]\nkernels = \n", "line 2, column 11: Invalid value"),
        ("[mlp]\nkernels = [1,\n", "line 3, column 1: "),
        ("kernels = 3\nkernels = 4\n", "line 2, column"),
        ("# one\nextends = 'none.toml'\n", "line 2, column 11: there is no file"),
        ("extends = 'one.guess.toml'\n", "line 1, column 11: one.guess.toml extends this file in turn"),
        ("extends = 3\n", "line 1, column 11: extends takes a file's name"),
        ("devices = 'a'\nbaseline = 3\n", "line 2, column 12: baseline takes a trace's path"),
        ("[mlp]\n'op:aten::mm' = 1\n'kern:x' = 2 # no\n", "line 3, column 1: [mlp] unknown key 'kern:x'"),
        ("mlp = { kernels = 1, gem = 2 }\n", "line 1, column 1: [mlp] unknown key 'gem'"),
        ("[[mlp]]\nkernels = 1\n", "line 1, column 1: unknown key 'mlp'"),
        ("[mlp]\nbaseline = 'x'\n", "line 2, column 1: [mlp] unknown key 'baseline'"),
        ("", "line 1, column 1: expects nothing"),
    ],
)
def test_a_mistake_is_named_with_line_and_column(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        load(path)
    assert str(refused.value).startswith(f"{path}: {says}")


def test_a_mistake_in_an_inherited_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "base.guess.toml").write_text("\ngem = 1\n")
    (tmp_path / "one.guess.toml").write_text("extends = 'base.guess.toml'\n")
    with pytest.raises(UsageError, match=r"base\.guess\.toml: line 2, column 1: unknown key 'gem'"):
        load(tmp_path / "one.guess.toml")


keys = st.one_of(st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True), st.text(max_size=6))
odd = [
    "true",
    "[ ]",
    "[1, # one ]\n 2]",
    '"""a\n"b" # c\n"""',
    "'''[x]\n''x'''",
    "'#'",
    '"]="',
    "{ a = '}' }",
]
scalars = st.one_of(st.integers(-9, 9).map(str), st.sampled_from(odd))


def quoted(key: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08x}" if not c.isalnum() else c for c in key) + '"'


@given(
    st.lists(st.tuples(keys, scalars), max_size=5),
    st.dictionaries(keys, st.dictionaries(keys, scalars), max_size=3),
)
def test_each_key_of_a_toml_file_is_found_with_its_value(
    top: list[tuple[str, str]], tables: dict[str, dict[str, str]]
) -> None:
    lines = [f"{quoted(key)}  = {value}  # note" for key, value in dict(top).items() if key not in tables]
    for name, table in tables.items():
        lines += [
            "",
            f"[ {quoted(name)} ] # head",
            *(f"  {quoted(key)}={value}" for key, value in table.items()),
        ]
    text = "\r\n".join(lines) if all("\n" not in line for line in lines) else "\n".join(lines)
    whole = tomllib.loads(text)
    found = entries(text)
    for entry in found:
        value = whole
        for key in entry.path:
            value = value[key]
        if not entry.is_table:
            assert tomllib.loads(f"x = {text[entry.start : entry.end]}")["x"] == value
        place = place_of(text, "f", entry.path)
        assert text.split("\n")[place.line - 1][place.column - 1 :].startswith(
            text[entry.key : entry.key + 1]
        )
    assert len([e for e in found if not e.is_table]) == len(lines) - 2 * len(tables)


def test_a_tolerance_in_a_models_section_is_judged_on_that_model_only(tmp_path: Path) -> None:
    path = tmp_path / "one.guess.toml"
    path.write_text("[h200.fwd]\ngpu_busy = '<= 38us ± 10%'\n[default]\nkernels = 1\n")
    assert load(path).check(gpu())  # 40 us, at most 41.8
    path.write_text("[h200.fwd]\ngpu_busy = '<= 36us ± 10%'\n[default]\nkernels = 1\n")
    assert not load(path).check(gpu())  # at most 39.6
    assert [check.key for check in load(path).check(gpu("NVIDIA A100")).checks] == ["kernels"]


@pytest.mark.parametrize(
    ("line", "held"),
    [
        ("gpu_busy <= 36 us ± 4 us", True),
        ("gpu_busy <= 36 us ± 3999 ns", False),
        ("gpu_busy == 44 us ± 10 %", True),
        ("gpu_busy == 45 us ± 10 %", False),
        ("gpu_busy >= 50 us +- 20 %", True),
        ("gpu_busy > 50 us +/- 20 %", False),
        ("gpu_busy <= baseline", False),
        ("gpu_busy <= baseline ± 25 %", True),
        ("gpu_busy <= baseline ± 24.9 %", False),
        ("gpu_busy == baseline ± 8 us", True),
        ("cpu == baseline", True),
    ],
)
def test_around_a_baseline(line: str, held: bool) -> None:
    shorter = [*EVENTS[:2], kernel("nvjet_a", 20, 32, correlation=1)]
    base = read(*shorter, device={"id": 0, "name": "NVIDIA H200"})
    verdict = guess(line).check(gpu(), baseline=base)
    assert (verdict.held, verdict.reason) == (held, None)


def test_without_a_baseline_on_the_same_device_no_tolerance_is_judged(tmp_path: Path) -> None:
    near = guess("gpu_busy <= 1 s ± 10 %")
    assert "in a device's section" in str(near.check(gpu()).reason)
    other = near.check(gpu(), baseline=gpu("NVIDIA A100"))
    assert "recorded on NVIDIA A100, this trace on NVIDIA H200" in str(other.reason)
    nameless = read(*EVENTS, device=None)
    assert "does not name its own" in str(near.check(nameless, baseline=gpu()).reason)
    elsewhere = read(annotation("bwd", 0, 9), *EVENTS[1:], device={"id": 0, "name": "NVIDIA H200"})
    lacking = guess("cpu <= baseline", region="fwd").check(gpu(), baseline=elsewhere)
    assert "has no such time" in str(lacking.reason)


def test_a_file_names_its_baseline(tmp_path: Path) -> None:
    h200 = {"id": 0, "name": "NVIDIA H200"}
    write(tmp_path / "base.json.gz", *EVENTS, device=h200)
    path = tmp_path / "one.guess.toml"
    path.write_text("baseline = 'base.json.gz'\ngpu_busy = '<= baseline ± 1 %'\n")
    assert load(path).check(gpu())
    assert not load(path).check(gpu("NVIDIA A100"))
    path.write_text("[h200]\nbaseline = 'none.json.gz'\ngpu_busy = '<= baseline ± 1 %'\n")
    with pytest.raises(UnreadableTraceError):
        load(path).check(gpu())


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("gpu_busy != 3 us ± 1 %", "a tolerance goes with"),
        ("gpu_busy <= 3 ± 1 %", "takes a time with its unit"),
        ("gpu_busy <= 3 us ± 1", "a tolerance is a share or a time"),
        ("kernels <= 3 ± 1", "kernels takes a whole number"),
        ("gpu_idle_share <= 3 % ± 1 %", "takes a share"),
    ],
)
def test_a_tolerance_is_for_times(line: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        guess(line)
