"""The copy engine of sm_90 as Gluon has it, under names that hold for Triton 3.6 as for 3.9, which renamed
two."""

from __future__ import annotations

from triton.experimental.gluon.language.nvidia.hopper import tma

load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global
store_wait = tma.store_wait
