"""The article's traces, drawn from the names and times it prints; they read like recordings.

The article's own recordings are not part of this package. What it prints is enough for its story: every width
that it does not print follows from a rule in this folder and is listed in the trace, under `unpublished`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from rung.errors import UsageError
from rung.ladder.article import linear, matmul_add, mlp
from rung.ladder.article.kineto import render
from rung.ladder.article.scene import Drawing
from rung.ladder.article.timeline import events

__all__ = ["draw", "drawn_rungs", "drawn_variants", "write"]

_DRAWINGS: dict[str, dict[str, Callable[[], Drawing]]] = {
    "matmul-add": {
        "64-cold-eager": matmul_add.cold_64,
        "64-warm-eager": matmul_add.warm_64,
        "4096-warm-eager": matmul_add.warm_4096,
        "4096-warm-compiled": matmul_add.compiled_4096,
    },
    "linear": {"eager": linear.eager, "compiled": linear.compiled_by_inductor},
    "mlp": {"eager": mlp.eager, "compiled": mlp.compiled_by_inductor, "liger": mlp.liger},
}


def drawn_rungs() -> list[str]:
    """The rungs that the article tells of, in its order."""
    return list(_DRAWINGS)


def drawn_variants(rung: str) -> list[str]:
    """The variants of a rung that can be drawn, in the article's order.

    Raises:
        UsageError: the article has no such rung.
    """
    if rung not in _DRAWINGS:
        raise UsageError(f"the article has no rung {rung!r}: choose one of {', '.join(_DRAWINGS)}")
    return list(_DRAWINGS[rung])


def draw(rung: str, variant: str) -> bytes:
    """The trace as JSON text, the same bytes each time: three steps on an NVIDIA A100-SXM4-80GB.

    Its top-level key "rung" has `"drawn": true`, the `source`, the names whose time the article does not
    print (`unpublished`), and those that it does not print whole (`completed_names`).

    Raises:
        UsageError: the article has no such rung or variant.
    """
    variants = drawn_variants(rung)
    if variant not in variants:
        raise UsageError(
            f"the article's {rung} has no variant {variant!r}: choose one of {', '.join(variants)}"
        )
    drawing = _DRAWINGS[rung][variant]()
    return render(drawing, events(drawing))


def write(rung: str, variant: str, folder: str | os.PathLike[str]) -> Path:
    """Write the drawn trace to `folder`, made if need be, as `article_RUNG_VARIANT.json`; return its path.

    Raises:
        UsageError: the article has no such rung or variant, or `folder` cannot be written to.
    """
    text = draw(rung, variant)
    path = Path(folder) / f"article_{rung}_{variant}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; choose another folder") from error
    return path
