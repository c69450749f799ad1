"""The root of every error AutoFuse raises on purpose, and the errors of autofuse-ir."""


class AutofuseError(Exception):
    """An error with three parts: what is wrong, where, and what to do about it.

    ``where`` names the file, node, field or position; ``fix`` tells the reader what to change. Both may be empty.
    Each package derives one class from this one, so ``except AutofuseError`` catches all of them. ``exit_code`` is what
    the command line returns for it: 1 the answer is no, 2 the input is wrong, 3 a tool is missing, 4 a bug of AutoFuse.
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  {self.fix}" if self.fix else head


class IrError(AutofuseError):
    """A size, contract, operator or text form that is malformed or out of range."""
