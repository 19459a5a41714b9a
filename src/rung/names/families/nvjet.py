"""`nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT`: cuBLASLt's GEMMs on Hopper and Blackwell.

NVIDIA documents none of these words. Read from recordings, where the shapes are known: the output tile, the
depth of a stage times the stages, the cluster, a bias, split-K, and the layout. `tst`, `h`, `v`, `bz`,
`badd`, `coopA`, `2cta` and their like are shown as they are.
"""

from __future__ import annotations

import re

from rung.names.decoded import Decoded
from rung.names.tokens import Rule, dims, sort_out

_RULES: tuple[Rule, ...] = (
    (r"sm(\d+)a?", lambda m: {"arch": f"sm_{m[1]}"}),
    (r"bias", lambda m: {"epilogue": ["bias"]}),
    (r"splitK", lambda m: {"split_k": True}),
    (r"[TN]{3}", lambda m: {"layout": m[0]}),
)
_SHAPES = re.compile(r"(?<=_)(\d+x\d+)_(\d+)x(\d+)(?:_(\d+x\d+))?(?=_|$)")


def decode(name: str) -> Decoded | None:
    """A GEMM of the nvjet family, or None."""
    if not name.startswith("nvjet_"):
        return None
    head, shapes, tail = name, {}, ""
    match = _SHAPES.search(name)
    if match:
        head, tail = name[: match.start()], name[match.end() :]
        shapes = {"tile": [*dims(match[1]), int(match[2])], "stages": int(match[3])}
        if match[4]:
            shapes["cluster"] = dims(match[4])
    fields, unknown = sort_out((head + tail).split("_")[1:], _RULES)
    return Decoded(name, "nvjet", "gemm", shapes | fields, unknown)
