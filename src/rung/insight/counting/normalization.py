"""Normalisations: the input read once, the result written once, weights and biases beside.

Forward, a kernel that normalises rows holds them; one that must see the whole batch first is two kernels, and
each is counted by its own name. Statistics of some bytes a row are left out.
"""

from __future__ import annotations

from functools import partial

from rung.insight.counting.demand import Count, passes

_READS = partial(passes, reads=(0,), writes=())
_THROUGH = partial(passes, reads=(0,), writes=(0,))

COUNTS: dict[str, Count] = {
    "aten::native_layer_norm": partial(passes, reads=(0,), writes=(0,), weights=(2, 3)),
    "aten::_fused_rms_norm": partial(passes, reads=(0,), writes=(0,), weights=(2,)),
    "aten::cudnn_batch_norm": partial(passes, reads=(0,), writes=(0,), weights=(1, 2)),
    "aten::miopen_batch_norm": partial(passes, reads=(0,), writes=(0,), weights=(1, 2)),
    "aten::cudnn_batch_norm_backward": partial(passes, reads=(0, 1), writes=(0,), weights=(2,)),
    "aten::miopen_batch_norm_backward": partial(passes, reads=(0, 1), writes=(0,), weights=(2,)),
}

BY_KERNEL: tuple[tuple[str, str, Count], ...] = (
    (
        r"aten::native_layer_norm_backward",
        r"grad_input",
        partial(passes, reads=(0, 1), writes=(1,), weights=(5,)),
    ),
    (r"aten::native_layer_norm_backward", r"GammaBeta", partial(passes, reads=(0, 1), writes=())),
    (
        r"aten::_fused_rms_norm_backward",
        r"grad_input",
        partial(passes, reads=(0, 1), writes=(1,), weights=(4,)),
    ),
    (r"aten::_fused_rms_norm_backward", r"GammaBeta", partial(passes, reads=(0, 1), writes=())),
    (r"aten::native_group_norm", r"RowwiseMoments", _READS),
    (r"aten::native_group_norm", r"elementwise_kernel", _THROUGH),
    (r"aten::native_batch_norm", r"batch_norm_collect_statistics", _READS),
    (r"aten::native_batch_norm", r"batch_norm_transform_input|elementwise_kernel", _THROUGH),
    (
        r"aten::native_batch_norm_backward",
        r"batch_norm_backward_reduce",
        partial(passes, reads=(0, 1), writes=()),
    ),
    (
        r"aten::native_batch_norm_backward",
        r"batch_norm_backward_(elemt|kernel)",
        partial(passes, reads=(0, 1), writes=(1,)),
    ),
)
"""Op, a part of the kernel's name, and what that kernel moves, where an op runs several."""
