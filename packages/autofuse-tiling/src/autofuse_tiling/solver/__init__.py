"""The run-time tiling solver: problems, bytecode, the C++ header and its Python twin (see ALGORITHM.md)."""
