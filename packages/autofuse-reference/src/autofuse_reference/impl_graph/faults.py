"""What the interpreter reports when a plan does not hold together."""

from autofuse_reference.errors import EvaluationError


class InterpreterFault(EvaluationError):
    """A schedule does what no machine may: a bug of AutoFuse, not of the user's model.

    ``node`` and ``buffer`` name what was touched, ``offset`` is in bytes inside a buffer and in elements inside global
    memory (-1 where there is none).
    """

    exit_code = 4

    def __init__(self, what: str, *, kernel: str, node: str, buffer: str = "", offset: int = -1) -> None:
        place = f", buffer {buffer}" if buffer else ""
        at = f", offset {offset}" if offset >= 0 else ""
        super().__init__(
            what, where=f"kernel {kernel}, node {node}{place}{at}", fix="report this: the schedule is wrong"
        )
        self.node = node
        self.buffer = buffer
        self.offset = offset
