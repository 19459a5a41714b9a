"""The rules about what could be one kernel: what they say of hand-made and of recorded forwards."""

from __future__ import annotations

import pytest

from handmade import ADD, GELU, MUL, TILE_A, TILE_B, events, ran
from recordings import h200
from rung.insight.findings import Finding, examine, findings
from rung.trace import Trace
from rung.trace import read as read_file
from tracelib import annotation, op, read

X, HIDDEN = [128, 32], [128, 64]
GATE = ran(TILE_A, "aten::mm", X, [32, 64], dur=6)
DOWN = ran(TILE_B, "aten::mm", HIDDEN, [64, 32], dur=6)
ACT, MULTIPLY = ran(GELU, "aten::gelu", HIDDEN, dur=2), ran(MUL, "aten::mul", HIDDEN, HIDDEN, dur=3)
SOFTMAX = "void (anonymous namespace)::softmax_warp_forward<float, float, float, 6, false, false>(float*)"
FUSIONS = ("fusible-chain", "fusible-glu", "separate-projections", "unfused-add", "unfused-attention")


def seen(trace: Trace, rule: str) -> list[Finding]:
    return list(findings(examine(trace), only=[rule]))


class TestGLU:
    def test_its_price_is_what_lies_between_the_products(self) -> None:
        (glu,) = seen(read(*events(GATE, GATE, ACT, MULTIPLY, DOWN)), "fusible-glu")
        assert glu.cost_ns == 5_000
        assert glu.title == (
            "a GLU: two GEMMs of one input and gelu and mul could be one kernel: "
            "about 5.00 µs less of 17.0 µs, 197 kB less through memory"
        )
        assert glu.evidence["saved_bytes"] == 6 * 128 * 64 * 4
        assert "rung.glu.GLUMLP" in glu.advice

    def test_the_chain_in_it_is_told_as_well(self) -> None:
        (chain,) = seen(read(*events(GATE, GATE, ACT, MULTIPLY, DOWN)), "fusible-chain")
        assert chain.evidence["pattern"] == "GLU activation"
        assert chain.evidence["tensors"] == [{"shape": HIDDEN, "dtype": "float", "bytes": 32768}]

    def test_the_recorded_mlp(self) -> None:
        """gelu 29.9 us and mul 36.0 us, between GEMMs; [8192, 3072] in bf16 is 50.3 MB."""
        (glu,) = seen(read_file(h200("03_mlp_eager")), "fusible-glu")
        assert glu.cost_ns == 29_856 + 36_031
        assert glu.evidence["saved_bytes"] == 6 * 50_331_648

    def test_a_compiled_mlp_has_one_kernel_less_to_save(self) -> None:
        (glu,) = seen(read_file(h200("03_mlp_compile")), "fusible-glu")
        assert glu.cost_ns == 37_664
        assert glu.evidence["saved_bytes"] == 4 * 50_331_648  # gate and up, written and read

    def test_a_cpu_is_promised_no_time_by_it_but_has_a_compiler_for_the_chain(self) -> None:
        ops = [(by, args) for _, by, args, _ in (GATE, GATE, ACT, MULTIPLY, DOWN)]
        work = [op(by, 10 * i + 1, 8, **args) for i, (by, args) in enumerate(ops)]
        trace = read(annotation("fwd", 0, 60), *work, device=None)
        (glu,) = seen(trace, "fusible-glu")
        assert glu.cost_ns == 0
        assert glu.title.endswith("could be one kernel: 197 kB less through memory")  # 3 tensors, twice
        assert glu.advice.endswith("the same weights; what that saves cannot be said: it takes a GPU.")
        (chain,) = seen(trace, "fusible-chain")
        assert chain.advice.startswith("Make one kernel of the 2: torch.compile.")


def test_attention_written_out() -> None:
    scores = ran(TILE_A, "aten::bmm", [4, 16, 8], [4, 8, 16])
    softmax = ran(SOFTMAX, "aten::_softmax", [4, 16, 16], dur=3)
    values = ran(TILE_A, "aten::bmm", [4, 16, 16], [4, 16, 8])
    (one,) = seen(read(*events(scores, softmax, values)), "unfused-attention")
    assert one.cost_ns == 3_000
    assert "scaled_dot_product_attention" in one.advice


def test_q_k_and_v() -> None:
    """Three alike, 6 us each, are as fast in one: nothing is saved but two launches."""
    (one,) = seen(read(*events(ran(GELU, "aten::gelu", X), GATE, GATE, GATE)), "separate-projections")
    assert one.cost_ns == 0
    assert one.evidence["saved_launches"] == 2


def test_a_residual_add() -> None:
    """The fastest kernel here is the add, 98304 B in 5 us: a third of that still reads the residual."""
    (one,) = seen(read(*events(GATE, ran(ADD, "aten::add", HIDDEN, HIDDEN, dur=5))), "unfused-add")
    assert one.cost_ns == pytest.approx(5_000 * 2 / 3, abs=1)


@pytest.mark.parametrize("rule", FUSIONS)
def test_one_product_and_one_activation_are_left_alone(rule: str) -> None:
    assert seen(read(*events(GATE, ACT)), rule) == []


@pytest.mark.parametrize(
    "name", ["02_linear_1024x32x64_eager", "04_attention_eager", "03_mlp_manual_cudagraph"]
)
@pytest.mark.parametrize("rule", FUSIONS)
def test_recordings_with_nothing_to_fuse(rule: str, name: str) -> None:
    """One kernel; flash attention between two products; a replayed graph, whose shapes nobody recorded."""
    assert seen(read_file(h200(name)), rule) == []


def test_a_llamas_largest_chains() -> None:
    found = seen(read_file(h200("06_llama_eager")), "fusible-chain")
    assert [one.evidence["pattern"] for one in found[:2]] == ["RMSNorm", "rotary embedding"]
    assert found[0].evidence["places"] == 16  # two norms in each of 8 layers
