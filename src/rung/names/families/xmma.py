"""`sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_..._cublas`: GEMMs and convolutions.

What the three dtype words mean is not documented. Where the first writes one dtype twice, the inputs have it
(seen in recordings); where all three write the same, everything does. The rest stays as it is.
"""

from __future__ import annotations

import re
from typing import Any

from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import dtype_of
from rung.names.tokens import Rule, dims, sort_out

_HEAD = re.compile(r"(?:cudnn_\w+?_)?sm(?P<arch>\d+)_xmma_(?P<what>gemm|fprop|dgrad|wgrad)_(?P<rest>\w+)")
_DIRECTIONS = {"fprop": "forward", "dgrad": "backward_data", "wgrad": "backward_weight"}
_TYPES = re.compile(r"([a-z]+\d+)([a-z]+\d+)")
_RULES: tuple[Rule, ...] = (
    (r"tilesize(\d+x\d+x\d+)", lambda m: {"tile": dims(m[1])}),
    (r"stage(\d+)", lambda m: {"stages": int(m[1])}),
    (r"tensor(\d+x\d+x\d+)", lambda m: {"unit": "tensorop", "instruction": dims(m[1])}),
    (r"ffma", lambda m: {"unit": "simt"}),
    (r"([tn]{2})", lambda m: {"layout": m[1]}),
    (r"cublas", lambda m: {"library": "cublas"}),
    (r"cudnn", lambda m: {"library": "cudnn"}),
)


def decode(name: str) -> Decoded | None:
    """A kernel of the xmma family, or None."""
    match = _HEAD.fullmatch(name)
    if match is None:
        return None
    fields: dict[str, Any] = {"arch": f"sm_{match['arch']}"}
    kind: Kind = "gemm"
    if match["what"] in _DIRECTIONS:
        kind = "convolution"
        fields["direction"] = _DIRECTIONS[match["what"]]
    dtypes, words = _dtypes(match["rest"].split("_"))
    known, unknown = sort_out(words, _RULES)
    if "split_k" in match["rest"]:
        known["split_k"] = True
        unknown = tuple(word for word in unknown if word not in ("split", "k"))
    return Decoded(name, "xmma", kind, fields | dtypes | known, unknown)


def _dtypes(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """What the dtype words surely say, and the words without those that are used up."""
    at = next((at for at, word in enumerate(words) if _TYPES.fullmatch(word)), None)
    if at is None or at + 2 >= len(words):
        return {}, words
    pairs = [_TYPES.fullmatch(word) for word in words[at : at + 2]]
    if pairs[0] is None or pairs[1] is None:
        return {}, words
    written = [*pairs[0].groups(), *pairs[1].groups(), words[at + 2]]
    dtype = dtype_of(written[0])
    if dtype is None or written[0] != written[1]:
        return {}, words
    if len(set(written)) == 1:
        return {"dtype": dtype}, words[:at] + words[at + 3 :]
    return {"dtype_a": dtype, "dtype_b": dtype}, words[:at] + words[at + 1 :]
