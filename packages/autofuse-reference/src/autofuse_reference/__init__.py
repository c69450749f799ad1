"""The meaning of every AutoFuse IR level, on NumPy."""
