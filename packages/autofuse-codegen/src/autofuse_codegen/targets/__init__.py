"""Targets: emitters, templates and headers."""
