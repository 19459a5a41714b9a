"""ATen's operators by the kind of work they do, and those that do none."""

from __future__ import annotations

from rung.names.decoded import Kind

_TABLES: dict[Kind, str] = {
    "gemm": """
        mm addmm bmm baddbmm addbmm addmv mv dot vdot matmul linear linear_backward einsum inner outer ger
        tensordot chain_matmul linalg_matmul linalg_multi_dot linalg_vecdot bilinear _trilinear _scaled_mm
        _scaled_mm_v2 _int_mm _addmm_activation _grouped_mm _scaled_grouped_mm _scaled_grouped_mm_v2
        _foreach_mm _weight_int4pack_mm _weight_int8pack_mm _weight_int4pack_mm_for_cpu
        _dyn_quant_matmul_4bit _mixed_dtypes_linear _cslt_sparse_mm _sparse_mm _sparse_addmm
        _sparse_semi_structured_linear _sparse_semi_structured_mm _sparse_semi_structured_addmm
        mkldnn_linear mkldnn_linear_backward mkldnn_linear_backward_input mkldnn_linear_backward_weights
        _linear_pointwise _mkl_linear matmul_backward fbgemm_linear_fp16_weight fbgemm_linear_int8_weight
        qlinear_pointwise""",
    "attention": """
        scaled_dot_product_attention _scaled_dot_product_attention_math _scaled_dot_product_flash_attention
        _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention
        _scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable
        _flash_attention_forward _efficient_attention_forward _cudnn_attention_forward _flash_attention
        _efficient_attention _cudnn_attention _native_multi_head_attention _triton_scaled_dot_attention
        _triton_multi_head_attention flex_attention""",
    "convolution": """
        convolution _convolution convolution_overrideable conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d conv_tbc cudnn_convolution cudnn_convolution_relu
        cudnn_convolution_add_relu cudnn_convolution_transpose miopen_convolution miopen_convolution_relu
        miopen_convolution_add_relu miopen_convolution_transpose miopen_depthwise_convolution
        mkldnn_convolution _convolution_pointwise _conv_depthwise2d conv_depthwise3d thnn_conv2d
        _slow_conv2d_forward slow_conv3d slow_conv3d_forward slow_conv_dilated2d slow_conv_dilated3d
        slow_conv_transpose2d slow_conv_transpose3d _nnpack_spatial_convolution
        cudnn_convolution_backward_weight cudnn_convolution_backward_input _mps_convolution""",
    "normalization": """
        layer_norm native_layer_norm rms_norm _fused_rms_norm group_norm native_group_norm instance_norm
        batch_norm native_batch_norm cudnn_batch_norm miopen_batch_norm _batch_norm_impl_index
        _native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training
        _batch_norm_with_update _batch_norm_with_update_functional _batch_norm_no_update batch_norm_stats
        batch_norm_elemt batch_norm_update_stats batch_norm_gather_stats batch_norm_gather_stats_with_counts
        batch_norm_backward_reduce batch_norm_backward_elemt _weight_norm_interface""",
    "softmax": """
        softmax _softmax log_softmax _log_softmax _safe_softmax _masked_softmax _softmax_backward_data
        _log_softmax_backward_data _masked_softmax_backward _sparse_softmax""",
    "reduction": """
        sum mean prod amax amin aminmax _aminmax argmax argmin max min any all norm linalg_vector_norm
        linalg_norm linalg_matrix_norm frobenius_norm nansum nanmean std var var_mean std_mean logsumexp
        count_nonzero trace _is_all_true _is_any_true xor_sum nll_loss nll_loss_forward nll_loss2d_forward
        cross_entropy_loss _foreach_norm _foreach_max median _euclidean_dist allclose equal""",
    "pointwise": """
        abs acos acosh add addcdiv addcmul addr angle arange asin asinh atan atan2 atanh bernoulli
        binary_cross_entropy_with_logits binary_cross_entropy bitwise_and bitwise_left_shift bitwise_not
        bitwise_or bitwise_right_shift bitwise_xor cat ceil celu clamp clamp_max clamp_min clip clone
        complex conj_physical _conj_physical constant_pad_nd convert_element_type copy copy_to copysign cos
        cosh deg2rad digamma div dequantize elu eq erf erfc erfinv exp exp2 expm1 exponential eye fill flip
        float_power floor floor_divide fmax fmin fmod frac full full_like  _fused_dropout ge
        gelu glu gt hardshrink hardsigmoid hardswish hardtanh heaviside huber_loss hypot iota isfinite isinf
        isnan isneginf isposinf kl_div l1_loss ldexp le leaky_relu lerp lgamma lift_fresh_copy linspace log
        log10 log1p log2 log_normal log_sigmoid log_sigmoid_forward logaddexp logaddexp2 logical_and
        logical_not logical_or logical_xor logit lt masked_fill maximum minimum mish mse_loss mul mvlgamma
        nan_to_num native_dropout ne neg new_full new_ones new_zeros nextafter normal normal_functional ones
        ones_like polar polygamma pow prelu _prelu_kernel quantize_per_tensor quantize_per_channel rad2deg
        rand rand_like randint randint_like randn randn_like random reciprocal reflection_pad1d
        reflection_pad2d relu relu6 remainder repeat replication_pad1d replication_pad2d roll round
        rrelu_with_noise rsqrt rsub scalar_tensor selu sgn sigmoid sign signbit silu sin sinc sinh
        smooth_l1_loss softplus softshrink sqrt square stack _stack sub tan tanh threshold tile _to_copy
        tril triu trunc true_divide uniform where xlogy zero zeros zeros_like slice_scatter select_scatter
        as_strided_scatter diagonal_scatter inductor_random inductor_seeds inductor_lookup_seed
        inductor_randint _foreach_add _foreach_mul _foreach_div _foreach_sub _foreach_addcmul
        _foreach_addcdiv _foreach_sqrt _foreach_lerp _foreach_neg _foreach_pow _foreach_copy _foreach_zero
        _foreach_abs _foreach_exp _foreach_maximum _foreach_minimum _foreach_reciprocal _foreach_sign
        _foreach_clamp_min _foreach_clamp_max _fused_adam _fused_adamw _fused_sgd _fused_adagrad
        _amp_foreach_non_finite_check_and_unscale pixel_shuffle pixel_unshuffle channel_shuffle permute_copy
        view_copy expand_copy slice_copy select_copy transpose_copy t_copy _reshape_copy __and__ __or__
        __xor__ __lshift__ __rshift__ sum_to_size native_channel_shuffle bitcast""",
    "other": """
        embedding embedding_bag _embedding_bag _embedding_bag_forward_only embedding_dense_backward
        embedding_renorm index _index_put_impl _unsafe_index _unsafe_index_put index_add index_copy
        index_fill index_put index_reduce index_select gather scatter scatter_add scatter_reduce take
        take_along_dim masked_select masked_scatter nonzero nonzero_static sort argsort topk
        kthvalue mode cumsum cumprod cummax cummin logcumsumexp _logcumsumexp searchsorted bucketize
        _unique _unique2 unique_dim unique_consecutive bincount histc multinomial randperm repeat_interleave
        one_hot diff _fft_c2c _fft_c2r _fft_r2c cdist _cdist_forward item _local_scalar_dense is_nonzero
        max_pool1d max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices avg_pool1d
        avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool1d
        adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d upsample_nearest1d upsample_nearest2d
        upsample_nearest3d upsample_bilinear2d upsample_linear1d upsample_bicubic2d upsample_trilinear3d
        grid_sampler grid_sampler_2d grid_sampler_3d im2col col2im unfold_backward lstm gru _cudnn_rnn
        _thnn_fused_lstm_cell _thnn_fused_gru_cell moe_forward value_selecting_reduction_backward
        nll_loss2d_backward nll_loss_backward triu_indices tril_indices linalg_cholesky_ex linalg_inv_ex
        linalg_svd _linalg_svd linalg_qr linalg_solve_triangular""",
}
KINDS: dict[str, Kind] = {op: kind for kind, table in _TABLES.items() for op in table.split()}
"""ATen's, and a few of Inductor's and oneDNN's, operators by kind; no in-place and few `_backward` forms."""

_METADATA = """
    t transpose transpose_ t_ numpy_T mT mH T H adjoint matrix_H permute movedim moveaxis swapaxes
    swapdims view view_as view_as_real view_as_complex reshape reshape_as _reshape_alias _unsafe_view
    flatten unflatten ravel as_strided as_strided_ expand expand_as broadcast_to broadcast_tensors slice
    select narrow chunk split split_with_sizes unsafe_chunk unsafe_split unsafe_split_with_sizes
    tensor_split hsplit vsplit dsplit unbind diagonal unfold squeeze squeeze_ unsqueeze unsqueeze_
    atleast_1d atleast_2d atleast_3d real imag alias detach detach_ lift lift_fresh resolve_conj
    resolve_neg _conj conj _neg_view contiguous to type_as set_ resize_ resize_as_ _resize_output_
    set_data requires_grad_ result_type promote_types can_cast empty empty_like empty_strided
    empty_permuted empty_quantized new_empty new_empty_strided _fused_sdp_choice
    _has_compatible_shallow_copy_type _nested_tensor_size record_stream dropout feature_dropout
    alpha_dropout is_same_size is_pinned sym_size sym_stride sym_numel size stride numel dim data _version
    output_nr is_leaf _make_dual _unpack_dual positive _assert_async _assert_scalar
    _assert_tensor_metadata retain_grad"""
METADATA_OPS = frozenset(_METADATA.split())
"""Operators that rewrite shape and stride, allocate or ask; what they copy, if anything, their children copy.

`to`, `contiguous`, `reshape` and `dropout` are here because they do nothing themselves: where they copy or
drop, that is a child op (`_to_copy`, `clone`, `native_dropout`).
"""


def kind_of_op(op: str) -> Kind | None:
    """The kind of an operator by its bare name, in-place and backward forms included; None if not known."""
    for candidate in (op, out_of_place(op), out_of_place(op).removesuffix("_backward")):
        if candidate in KINDS:
            return KINDS[candidate]
    return None


def out_of_place(op: str) -> str:
    """`add_` -> `add`; `__and__` stays."""
    return op if op.endswith("__") else op.removesuffix("_")
