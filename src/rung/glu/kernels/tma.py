"""The copy engine of sm_90 as Gluon has it: Triton 3.6 knows two of these by longer names alone, 3.9 no
longer by those."""

from __future__ import annotations

from triton.experimental.gluon.language.nvidia.hopper import tma

load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
store_wait = tma.store_wait
