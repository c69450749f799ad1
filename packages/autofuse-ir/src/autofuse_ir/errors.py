"""The root of every error AutoFuse raises: what is wrong, where, and what to do."""


class AutofuseError(Exception):
    """One paragraph for the user: ``what`` is wrong, ``where`` it is, and how to ``fix`` it.

    ``exit_code`` is what the command line returns for it: 1 the answer is no, 2 the input is wrong, 3 a tool is
    missing, 4 a bug of AutoFuse.
    """

    exit_code: int = 2

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(self.paragraph)

    @property
    def paragraph(self) -> str:
        """The error as one paragraph."""
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}. {self.fix[0].upper()}{self.fix[1:]}." if self.fix else text


class IrError(AutofuseError):
    """A model of ``autofuse_ir`` (size, graph, artefact) is malformed."""
