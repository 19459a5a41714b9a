"""The element-wise function inside an ATen kernel's template arguments, and its dtypes."""

from __future__ import annotations

import re
from typing import Any

from rung.names import cpp
from rung.names.dtypes import dtype_of, the_one_dtype

_WRAPPERS = ("gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel", "func_wrapper_t")
_BOUND = ("AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor")
_NAMES = {
    "copy_device_to_device": "copy",
    "direct_copy_kernel_cuda": "copy",
    "Copy": "copy",
    "CUDAFunctorOnSelf_add": "add",
    "CUDAFunctorOnOther_add": "add",
    "plus": "add",
    "minus": "sub",
    "multiplies": "mul",
    "divides": "div",
    "launch_clamp_scalar": "clamp",
    "FusedAdamMathFunctor": "fused_adam",
    "FusedSgdMathFunctor": "fused_sgd",
    "FusedAdagradMathFunctor": "fused_adagrad",
    "and_kernel_cuda": "and",
    "or_kernel_cuda": "or",
    "NormTwoOps": "norm2",
    "NormOneOps": "norm1",
    "ArgMaxOps": "argmax",
    "ArgMinOps": "argmin",
}
_CASTS = {
    "bfloat16_copy_kernel_cuda": ("fp32", "bf16"),
    "float16_copy_kernel_cuda": ("fp32", "fp16"),
    "bfloat16tofloat32_copy_kernel_cuda": ("bf16", "fp32"),
    "float16tofloat32_copy_kernel_cuda": ("fp16", "fp32"),
}
_ENDINGS = (
    "_cuda_kernel",
    "_kernel_cuda",
    "_scalar_kernel_impl",
    "_kernel_impl",
    "CUDAKernelImpl",
    "_cuda_out",
    "_kernel",
    "_cuda",
    "_functor",
    "ScalarFunctor",
    "Functor",
    "Ops",
)
_LAMBDA = re.compile(r"\{lambda\(([^()]+)\)#\d+\}$")


def read(argument: str) -> dict[str, Any]:
    """`functor`, and the dtypes where the type says them; {} for a type that is no functor."""
    found = unwrap(argument)
    name = cpp.parse(found).base
    functor = functor_name(found)
    if functor is None:
        return {}
    if name in _CASTS:
        source, target = _CASTS[name]
        return {"functor": "copy", "dtype_a": source, "dtype_out": target}
    dtype = _dtype(argument)
    if dtype is None:
        return {"functor": functor}
    # A copy may load another dtype than it stores; its lambda is written in the one it stores.
    return {"functor": functor, ("dtype_out" if functor == "copy" else "dtype"): dtype}


def unwrap(argument: str) -> str:
    """The innermost functor: `BinaryFunctor<float, ..., MulFunctor<float> >` -> `MulFunctor<float>`."""
    parsed = cpp.parse(argument)
    if parsed.base in (*_WRAPPERS, *_BOUND) and parsed.args:
        return unwrap(parsed.args[-1])
    return argument


def functor_name(argument: str) -> str | None:
    """`at::native::GeluCUDAKernelImpl(...)::{lambda...}` -> `gelu`."""
    base = cpp.parse(argument).base
    if base in _NAMES:
        return _NAMES[base]
    if base in _CASTS:
        return "copy"
    name = base.removeprefix("CUDAFunctor_")
    for ending in _ENDINGS:
        if name.endswith(ending) and name != ending:
            name = name.removesuffix(ending)
            break
    else:
        # A lambda inside a function is launched by it: the function's name is all there is.
        if name == base and "::{lambda(" not in argument:
            return None
    name = _snake(name.removeprefix("Compare") if base.startswith("Compare") and len(name) == 9 else name)
    return {"pow_tensor": "pow", "pow_tensor_scalar": "pow", "compare_scalar": "compare"}.get(name, name)


def _snake(name: str) -> str:
    """`GeluBackward` -> `gelu_backward`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


def _dtype(argument: str) -> str | None:
    """The dtype of the elements: the bound functor's arguments, else the lambda's, else the template's."""
    parsed = cpp.parse(argument)
    if parsed.base in _BOUND and len(parsed.args) > 1:
        return the_one_dtype(list(parsed.args[:-1]))
    if parsed.base in (*_WRAPPERS, *_BOUND) and parsed.args:
        return _dtype(parsed.args[-1])
    match = _LAMBDA.search(argument)
    if match:
        return the_one_dtype(cpp.split(match[1], ","))
    types = [arg for arg in parsed.args if dtype_of(arg)]
    return the_one_dtype(types) if types else None
