"""Rewriting an AscGraph into the operators and element types that an Ascend vector core has.

What a chip has no instruction for is composed from what it has, with the same result: 8-bit integers go through 16
bits and half, bfloat16 through float32, missing casts through the types between. What cannot be composed is refused.
"""
