"""Ascend C: kernels, tiling functions and tiling data for the vector cores of Atlas A2, A3 and 350."""
