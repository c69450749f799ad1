"""The run-time tiling solver: problems, bytecode, the C++ header and its Python twin. ALGORITHM.md says how it works.

>>> from autofuse_tiling.solver import bytecode as bc
>>> from autofuse_tiling.solver.problem import Constraint, Group, Pipe, Problem, Variable
>>> from autofuse_tiling.solver.twin import solve
>>> n, cores, tile, loops = (bc.load(at) for at in range(4))
>>> blocks = bc.ceildiv(bc.ceildiv(n, tile), loops)
>>> problem = Problem(
...     symbols=("n", "cores"),
...     variables=(
...         Variable("tile", bc.integer(1), n, alignment=8),
...         Variable("loops", bc.integer(1), bc.ceildiv(n, tile), group=Group.BLOCK),
...     ),
...     constraints=(
...         Constraint("local_memory", tile * 12, bc.integer(192 * 1024)),
...         Constraint("cores", blocks, cores, Group.BLOCK),
...     ),
...     head=bc.to_real(blocks) * 300.0,
...     pipes=(Pipe("MTE2", bc.to_real(loops) * (bc.to_real(tile) * 0.8 + 1575.03)),),
... )
>>> solve([problem], symbols=(1_000_000, 48)).tiles
(10424, 2)
"""
