"""Lowering: what each operator of Ascend IR is in AscIR."""
