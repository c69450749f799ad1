"""The error of autofuse-onnx."""

from autofuse_ir.errors import AutofuseError


class OnnxError(AutofuseError):
    """A model that cannot be read, an argument that does not fit it, or a host region that does not run."""


class OnnxRuntimeMissingError(OnnxError):
    """A host region needs ONNX Runtime, which is not installed."""

    exit_code = 3
