"""Which Ascend IR operators stand for which ONNX operator: one file per family."""
