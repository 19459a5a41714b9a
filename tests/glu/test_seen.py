"""What is told apart from a call that was seen before: everything that decides how a call runs, and nothing
else, least of all a weight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

from rung.glu import seen  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(seen._Guard is None, reason="this torch has no guard on tensors"),
    pytest.mark.filterwarnings("ignore:.*Profiler clears events"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:FutureWarning"),  # since torch 2.14
]
OPTIONS = ("gelu_tanh", "single", False)
SHAPES = [(3, 8), (16, 8), (16, 8), (8, 16), (16,), (16,), (8,)]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    seen.forget()
    yield
    seen.forget()


def draw(biases: bool = False, dtype: Any = torch.bfloat16) -> list[Any]:
    tensors = [torch.randn(shape).to(dtype) for shape in SHAPES]
    return tensors if biases else [*tensors[:4], None, None, None]


def run(tensors: Any) -> Any:
    return tensors


def remembered(biases: bool = False, **how: Any) -> list[Any]:
    tensors = draw(biases, **how)
    seen.remember(tuple(tensors), OPTIONS, run)
    assert found(tensors)
    return tensors


def found(tensors: list[Any], options: Any = OPTIONS) -> bool:
    return seen.find(tuple(tensors), options) is run


@pytest.mark.parametrize("biases", [False, True])
def test_other_tensors_of_the_same_kind(biases: bool) -> None:
    tensors = remembered(biases)
    assert found(draw(biases))
    for at in range(7 if biases else 4):
        tensors[at].zero_()
        assert found(tensors)
        tensors[at].data = torch.randn(SHAPES[at]).bfloat16()
        assert found(tensors)


@pytest.mark.parametrize("at", range(7))
@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.half(),
        lambda t: torch.cat([t, t]),
        lambda t: t[None],
        lambda t: torch.stack([t, t], -1)[..., 0],
        lambda t: torch.cat([torch.zeros(1, dtype=t.dtype), t.flatten()])[1:].view(t.shape),
        lambda t: t.to("meta"),
        lambda t: torch.nn.Parameter(t),
        lambda t: torch.nn.Parameter(t, requires_grad=False),
        lambda t: t.as_subclass(type("Sub", (torch.Tensor,), {})),
        lambda t: torch._neg_view(t),
        lambda t: t.to_sparse(),
        lambda t: None,
        lambda t: [1.0],
    ],
    ids=[
        "dtype",
        "shape",
        "dimensions",
        "strides",
        "alignment",
        "device",
        "parameter",
        "type",
        "subclass",
        "negated",
        "sparse",
        "none",
        "list",
    ],
)
def test_another_kind_of_tensor(change: Callable[[Any], Any], at: int) -> None:
    tensors = remembered(biases=True)
    tensors[at] = change(tensors[at])
    assert not found(tensors)


def changed_in_place(tensors: list[Any]) -> list[Callable[[], Any]]:
    square = torch.randn(16, 16).bfloat16()
    return [
        lambda: tensors[1].resize_(8, 16).t_(),
        lambda: tensors[1].set_(square[:, :8]),
        lambda: setattr(tensors[1], "data", torch.randn(17, 8).bfloat16()),
        lambda: setattr(tensors[1], "data", square[:, :8]),
        lambda: tensors[1].requires_grad_(),
    ]


@pytest.mark.parametrize("way", range(5))
def test_a_weight_that_became_another_kind(way: int) -> None:
    tensors = remembered()
    changed_in_place(tensors)[way]()
    assert tensors[1].shape in [(16, 8), (17, 8)]
    assert not found(tensors)


def test_one_memory_for_gate_and_up() -> None:
    tensors = remembered()
    assert not found([*tensors[:2], tensors[1], *tensors[3:]])
    assert not found([*tensors[:2], tensors[1].view(16, 8), *tensors[3:]])


def test_a_bias_more_or_less() -> None:
    x, g, u, d, *none = remembered()
    *_, a, b, c = draw(biases=True)
    for biases in ([a, None, None], [None, b, None], [None, None, c]):
        seen.remember((x, g, u, d, *biases), OPTIONS, run)
        assert not found([x, g, u, d, *biases])
    assert not found([x, g, u, d, a, b, c])
    assert not found([x, g, u, d, a, a, a])
    assert found([x, g, u, d, *none])


def test_other_options() -> None:
    tensors = remembered()
    for options in [("silu", *OPTIONS[1:]), ("gelu_tanh", "eager", False), ("gelu_tanh", "single", True)]:
        assert not found(tensors, options)
    assert not found(tensors, (["gelu_tanh"], "single", False))


def test_fp32_is_multiplied_as_torch_has_it_now(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors, halves = remembered(dtype=torch.float32), remembered()
    monkeypatch.setattr(seen, "kind_of", lambda dtype: "tf32")
    assert not found(tensors)
    assert found(halves)


class Modes:
    """Ways to make a call in which `find` answers; what it answered is in `answers`."""

    def __init__(self, tensors: list[Any]) -> None:
        self.answers: list[bool] = []
        self._tensors = tensors

    def ask(self, given: Any) -> Any:
        self.answers.append(found(self._tensors))
        return given

    def within(self, mode: Any) -> None:
        with mode:
            self.ask(None)


@pytest.mark.parametrize(
    "call",
    [
        lambda modes, x: modes.within(torch.autocast("cpu", torch.bfloat16)),
        lambda modes, x: modes.within(torch.inference_mode()),
        lambda modes, x: modes.within(FakeTensorMode()),
        lambda modes, x: modes.within(FlopCounterMode(display=False)),
        lambda modes, x: modes.within(
            torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        ),
        lambda modes, x: torch.func.vmap(modes.ask)(x),
        lambda modes, x: torch.func.grad(lambda x: modes.ask(x).sum())(x),
        lambda modes, x: torch.func.jvp(modes.ask, (x,), (x,)),
        lambda modes, x: torch.func.functionalize(modes.ask)(x),
        lambda modes, x: torch.fx.experimental.proxy_tensor.make_fx(lambda x: modes.ask(x))(x),
    ],
    ids=[
        "autocast",
        "inference",
        "fake",
        "flops",
        "profiler",
        "vmap",
        "grad",
        "jvp",
        "functionalize",
        "make_fx",
    ],
)
def test_another_way_to_call(call: Callable[[Modes, Any], Any]) -> None:
    modes = Modes(remembered())
    call(modes, torch.randn(3))
    assert modes.answers == [False]
    modes.within(nullcontext())
    assert modes.answers == [False, True]


def test_while_compiling() -> None:
    torch._dynamo.reset()
    tensors = remembered()
    compiled = torch.compile(lambda x: x + found([x, *tensors[1:]]), fullgraph=True, backend="eager")
    assert torch.equal(compiled(tensors[0]), tensors[0])


def test_gradients_are_asked_for() -> None:
    tensors = draw()
    tensors[1].requires_grad_()
    with torch.no_grad():
        seen.remember(tuple(tensors), OPTIONS, run)
        assert found(tensors)
    assert not found(tensors)


def test_tensors_made_in_inference_mode() -> None:
    with torch.inference_mode():
        tensors = remembered()
        assert not found([torch.randn(1), *tensors[1:]])
    assert not found(tensors)


def test_several_kinds_of_one_shape_of_x() -> None:
    kinds = []
    for width in range(16, 16 + 8 * (seen.ALIKE + 1), 8):
        x, _, _, _, *none = draw()
        kinds.append([x, torch.randn(width, 8).bfloat16(), torch.randn(width, 8).bfloat16(),
                      torch.randn(8, width).bfloat16(), *none])  # fmt: skip
        seen.remember(tuple(kinds[-1]), OPTIONS, run)
    assert [found(kind) for kind in kinds] == [False] + [True] * seen.ALIKE


def test_all_are_forgotten_before_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "MOST", 2)
    first = remembered()
    for rows in (1, 2, 5):
        seen.remember((first[0].new_empty(rows, 8), *first[1:]), OPTIONS, run)
    assert not found(first)
    assert len(seen._SEEN) <= 2


def test_one_tensor_twice_takes_nobodys_place() -> None:
    tensors = remembered(biases=True)
    for _ in range(seen.ALIKE):
        seen.remember((*tensors[:5], tensors[4], tensors[6]), OPTIONS, run)
    assert found(tensors)


def test_a_guard_that_is_made_in_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def guard(tensors: Any) -> None:
        raise AssertionError(f"called without {tensors}")

    monkeypatch.setattr(seen, "_Guard", guard)
    tensors = draw()
    seen.remember(tuple(tensors), OPTIONS, run)
    assert not found(tensors)


def test_without_the_guard_nothing_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_Guard", None)
    tensors = draw()
    seen.remember(tuple(tensors), OPTIONS, run)
    assert not found(tensors)
