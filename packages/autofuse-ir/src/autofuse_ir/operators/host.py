"""Operators that only a host backend runs: recurrent layers, pooling, resizing, control flow, strings, sequences.

They are signatures for shape and dtype rules; sub-graphs of control flow travel in the node's payload.
"""

from autofuse_ir.operators.declare import declare
from autofuse_ir.operators.model import Family, Flag, Operator

_FAMILY = Family.HOST
_RECURRENT = (
    "activation_alpha: float[] = [], activation_beta: float[] = [], activations: str[] = [], clip?: float,"
    " direction: str = 'forward', hidden_size?: int, layout: int = 0"
)
_POOL = "auto_pad: str = 'NOTSET', ceil_mode: bool = False, dilations?: int[], kernel_shape: int[], pads?: int[]"
_RESIZE = (
    "antialias: int = 0, axes?: int[], coordinate_transformation_mode: str = 'half_pixel',"
    " cubic_coeff_a: float = -0.75, exclude_outside: int = 0, extrapolation_value: float = 0.0,"
    " keep_aspect_ratio_policy: str = 'stretch', mode: str = 'nearest', nearest_mode: str = 'round_prefer_floor'"
)
_WINDOW = "size: index; output_datatype: int = 1, periodic: int = 1"

OPERATORS: tuple[Operator, ...] = (
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.EXTENSION),
        f"RNN[T: float](X: T, W: T, R: T, B?: T, sequence_lens?: int32, initial_h?: T; {_RECURRENT}) -> Y?: T, Y_h?: T",
        "GRU[T: float](X: T, W: T, R: T, B?: T, sequence_lens?: int32, initial_h?: T;"
        f" {_RECURRENT}, linear_before_reset: int = 0) -> Y?: T, Y_h?: T",
        "LSTM[T: float](X: T, W: T, R: T, B?: T, sequence_lens?: int32, initial_h?: T, initial_c?: T, P?: T;"
        f" {_RECURRENT}, input_forget: int = 0) -> Y?: T, Y_h?: T, Y_c?: T",
        f"MaxPool[T: number](X: T; {_POOL}, storage_order: int = 0, strides?: int[]) -> Y: T, Indices?: int64",
        f"AveragePool[T: float](X: T; {_POOL}, count_include_pad: bool = False, strides?: int[]) -> Y: T",
        f"LpPool[T: float](X: T; {_POOL}, p: int = 2, strides?: int[]) -> Y: T",
        "GlobalAveragePool[T: float](X: T) -> Y: T",
        "GlobalMaxPool[T: float](X: T) -> Y: T",
        "GlobalLpPool[T: float](X: T; p: int = 2) -> Y: T",
        "MaxUnpool[T: float](X: T, I: int64, output_shape?: int64; kernel_shape: int[], pads?: int[],"
        " strides?: int[]) -> output: T",
        "MaxRoiPool[T: float](X: T, rois: T; pooled_shape: int[], spatial_scale: float = 1.0) -> Y: T",
        "RoiAlign[T: float](X: T, rois: T, batch_indices: int64; coordinate_transformation_mode: str = 'half_pixel',"
        " mode: str = 'avg', output_height: int = 1, output_width: int = 1, sampling_ratio: int = 0,"
        " spatial_scale: float = 1.0) -> Y: T",
        f"Resize[T: all, R: float](X: T, roi?: R, scales?: float32, sizes?: int64; {_RESIZE}) -> Y: T",
        "Upsample[T: all](X: T, scales: float32; mode: str = 'nearest') -> Y: T",
        "GridSample[T: all, G: float](X: T, grid: G; align_corners: int = 0, mode: str = 'linear',"
        " padding_mode: str = 'zeros') -> Y: T",
        "AffineGrid[T: float](theta: T, size: int64; align_corners: int = 0) -> grid: T",
        "Col2Im[T: all](input: T, image_shape: int64, block_shape: int64; dilations?: int[], pads?: int[],"
        " strides?: int[]) -> output: T",
        "Det[T: float](X: T) -> Y: T",
        "DFT[T: float](input: T, dft_length?: index, axis?: int64; inverse: int = 0, onesided: int = 0) -> output: T",
        "STFT[T: float](signal: T, frame_step: index, window?: T, frame_length?: index; onesided: int = 1)"
        " -> output: T",
        f"BlackmanWindow({_WINDOW}) -> output: onnx(output_datatype)",
        f"HammingWindow({_WINDOW}) -> output: onnx(output_datatype)",
        f"HannWindow({_WINDOW}) -> output: onnx(output_datatype)",
        "MelWeightMatrix(num_mel_bins: index, dft_length: index, sample_rate: index, lower_edge_hertz: float,"
        " upper_edge_hertz: float; output_datatype: int = 1) -> output: onnx(output_datatype)",
        "Dropout[T: float](data: T, ratio?: float, training_mode?: bool; seed: int = 0) -> output: T, mask?: bool",
        "BatchNormalization[T: float, S: float, U: float](X: T, scale: S, B: S, input_mean: U, input_var: U;"
        " epsilon: float = 1e-5, momentum: float = 0.9, training_mode: int = 0)"
        " -> Y: T, running_mean?: U, running_var?: U",
        "CenterCropPad[T: all](input_data: T, shape: index; axes?: int[]) -> output_data: T",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.EXTENSION, Flag.DATA_DEPENDENT, Flag.DISCONTINUOUS),
        "NonMaxSuppression(boxes: float32, scores: float32, max_output_boxes_per_class?: int64,"
        " iou_threshold?: float32, score_threshold?: float32; center_point_box: int = 0) -> selected_indices: int64",
        "TfIdfVectorizer(X: any; max_gram_length: int, max_skip_count: int, min_gram_length: int, mode: str,"
        " ngram_counts: int[], ngram_indexes: int[], pool_int64s?: int[], pool_strings?: str[], weights?: float[])"
        " -> Y: float32",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.EXTENSION, Flag.DATA_DEPENDENT),
        "If(cond: bool, captured*: any) -> outputs*: declared  # branches in the payload",
        "Loop(M?: int64, cond?: bool, v_initial*: any) -> v_final_and_scan_outputs*: declared  # body in the payload",
        "Scan(initial_state_and_scan_inputs*: any; num_scan_inputs: int, scan_input_axes?: int[],"
        " scan_input_directions?: int[], scan_output_axes?: int[], scan_output_directions?: int[])"
        " -> final_state_and_scan_outputs*: declared  # body in the payload",
        "SequenceMap(input_sequence: any, additional_inputs*: any) -> out_sequence*: opaque  # body in the payload",
        "SequenceConstruct(inputs*: any) -> output_sequence: opaque",
        "SequenceEmpty(; dtype: int = 1) -> output: opaque",
        "SequenceAt(input_sequence: any, position: index) -> tensor: declared",
        "SequenceInsert(input_sequence: any, tensor: any, position?: index) -> output_sequence: opaque",
        "SequenceErase(input_sequence: any, position?: index) -> output_sequence: opaque",
        "SequenceLength(input_sequence: any) -> length: int64",
        "SplitToSequence(input: any, split?: index; axis: int = 0, keepdims: int = 1) -> output_sequence: opaque",
        "ConcatFromSequence(input_sequence: any; axis: int, new_axis: int = 0) -> concat_result: declared",
        "Optional(input?: any) -> output: opaque",
        "OptionalGetElement(input: any) -> output: declared",
        "OptionalHasElement(input?: any) -> output: bool",
        "StringConcat(X: any, Y: any) -> Z: opaque",
        "StringSplit(X: any; delimiter?: str, maxsplit?: int) -> Y: opaque, Z: int64",
        "StringNormalizer(X: any; case_change_action: str = 'NONE', is_case_sensitive: int = 0, locale?: str,"
        " stopwords?: str[]) -> Y: opaque",
        "RegexFullMatch(X: any; pattern?: str) -> Y: bool",
        "ImageDecoder(encoded_stream: uint8; pixel_format: str = 'RGB') -> image: uint8",
        "HostCall(inputs*: any) -> outputs*: declared  # anything else: the payload says what",
    ),
    *declare(
        _FAMILY,
        (Flag.HOST, Flag.IN_PLACE, Flag.DATA_DEPENDENT),
        "EmbeddingHashTableLookupOrInsert(table_handle: int64, keys: int64; bucket_size: int, embedding_dim: int,"
        " filter_mode: str = 'no_filter', filter_freq: int = 0, default_key_or_value: bool = False,"
        " default_key: int = 0, default_value: float = 0.0, filter_key_flag: bool = False, filter_key: int = -1)"
        " -> values: float32",
    ),
)
