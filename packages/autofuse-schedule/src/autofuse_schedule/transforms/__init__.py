"""Rewrites of an AscGraph before its loops are split: each takes an AscGraph and gives one with the same meaning."""
