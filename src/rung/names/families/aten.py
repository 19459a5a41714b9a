"""ATen's own CUDA kernels: `vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(...)...>`.

Template arguments are read by their place in PyTorch's sources (`aten/src/ATen/native/cuda`: `Loops.cuh`,
`CUDALoops.cuh`, `Reduce.cuh`, `PersistentSoftmax.cuh`, `layer_norm_kernel.cu`, ...).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from rung.names import cpp
from rung.names.decoded import Decoded, Kind
from rung.names.dtypes import dtype_of, the_one_dtype
from rung.names.families import aten_named, functors

_ARRAY = re.compile(r"(?:at::detail|std)::[Aa]rray<char\*, (\d+)(?:ul)?>")


def decode(name: str) -> Decoded | None:
    """A kernel of ATen, or None."""
    parsed = cpp.parse(name)
    if parsed.tail and parsed.scope[:1] == ("at",):
        return _mangled(name, parsed)
    reader = _READERS.get(parsed.base)
    if reader is not None and parsed.args:
        return reader(name, parsed)
    return aten_named.decode(name, parsed)


def _vectorized(name: str, parsed: cpp.CppName) -> Decoded:
    """`<vector width, functor, array of pointers, ...>`"""
    width, *rest = parsed.args
    fields: dict[str, Any] = {"vector_width": int(width)} if width.isdigit() else {}
    return _elementwise(name, fields, rest if fields else list(parsed.args))


def _unrolled(name: str, parsed: cpp.CppName) -> Decoded:
    """`<functor, array of pointers, ...>`: for data not aligned, not contiguous, or cast on the way."""
    cast = any("LoadWithCast" in arg for arg in parsed.args)
    return _elementwise(name, {"casts": True} if cast else {}, list(parsed.args))


def _strided(name: str, parsed: cpp.CppName) -> Decoded:
    """`<threads of a block, elements a thread, gpu_kernel_impl<functor>...>`: for any strides."""
    fields = _leading_numbers(parsed.args, ("threads", "elements_per_thread"))
    return _elementwise(name, fields, list(parsed.args[len(fields) :]))


def _many_outputs(name: str, parsed: cpp.CppName) -> Decoded:
    """`<outputs, functor, array of pointers, ...>`"""
    fields = _leading_numbers(parsed.args, ("outputs",))
    return _elementwise(name, fields, list(parsed.args[len(fields) :]))


def _elementwise(name: str, fields: dict[str, Any], args: list[str]) -> Decoded:
    unknown = []
    for arg in args:
        array = _ARRAY.fullmatch(arg)
        if array:
            fields["tensors"] = int(array[1])
        elif "functor" not in fields and (found := functors.read(arg)):
            fields |= found
        else:
            unknown.append(arg)
    return Decoded(name, "aten", "pointwise", fields, tuple(unknown))


def _reduce(name: str, parsed: cpp.CppName) -> Decoded:
    """`<threads, outputs at once, ReduceOp<input dtype, functor, index type, output dtype, ...> >`"""
    fields = _leading_numbers(parsed.args, ("threads", "outputs_per_thread"))
    unknown: list[str] = []
    for arg in parsed.args[len(fields) :]:
        operation = cpp.parse(arg)
        if operation.base != "ReduceOp" or len(operation.args) < 2:
            unknown.append(arg)
            continue
        source, functor, *rest = operation.args
        target = next((dtype_of(word) for word in rest[1:2]), None)
        fields |= {key: value for key, value in functors.read(functor).items() if key == "functor"}
        dtypes = {"dtype_a": dtype_of(source), "dtype_out": target}
        fields |= {key: dtype for key, dtype in dtypes.items() if dtype}
        if dtypes["dtype_a"] and dtypes["dtype_a"] == target:
            fields["dtype"] = target
        unknown += rest[:1] + rest[2:]
    return Decoded(name, "aten", "reduction", fields, tuple(unknown))


def _multi_tensor(name: str, parsed: cpp.CppName) -> Decoded:
    """`<list metadata<tensors>, functor<dtype, ...>, operation, ...>`: one launch for many tensors."""
    fields: dict[str, Any] = {"multi_tensor": True}
    found = [(arg, functors.functor_name(arg)) for arg in parsed.args]
    named = [(arg, functor) for arg, functor in found if functor]
    generic = re.compile(r"(unary_op|binary_op|pointwise_op|lerp)\w*")
    special = [(arg, functor) for arg, functor in named if not generic.fullmatch(functor)]
    chosen = (special or named)[:1]
    reduces = False
    if chosen:
        fields["functor"] = chosen[0][1]
        reduces = "norm" in chosen[0][1] or chosen[0][1].endswith("max")
    if named:
        types = [arg for arg in cpp.parse(named[0][0]).args if dtype_of(arg)]
        dtype = the_one_dtype(types)
        if dtype:
            fields["dtype"] = dtype
    unknown = tuple(arg for arg in parsed.args if arg not in {used for used, _ in (*chosen, *named[:1])})
    family = "aten" if parsed.scope[:1] == ("at",) else "apex"
    return Decoded(name, family, "reduction" if reduces else "pointwise", fields, unknown)


def _leading_numbers(args: tuple[str, ...], keys: tuple[str, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, arg in zip(keys, args, strict=False):
        if not arg.isdigit():
            break
        fields[key] = int(arg)
    return fields


def _mangled(name: str, parsed: cpp.CppName) -> Decoded | None:
    """A mangled name gives its function, and of its arguments a functor written in plain letters."""
    if parsed.base not in _READERS:
        return aten_named.decode(name, parsed)
    found = [functors.functor_name(word) for word in cpp.identifiers(parsed.tail)]
    functor = next((functor for functor in found if functor), None)
    kind: Kind = "reduction" if parsed.base == "reduce_kernel" else "pointwise"
    return Decoded(name, "aten", kind, {"functor": functor} if functor else {}, (parsed.tail,))


_READERS: dict[str, Callable[[str, cpp.CppName], Decoded]] = {
    "vectorized_elementwise_kernel": _vectorized,
    "vectorized_templated_elementwise_kernel": _vectorized,
    "unrolled_elementwise_kernel": _unrolled,
    "unrolled_elementwise_kernel_for_multi_outputs": _many_outputs,
    "elementwise_kernel": _strided,
    "elementwise_kernel_manual_unroll": _strided,
    "elementwise_kernel_with_index": _unrolled,
    "legacy_elementwise_kernel": _strided,
    "reduce_kernel": _reduce,
    "multi_tensor_apply_kernel": _multi_tensor,
}
