"""What the templates of an Ascend kernel see: frozen strings and numbers, nothing to call or compute."""

from attrs import frozen


@frozen
class FieldView:
    """A field of the tiling data."""

    type: str
    name: str
    comment: str


@frozen
class SettingView:
    """A field and the expression the tiling function stores in it."""

    field: str
    value: str


@frozen
class CaseView:
    """One tiling case: its function in the kernel, and what the tiling function stores for it."""

    key: int
    function: str
    comment: tuple[str, ...]
    sizes: tuple[str, ...]
    setup: tuple[str, ...]
    body: tuple[str, ...]
    settings: tuple[SettingView, ...]


@frozen
class SymbolView:
    """A size: its name in code, its name in the model, its field, and the input and dim it is read from (-1: none)."""

    name: str
    original: str
    field: str
    position: int
    input: int
    dim: int


@frozen
class OutputView:
    """An output: its dims as expressions of sizes."""

    name: str
    dims: tuple[str, ...]


@frozen
class BundleView:
    """Everything about one kernel that its files show."""

    kernel: str
    entry: str
    title: str
    sources: tuple[str, ...]
    headers: tuple[str, ...]
    parameters: tuple[str, ...]
    call: str
    argument_names: tuple[str, ...]
    tiling_type: str
    fields: tuple[FieldView, ...]
    symbols: tuple[SymbolView, ...]
    size_lines: tuple[str, ...]
    cases: tuple[CaseView, ...]
    outputs: tuple[OutputView, ...]
    output_rank: int
    solver_header: str
    models_header: str
    value_count: int
    cores: int
    ub_bytes: int
    workspace_bytes: str
    arch: str
    is_static: bool
