"""Launchers of devices other than the CPU."""
