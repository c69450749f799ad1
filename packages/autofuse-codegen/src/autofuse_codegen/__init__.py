"""Kernel, tiling and program sources from schedules."""
