"""`record`: what is in the trace, what lies on disk, and what happens when the work fails."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.errors import MachineError, UsageError  # noqa: E402
from rung.recording import Settings, Skipped, make_work, record, record_work, window  # noqa: E402
from tracefile import files, load, spans, steps, within  # noqa: E402

pytestmark = pytest.mark.torch


def double(x: Any) -> Any:
    return x + x


def test_default_schedule_keeps_three_marked_steps(tmp_path: Path) -> None:
    calls = []

    def work(x: Any) -> Any:
        calls.append(None)
        return x + x

    recording = record(work, torch.ones(2, 3), out=tmp_path)
    trace = load(recording.path)
    # 3 warm-up calls, then wait 1, profiler warm-up 1, active 3.
    assert len(calls) == 3 + 1 + 1 + 3
    assert steps(trace) == ["ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"]
    regions = spans(trace, "work_fwd")
    assert [within(trace, region) for region in regions] == [["aten::add"]] * 3
    assert {tuple(map(tuple, e["args"]["Input Dims"])) for e in spans(trace, "aten::add")} == {
        ((2, 3), (2, 3), ())
    }


def test_paths_and_table(tmp_path: Path) -> None:
    recording = record(double, torch.ones(2), out=tmp_path, name="twice", region="both")
    assert files(tmp_path) == ["twice", "twice/eager.json.gz", "twice/eager.txt"]
    assert recording.path == tmp_path / "twice/eager.json.gz"
    table = recording.table_path.read_text()
    assert "aten::add" in table
    assert "both" in table
    # Bytes 4 to 8 of a gzip header are its time: the same trace must give the same bytes.
    assert recording.path.read_bytes()[4:8] == bytes(4)


def test_plain_json_is_the_same_trace_uncompressed(tmp_path: Path) -> None:
    recording = record(double, torch.ones(2), out=tmp_path, compress=False)
    assert recording.path.suffixes == [".json"]
    assert len(spans(load(recording.path), "double_fwd")) == 3


def test_metadata_is_embedded_first(tmp_path: Path) -> None:
    recording = record(
        double, torch.ones(2, 3, dtype=torch.bfloat16), out=tmp_path, seed=7, metadata={"ticket": "é"}
    )
    trace = load(recording.path)
    assert next(iter(trace)) == "rung"
    about = trace["rung"]
    assert about == recording.metadata
    want = {
        "schema_version": 1,
        "name": "double",
        "variant": "eager",
        "region": "double_fwd",
        "device": "cpu",
        "torch": torch.__version__,
        "seed": 7,
        "dtypes": ["bfloat16"],
        "input_shapes": [[2, 3]],
        "input_dtypes": ["bfloat16"],
        "ticket": "é",
        "against_eager": None,
    }
    assert {key: about[key] for key in want} == want
    assert about["schedule"] == {
        "warmup": 3, "wait": 1, "profiler_warmup": 1, "active": 3, "repeat": 1, "cold": False,
    }  # fmt: skip
    assert about["created"].endswith("+00:00")


def test_own_metadata_may_not_hide_rungs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'seed' is Rung's own"):
        record(double, torch.ones(2), out=tmp_path, metadata={"seed": 1})
    assert files(tmp_path) == []


def test_cold_starts_the_profiler_before_the_first_call(tmp_path: Path) -> None:
    profiled = []

    def work(x: Any) -> Any:
        profiled.append(torch.autograd._profiler_enabled())
        return x + x

    recording = record(work, torch.ones(2), out=tmp_path, cold=True, active=2)
    assert profiled == [True, True]
    trace = load(recording.path)
    assert steps(trace) == ["ProfilerStep#0", "ProfilerStep#1"]
    assert len(spans(trace, "work_fwd")) == 2
    assert trace["rung"]["schedule"]["cold"] is True


def test_warm_calls_come_before_the_profiler(tmp_path: Path) -> None:
    profiled = []

    def work(x: Any) -> Any:
        profiled.append(torch.autograd._profiler_enabled())
        return x + x

    record(work, torch.ones(2), out=tmp_path, warmup=2, wait=1, profiler_warmup=1, active=1)
    # Two warm-up calls, one wait, one in which the profiler is only being prepared, one recorded.
    assert profiled == [False, False, False, False, True]


def test_of_several_windows_the_last_is_kept(tmp_path: Path) -> None:
    recording = record(double, torch.ones(2), out=tmp_path, wait=1, profiler_warmup=1, active=2, repeat=2)
    assert steps(load(recording.path)) == ["ProfilerStep#6", "ProfilerStep#7"]


def test_training_step_is_one_region_and_leaves_no_gradient(tmp_path: Path) -> None:
    linear = torch.nn.Linear(4, 4)
    recording = record(linear, torch.ones(2, 4), out=tmp_path, train=True, name="lin")
    trace = load(recording.path)
    regions = spans(trace, "lin_step")
    assert len(regions) == 3
    for region in regions:
        names = within(trace, region)
        assert "aten::addmm" in names
        # The backward runs on the autograd thread, inside the region's time.
        assert any(name.startswith("autograd::engine") for name in names)
    assert linear.weight.grad is None


def test_training_without_a_gradient_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no backward"):
        record(double, torch.ones(2), out=tmp_path, train=True)
    assert files(tmp_path) == []


def test_nested_inputs_and_keywords(tmp_path: Path) -> None:
    def work(pair: Any, *, more: Any) -> Any:
        return {"sum": pair[0] + pair[1] + more["c"]}

    ones = torch.ones(2)
    recording = record(work, (ones, ones), kwargs={"more": {"c": torch.ones(1)}}, out=tmp_path)
    assert recording.metadata["input_shapes"] == [[2], [2], [1]]


def test_forward_runs_in_inference_mode(tmp_path: Path) -> None:
    seen = []
    record(lambda x: seen.append(torch.is_inference_mode_enabled()), torch.ones(2), out=tmp_path)
    assert set(seen) == {True}


def test_seed_is_set_before_the_calls(tmp_path: Path) -> None:
    drawn: list[list[float]] = []

    def work() -> None:
        drawn.append(torch.rand(2).tolist())

    for _ in range(2):
        record(work, out=tmp_path, seed=3)
    assert drawn[: len(drawn) // 2] == drawn[len(drawn) // 2 :]


@pytest.mark.parametrize("flag", ["stacks", "memory", "flops"])
def test_flags_reach_the_profiler(tmp_path: Path, flag: str) -> None:
    mark = {"stacks": '"Python id"', "memory": '"[memory]"', "flops": "flops"}[flag]

    def holds(**kwargs: bool) -> bool:
        recording = record(torch.mm, torch.ones(2, 2), torch.ones(2, 2), out=tmp_path, **kwargs)  # type: ignore[arg-type]
        return (
            mark
            in gzip.decompress(recording.path.read_bytes()).decode()
            + recording.table_path.read_text().lower()
        )

    assert not holds()
    assert holds(**{flag: True})


def test_shapes_can_be_left_out(tmp_path: Path) -> None:
    recording = record(double, torch.ones(2), out=tmp_path, shapes=False)
    assert all("Input Dims" not in e.get("args", {}) for e in load(recording.path)["traceEvents"])


def fail(x: Any) -> Any:
    raise ZeroDivisionError("mine")


def interrupt(x: Any) -> Any:
    raise KeyboardInterrupt


def late(error: type[BaseException]) -> Callable[[Any], Any]:
    """Fails at the sixth call: within the window, when the profiler is running."""
    calls: list[None] = []

    def work(x: Any) -> Any:
        calls.append(None)
        if len(calls) == 6:
            raise error
        return x + x

    return work


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (fail, ZeroDivisionError),
        (interrupt, KeyboardInterrupt),
        (late(ZeroDivisionError), ZeroDivisionError),
        (late(KeyboardInterrupt), KeyboardInterrupt),
    ],
    ids=["fails", "interrupted", "fails-late", "interrupted-late"],
)
def test_failing_work_leaves_nothing_and_raises_its_own_error(
    tmp_path: Path, work: Callable[[Any], Any], error: type[BaseException]
) -> None:
    with pytest.raises(error):
        record(work, torch.ones(2), out=tmp_path / "deep" / "er")
    assert files(tmp_path) == []
    assert not torch.autograd._profiler_enabled()
    record(double, torch.ones(2), out=tmp_path)  # and the next recording works


def test_failing_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = record(double, torch.ones(2), out=tmp_path)
    before = recording.path.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("rung.recording.recorder.pack", full)
    with pytest.raises(OSError, match="No space"):
        record(double, torch.ones(2), out=tmp_path)
    with pytest.raises(OSError, match="No space"):
        record(double, torch.ones(2), out=tmp_path / "new" / "folder")
    assert files(tmp_path) == ["double", "double/eager.json.gz", "double/eager.txt"]
    assert recording.path.read_bytes() == before


def scheduled(x: Any) -> Any:
    with torch.profiler.profile():
        return x + x


def plain(x: Any) -> Any:
    with torch.autograd.profiler.profile():
        return x + x


@pytest.mark.parametrize("work", [scheduled, plain])
def test_a_second_profiler_is_refused_before_it_starts(tmp_path: Path, work: Callable[[Any], Any]) -> None:
    with pytest.raises(UsageError, match=r"uses torch\.profiler itself"):
        record(work, torch.ones(2), out=tmp_path, cold=True)
    assert files(tmp_path) == []
    work(torch.ones(2))  # outside of a recording, the profilers work as before


def test_recording_inside_a_profiler_is_refused(tmp_path: Path) -> None:
    with (
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]),
        pytest.raises(UsageError, match="running already"),
    ):
        record(double, torch.ones(2), out=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"active": 0}, "active is 0"),
        ({"warmup": -1}, "warmup is -1"),
        ({"name": "../up"}, "cannot be a folder"),
        ({"name": "a b"}, "cannot be a folder"),
        ({"region": " "}, "region must not be empty"),
        ({"variant": "fast"}, "'fast' is not known: give one or more of eager, math, compiled"),
        ({"device": "gpu"}, "device 'gpu' is not known"),
        ({"variant": "compiled", "compile_mode": "max"}, "compile mode 'max' is not known"),
    ],
)
def test_senseless_arguments(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        record(double, torch.ones(2), out=tmp_path, **arguments)
    assert files(tmp_path) == []


def test_what_cannot_be_called(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a function or a module, not something of type NoneType"):
        record(None, torch.ones(2), out=tmp_path)  # type: ignore[arg-type]
    assert files(tmp_path) == []


def test_out_that_is_a_file_is_refused_before_any_call(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("")
    with pytest.raises(UsageError, match="is a file, not a folder"):
        record(fail, torch.ones(2), out=tmp_path / "traces")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_absent_cuda_says_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="--device cpu"):
        record(double, torch.ones(2), out=tmp_path, device="cuda")


def test_skipped_variant_is_a_value_among_several_and_an_error_alone(tmp_path: Path) -> None:
    work = make_work(double, (torch.ones(2),), {})
    eager, liger = record_work(work, ["eager", "liger", "eager"], Settings(out=tmp_path))
    assert eager.variant == "eager"
    assert isinstance(liger, Skipped)
    assert "only a GLU MLP" in liger.reason
    with pytest.raises(MachineError, match="only a GLU MLP"):
        record(double, torch.ones(2), variant="liger", out=tmp_path)


@pytest.mark.parametrize(
    ("thing", "name"),
    [
        (double, "double"),
        (torch.nn.Linear(1, 1), "linear"),
        (torch.nn.GELU(), "gelu"),
        (lambda x: x, "lambda"),
    ],
)
def test_default_names(thing: Any, name: str) -> None:
    assert make_work(thing, (), {}).name == name


@pytest.mark.parametrize(
    ("schedule", "waits"),
    [
        # Steps: idle, warm-up, three kept: before the kept ones and after them.
        ({}, [1, 4]),
        ({"repeat": 2}, [1, 4, 6, 9]),
        ({"wait": 0, "profiler_warmup": 0, "active": 2}, [1]),
        ({"cold": True}, [2]),
    ],
)
def test_no_work_of_other_steps_runs_into_the_window(
    schedule: dict[str, Any], waits: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The device has to be done with what was launched before, and with the last of what is kept."""
    calls: list[None] = []
    waited: list[int] = []
    monkeypatch.setattr(window, "synchronize", lambda device: waited.append(len(calls) - 1))

    def fn(x: torch.Tensor) -> torch.Tensor:
        calls.append(None)
        return x + 1

    settings = Settings(warmup=0, out=tmp_path, **schedule)
    record_work(make_work(fn, (torch.ones(2),), {}, name="work"), ["eager"], settings)
    assert waited == waits
