"""What a kernel's name says: family, kind, dtypes, tile, layout, fused ops. See docs/kernel-names.md."""

from __future__ import annotations

from rung.names.decoded import Decoded, Kind
from rung.names.operators import decode_op, is_metadata_op
from rung.names.phrases import explain, product_of, short
from rung.names.registry import decode

__all__ = ["Decoded", "Kind", "decode", "decode_op", "explain", "is_metadata_op", "product_of", "short"]
