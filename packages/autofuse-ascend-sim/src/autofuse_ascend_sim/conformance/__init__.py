"""One small kernel for every covered API, form and element type, with what NumPy says it computes.

The kernels are plain Ascend C: they check the emulator, and they would check a chip.
"""
