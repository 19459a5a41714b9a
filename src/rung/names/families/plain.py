"""Names a person gave a kernel of their own: `matmul_kernel`, `_layer_norm_fwd_fused`.

Only a name made of one word for the work and of nothing but words for its form is believed:
`_finalize_matmul_scatter` is no product.
"""

from __future__ import annotations

import re

from rung.names.decoded import Decoded, Kind

_WORK: tuple[tuple[str, Kind], ...] = (
    ("softmax", "softmax"),
    ("(?:layer|rms|batch|group)_?norm", "normalization"),
    ("matmul|gemm|gemv|bmm", "gemm"),
)
_FORM = "kernel|jit|fused|persistent|tma|triton|fwd|forward|bwd|backward|dx|dwdb"
_NAMES = tuple((re.compile(rf"_?(?:(?:{_FORM})_)*({work})(?:_(?:{_FORM}))*"), kind) for work, kind in _WORK)


def decode(name: str) -> Decoded | None:
    """A kernel whose whole name is understood, or None."""
    for pattern, kind in _NAMES:
        match = pattern.fullmatch(name)
        if match:
            rest = name[: match.start(1)].split("_") + name[match.end(1) :].split("_")
            return Decoded(name, "plain", kind, {"word": match[1]}, tuple(word for word in rest if word))
    return None
