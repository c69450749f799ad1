"""The size expressions of a plan: each once, as bytecode, with the stack they need."""

from array import array
from collections.abc import Iterable, Mapping

from autofuse_ir.dims import Cond, Dim
from autofuse_ir.dims_bytecode import compile_cond, compile_dim, stack_depth


def int32s(values: Iterable[int]) -> bytes:
    """Return ``values`` as the extension reads lists of them."""
    return array("i", values).tobytes()


def int64s(values: Iterable[int]) -> bytes:
    """Return ``values`` as the extension reads lists of them."""
    return array("q", values).tobytes()


class ExpressionTable:
    """Numbers for sizes and conditions; ``rows`` is their code and ``depth`` the deepest stack among them."""

    def __init__(self, slots: Mapping[str, int]) -> None:
        self.slots = slots
        self.rows: list[bytes] = []
        self.depth = 1
        self._numbers: dict[Dim | Cond, int] = {}

    def dim(self, dim: Dim) -> int:
        """Return the number of a size."""
        if dim not in self._numbers:
            self._add(dim, compile_dim(dim, self.slots))
        return self._numbers[dim]

    def cond(self, cond: Cond) -> int:
        """Return the number of a condition (value 1 where it holds)."""
        if cond not in self._numbers:
            self._add(cond, compile_cond(cond, self.slots))
        return self._numbers[cond]

    def _add(self, part: Dim | Cond, code: tuple[int, ...]) -> None:
        self.depth = max(self.depth, stack_depth(code))
        self._numbers[part] = len(self.rows)
        self.rows.append(int64s(code))
