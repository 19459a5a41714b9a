"""The budget itself: what it lets pass, and what it finds, where outputs are few."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from calls import mlp  # noqa: E402
from errorbudget import check, inputs, several  # noqa: E402
from torch.nn import functional  # noqa: E402

pytestmark = pytest.mark.torch

FEW = (1,), 33, 37


def rounded_between(_: str, x: Any, g: Any, u: Any, d: Any, bg: Any, bu: Any, bd: Any) -> Any:
    """Eager silu, with one rounding more: down in two parts of K, each rounded before they are added."""
    hidden = functional.silu(functional.linear(x, g, bg)) * functional.linear(x, u, bu)
    (h, k), (c, e) = hidden.split(20, dim=1), d.split(20, dim=1)
    return functional.linear(h, c) + functional.linear(k, e, bd)


def passes(fn: Any, *draws: list[Any]) -> bool:
    try:
        check(fn, "silu", *draws)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(("dtype", "bias"), [(torch.float16, True), (torch.bfloat16, False)], ids=str)
def test_one_rounding_too_many_is_found(dtype: Any, bias: bool) -> None:
    draws = several(partial(inputs, *FEW, dtype, bias=bias))
    check(mlp, "silu", *draws)
    with pytest.raises(AssertionError, match=r"'silu', torch\.\w+, 'result'"):
        check(rounded_between, "silu", *draws)


def test_one_small_output_is_too_little_to_judge_by() -> None:
    """Of one seed each, some find nothing wrong with what is wrong, and others with what is right."""
    draws = [inputs(*FEW, torch.float16, seed=seed) for seed in range(30)]
    assert any(passes(rounded_between, one) for one in draws)
    assert not all(passes(mlp, one) for one in draws)


def test_how_many_draws() -> None:
    assert len(several(partial(inputs, *FEW, torch.float16))) == 125  # 4096 outputs of 33 at a time
    assert len(several(partial(inputs, (64, 1), 64, 8, torch.float16))) == 1
    assert len(several(partial(inputs, (63,), 64, 8, torch.float16))) == 2
