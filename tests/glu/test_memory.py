"""Memory for results: what is made is what torch would make."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from rung.glu import memory  # noqa: E402

pytestmark = pytest.mark.torch


@given(st.lists(st.integers(0, 5), max_size=4))
def test_strides_are_those_of_torch(sizes: list[int]) -> None:
    assert memory._contiguous(tuple(sizes)) == torch.empty(sizes).stride()


def test_on_the_cpu_torch_makes_it() -> None:
    make = memory.prepare((2, 3), torch.bfloat16, torch.device("cpu"))
    first, second = make(), make()
    assert (first.shape, first.dtype, first.device.type) == ((2, 3), torch.bfloat16, "cpu")
    assert first.data_ptr() != second.data_ptr()


@pytest.mark.parametrize("current", [0, 1])
def test_the_quick_way_is_for_the_current_device(monkeypatch: pytest.MonkeyPatch, current: int) -> None:
    made: list[Any] = []
    monkeypatch.setattr(memory, "current_device", lambda: current)
    monkeypatch.setattr(
        torch._C._dynamo.guards, "_empty_strided_cuda", lambda *asked: made.append(("quickly", *asked))
    )
    monkeypatch.setattr(torch, "empty", lambda shape, **asked: made.append((shape, asked["device"])))
    memory.prepare((2, 3), torch.bfloat16, torch.device("cuda:1"))()
    quick = ("quickly", (2, 3), (3, 1), torch.bfloat16)
    assert made == [quick if current == 1 else ((2, 3), torch.device("cuda:1"))]


def test_without_the_quick_way_torch_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch._C._dynamo.guards, "_empty_strided_cuda", raising=False)
    made: list[Any] = []
    monkeypatch.setattr(memory, "current_device", lambda: 0)
    monkeypatch.setattr(torch, "empty", lambda shape, **asked: made.append((shape, asked["device"])))
    memory.prepare((2,), torch.float32, torch.device("cuda:0"))()
    assert made == [((2,), torch.device("cuda:0"))]
