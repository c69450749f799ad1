"""Lowering to AscIR and the choice of which operators share a kernel."""
