"""Builds, caches, loads and runs AutoFuse programs."""
