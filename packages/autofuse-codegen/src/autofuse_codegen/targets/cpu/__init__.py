"""The CPU target: C++ kernels with explicit vector types and no system header."""
