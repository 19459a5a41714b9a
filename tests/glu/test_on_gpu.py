"""On a CUDA device: the same budget, every path, no recompiling, determinism, graphs, what cannot run
elsewhere."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from calls import mlp  # noqa: E402
from errorbudget import budget, check, eager, error, in_double, inputs, several  # noqa: E402
from torch.nn import functional  # noqa: E402

from rung.glu import (  # noqa: E402
    ACTIVATIONS,
    GLUMLP,
    backend,
    glu,
    glu_mlp,
    plans,
    reference,
    rules,
    tune,
    warm,
)  # fmt: skip
from rung.glu.gate_up import Choice, plan  # noqa: E402

pytestmark = [
    pytest.mark.torch,
    pytest.mark.gpu,
    # Others' remarks: the first GEMM of autograd's thread, the profiler's cycles, Inductor's imports.
    pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS", "ignore:.*Profiler clears events"),
    pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.*torch.jit:FutureWarning"),  # since torch 2.14
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]
HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability()[0] == 9
DTYPES = [torch.bfloat16, torch.float16, torch.float32]


def draw(rows: Any, width: int, hidden: int, dtype: Any, **options: Any) -> list[Any]:
    return inputs(
        rows if isinstance(rows, tuple) else (rows,), width, hidden, dtype, device="cuda", **options
    )


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    yield
    torch.backends.cuda.matmul.fp32_precision = "ieee"


@contextmanager
def counted() -> Iterator[list[str]]:
    """The kernels that Triton compiles, or fetches from the disk, meanwhile."""
    from triton import knobs

    seen: list[str] = []
    before = knobs.compilation.listener
    knobs.compilation.listener = lambda **about: seen.append(about["src"].name)
    try:
        yield seen
    finally:
        knobs.compilation.listener = before


@pytest.mark.parametrize("rows", [1, 5, 64, 65, 300])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_forward_and_gradients(activation: str, dtype: Any, rows: int) -> None:
    check(mlp, activation, *several(partial(draw, rows, 128, 192, dtype)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_down_backward(dtype: Any) -> None:
    """Both halves in full, and only they, whatever the sizes; the other way round is a product and a GLU."""
    for rows, width, hidden in [(1, 8, 8), (130, 72, 200), (500, 4104, 264), (193, 256, 136)]:
        x, g, u, d, *_ = draw(rows, width, hidden, dtype)
        grad, gate, up = torch.randn_like(x), x @ g.t(), x @ u.t()
        for activation in ACTIVATIONS:
            ours = torch.ops.rung.down_backward(grad, d, gate, up, activation)
            parts = reference.glu_backward(grad.double() @ d.double(), gate.double(), up.double(), activation)
            usual = torch.cat(reference.glu_backward(grad @ d, gate, up, activation), dim=1)
            exact = torch.cat(parts, dim=1)
            assert error(ours, exact) <= error(usual, exact)
            assert torch.equal(ours, torch.ops.rung.down_backward(grad, d, gate, up, activation))


@pytest.mark.skipif(not HOPPER, reason="needs an sm_90")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_gate_up_backward(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one product, whatever the sizes, beside two of which the first is rounded."""
    monkeypatch.setattr(rules, "FULL", 0)
    plans.forget()
    for rows, width, hidden in [
        (1, 8, 8),
        (130, 72, 200),
        (500, 264, 4104),
        (193, 136, 256),
        (400, 3000, 64),
    ]:
        _, g, u, *_ = draw(rows, width, hidden, dtype)
        both = torch.randn(rows, 2 * hidden, dtype=dtype, device="cuda")
        ours = torch.ops.rung.gate_up_backward(both, g, u)
        exact = both.double() @ torch.cat([g, u]).double()
        usual = torch.addmm(both[:, :hidden] @ g, both[:, hidden:], u)
        assert error(ours, exact) <= budget(dtype, error(usual, exact), forward=False)
        assert torch.equal(ours, torch.ops.rung.gate_up_backward(both, g, u))
    plans.forget()


@pytest.mark.skipif(not HOPPER, reason="needs an sm_90")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("tile", rules.hopper(rules.SHORT), ids=lambda tile: f"{tile.m}x{tile.n}")
def test_every_hopper_tile(tile: rules.Tile, dtype: Any) -> None:
    """Where rows, columns and steps end within a tile; biases or none, gate and up written or not."""
    for rows, width, hidden, bias in [(70, 72, 72, True), (193, 256, 136, False), (500, 2312, 1160, True)]:
        x, g, u, _, bg, bu, _ = draw(rows, width, hidden, dtype, bias=bias)
        usual = functional.linear(x, g, bg), functional.linear(x, u, bu)
        x2, g2, u2, bg2, bu2 = in_double([x, g, u, bg, bu])
        exact = functional.linear(x2, g2, bg2), functional.linear(x2, u2, bu2)
        for activation, save in [("gelu_tanh", False), ("silu", True)]:
            choice = Choice("hopper", tile, "tested")
            made = plan(x, g, u, bg, bu, activation, "single", save, choice)
            h, *saved = made.run(x, g, u, bg, bu)
            limit = error(reference.glu(*usual, activation), reference.glu(*exact, activation))
            assert error(h, reference.glu(*exact, activation)) <= limit
            for ours, theirs, true in zip(saved if save else [], usual, exact, strict=save):
                assert error(ours, true) <= budget(dtype, error(theirs, true), forward=False)
            assert torch.equal(h, made.run(x, g, u, bg, bu)[0])


@pytest.mark.parametrize("activation", ["gelu_tanh", "silu"])
@pytest.mark.parametrize("rows", [3, 40, 500])
def test_tf32(activation: str, rows: int) -> None:
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    tensors = draw(rows, 256, 320, torch.float32)
    exact, usual = eager(activation, *in_double(tensors)), eager(activation, *tensors)
    assert error(mlp(activation, *tensors), exact) <= 2 * error(usual, exact) + 8 * 2**-11


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "sizes", [(1, 33, 37), (17, 72, 200), (70, 40, 72), (130, 133, 257), (200, 264, 520)]
)
def test_odd_sizes(sizes: tuple[int, int, int], bias: bool, dtype: Any) -> None:
    check(mlp, "silu", *several(partial(draw, *sizes, dtype, bias=bias)))


@pytest.mark.parametrize("scale", [1e-3, 30.0, 1000.0])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_magnitudes(scale: float, dtype: Any) -> None:
    for activation in ACTIVATIONS:
        check(mlp, activation, draw(100, 128, 192, dtype, scale=scale))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_special_values_as_eager(activation: str) -> None:
    special = torch.tensor(
        [0.0, -0.0, 1.0, -1.0, 30.0, -30.0, 1e4, -1e4, float("inf"), -float("inf"), float("nan")],
        device="cuda",
    )
    gate, up = (t.contiguous() for t in torch.meshgrid(special, special, indexing="ij"))
    ours, exact = glu(gate, up, activation), ACTIVATIONS[activation](gate) * up
    assert torch.equal(ours.isnan(), exact.isnan())
    assert torch.equal(ours.isinf(), exact.isinf())
    x, g, u, d, *_ = draw(80, 64, 96, torch.bfloat16)
    x[3, 5], x[7, 0] = float("nan"), float("inf")
    ours, usual = glu_mlp(x, g, u, d, activation), eager(activation, x, g, u, d, None, None, None)
    assert torch.equal(ours.isfinite().all(1), usual.isfinite().all(1))


def test_paths_and_strides() -> None:
    x, g, u, d, *_ = draw(200, 128, 256, torch.bfloat16)
    exact = glu_mlp(*in_double([x, g, u, d]))
    limit = error(eager("gelu_tanh", x, g, u, d, None, None, None), exact)
    if torch.cuda.get_device_capability()[0] == 9:
        assert backend(x, g, u, d).name == "hopper"
        assert backend(x, g, g, d).name == "hopper"  # two weights may be one
        assert "rows overlap" in backend(x[:1].expand(200, 128), g, u, d).reason
    assert backend(x[:9], g, u, d).name == "few-rows"
    both = torch.stack([g, u], 1)
    for one, a, b, c in [
        (x, g, u, d),
        (torch.cat([x, x], 1)[:, :128], g, u, d),
        (x.t().contiguous().t(), g, u, d),
        (x, g.t().contiguous().t(), u, d.t().contiguous().t()),
        (x, both[:, 0], both[:, 1], d),
        (torch.cat([x.new_zeros(1), x.flatten()])[1:].view(x.shape), g, u, d),
    ]:
        assert error(glu_mlp(one, a, b, c), exact) <= limit
        assert error(glu_mlp(one[:20], a, b, c), exact[:20]) <= 1.2 * limit
    swapped = glu_mlp(x, u, g, d)
    assert error(swapped, glu_mlp(*in_double([x, u, g, d]))) <= 1.2 * limit
    grads = torch.autograd.grad(glu_mlp(x, u.requires_grad_(), g.requires_grad_(), d).sum(), (u, g))
    plain = torch.autograd.grad(eager("gelu_tanh", x, u, g, d, None, None, None).sum(), (u, g))
    assert all(error(a, b.double()) < 2e-2 for a, b in zip(grads, plain, strict=True))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pointwise(dtype: Any) -> None:
    for shape in [(7, 1001), (64, 512), (3, 5, 96)]:
        gate, up, grad = (torch.randn(*shape, device="cuda").to(dtype) for _ in range(3))
        for activation in ACTIVATIONS:
            exact = reference.glu(gate.double(), up.double(), activation)
            usual = ACTIVATIONS[activation](gate) * up
            assert error(glu(gate, up, activation), exact) <= budget(dtype, error(usual, exact), forward=True)
            a, b = (t.clone().requires_grad_() for t in (gate, up))
            ours = torch.autograd.grad(glu(a, b, activation), (a, b), grad)
            wide = reference.glu_backward(grad.double(), gate.double(), up.double(), activation)
            usual = torch.autograd.grad(ACTIVATIONS[activation](a) * b, (a, b), grad)
            for one, other, true in zip(ours, usual, wide, strict=True):
                assert error(one, true) <= budget(dtype, error(other, true), forward=False)
    halves = torch.randn(50, 2 * 96, device="cuda").to(dtype).chunk(2, dim=1)
    assert torch.equal(glu(*halves), glu(*(t.contiguous() for t in halves)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_no_shape_compiles_after_warm(dtype: Any) -> None:
    warm(dtype, "silu")
    choose = random.Random(0)
    with counted() as seen:
        for _ in range(200):
            rows, width, hidden = (choose.randint(1, most) for most in (700, 300, 400))
            width, hidden = (n * 8 if choose.random() < 0.5 else n for n in (width, hidden))
            module = GLUMLP(width, hidden, "silu", device="cuda", dtype=dtype)
            x = torch.randn(rows, width, device="cuda", dtype=dtype)
            with torch.no_grad():
                module(x)
            module(x).sum().backward()
    assert seen == []


def test_first_call_is_seen_by_the_listener() -> None:
    gate = torch.randn(8, 8, device="cuda", dtype=torch.float16)
    with counted() as seen:
        glu(gate, gate, "identity")
        glu(gate, gate, "identity")
    assert len(seen) <= 1


def test_same_bits_every_time() -> None:
    for rows in (3, 64, 500):
        tensors = [t.requires_grad_() for t in draw(rows, 256, 512, torch.bfloat16)]
        runs = []
        for _ in range(5):
            with torch.no_grad():
                y = mlp("gelu", *tensors)
            trained = mlp("gelu", *tensors)
            runs.append((y, trained, *torch.autograd.grad(trained.float().square().sum(), tensors)))
        for other in runs[1:]:
            assert all(torch.equal(a, b) for a, b in zip(runs[0], other, strict=True))


@pytest.mark.parametrize("rows", [5, 64, 300])
def test_a_row_does_not_depend_on_the_others(rows: int) -> None:
    """Gate-up in every regime; the whole MLP up to 64 rows (above, down is the library's, which looks at
    rows)."""
    tensors = draw(rows, 256, 512, torch.bfloat16)
    x, g, u = tensors[:3]
    other = x.clone()
    other[0], other[2:] = 7.0, -3.0
    op = torch.ops.rung.gate_up
    ours, theirs = (op(t, g, u, None, None, "silu", "single", False)[0][1] for t in (x, other))
    assert torch.equal(ours, theirs)
    if rows <= 64:
        assert torch.equal(mlp("silu", *tensors)[1], mlp("silu", other, *tensors[1:])[1])
    if rows == 5:
        assert torch.equal(mlp("silu", *tensors)[1], mlp("silu", x[:2], *tensors[1:])[1])


def kernels(call: Callable[[], Any]) -> list[str]:
    """The kernels that the third call of this runs."""
    for _ in range(2):
        call()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        call()
        torch.cuda.synchronize()
    on_device = [e.name for e in profile.events() if e.device_type.name == "CUDA"]
    return [name for name in on_device if "mem" not in name.lower() and "rung::" not in name]


@pytest.mark.parametrize("rows", [1, 16, 64, 2048])
def test_forward_is_two_kernels(rows: int) -> None:
    """And the same two in a compiled graph."""
    torch._dynamo.reset()
    x, g, u, d, *_ = draw(rows, 768, 3072, torch.bfloat16)
    with torch.no_grad():
        names = kernels(lambda: glu_mlp(x, g, u, d))
        compiled = torch.compile(lambda x: glu_mlp(x, g, u, d), fullgraph=True)
        assert len(names) == 2
        assert kernels(lambda: compiled(x)) == names


@pytest.mark.parametrize("rows", [1, 40, 300])
def test_cuda_graph(rows: int) -> None:
    x, g, u, d, *_ = draw(rows, 256, 512, torch.bfloat16)
    with torch.no_grad():
        expected = glu_mlp(x, g, u, d)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            glu_mlp(x, g, u, d)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = glu_mlp(x, g, u, d)
        for _ in range(3):
            y.fill_(float("nan"))
            graph.replay()
            assert torch.equal(y, expected)


def test_streams_do_not_meet() -> None:
    x, g, u, d, *_ = draw(4, 1024, 2048, torch.bfloat16)
    with torch.no_grad():
        expected = glu_mlp(x, g, u, d)
        torch.cuda.synchronize()
        streams = [torch.cuda.Stream() for _ in range(4)]
        results = []
        for i in range(40):
            with torch.cuda.stream(streams[i % 4]):
                results.append(glu_mlp(x, g, u, d))
        torch.cuda.synchronize()
    assert all(torch.equal(result, expected) for result in results)


def test_second_order_and_functional() -> None:
    tensors = [t.requires_grad_() for t in draw(70, 32, 48, torch.float32)]

    def penalty(fn: Any) -> Any:
        grads = torch.autograd.grad(fn("silu", *tensors).square().sum(), tensors, create_graph=True)
        return torch.autograd.grad(sum(g.square().sum() for g in grads), tensors[:6])

    for ours, usual in zip(penalty(mlp), penalty(eager), strict=True):
        assert error(ours, usual.double()) < 1e-4
    rest = [t.detach() for t in tensors[1:]]
    batch = torch.randn(4, 70, 32, device="cuda")
    per_sample = torch.func.vmap(torch.func.grad(lambda w, x: mlp("silu", x, w, *rest[1:]).sum()), (None, 0))
    expected = torch.func.vmap(torch.func.grad(lambda w, x: eager("silu", x, w, *rest[1:]).sum()), (None, 0))
    torch.testing.assert_close(per_sample(rest[0], batch), expected(rest[0], batch), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("train", [False, True])
def test_compile_whole_without_recompiling(train: bool) -> None:
    torch._dynamo.reset()
    module = GLUMLP(64, 96, "silu", device="cuda", dtype=torch.bfloat16).requires_grad_(train)
    compiled = torch.compile(module, fullgraph=True, dynamic=True)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for rows in (3, 64, 65, 400):
            x = torch.randn(rows, 64, device="cuda", dtype=torch.bfloat16)
            torch.testing.assert_close(compiled(x), module(x), rtol=1e-2, atol=1e-3)
            if train:
                compiled(x).sum().backward()


def test_opcheck() -> None:
    x, g, u, d, bg, bu, bd = draw((2, 50), 64, 96, torch.float32)
    for flag in (False, True):
        torch.library.opcheck(torch.ops.rung.gate_up.default, (x, g, u, bg, None, "silu", "single", flag))
        both = (x, g, u, d, bg, None, bd, "silu", "single", flag)
        torch.library.opcheck(torch.ops.rung.glu_mlp_training.default, both)
    torch.library.opcheck(torch.ops.rung.glu_mlp.default, (x, g, u, d, bg, bu, bd, "silu", "single"))


def test_recompute_and_autocast() -> None:
    tensors = [t.requires_grad_() for t in draw(200, 64, 96, torch.bfloat16)]
    plain = torch.autograd.grad(mlp("gelu", *tensors).sum(), tensors)
    again = torch.autograd.grad(mlp("gelu", *tensors, recompute=True).sum(), tensors)
    assert all(torch.equal(a, b) for a, b in zip(plain, again, strict=True))
    module = GLUMLP(64, 96, bias=True, device="cuda")
    x = torch.randn(100, 64, device="cuda")
    with torch.autocast("cuda", torch.bfloat16):
        y = module(x)
    y.float().sum().backward()
    assert y.dtype == torch.bfloat16
    assert module.up_proj.weight.grad.dtype == torch.float32


def test_memory_of_a_training_step() -> None:
    """With recompute nothing but y; else h, gate and up as well. In backward at most two tensors of twice the
    hidden size beside the gradients: what was kept is let go of meanwhile."""
    rows, width, hidden = 4096, 256, 2048
    module = GLUMLP(width, hidden, "silu", device="cuda", dtype=torch.bfloat16)
    x = torch.randn(rows, width, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    grad = torch.randn_like(x)
    module(x).backward(grad)  # the library's workspaces
    small, big = x.numel() * 2, rows * hidden * 2
    for recompute, kept in ((False, 3), (True, 0)):
        module.recompute = recompute
        module.zero_grad()
        x.grad = None
        before = torch.cuda.memory_allocated()
        y = module(x)
        assert torch.cuda.memory_allocated() - before <= kept * big + small + 4096
        torch.cuda.reset_peak_memory_stats()
        y.backward(grad)
        weights = sum(p.numel() * 2 for p in module.parameters())
        assert torch.cuda.max_memory_allocated() - before <= 4 * big + 3 * small + weights + 4096
        del y


def test_tune_keeps_its_result(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNG_CACHE_DIR", str(tmp_path))
    times = tune((512, 256, 512))
    assert times and list(times.values()) == sorted(times.values())
    assert "rows <= 512, hidden 512, in 256" in (tmp_path / "glu-tiles.json").read_text()
    x, g, u, d, *_ = draw(500, 256, 512, torch.bfloat16)
    assert "tile tuned" in backend(x, g, u, d).reason


def test_beyond_two_to_the_31_elements() -> None:
    rows, width = 2**21 + 3, 1024
    gate = torch.randn(8, width, device="cuda", dtype=torch.bfloat16).repeat(rows // 8 + 1, 1)[:rows]
    out = glu(gate, gate, "silu")
    assert torch.equal(out[-8:], glu(gate[-8:], gate[-8:], "silu"))
    grads = torch.ops.rung.glu_backward(gate, gate, gate, "silu")
    few = torch.ops.rung.glu_backward(gate[-8:], gate[-8:], gate[-8:], "silu")
    assert all(torch.equal(a[-8:], b) for a, b in zip(grads, few, strict=True))
    del out, grads, gate
    x = torch.randn(rows, 64, device="cuda", dtype=torch.bfloat16)
    for hidden in (1024, 1025):  # Gluon and portable
        g, u = (torch.randn(hidden, 64, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        h = torch.ops.rung.gate_up(x, g, u, None, None, "silu", "single", False)[0]
        assert h.numel() > 2**31
        assert torch.equal(
            h[-300:], torch.ops.rung.gate_up(x[-300:], g, u, None, None, "silu", "single", False)[0]
        )
        del h
