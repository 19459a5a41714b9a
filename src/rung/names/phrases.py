"""A decoded name in words: `short` for a table's row, `explain` for whoever asks about one kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rung.names.decoded import Decoded

_FAMILIES = {
    "aiter": "aiter (AMD)",
    "apex": "Apex",
    "aten": "ATen (PyTorch's own)",
    "aten-op": "an ATen operator on the CPU",
    "ck": "Composable Kernel (AMD)",
    "ck_tile": "Composable Kernel (AMD)",
    "cub": "CUB",
    "cublas": "cuBLAS",
    "cudnn": "cuDNN",
    "cutlass": "CUTLASS",
    "efficient-attention": "memory-efficient attention",
    "fbgemm": "FBGEMM",
    "flash-attention": "FlashAttention",
    "flashinfer": "FlashInfer",
    "inductor": "made by Inductor",
    "liger": "Liger",
    "memcpy": "the device's copy engine",
    "memset": "the device",
    "miopen": "MIOpen (AMD)",
    "mtia": "MTIA",
    "nccl": "NCCL",
    "nvjet": "cuBLASLt's nvjet",
    "rocclr": "the HIP runtime",
    "rocprim": "rocPRIM",
    "rung": "Rung's own",
    "sglang": "SGLang",
    "symmetric-memory": "PyTorch's symmetric memory",
    "tensile": "Tensile (AMD)",
    "thrust": "Thrust",
    "torch-op": "an operator on the CPU",
    "triton-attention": "Triton",
    "triton-kernels": "triton_kernels",
    "trtllm": "TensorRT-LLM",
    "trtllm-gen": "trtllm-gen",
    "vllm": "vLLM",
    "xmma": "xmma (cuBLAS, cuDNN)",
}
_UNITS = {
    "tensorop": "tensor cores",
    "wgmma": "tensor cores (wgmma)",
    "simt": "ordinary cores, no tensor cores",
}
_COPIES = {"H": "host", "D": "device", "P": "peer", "A": "array"}
_BLAS_LAYOUTS = ("cublas", "cutlass", "tensile", "xmma")
_PRODUCTS = {"tn": "x @ w.T as nn.Linear stores it", "nn": "x @ w", "nt": "x.T @ w"}
_MANY = 6
"""Above this many merged ops a table's row names the first ones only."""


def short(decoded: Decoded) -> str:
    """A few words: `GEMM 256x128x64, 4 stages, TNT`; the name itself, cut to 60 letters, if unknown."""
    fields = decoded.fields
    if decoded.family == "unknown":
        return _cut(decoded.name)
    if decoded.family == "inductor":
        return _short_inductor(decoded)
    return ", ".join([_work(decoded), *_short_shape(fields)])


def _work(decoded: Decoded, with_tile: bool = True) -> str:
    """The kind and what it works on, once where they are one word; the kind `other` says nothing, so that an
    operator's name or a kernel's family stands for it."""
    subject = [word for word in _subject(decoded.fields, with_tile) if word != decoded.kind]
    if decoded.kind != "other":
        return " ".join([_kind(decoded), *subject])
    family = _FAMILIES.get(decoded.family, decoded.family)
    return " ".join(subject) or decoded.fields.get("op") or f"{family} kernel"


def _short_inductor(decoded: Decoded) -> str:
    ops = decoded.fields.get("ops", [])
    if len(ops) > _MANY:
        return f"made by Inductor: {_op_list(ops[: _MANY - 1])} + {len(ops) - _MANY + 1} more"
    if ops:
        return f"made by Inductor: {_op_list(ops)}"
    return f"{_kind(decoded)}, made by Inductor" if decoded.kind != "other" else "made by Inductor"


def _subject(fields: dict[str, Any], with_tile: bool) -> list[str]:
    """What stands right after the kind: the functor, the collective, the way of a copy, or the tile."""
    if "from" in fields and "functor" not in fields:
        return [_way(fields)] if "direction" in fields else []
    words = [str(fields[key]) for key in ("functor", "collective") if key in fields]
    if "from" in fields:
        words.append(f"{fields['from']} to {fields['to']}")
    if with_tile and "tile" in fields:
        words.append(_by(fields["tile"]))
    if fields.get("direction", "").startswith("backward"):
        words.append("backward")
    return words


def _short_shape(fields: dict[str, Any]) -> list[str]:
    parts = []
    if "stages" in fields:
        parts.append(_count(fields["stages"], "stage"))
    if fields.get("split_k"):
        parts.append("split-K")
    parts += [f"with {extra}" for extra in fields.get("epilogue", [])]
    if "layout" in fields:
        parts.append(fields["layout"])
    if "vector_width" in fields:
        parts.append(f"{fields['vector_width']} wide")
    if fields.get("gemv"):
        parts.append("matrix by vector")
    if "op" in fields and "collective" in fields:
        parts.append(fields["op"])
    return parts


def explain(decoded: Decoded) -> list[str]:
    """A few lines in plain words: what it is, its numbers and shape, and what of it is not understood."""
    if decoded.family == "unknown":
        return ["unknown: no family Rung knows has names of this form"]
    lines = [_what(decoded), *_groups(_numbers(decoded.fields), _shape(decoded), _rest(decoded))]
    if decoded.unknown:
        lines.append("not interpreted: " + _listed(decoded.unknown))
    return lines


def _what(decoded: Decoded) -> str:
    fields = decoded.fields
    parts = [_work(decoded, with_tile=False)]
    parts.append(_FAMILIES.get(decoded.family, decoded.family))
    where = []
    if "arch" in fields:
        generation = str(fields["arch"])
        where.append(f"built for {generation.capitalize() if generation.isalpha() else generation}")
    if "unit" in fields:
        wmma = " (WMMA)" if fields.get("wmma") else ""
        where.append(("on " if not where else "") + _UNITS.get(fields["unit"], fields["unit"]) + wmma)
    if where:
        parts.append(" ".join(where) if fields.get("unit") != "simt" else ", ".join(where))
    return ", ".join(parts)


def _numbers(fields: dict[str, Any]) -> list[str]:
    """dtypes and the matrix instruction."""
    said = []
    a, b = fields.get("dtype_a"), fields.get("dtype_b")
    if a and b:
        said.append(f"inputs {a}" if a == b else f"A {a}, B {b}")
    elif a:
        said.append(f"input {a}")
    elif fields.get("dtype"):
        said.append(str(fields["dtype"]))
    if "accumulate" in fields:
        said.append(f"accumulates in {fields['accumulate']}")
    if fields.get("dtype_out"):
        said.append(f"output {fields['dtype_out']}")
    parts = [", ".join(said)] if said else []
    if "instruction" in fields:
        parts.append(f"instruction {_by(fields['instruction'])}")
    return parts


def _shape(decoded: Decoded) -> list[str]:
    fields = decoded.fields
    parts = []
    if "tile" in fields:
        stages = f", {_count(fields['stages'], 'stage')}" if "stages" in fields else ""
        parts.append(f"tile {' x '.join(map(str, fields['tile']))}{stages}")
    if "cluster" in fields:
        parts.append(f"cluster {_by(fields['cluster'])}")
    if "layout" in fields:
        parts.append(_layout(decoded))
    if "align" in fields:
        parts.append(f"aligned to {_count(fields['align'], 'element')}")
    if "vector_width" in fields:
        parts.append(f"{_count(fields['vector_width'], 'element')} at once a thread")
    if fields.get("split_k"):
        parts.append("K split over blocks, the parts summed")
    parts += [f"{extra} added in the write-back" for extra in fields.get("epilogue", [])]
    return parts


_SAID_ELSEWHERE = """
    arch unit wmma dtype dtype_a dtype_b dtype_out accumulate instruction tile stages cluster layout align
    vector_width split_k epilogue functor collective from to ops"""
_SAID = frozenset(_SAID_ELSEWHERE.split())


def _rest(decoded: Decoded) -> list[str]:
    fields = decoded.fields
    parts = []
    if fields.get("ops"):
        parts.append(f"merges {_op_list(fields['ops'])}")
    said = _SAID | ({"direction"} if decoded.kind == "copy" else set())
    parts += [f"{key.replace('_', ' ')}: {_value(value)}" for key, value in fields.items() if key not in said]
    return parts


def product_of(decoded: Decoded) -> str | None:
    """The product that a GEMM's layout letters stand for: `x @ w.T as nn.Linear stores it`, or None."""
    letters = decoded.fields.get("layout", "")
    known = decoded.family == "nvjet" or (decoded.family in _BLAS_LAYOUTS and len(letters) == 2)
    return _PRODUCTS.get(letters[:2].lower()) if known else None


def _layout(decoded: Decoded) -> str:
    """What the letters say of a product in PyTorch's row-major words: BLAS's A is there the second matrix."""
    letters = decoded.fields["layout"]
    product = product_of(decoded)
    if decoded.family == "nvjet" and product:
        return f"layout {letters}: {product}"
    if product:
        a, b = ("transposed" if letter == "t" else "not" for letter in letters.lower())
        said = "neither transposed" if letters.lower() == "nn" else f"A {a}, B {b}"
        return f"{said} ({letters}): {product}"
    return f"layout {letters}"


def _kind(decoded: Decoded) -> str:
    return "GEMM" if decoded.kind == "gemm" else decoded.kind


def _way(fields: dict[str, Any]) -> str:
    source, target = fields["from"], fields["to"]
    ends = [_COPIES.get(end, end) for end in (fields["direction"][0], fields["direction"][-1])]
    memory = source.lower(), target.lower()
    return " to ".join(
        end if end == kind else f"{end} ({kind})" for end, kind in zip(ends, memory, strict=True)
    )


def _op_list(ops: Sequence[str]) -> str:
    return " + ".join("view" if op == "_unsafe_view" else op.lstrip("_") for op in ops)


def _listed(tokens: Sequence[str]) -> str:
    return ", ".join(map(_cut, tokens))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _by(value) if isinstance(value, list) else str(value)


def _groups(*groups: list[str]) -> list[str]:
    return ["    ".join(group) for group in groups if group]


def _by(numbers: Sequence[object]) -> str:
    return "x".join(map(str, numbers))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
