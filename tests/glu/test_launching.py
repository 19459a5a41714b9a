"""The way into a compiled kernel, with a compiled kernel that is none: what reaches the C launcher of each
Triton, and what happens where it is not as expected."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import triton.backends.nvidia.driver as driver  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler.compiler import make_backend  # noqa: E402

from rung.glu.kernels import compiling, entry, launch  # noqa: E402
from rung.glu.kernels.compiling import type_of  # noqa: E402
from rung.glu.kernels.entry import Map, _At, enter  # noqa: E402
from rung.glu.kernels.launch import Kernel, Spec  # noqa: E402

pytestmark = pytest.mark.torch

BF16 = torch.bfloat16
SEEN = Map(BF16, (32, 64), (64, 1), (16, 32))


class Compiled:
    """A compiled kernel whose launches are kept in `calls`."""

    def __init__(self, maps: int = 0, **about: Any) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.function, self.packed_metadata = 7, (4, 1, 0)
        self.metadata = SimpleNamespace(tensordesc_meta=[{"box": at} for at in range(maps)] or None)
        launcher = lambda *arguments: self.calls.append(arguments)  # noqa: E731
        self.run = SimpleNamespace(
            launch=self._encoding(launcher) if maps else _Builtin(launcher),
            launch_pdl=True, launch_cooperative_grid=False, global_scratch_size=0, profile_scratch_size=0,
        )  # fmt: skip
        self.run.__dict__.update(about)

    @staticmethod
    def _encoding(launcher: Any) -> Any:
        launcher = _Builtin(launcher)

        def inner(*arguments: Any) -> Any:
            raise AssertionError(f"encodes its maps at each launch: {launcher}")

        return inner

    def __getitem__(self, grid: tuple[int, int, int]) -> Any:
        return lambda *arguments, stream: self.calls.append(("slowly", grid, stream, *arguments))


class _Builtin:
    """A function that Python cannot look into, as those of C are."""

    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> None:
        self._function(*arguments)


def _nothing(x) -> None:  # type: ignore[no-untyped-def]
    pass


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_BASE_ARGS_FORMAT", "iiiKKppOOOOOO", raising=False)


@pytest.mark.usefixtures("older")
def test_one_launcher_for_each_signature() -> None:
    compiled = Compiled()
    enter(compiled, 5, (BF16, BF16), (3,))(9, 100, 200)
    assert compiled.calls == [
        (5, 1, 1, 9, 7, False, True, None, None, (4, 1, 0), None, None, None, 100, 200, 3)
    ]


def test_one_launcher_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(driver, "_BASE_ARGS_FORMAT", raising=False)
    compiled = Compiled(arg_annotations="annotations", kernel_signature=b"signature")
    enter(compiled, 5, (BF16, BF16), (3,))(9, 100, 200)
    expected = (
        5,
        1,
        1,
        9,
        7,
        False,
        True,
        (4, 1, 0),
        *(None,) * 5,
        "annotations",
        b"signature",
        (100, 200, 3),
    )
    assert compiled.calls == [expected]


@pytest.mark.parametrize(
    "about",
    [{"global_scratch_size": 64}, {"profile_scratch_size": 64}, {"launch_cooperative_grid": True},
     {"gsan_enabled": True}],
    ids=lambda about: next(iter(about)),
)  # fmt: skip
@pytest.mark.usefixtures("older")
def test_what_needs_more_goes_by_tritons_own_route(about: dict[str, Any]) -> None:
    compiled = Compiled(**about)
    enter(compiled, 5, (BF16,), (3,))(9, 100)
    assert compiled.calls == [("slowly", (5, 1, 1), 9, 100, 3)]


def test_an_unknown_launcher_goes_by_tritons_own_route(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "_BASE_ARGS_FORMAT", "iii", raising=False)
    compiled = Compiled(maps=1)
    enter(compiled, 5, (SEEN, BF16), (3,))(9, 160, 200)
    ((kind, grid, stream, described, *rest),) = compiled.calls
    assert (kind, grid, stream, rest) == ("slowly", (5, 1, 1), 9, [200, 3])
    assert described.base.data_ptr() == 160
    assert (described.shape, described.strides, described.block_shape) == ([32, 64], [64, 1], [16, 32])


@pytest.mark.usefixtures("older")
def test_maps_are_encoded_once_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[int] = []

    def encode(described: Any, about: dict[str, int]) -> list[Any]:
        encoded.append(described.base.data_ptr())
        return [f"map {about['box']} of {encoded[-1]}", *described.shape, *described.strides]

    monkeypatch.setattr(driver, "make_tensordesc_arg", encode)
    monkeypatch.setattr(entry, "KEPT", 2)
    compiled = Compiled(maps=2)
    go = enter(compiled, 5, (SEEN, BF16, SEEN), (3,))
    for first, last in [(160, 320), (160, 320), (480, 320)]:
        go(9, first, 7, last)
    assert encoded == [160, 320, 480]
    arguments = [call[13:] for call in compiled.calls]
    sizes = (32, 64, 64, 1)
    assert arguments[0] == arguments[1] == ("map 0 of 160", *sizes, 7, "map 1 of 320", *sizes, 3)
    assert arguments[2] == ("map 0 of 480", *sizes, 7, "map 1 of 320", *sizes, 3)
    go(9, 640, 7, 320)  # the third address of the first map: two are kept, so they are forgotten
    go(9, 480, 7, 320)
    assert encoded == [160, 320, 480, 640, 480]


@pytest.fixture
def _idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_BEGUN", {})


@pytest.mark.usefixtures("_idle")
def test_what_was_begun_is_found() -> None:
    began = Event()

    def job() -> str:
        began.set()
        return threading.current_thread().name

    compiling.begin("a", job)
    assert began.wait(10)
    assert str(compiling.begun("a")).startswith("rung-compiler")
    assert compiling.begun("a") is None
    assert compiling.begun("never begun") is None


@pytest.mark.usefixtures("_idle")
def test_what_still_waits_is_no_longer_begun() -> None:
    """Whoever asks does it at once rather than wait for the jobs before it; of many jobs two are taken."""
    began, go, done = Event(), Event(), list[str]()
    compiling.begin("a", lambda: (began.set(), go.wait(10))[1])
    assert began.wait(10)
    for name in ("b", "c"):
        compiling.begin(name, lambda name=name: done.append(name))
    assert set(compiling._BEGUN) == {"a", "b"}
    assert compiling.begun("b") is None
    go.set()
    assert compiling.begun("a") is True
    assert done == []


@pytest.mark.usefixtures("_idle")
def test_what_failed_is_done_again_where_it_is_asked_for() -> None:
    """A disk that was full then; what fails for good fails there, with the caller on the stack."""
    compiling.begin("a", lambda: 1 // 0)
    assert compiling.begun("a") is None
    assert compiling._BEGUN == {}


@pytest.mark.usefixtures("_idle")
def test_many_threads_begin_and_ask() -> None:
    """Backward runs in autograd's own threads, one a device."""

    def work(own: int) -> list[Any]:
        found = []
        for i in range(2000):
            compiling.begin((own, i % 3), lambda: own)
            found.append(compiling.begun((own, i % 3)))
        return found

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as workers:
            found = list(workers.map(work, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert all(set(some) <= {own, None} for own, some in enumerate(found))
    assert compiling._BEGUN == {}


@pytest.mark.usefixtures("_idle")
def test_a_kernel_that_was_begun_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: dict[int, str] = {}

    def compile_for(source: Any, spec: Spec, arch: int) -> Any:
        compiled[spec.warps] = threading.current_thread().name
        return Compiled(arg_annotations=(), kernel_signature=b"")

    ready: Future[None] = Future()
    ready.set_result(None)
    monkeypatch.setattr(launch, "compile_for", compile_for)
    monkeypatch.setattr(launch, "loading", lambda source: ready)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setattr(torch.cuda, "device", lambda device: nullcontext())
    kernel, specs = Kernel(_nothing), [Spec(BF16, True, (), warps, 1) for warps in (1, 2, 4)]
    kernel.begin(specs[2], 0, 5, (BF16,), ())
    while not compiling._BEGUN[kernel, specs[2], 90].done():
        time.sleep(0.01)
    for _ in range(2):
        for spec in specs:
            kernel.prepare(spec, 0, 5, (BF16,), ())
            kernel.begin(spec, 0, 5, (BF16,), ())
    main = threading.current_thread().name
    assert compiled == {1: main, 2: main, 4: "rung-compiler_0"}
    assert compiling._BEGUN == {}


@pytest.mark.usefixtures("older")
@pytest.mark.parametrize("broken", [False, True])
def test_a_launcher_is_built_for_a_signature(monkeypatch: pytest.MonkeyPatch, broken: bool) -> None:
    built: list[Any] = []

    def launcher(source: Any, about: Any) -> None:
        built.append((source, about.tensordesc_meta, about.global_scratch_size))
        assert not broken

    monkeypatch.setattr(driver, "CudaLauncher", launcher)
    source = SimpleNamespace(signature={"x": "tensordesc<bf16[16, 32]>", "y": "*bf16", "n": "i32"})
    entry.build_launcher(source)
    assert built == [(source, [{}], 0)]


def test_one_launcher_for_all_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(driver, "_BASE_ARGS_FORMAT", raising=False)
    monkeypatch.setattr(driver, "CudaLauncher", None)
    entry.build_launcher(SimpleNamespace(signature={}))


def test_types_are_written_as_triton_does() -> None:
    layouts = pytest.importorskip("triton.experimental.gluon.language")
    layout = layouts.NVMMASharedLayout.get_default_for([16, 32], layouts.bfloat16)
    native = pytest.importorskip("triton._C.libtriton").native_specialize_impl
    backend = type(make_backend(GPUTarget("cuda", 90, 32)))
    for operand in (BF16, torch.int32, SEEN, SEEN._replace(layout=layout)):
        stand_in = _At(BF16, 0) if isinstance(operand, Map) else _At(operand, 0)
        example = entry.descriptor(operand, stand_in) if isinstance(operand, Map) else stand_in
        assert type_of(operand) == native(backend, example, False, True, True)[0]
