"""The public functions on the CPU: the reference's numbers, argument checks, the module."""

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from calls import mlp  # noqa: E402
from errorbudget import check, eager, error, in_double, inputs  # noqa: E402

import rung.glu  # noqa: E402
from rung.errors import MachineError  # noqa: E402
from rung.glu import ACTIVATIONS, GLUMLP, backend, glu, glu_mlp, tune, warm  # noqa: E402

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64], ids=str)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_reference_is_within_the_budget(activation: str, dtype: Any) -> None:
    check(mlp, activation, inputs((2, 3), 24, 40, dtype))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_glu_is_the_activation_times_up(activation: str) -> None:
    gate, up = torch.randn(2, 5), torch.randn(2, 5)
    torch.testing.assert_close(glu(gate, up, activation), ACTIVATIONS[activation](gate) * up)


def test_glu_gradients_to_the_second_order() -> None:
    for activation in ACTIVATIONS:
        gate, up = (torch.randn(2, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
        assert torch.autograd.gradcheck(lambda a, b, act=activation: glu(a, b, act), (gate, up))
        assert torch.autograd.gradgradcheck(lambda a, b, act=activation: glu(a, b, act), (gate, up))


def test_eager_rounding_is_eager_to_the_bit() -> None:
    tensors = inputs((7,), 24, 40, torch.bfloat16)
    assert torch.equal(mlp("silu", *tensors, rounding="eager"), eager("silu", *tensors))
    exact = eager("silu", *in_double(tensors))
    assert error(mlp("silu", *tensors), exact) < error(eager("silu", *tensors), exact)


@pytest.mark.parametrize("rows", [(0,), (), (2, 0, 3), (1, 1, 1)], ids=str)
def test_leading_shapes(rows: tuple[int, ...]) -> None:
    tensors = inputs(rows, 8, 16, torch.float32)
    torch.testing.assert_close(mlp("silu", *tensors), eager("silu", *tensors))


def test_empty_hidden_layer_leaves_the_bias() -> None:
    x, bias = torch.randn(3, 4), torch.randn(4)
    y = glu_mlp(x, torch.empty(0, 4), torch.empty(0, 4), torch.empty(4, 0), down_bias=bias)
    assert torch.equal(y, bias.expand(3, 4))


X, G, D = (3, 8), (16, 8), (8, 16)


def call(**changed: Any) -> Any:
    shapes = {"x": X, "gate_weight": G, "up_weight": G, "down_weight": D}
    return glu_mlp(**{**{name: torch.zeros(shape) for name, shape in shapes.items()}, **changed})


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"x": [1.0]}, TypeError, "x is list: expected a tensor"),
        ({"x": torch.zeros(X, dtype=torch.int64)}, TypeError, "x is int64: expected one of bfloat16"),
        ({"x": torch.zeros(X, dtype=torch.float16)}, TypeError, "x is torch.float16: expected torch.float32"),
        ({"x": torch.zeros(())}, ValueError, r"x has shape \[\]: expected \[..., 8\]"),
        ({"x": torch.zeros(3, 9)}, ValueError, r"x has shape \[3, 9\]: expected \[..., 8\], since gate_w"),
        ({"gate_weight": None}, TypeError, "gate_weight is NoneType: expected a tensor"),
        ({"gate_weight": torch.zeros(G).char()}, TypeError, "gate_weight is int8: expected one of"),
        ({"gate_weight": torch.zeros(G).half()}, TypeError, "up_weight is torch.float32: expected"),
        ({"gate_weight": torch.zeros(8)}, ValueError, r"\[8\]: expected \[hidden_features, in_features\]"),
        ({"up_weight": torch.zeros(15, 8)}, ValueError, r"up_weight has shape \[15, 8\]: expected \[16, 8\]"),
        ({"down_weight": torch.zeros(8)}, ValueError, r"has shape \[8\]: expected \[out_features, 16\]"),
        ({"gate_bias": torch.zeros(8)}, ValueError, r"gate_bias has shape \[8\]: expected \[16\]"),
        ({"up_bias": torch.zeros(1, 16)}, ValueError, r"up_bias has shape \[1, 16\]: expected \[16\]"),
        ({"down_bias": 3}, TypeError, "down_bias is int: expected a tensor"),
        ({"up_weight": torch.zeros(G, dtype=torch.float16)}, TypeError, "up_weight is torch.float16: ex"),
        ({"down_weight": torch.zeros(D, device="meta")}, ValueError, "down_weight is on meta: expected cpu"),
        ({"activation": "tanh"}, ValueError, "activation is 'tanh': expected one of gelu_tanh, gelu, silu"),
        ({"rounding": "none"}, ValueError, "rounding is 'none': expected one of single, eager"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)  # fmt: skip
def test_wrong_arguments(changed: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(**changed)


def test_wrong_arguments_of_the_others() -> None:
    with pytest.raises(ValueError, match=r"up has shape \[3\]: expected \[2\], that of gate"):
        glu(torch.zeros(2), torch.zeros(3))
    with pytest.raises(TypeError, match=r"up is torch.float16: expected torch.float32"):
        glu(torch.zeros(2), torch.zeros(2, dtype=torch.float16))
    with pytest.raises(ValueError, match="activation is 'swish'"):
        GLUMLP(4, 8, "swish")
    with pytest.raises(TypeError, match=r"dtype is torch.float64"):
        warm(torch.float64)
    with pytest.raises(
        ValueError, match=r"shape is \(1, 2\): expected \(rows, in_features, hidden_features\)"
    ):
        tune((1, 2))
    with pytest.raises(ValueError, match="shape has 64 rows"):
        tune((64, 8, 8))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_what_needs_a_device_says_so() -> None:
    with pytest.raises(MachineError, match="no kernels to warm"):
        warm(torch.bfloat16)
    with pytest.raises(MachineError, match="tune measures on a CUDA device"):
        tune((128, 64, 64))


def test_backend_says_why() -> None:
    x, g, u, d, *_ = inputs((3,), 8, 16, torch.float32)
    assert backend(x, g, u, d) == ("reference", "there is no kernel for a cpu device", None)
    assert "no kernel for float64" in backend(*(t.double() for t in (x, g, u, d))).reason
    with pytest.raises(ValueError, match="up_weight has shape"):
        backend(x, g, u[1:], d)


def test_module_takes_a_checkpoint_and_keeps_its_names() -> None:
    torch.manual_seed(0)
    module = GLUMLP(8, 16, "silu", bias=True)
    names = {f"{p}_proj.{kind}" for p in ("gate", "up", "down") for kind in ("weight", "bias")}
    assert set(module.state_dict()) == names
    other = GLUMLP(8, 16, "silu", bias=True)
    other.load_state_dict(module.state_dict())
    x = torch.randn(2, 3, 8)
    assert torch.equal(other(x), module(x))
    assert "activation='silu'" in repr(module)


def test_pack_is_explicit_and_reversible() -> None:
    module = GLUMLP(8, 16)
    x, parameters = torch.randn(3, 8), dict(module.named_parameters())
    before, state = module(x), copy.deepcopy(module.state_dict())
    assert not module.packed
    assert module.pack().packed
    distance = module.up_proj.weight.data_ptr() - module.gate_proj.weight.data_ptr()
    assert distance == 16 * 8 * 4
    for stage in (module, module.unpack()):
        assert torch.equal(stage(x), before)
        assert all(torch.equal(value, state[key]) for key, value in stage.state_dict().items())
        assert all(stage.get_parameter(name) is p for name, p in parameters.items())
    assert not module.packed


def test_recompute_on_the_reference() -> None:
    tensors = [t.requires_grad_() for t in inputs((3,), 8, 16, torch.float32)]
    plain = torch.autograd.grad(mlp("gelu", *tensors).sum(), tensors)
    torch.testing.assert_close(
        torch.autograd.grad(mlp("gelu", *tensors, recompute=True).sum(), tensors), plain
    )


def test_a_model_of_nothing_but_shapes() -> None:
    module, x = GLUMLP(8, 16, device="meta"), torch.empty(2, 8, device="meta", requires_grad=True)
    y = module(x)
    assert y.is_meta and y.shape == (2, 8)
    y.sum().backward()
    assert x.grad is not None and x.grad.shape == (2, 8)


def test_autocast_on_the_reference() -> None:
    module = GLUMLP(8, 16, bias=True)
    x = torch.randn(3, 8)
    with torch.autocast("cpu", torch.bfloat16):
        y = module(x)
        for unlike in (x.long(), x.double()):
            with pytest.raises(TypeError, match=r"x is (int64|torch.float64): expected"):
                module(unlike)
    assert y.dtype == torch.bfloat16
    assert torch.equal(y, copy.deepcopy(module).bfloat16()(x.bfloat16()))


def test_compiles_whole_on_the_cpu() -> None:
    torch._dynamo.reset()
    module = GLUMLP(8, 16)
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    x = torch.randn(3, 8)
    torch.testing.assert_close(compiled(x), module(x))


def test_public_face() -> None:
    assert all(hasattr(rung.glu, name) for name in rung.glu.__all__)


def test_reached_through_the_package() -> None:
    code = "import sys, rung; print('torch' in sys.modules, rung.glu.GLUMLP.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False GLUMLP", done.stderr


def test_without_torch_its_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['torch'] = None; import rung; rung.glu"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "rung.glu needs torch" in done.stderr.splitlines()[-1]
    assert 'pip install "rung[torch]"' in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("cuda", ["13.0", None])
def test_import_takes_triton_along_where_torch_has_cuda(cuda: str | None) -> None:
    pytest.importorskip("triton")
    code = (
        f"import sys, torch; torch.version.cuda = {cuda!r}; import rung.glu; "
        "print([name in sys.modules for name in ('triton', 'triton.experimental.gluon.nvidia.hopper')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str([cuda is not None] * 2), done.stderr


def test_room_stands_alone() -> None:
    """Without triton, and without the packages that the rest of Rung needs."""
    code = (
        "import sys\nfor name in ('triton', 'msgspec', 'rich', 'typer'): sys.modules[name] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'triton' else find(name, *a)\n"
        "import torch, rung.glu as g\n"
        "x, w, d = torch.ones(2, 4), torch.ones(8, 4), torch.ones(4, 8)\n"
        "print(g.GLUMLP(4, 8)(x).shape, g.backend(x, w, w, d).reason)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "torch.Size([2, 4]) triton is not installed", done.stderr
