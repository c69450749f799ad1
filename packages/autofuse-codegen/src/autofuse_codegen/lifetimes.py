"""When the buffers of a program die, and how much memory is live at most."""

from autofuse_ir.dims import Dim, const, dim_max
from autofuse_ir.program import (
    Alias,
    AssertGuard,
    BindSymbol,
    BufferKind,
    Copy,
    Free,
    HostCall,
    KernelCall,
    ProgramBuffer,
    Step,
    WriteSizes,
    root_of,
)

ARENA = (BufferKind.INTERMEDIATE, BufferKind.WORKSPACE)


def buffers_of(step: Step) -> tuple[str, ...]:
    """Return the names of the buffers that ``step`` touches."""
    match step:
        case KernelCall(_, inputs, outputs, workspace):
            return (*inputs, *outputs, *((workspace,) if workspace is not None else ()))
        case HostCall(_, inputs, outputs):
            return (*inputs, *outputs)
        case Alias(source, output) | Copy(source, output):
            return (source, output)
        case WriteSizes(output, _):
            return (output,)
        case BindSymbol(_, buffer, _, _, _, _):
            return (buffer,)
        case AssertGuard(_):
            return ()
        case Free(buffer):
            return (buffer,)


def with_frees(steps: tuple[Step, ...], buffers: tuple[ProgramBuffer, ...]) -> tuple[Step, ...]:
    """Return ``steps`` with a Free right after the last use of each arena buffer (its views included)."""
    by_name = {b.name: b for b in buffers}
    last: dict[str, int] = {}
    for position, step in enumerate(steps):
        for name in buffers_of(step):
            last[root_of(name, by_name)] = position
    dying: dict[int, list[str]] = {}
    for name, position in last.items():
        if by_name[name].kind in ARENA:
            dying.setdefault(position, []).append(name)
    freed: list[Step] = []
    for position, step in enumerate(steps):
        freed.append(step)
        freed += [Free(name) for name in dying.get(position, ())]
    return tuple(freed)


def peak_bytes(steps: tuple[Step, ...], buffers: tuple[ProgramBuffer, ...]) -> Dim:
    """Return the largest sum of live arena bytes over the steps, as a formula over the symbols."""
    by_name = {b.name: b for b in buffers}
    live: set[str] = set()
    total = const(0)
    sums: dict[Dim, None] = {}
    for step in steps:
        for name in buffers_of(step):
            root = root_of(name, by_name)
            if isinstance(step, Free):
                live.discard(root)
                total = total - size_bytes(by_name[root])
            elif root not in live and by_name[root].kind in ARENA:
                live.add(root)
                total = total + size_bytes(by_name[root])
        if not isinstance(step, Free):
            sums[total] = None
    maximal = _undominated(tuple(sums))
    return dim_max(const(0), *maximal) if maximal else const(0)


def _undominated(sums: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Drop sums that another one covers term by term (sizes are never negative, so it is at least as large)."""
    terms = [dict(s.terms) for s in sums]

    def covers(a: int, b: int) -> bool:
        return all(terms[a].get(m, 0) >= c for m, c in terms[b].items()) and all(
            c >= 0 or terms[b].get(m, 0) <= c for m, c in terms[a].items()
        )

    kept: list[int] = []
    for candidate in range(len(sums)):
        if any(covers(k, candidate) for k in kept):
            continue
        kept = [k for k in kept if not covers(candidate, k)] + [candidate]
    return tuple(sums[k] for k in kept)


def size_bytes(buffer: ProgramBuffer) -> Dim:
    """Return the bytes of a buffer."""
    total = const(buffer.dtype.itemsize)
    for dim in buffer.shape:
        total = total * dim
    return total
