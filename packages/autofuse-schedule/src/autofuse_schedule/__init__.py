"""Tiling cases, loop nests, segments and buffers of a fused kernel."""
