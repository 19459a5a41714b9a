"""FBGEMM: embedding tables and the sparse-feature kernels around them."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind

_KERNELS: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"(split|dense)_embedding_\w*backward\w*", "other", {"functor": "embedding", "direction": "backward"}),
    (r"(split|dense)_embedding_\w*forward\w*", "other", {"functor": "embedding", "direction": "forward"}),
    (
        r"split_embedding_codegen_grad_indice_weights_kernel",
        "other",
        {"functor": "embedding", "direction": "backward"},
    ),
    (r"linearize_index_kernel|bounds_check_indices_kernel|to_dense_representation_kernel", "other", {}),
    (r"permute_pooled_embs_kernel|recat_copy_async_kernel", "other", {"functor": "permute"}),
)


def decode(name: str) -> Decoded | None:
    """A kernel of FBGEMM, or None."""
    parsed = cpp.parse(name)
    rest = parsed.args or tuple(filter(None, [parsed.tail]))
    for pattern, kind, fields in _KERNELS:
        if re.fullmatch(pattern, parsed.base):
            return Decoded(name, "fbgemm", kind, dict(fields), rest)
    if parsed.scope[:1] == ("fbgemm_gpu",):
        kind = "pointwise" if re.search(r"quantize|_to_float|_to_hfp8", parsed.base) else "other"
        return Decoded(name, "fbgemm", kind, {}, (parsed.base, *rest))
    return None
