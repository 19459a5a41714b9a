"""On a CUDA device: plans, the direct launcher, dependent launch, whatever happens between two calls."""

from __future__ import annotations

import threading
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from calls import mlp  # noqa: E402
from errorbudget import eager, error, in_double, inputs  # noqa: E402

from rung.glu import GLUMLP, glu, plans  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:.*Profiler clears events"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
ROWS = [1, 2, 40, 300]


def draw(rows: int, width: int = 768, hidden: int = 3072, **options: Any) -> list[Any]:
    return inputs((rows,), width, hidden, torch.bfloat16, device="cuda", **options)


def right(tensors: list[Any]) -> bool:
    exact = eager("silu", *in_double(tensors))
    return error(mlp("silu", *tensors), exact) <= error(eager("silu", *tensors), exact)


@pytest.mark.parametrize("rows", ROWS)
def test_weights_may_change_between_calls(rows: int) -> None:
    tensors, other = draw(rows), draw(rows, seed=1)
    assert right(tensors)
    for at in range(1, 7):
        tensors[at].mul_(0.5)
        assert right(tensors)
        tensors[at].data = other[at].data
        assert right(tensors)
    tensors[1], tensors[2] = tensors[2], tensors[1]
    assert right(tensors)
    for at in range(1, 7):
        tensors[at].data = draw(rows, hidden=1024)[at].data
    assert right(tensors)


@pytest.mark.parametrize("rows", ROWS)
def test_a_call_seen_before_is_made_in_other_ways(rows: int) -> None:
    """Each way twice and in turn: by autocast, with gradients, without, in inference mode."""
    tensors = draw(rows)
    tensors[1].requires_grad_()

    def of_gate(y: Any, gate: Any) -> Any:
        return torch.autograd.grad(y.sum(), gate)[0]

    doubled, y = in_double(tensors), eager("silu", *tensors)
    exact = eager("silu", *doubled)
    exact_grad, grad = of_gate(exact, doubled[1]), of_gate(y, tensors[1])
    budget, grad_budget = error(y, exact), 2 * error(grad, exact_grad)
    for _ in range(3):
        with torch.no_grad():
            y = mlp("silu", *tensors)
        assert not y.requires_grad
        trained = mlp("silu", *tensors)
        assert error(of_gate(trained, tensors[1]), exact_grad) <= grad_budget
        with torch.autocast("cuda", torch.float16):
            assert mlp("silu", *tensors).dtype == torch.float16
        with torch.inference_mode():
            assert mlp("silu", *tensors).is_inference()
        batched = torch.func.vmap(lambda x: mlp("silu", x, *tensors[1:]))(tensors[0])
        assert all(error(result, exact) <= budget for result in (y, trained, batched))


@pytest.mark.parametrize("rows", ROWS)
@torch.no_grad()
def test_what_was_written_right_before_is_read(rows: int) -> None:
    """No kernel starts so early that it reads a weight, x or h as they were, and none writes what is still
    read."""
    sets = [draw(rows, seed=seed) for seed in range(4)]
    expected = [mlp("silu", *tensors) for tensors in sets]
    torch.cuda.synchronize()
    own = [t.clone() for t in sets[0]]
    results = []
    for turn in range(100):
        for mine, given in zip(own, sets[turn % 4], strict=True):
            mine.copy_(given)
        results.append(mlp("silu", *own))
        own[3].fill_(float("nan"))
        own[0].fill_(float("nan"))
    for turn, result in enumerate(results):
        assert torch.equal(result, expected[turn % 4]), turn


@pytest.mark.parametrize("rows", ROWS)
@torch.no_grad()
def test_a_graph_reads_weights_as_they_are(rows: int) -> None:
    tensors, other = draw(rows), draw(rows, seed=1)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        mlp("silu", *tensors)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = mlp("silu", *tensors)
        z = mlp("silu", *tensors)
    for mine, given in zip(tensors, other, strict=True):
        mine.copy_(given)
    graph.replay()
    assert torch.equal(y, mlp("silu", *other))
    assert torch.equal(y, z)
    assert y.data_ptr() != z.data_ptr()


@pytest.mark.parametrize("rows", ROWS)
@torch.no_grad()
def test_a_graph_of_copies_other_streams_and_calls(rows: int) -> None:
    """The first kernel follows a copy, a memset and another stream's work: it waits for all of them."""
    tensors, given = draw(rows), draw(rows, seed=1)
    expected = mlp("silu", *given)
    torch.cuda.synchronize()
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.graph(graph):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for mine, new in zip(tensors[2:], given[2:], strict=True):
                mine.copy_(new)
        tensors[1].zero_()
        tensors[1].copy_(given[1])
        tensors[0].copy_(given[0])
        torch.cuda.current_stream().wait_stream(side)
        y = mlp("silu", *tensors)
        z = mlp("silu", y, *tensors[1:])
    for _ in range(5):
        for tensor in (*tensors, y, z):
            tensor.fill_(float("nan"))
        graph.replay()
        assert torch.equal(y, expected)
        assert torch.equal(z, mlp("silu", expected, *given[1:]))


@torch.no_grad()
def test_threads() -> None:
    sets = [draw(rows, seed=rows) for rows in ROWS]
    expected = [mlp("silu", *tensors) for tensors in sets]
    torch.cuda.synchronize()
    wrong: list[int] = []

    def work(first: int) -> None:
        with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
            for turn in range(50):
                at = (first + turn) % len(sets)
                if not torch.equal(mlp("silu", *sets[at]), expected[at]):
                    wrong.append(at)

    threads = [threading.Thread(target=work, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
@torch.no_grad()
def test_another_device_than_the_current_one() -> None:
    for rows in ROWS:
        tensors = draw(rows)
        elsewhere = [t.to("cuda:1") for t in tensors]
        for _ in range(3):  # planned, found by its key, seen before
            y = mlp("silu", *elsewhere)
            assert y.device == torch.device("cuda:1")
            assert torch.equal(y.to("cuda:0"), mlp("silu", *tensors))
        assert glu(elsewhere[1], elsewhere[2]).device == torch.device("cuda:1")


@torch.no_grad()
def test_tritons_own_route_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    from rung.glu.kernels import entry

    sets = [draw(rows) for rows in ROWS]
    expected = [(mlp("silu", *tensors), glu(tensors[1], tensors[2])) for tensors in sets]
    plans.forget()
    monkeypatch.setattr(entry, "_inner", lambda compiled, blocks, tail: None)
    for tensors, (y, h) in zip(sets, expected, strict=True):
        assert torch.equal(mlp("silu", *tensors), y)
        assert torch.equal(glu(tensors[1], tensors[2]), h)
    plans.forget()


def test_profiled_calls_show_the_operator() -> None:
    module = GLUMLP(768, 3072, device="cuda", dtype=torch.bfloat16)
    x = torch.randn(1, 768, device="cuda", dtype=torch.bfloat16)
    with torch.no_grad():
        module(x)
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            module(x)
        module(x)
    assert [e.name for e in profile.events() if e.name.startswith("rung::")] == ["rung::glu_mlp"]
