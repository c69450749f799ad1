"""Tiling models and the run-time tiling solver."""
