"""The lines of what an artefact carries: its constants, and the host's own descriptions of operators (payloads).

In full, one line each::

  constant %w: f32[512, 128] sha256 d5ba6fba2d70c1e0...
  payload @"/conv1" "onnx.FunctionProto": u8[277] sha256 e33f21d6d351f427...

In brief, what a reader can use::

  constant %w: f32[512, 128] of 262,144 bytes
  payloads: 52 "onnx.FunctionProto" of 18,204 bytes
"""

from collections.abc import Iterator, Sequence

from autofuse_ir.graph import Constant, Payload
from autofuse_ir.text.values import content, quoted, tensor_type, value_name, word

BRIEF_ELEMENTS = 8
"""The most elements of a constant that are spelled out in brief."""


def content_lines(constants: Sequence[Constant], payloads: Sequence[Payload], brief: bool) -> Iterator[str]:
    """Yield the lines of ``constants``, then of ``payloads``."""
    for constant in constants:
        data = constant.data
        if brief and data.element_count > BRIEF_ELEMENTS:
            text = f"{tensor_type(data.dtype, data.shape)} of {len(data.raw):,} bytes"
        else:
            text = content(data)
        yield f"  constant {value_name(constant.name)}: {text}"
    if not brief:
        for payload in payloads:
            yield f"  payload @{word(payload.name)} {quoted(payload.format)}: {content(payload.data)}"
        return
    for form in dict.fromkeys(payload.format for payload in payloads):
        sizes = [len(payload.data.raw) for payload in payloads if payload.format == form]
        yield f"  payloads: {len(sizes)} {quoted(form)} of {sum(sizes):,} bytes"
