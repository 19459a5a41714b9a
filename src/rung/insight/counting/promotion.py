"""The dtype that arithmetic on tensors of several dtypes results in."""

from __future__ import annotations

from rung.insight.tensors import DTYPE_BYTES, Tensor

_FLOATS = ("double", "float", "c10::Half", "c10::BFloat16")
_INTEGERS = ("long", "long int", "int", "short", "signed char", "unsigned char")


def promoted(tensors: list[Tensor]) -> str:
    """The dtype of their sum; empty where the recording does not tell.

    Tensors without dimensions give way to those with some; any float outdoes any integer; of two floats the
    wider one wins, and of Half and BFloat16 neither
    (https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc).
    """
    dtypes = {t.dtype for t in tensors if t.shape} or {t.dtype for t in tensors}
    if len(dtypes) == 1:
        return dtypes.pop()
    if not dtypes or not dtypes <= {*_FLOATS, *_INTEGERS, "bool"}:
        return ""
    floats = dtypes & set(_FLOATS)
    if floats == {"c10::Half", "c10::BFloat16"}:
        return "float"
    if floats:
        return min(floats, key=_FLOATS.index)
    integers = dtypes & set(_INTEGERS)
    if "unsigned char" in integers and len(integers) > 1:
        integers.discard("unsigned char")
        return "short" if integers == {"signed char"} else max(integers, key=DTYPE_BYTES.__getitem__)
    return max(integers, key=DTYPE_BYTES.__getitem__)


def is_integer(dtype: str) -> bool:
    return dtype in _INTEGERS or dtype == "bool"
