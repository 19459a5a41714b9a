"""Exchanging parts of a module: the same weights, the same numbers, and the original left as it was."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from rung.ladder import get_rung, make_rung  # noqa: E402
from rung.ladder.modules import GeGLUMLP  # noqa: E402
from rung.ladder.transformer import Block  # noqa: E402
from rung.recording import Settings, liger  # noqa: E402
from rung.recording.swapping import activation_of, swapped, twin  # noqa: E402
from rung.recording.variants import Context, Ready, Skipped, prepare  # noqa: E402

pytestmark = pytest.mark.torch

CPU = torch.device("cpu")
FAMILIES = ("llama", "gemma", "qwen")


def weights(module: Any) -> set[int]:
    return {id(p) for p in module.parameters()}


def logits(made: Any) -> Any:
    return getattr(made, "logits", made)


class FakeGLU(nn.Module):  # type: ignore[misc]
    """What Liger's classes compute, told apart from the original by a note of each call."""

    act = staticmethod(lambda x: functional.gelu(x, approximate="tanh"))

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Any) -> Any:
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class LigerGEGLUMLP(FakeGLU):
    pass


class LigerSwiGLUMLP(FakeGLU):
    act = staticmethod(functional.silu)


class LigerRMSNorm(nn.Module):  # type: ignore[misc]
    def __init__(self, size: int, eps: float, offset: float = 0.0, casting_mode: str = "llama") -> None:
        super().__init__()
        self.weight, self.eps, self.offset = nn.Parameter(torch.ones(size)), eps, offset

    def forward(self, x: Any) -> Any:
        return functional.rms_norm(x, x.shape[-1:], self.offset + self.weight, self.eps)


def liger_rotary_pos_emb(q: Any, k: Any, cos: Any, sin: Any, *rest: Any) -> Any:
    TURNED.append(q.shape)
    turn = torch.complex(cos, sin)[:, None, :, : q.shape[-1] // 2]
    return tuple(_turned(x, turn) for x in (q, k))


def _turned(x: Any, turn: Any) -> Any:
    low, high = x.chunk(2, dim=-1)
    made = torch.complex(low, high) * turn
    return torch.cat((made.real, made.imag), dim=-1)


TURNED: list[Any] = []
FAKES = SimpleNamespace(
    LigerGEGLUMLP=LigerGEGLUMLP,
    LigerSwiGLUMLP=LigerSwiGLUMLP,
    LigerRMSNorm=LigerRMSNorm,
    liger_rotary_pos_emb=liger_rotary_pos_emb,
)


@pytest.fixture
def fake_liger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Liger's parts in plain PyTorch, as if they ran on a CPU."""
    monkeypatch.setattr(liger, "find_liger", lambda: (lambda name: getattr(FAKES, name, None), "a fake"))
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    TURNED.clear()


def made(rung: str, **given: Any) -> Any:
    sizes = {"batch": 2, "seq": 6, "dim": 16, "hidden": 24, "heads": 4, "vocab": 50, "layers": 2}
    known = get_rung(rung).cpu[0]
    parameters = {**known, **{k: v for k, v in sizes.items() if k in known}, **given}
    return make_rung(get_rung(rung), parameters, "cpu", "float32", Settings())


def test_a_twin_shares_every_weight_and_nothing_else() -> None:
    block = Block(8, heads=2, hidden=12, longest=4)
    other = twin(block)
    assert weights(other) == weights(block)
    assert other.self_attn is not block.self_attn
    assert other.self_attn.cos is block.self_attn.cos
    other.mlp = nn.Identity()
    assert isinstance(block.mlp, GeGLUMLP)


def test_the_whole_may_be_the_part_that_is_exchanged() -> None:
    mlp = GeGLUMLP(4, 6)
    new, counted = swapped(mlp, lambda part: nn.Identity() if isinstance(part, GeGLUMLP) else None)
    assert (type(new), dict(counted)) == (nn.Identity, {"Identity": 1})


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (nn.GELU(), "gelu"),
        (nn.GELU(approximate="tanh"), "gelu_tanh"),
        (nn.SiLU(), "silu"),
        (nn.ReLU(), "relu"),
        (nn.Sigmoid(), "sigmoid"),
        (nn.Identity(), "identity"),
        (nn.ELU(), None),
        (nn.GELU(approximate="none"), "gelu"),
    ],
    ids=repr,
)
def test_an_activation_is_told_by_its_values(act: Any, name: str | None) -> None:
    mlp = GeGLUMLP(4, 6)
    assert activation_of(mlp) == "gelu_tanh"
    mlp.act_fn = act
    assert activation_of(mlp) == name


@pytest.mark.parametrize("family", [None, *FAMILIES])
def test_ligers_parts_compute_the_same_in_one_model_alone(family: str | None, fake_liger: None) -> None:
    if family is not None:
        pytest.importorskip("transformers")
    work = made("block") if family is None else made("model", family=family)
    another = copy.deepcopy(work.fn)
    with torch.no_grad():
        expected = logits(work.fn(*work.args))
        ready = prepare("liger", work.fn, Context(CPU, work.args))
        assert isinstance(ready, Ready)
        turned = len(TURNED)
        torch.testing.assert_close(logits(ready.fn(*work.args)), expected, rtol=1e-4, atol=1e-5)
        layers = 1 if family is None else 2
        assert len(TURNED) - turned == layers
        # Neither the original nor another model of its class has changed.
        torch.testing.assert_close(logits(work.fn(*work.args)), expected, rtol=0, atol=0)
        torch.testing.assert_close(logits(another(*work.args)), expected, rtol=0, atol=0)
        assert len(TURNED) - turned == layers
    assert weights(ready.fn) == weights(work.fn)
    norms = {None: 2, "llama": 5, "gemma": 5, "qwen": 9}[family]
    glu = "LigerGEGLUMLP" if family in (None, "gemma") else "LigerSwiGLUMLP"
    assert ready.notes["exchanged"] == {
        glu: layers,
        "LigerRMSNorm": norms,
        "liger_rotary_pos_emb": layers,
    }


def test_a_liger_without_something_leaves_it_as_it_is(fake_liger: None, monkeypatch: Any) -> None:
    only = SimpleNamespace(LigerRMSNorm=LigerRMSNorm)
    monkeypatch.setattr(liger, "find_liger", lambda: (lambda name: getattr(only, name, None), "a small one"))
    ready = prepare("liger", made("block").fn, Context(CPU, made("block").args))
    assert isinstance(ready, Ready)
    assert ready.notes["exchanged"] == {"LigerRMSNorm": 2}
    nothing = prepare("liger", made("mlp").fn, Context(CPU, made("mlp").args))
    assert nothing == Skipped("liger", "a small one has nothing for the parts of GeGLUMLP")


@pytest.mark.parametrize("variant", ["liger", "rung"])
def test_a_module_without_a_glu_mlp_has_neither_variant(variant: str) -> None:
    skipped = prepare(variant, made("attention").fn, Context(CPU))
    assert isinstance(skipped, Skipped)
    assert "only a GLU MLP" in skipped.reason


def test_only_what_can_be_written_out_has_the_variant_math() -> None:
    skipped = prepare("math", made("mlp").fn, Context(CPU))
    assert skipped == Skipped("math", "only a module with a method written_out() has this variant")
    ready = prepare("math", made("attention").fn, Context(CPU))
    assert isinstance(ready, Ready)
    assert not ready.fn.fused
