"""Widths of the vector unit, which are the same on all chips that kernels are written for."""

BLOCK_BYTES = 32
"""Bytes of a block: operands begin at one, and copies fill whole ones."""
VECTOR_BYTES = 256
"""Bytes that an instruction takes at a time."""
