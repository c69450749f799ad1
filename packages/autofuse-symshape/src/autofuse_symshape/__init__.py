"""Symbolic shape inference: shapes, values and guards over declared ranges."""
