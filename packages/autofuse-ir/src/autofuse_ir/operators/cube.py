"""Matrix multiplications, convolutions and attention."""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.CUBE
_TRANSPOSE = "transpose_x1: bool = False, transpose_x2: bool = False"
_ADJOINT = "adj_x1: bool = False, adj_x2: bool = False"
_CONV = (
    "auto_pad: str = 'NOTSET', dilations?: int[], group: int = 1, kernel_shape?: int[], pads?: int[], strides?: int[]"
)
_ASCEND_CONV = "dilations: int[] = [1, 1, 1, 1], groups: int = 1, data_format: str = 'NHWC'"
_ATTENTION_OPTIONALS = (
    "pse_shift?: all, atten_mask?: all, actual_seq_lengths?: all, actual_seq_lengths_kv?: all, "
    "dequant_scale1?: all, quant_scale1?: all, dequant_scale2?: all, quant_scale2?: all, quant_offset2?: all, "
    "antiquant_scale?: all, antiquant_offset?: all, block_table?: all, query_padding_size?: all, "
    "kv_padding_size?: all, key_antiquant_scale?: all, key_antiquant_offset?: all, "
    "value_antiquant_scale?: all, value_antiquant_offset?: all, key_shared_prefix?: all, "
    "value_shared_prefix?: all, actual_shared_prefix_len?: all, query_rope?: all, key_rope?: all, "
    "key_rope_antiquant_scale?: all, dequant_scale_query?: all, learnable_sink?: all, q_start_idx?: all, "
    "kv_start_idx?: all"
)

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.CUBE,),
        f"MatMul[T: matrix](x1: T, x2: T, bias?: T; {_TRANSPOSE}) -> y: T"
        "  # matrices of the last two axes, leading axes broadcast; an operand of rank 1 is a row or column",
        f"MatMulV2[T: matrix](x1: T, x2: T, bias?: T, offset_w?: int8; {_TRANSPOSE}, offset_x: int = 0) -> y: T",
        f"MatMulV3[T: matrix](x1: T, x2: T, bias?: T, offset_w?: int8; {_TRANSPOSE}, offset_x: int = 0,"
        " opImplMode: int = 1, enable_hf32: bool = False) -> y: T",
        f"BatchMatMul[T: matrix](x1: T, x2: T; {_ADJOINT}) -> y: T",
        f"BatchMatMulV2[T: matrix](x1: T, x2: T, bias?: T, offset_w?: int8; {_ADJOINT}, offset_x: int = 0) -> y: T",
        f"BatchMatMulV3[T: matrix](x1: T, x2: T, bias?: T, offset_w?: int8; {_ADJOINT}, offset_x: int = 0,"
        " enable_hf32: bool = False) -> y: T",
        "Einsum[T: number](x*: T; equation: str, N: int) -> y: T",
        f"Conv2D[T: float](x: T, filter: T, bias?: T, offset_w?: int8; strides: int[], pads: int[], {_ASCEND_CONV},"
        " offset_x: int = 0) -> y: T",
        "Conv2DV2[T: float](x: T, filter: T, bias?: T, offset_w?: int8; strides: int[], pads: int[] = [0, 0, 0, 0],"
        " dilations: int[] = [1, 1, 1, 1], groups: int = 1, data_format: str = 'NCHW', offset_x: int = 0,"
        " pad_mode: str = 'SPECIFIC', enable_hf32: bool = False) -> y: T",
        "Conv2DBackpropInputD[T: float](filter: T, out_backprop: T; input_size: int[], strides: int[], pads: int[],"
        f" {_ASCEND_CONV}) -> y: T",
        "Conv2DBackpropFilterD[T: float](x: T, out_backprop: T; filter_size: int[], strides: int[], pads: int[],"
        f" {_ASCEND_CONV}) -> y: float32",
        "FlashAttentionScore[T: float](query: T, key: T, value: T, real_shift?: T, drop_mask?: uint8,"
        " padding_mask?: T, atten_mask?: bool|uint8, prefix?: int64, actual_seq_qlen?: int64,"
        " actual_seq_kvlen?: int64, q_start_idx?: int64, kv_start_idx?: int64, d_scale_q?: float32,"
        " d_scale_k?: float32, d_scale_v?: float32, query_rope?: T, key_rope?: T, sink?: float32, p_scale?: float32;"
        " scale_value: float = 1.0, keep_prob: float = 1.0, pre_tockens: int = 2147483647,"
        " next_tockens: int = 2147483647, head_num: int, input_layout: str, inner_precise: int = 0,"
        " sparse_mode: int = 0, pse_type: int = 1, seed: int = 0, offset: int = 0, out_dtype: int = 0,"
        " softmax_out_layout: str = '')"
        " -> softmax_max: float32, softmax_sum: float32, softmax_out: T, attention_out: T",
        f"FusedInferAttentionScore[T: float](query: T, key*: T, value*: T, {_ATTENTION_OPTIONALS};"
        " num_heads: int, scale: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647,"
        " input_layout: str = 'BSH', num_key_value_heads: int = 0, sparse_mode: int = 0, inner_precise: int = 1,"
        " block_size: int = 0, antiquant_mode: int = 0, softmax_lse_flag: bool = False, key_antiquant_mode: int = 0,"
        " value_antiquant_mode: int = 0, query_quant_mode: int = 0, pse_type: int = 0, out_dtype: int = 0)"
        " -> attention_out: T, softmax_lse: float32",
    ),
    *declare(
        _FAMILY,
        (Flag.CUBE, Flag.EXTENSION),
        "Gemm[T: matrix](A: T, B: T, C?: T; alpha: float = 1.0, beta: float = 1.0, transA: bool = False,"
        " transB: bool = False) -> Y: T",
        f"Conv[T: float](X: T, W: T, B?: T; {_CONV}) -> Y: T",
        f"ConvTranspose[T: float](X: T, W: T, B?: T; {_CONV}, output_padding?: int[], output_shape?: int[]) -> Y: T",
        "DeformConv[T: float](X: T, W: T, offset: T, B?: T, mask?: T; dilations?: int[], group: int = 1,"
        " kernel_shape?: int[], offset_group: int = 1, pads?: int[], strides?: int[]) -> Y: T",
        f"ConvInteger[T: byte, U: byte](x: T, w: U, x_zero_point?: T, w_zero_point?: U; {_CONV}) -> y: int32",
        "QLinearConv[T: byte, U: byte, Y: byte](x: T, x_scale: float32, x_zero_point: T, w: U, w_scale: float32,"
        f" w_zero_point: U, y_scale: float32, y_zero_point: Y, B?: int32; {_CONV}) -> y: y_zero_point",
        "MatMulInteger[T: byte, U: byte](A: T, B: U, a_zero_point?: T, b_zero_point?: U) -> Y: int32",
        "QLinearMatMul[T: byte, U: byte, Y: byte, S: float](a: T, a_scale: S, a_zero_point: T, b: U, b_scale: S,"
        " b_zero_point: U, y_scale: S, y_zero_point: Y) -> y: y_zero_point",
        "Attention[T: float, V: float](Q: T, K: T, V: V, attn_mask?: all, past_key?: T, past_value?: V,"
        " nonpad_kv_seqlen?: int64; is_causal: int = 0, q_num_heads: int = 0, kv_num_heads: int = 0, scale?: float,"
        " softcap: float = 0.0, qk_matmul_output_mode: int = 0, softmax_precision?: int)"
        " -> Y: T, present_key?: T, present_value?: V, qk_matmul_output?: T",
    ),
)
