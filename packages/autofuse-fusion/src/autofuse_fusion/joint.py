"""Several kernels as the parts of one."""

from collections.abc import Collection, Sequence

from autofuse_ir.fused_graph import AscBackend, FusedAscBackend


def joint_kernel(name: str, parts: Sequence[AscBackend], kept: Collection[str]) -> FusedAscBackend:
    """Return the kernel ``name`` of ``parts``, which stand in an order that respects their data.

    Of what they make, the values in ``kept`` are outputs; all others pass between the parts alone.
    """
    made = [value for part in parts for value in part.outputs]
    read = dict.fromkeys(value for part in parts for value in part.inputs)
    return FusedAscBackend(
        name=name,
        inputs=tuple(value for value in read if value not in made),
        outputs=tuple(value for value in made if value in kept),
        parts=tuple(parts),
        internal=tuple(value for value in made if value not in kept),
    )
