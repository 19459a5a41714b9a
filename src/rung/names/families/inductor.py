"""Kernels `torch.compile` wrote: `triton_poi_fused__unsafe_view_gelu_mul_0`, `cpp_fused_...`.

The name is `triton`, a code for the kernel's form, `fused`, the ATen ops it came from in alphabetical order,
and its number in the graph (`torch/_inductor/codegen/triton.py`, `get_fused_kernel_name`). The ops are joined
with the underscores they also contain, so they are split against the table of known ops; what matches none
stays as it is. An op in the list may have left only a part of itself in the kernel.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from rung.names.decoded import Decoded, Kind
from rung.names.operator_table import KINDS, METADATA_OPS, kind_of_op

_FORMS: dict[str, tuple[str, Kind]] = {
    "poi": ("pointwise", "pointwise"),
    "red": ("reduction", "reduction"),
    "per": ("persistent reduction", "reduction"),
    "tem": ("template", "other"),
    "for": ("foreach", "pointwise"),
    "spl": ("split scan", "other"),
    "mix": ("mix-order reduction", "reduction"),
}
_TRITON = re.compile(
    r"triton_(?P<form>poi|red|per|tem|for|spl|mix)_fused(?P<ops>(?:_\w*?)??)(?:_(?P<id>\d+))?(?:_(?P<signature>\d+d[\dcde]*))?"
)
_MM = re.compile(r"triton_(?P<what>mm|bmm|addmm|mm_plus_mm|convolution2d|flex_attention)(?:_(?P<id>\d+))?")
_CPP = re.compile(r"(?:graph_(?P<graph>\d+)_)?(?:kernel_)?cpp_fused(?P<ops>(?:_\w*?)??)(?:_(?P<id>\d+))?")
_UNNAMED = re.compile(r"triton_(?P<form>poi|red|per|tem)?_*(?P<rest>(?:\d+d?e?c?)*)")
_SPECIFIC: tuple[Kind, ...] = ("softmax", "normalization")
_HEAVY: tuple[Kind, ...] = ("attention", "convolution", "gemm")


def decode(name: str) -> Decoded | None:
    """A kernel Inductor generated, or None."""
    for pattern, decode_match in ((_TRITON, _triton), (_CPP, _cpp), (_MM, _template), (_UNNAMED, _unnamed)):
        match = pattern.fullmatch(name)
        if match and name != "triton_":
            return decode_match(name, match)
    return None


def _triton(name: str, match: re.Match[str]) -> Decoded:
    form, kind = _FORMS[match["form"]]
    ops, unknown = split_ops(match["ops"][1:])
    if kind == "reduction":
        kind = _first_of(_SPECIFIC, ops) or kind
    if match["form"] == "tem":
        kind = _first_of(_HEAVY, ops) or kind
    if match["signature"]:
        unknown = (*unknown, match["signature"])
    return Decoded(name, "inductor", kind, _fields(match, ops) | {"form": form}, unknown)


def _cpp(name: str, match: re.Match[str]) -> Decoded:
    """A C++ loop's name has no word for its form: its ops tell the kind.

    With a product among them nothing is sure: the loop may be a product's template or its input's copy.
    """
    ops, unknown = split_ops(match["ops"][1:])
    kinds = {kind_of_op(op) for op in ops} - {None}
    kind: Kind = "other"
    if not kinds & set(_HEAVY):
        specific = _first_of((*_SPECIFIC, "reduction"), ops)
        kind = specific or ("pointwise" if ops and not unknown and kinds <= {"pointwise"} else "other")
    fields = _fields(match, ops)
    if match["graph"]:
        fields["graph"] = int(match["graph"])
    return Decoded(name, "inductor", kind, fields, unknown)


def _template(name: str, match: re.Match[str]) -> Decoded:
    what = match["what"]
    kind: Kind = {"convolution2d": "convolution", "flex_attention": "attention"}.get(what, "gemm")  # type: ignore[assignment]
    return Decoded(name, "inductor", kind, _fields(match, [what]) | {"form": "template"})


def _unnamed(name: str, match: re.Match[str]) -> Decoded:
    """PyTorch 2.0 and 2.1 without unique names: `triton__0d1d2d`, the argument signature alone."""
    form, kind = _FORMS.get(match["form"] or "", ("", "other"))
    rest = (match["rest"],) if match["rest"] else ()
    return Decoded(name, "inductor", kind, {"form": form} if form else {}, rest)


def _fields(match: re.Match[str], ops: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"ops": ops}
    if match["id"] is not None:
        fields["id"] = int(match["id"])
    return fields


def _first_of(kinds: tuple[Kind, ...], ops: list[str]) -> Kind | None:
    found = {kind_of_op(op) for op in ops}
    return next((kind for kind in kinds if kind in found), None)


def _known_ops() -> frozenset[str]:
    forward = set(KINDS) | METADATA_OPS
    return frozenset(forward | {f"{op}_backward" for op in forward} | {f"{op}_" for op in KINDS})


_KNOWN = _known_ops()


def split_ops(joined: str) -> tuple[list[str], tuple[str, ...]]:
    """`"_unsafe_view_gelu_mul"` -> `["_unsafe_view", "gelu", "mul"]`, and the words that are no known op.

    Of all ways to split, the one that leaves the fewest letters over and needs the fewest ops; where an
    underscore could end one op or begin the next, it begins the next (`_softmax`), as functional ops do.
    """
    if not joined:
        return [], ()
    ops: list[str] = []
    unknown: list[str] = []
    last_unknown = False
    for part, known in _best_split(joined):
        if known:
            ops.append(part)
        elif last_unknown:
            unknown[-1] += f"_{part}"
        else:
            unknown.append(part)
        last_unknown = not known
    return ops, tuple(unknown)


_Parts = tuple[tuple[str, bool], ...]


@lru_cache(maxsize=1024)
def _best_split(joined: str) -> _Parts:
    ends = [at for at, char in enumerate(joined) if char == "_" and at] + [len(joined)]
    # best[at]: (letters left over, ops, parts) for what starts at `at`; the end costs nothing.
    best: dict[int, tuple[int, int, _Parts]] = {len(joined) + 1: (0, 0, ())}
    for start in range(len(joined) - 1, -1, -1):
        if start and joined[start - 1] != "_":
            continue
        choices = []
        for end in ends:
            part = joined[start:end]
            if end <= start or end + 1 not in best:
                continue
            left, ops, parts = best[end + 1]
            if part in _KNOWN:
                choices.append((left, ops + 1, ((part, True), *parts)))
            elif "_" not in part.strip("_"):
                choices.append((left + len(part) + 1, ops, ((part, False), *parts)))
        if choices:
            best[start] = min(choices, key=lambda choice: choice[:2])
    return best.get(0, (0, 0, ((joined, False),)))[2]
