"""Attention and the block compute what they say, against PyTorch's own and by properties."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from rung.ladder.transformer import Attention, Block, RMSNorm, angles, apply_rotary_pos_emb  # noqa: E402

pytestmark = pytest.mark.torch


def drawn(*shape: int) -> Any:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def test_attention_is_pytorchs_multi_head_attention() -> None:
    ours = Attention(8, heads=2, longest=5).double()
    theirs = torch.nn.MultiheadAttention(8, 2, bias=False, batch_first=True).double()
    projections = (ours.q_proj, ours.k_proj, ours.v_proj)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
        theirs.out_proj.weight.copy_(ours.o_proj.weight)
    x = drawn(3, 5, 8)
    expected, _ = theirs(x, x, x, attn_mask=torch.ones(5, 5, dtype=torch.bool).triu(1))
    torch.testing.assert_close(ours(x), expected)


@pytest.mark.parametrize("rotary", [False, True])
def test_written_out_it_is_the_same_over_the_same_weights(rotary: bool) -> None:
    fused = Attention(8, heads=2, longest=6, rotary=rotary).double()
    twin = fused.written_out()
    x = drawn(2, 4, 8)
    torch.testing.assert_close(twin(x), fused(x))
    assert (fused.fused, twin.fused) == (True, False)
    assert {id(p) for p in twin.parameters()} == {id(p) for p in fused.parameters()}


def test_no_position_sees_a_later_one() -> None:
    attention = Attention(8, heads=2, longest=6, rotary=True).double()
    x = drawn(1, 6, 8)
    changed = x.clone()
    changed[:, 4:] += 1
    for one in (attention, attention.written_out()):
        before, after = one(x), one(changed)
        torch.testing.assert_close(before[:, :4], after[:, :4])
        assert not torch.allclose(before[:, 4:], after[:, 4:])


def test_rms_norm_is_pytorchs() -> None:
    norm, x = RMSNorm(8, eps=1e-3), drawn(2, 3, 8).float()
    with torch.no_grad():
        norm.weight.copy_(torch.arange(8))
    torch.testing.assert_close(norm(x), torch.nn.functional.rms_norm(x, (8,), norm.weight, 1e-3))


def test_a_turn_keeps_lengths_and_only_distance_counts() -> None:
    """What rotary embedding is for: q at position i meets k at position j with an angle of i - j."""
    cos, sin = (t.double() for t in angles(9, 4))
    q, k = (drawn(1, 1, 1, 4).expand(1, 1, 9, 4) + shift for shift in (0.0, 0.5))
    turned_q, turned_k = apply_rotary_pos_emb(q, k, cos, sin)
    torch.testing.assert_close(turned_q.norm(dim=-1), q.norm(dim=-1))
    torch.testing.assert_close(turned_q[0, 0, 0], q[0, 0, 0])
    scores = (turned_q @ turned_k.transpose(-2, -1))[0, 0]
    for distance in range(1, 9):
        along = scores.diagonal(-distance)
        # The angles are computed in fp32.
        torch.testing.assert_close(along, along[:1].expand_as(along), rtol=1e-6, atol=1e-6)
    assert not torch.isclose(scores[1, 0], scores[2, 0])


def test_a_block_is_its_parts_with_two_residuals() -> None:
    block = Block(8, heads=2, hidden=12, longest=5)
    x = drawn(2, 5, 8).float()
    middle = x + block.self_attn(block.input_layernorm(x))
    torch.testing.assert_close(block(x), middle + block.mlp(block.post_attention_layernorm(middle)))
    assert block.self_attn.rotary
