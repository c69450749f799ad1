"""What buffers of a schedule take."""

from autofuse_ir.dims import as_dim, const
from autofuse_ir.schedule import Buffer, Location, QueuePosition, local_bytes


def test_local_memory_counts_copies_and_neither_reuse_nor_workspace() -> None:
    tile = as_dim("tile")
    buffers = (
        Buffer("in", Location.LOCAL, QueuePosition.VECIN, tile * 4, 2),
        Buffer("mid", Location.LOCAL, QueuePosition.VECCALC, tile * 2, 1),
        Buffer("over", Location.LOCAL, QueuePosition.VECCALC, tile * 2, 1, reuses="mid"),
        Buffer("shared", Location.WORKSPACE, QueuePosition.VECCALC, const(1 << 20), 1),
    )
    assert local_bytes(buffers) == tile * 10
    assert local_bytes(()) == 0
