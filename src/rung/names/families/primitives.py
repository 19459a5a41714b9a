"""Sorts, scans and reductions of CUB, Thrust and rocPRIM."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind

_LIBRARIES = ("cub", "thrust", "rocprim", "hipcub")
_CUB: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"DeviceRadixSort\w*|DeviceSegmentedRadixSort\w*|DeviceMergeSort\w*", "other", {"functor": "sort"}),
    (r"DeviceReduceByKey\w*", "other", {"functor": "reduce_by_key"}),
    (r"Device(Segmented)?Reduce\w*", "reduction", {}),
    (r"DeviceScan\w*", "other", {"functor": "scan"}),
    (r"DeviceCompactInit\w*|DeviceSelect\w*|DevicePartition\w*", "other", {"functor": "select"}),
    (r"DeviceRunLengthEncode\w*", "other", {"functor": "run_length_encode"}),
    (r"DeviceHistogram\w*", "other", {"functor": "histogram"}),
)
_ROCPRIM: tuple[tuple[str, Kind, dict[str, Any]], ...] = (
    (r"wrapped_scan_config|scan_impl", "other", {"functor": "scan"}),
    (r"wrapped_radix_sort\w*|radix_sort\w*|wrapped_merge_sort\w*", "other", {"functor": "sort"}),
    (r"wrapped_reduce_config|reduce_impl", "reduction", {}),
    (r"wrapped_transform_config", "pointwise", {}),
)


def decode(name: str) -> Decoded | None:
    """A kernel of a library of parallel primitives, or None."""
    parsed = cpp.parse(name)
    library = next((part for part in parsed.scope[:2] if part in _LIBRARIES), None)
    if library is None:
        return None
    rest = parsed.args or tuple(filter(None, [parsed.tail]))
    for pattern, kind, fields in _CUB:
        if re.fullmatch(pattern, parsed.base):
            return Decoded(name, library, kind, dict(fields), rest)
    if library == "rocprim" and parsed.args:
        config = cpp.parse(parsed.args[0]).base
        for pattern, kind, fields in _ROCPRIM:
            if re.fullmatch(pattern, config):
                return Decoded(name, library, kind, dict(fields), rest)
    return Decoded(name, library, "other", {}, (parsed.base, *rest))
