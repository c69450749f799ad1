"""ONNX front end and ONNX Runtime host backend of AutoFuse."""
