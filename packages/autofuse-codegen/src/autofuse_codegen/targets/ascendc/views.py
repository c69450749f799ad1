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
    """A field and the statement by which the tiling function stores it."""

    field: str
    value: str


@frozen
class FunctionView:
    """A function of the kernel: lines that read sizes, make queues and buffers, and do the work."""

    name: str
    sizes: tuple[str, ...]
    setup: tuple[str, ...]
    body: tuple[str, ...]


@frozen
class CaseView:
    """One tiling case: its functions, all blocks waiting in between, and what the tiling function stores for it.

    ``tiles`` are the fields of its tile sizes, in the order in which its model counts them.
    """

    key: int
    comment: tuple[str, ...]
    functions: tuple[FunctionView, ...]
    settings: tuple[SettingView, ...]
    tiles: tuple[str, ...]


@frozen
class PartView:
    """What is solved by itself: a kernel of one group, or one group of several.

    ``type`` is the struct that its functions read, ``place`` where that stands in the tiling data ("" for all of it),
    ``key_field`` the field that holds its tiling key, ``first`` and ``count`` its models. ``parameters`` are those of
    its functions, ``call`` what is passed for them. ``is_empty`` is the condition under which it stores no element; ""
    where it always does.
    """

    name: str
    number: int
    type: str
    place: str
    key_field: str
    first: int
    count: int
    fields: tuple[FieldView, ...]
    symbols: tuple[str, ...]
    parameters: tuple[str, ...]
    call: str
    is_empty: str
    cases: tuple[CaseView, ...]


@frozen
class StepView:
    """Parts that run side by side; ``blocks`` says how many blocks they have together."""

    names: str
    parts: tuple[PartView, ...]
    blocks: str


@frozen
class AlternativeView:
    """One way to run a kernel of several groups: its number in the tiling data, and when it applies.

    ``parts`` are what it solves, ``steps`` run one after the other; ``places`` are lines that declare where values
    between groups lie. ``function`` solves its parts, where there are other ways.
    """

    number: int
    name: str
    function: str
    condition: str
    parts: tuple[PartView, ...]
    steps: tuple[StepView, ...]
    places: tuple[str, ...]


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
    """Everything about one kernel that its files show; ``alternatives`` is empty for a kernel of one group.

    ``has_choice``: the tiling function picks one of them. ``place_sizes`` read the sizes that places between groups are
    computed from. ``shares``: some step has several parts. ``run_parameters`` and ``run_call`` are those of the
    function that runs all parts. ``head_bytes`` of the workspace come before what groups use. ``constant_format``
    prints the tiling data as an initialiser from ``constant_values``. ``code_size`` and ``code_workspace`` are
    results of the tiling function.
    """

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
    parts: tuple[PartView, ...]
    alternatives: tuple[AlternativeView, ...]
    has_choice: bool
    place_sizes: tuple[str, ...]
    shares: bool
    run_parameters: tuple[str, ...]
    run_call: str
    task_type: str
    may_be_empty: bool
    head_bytes: int
    has_status: bool
    uses_workspace: bool
    has_workspace: bool
    outputs: tuple[OutputView, ...]
    output_rank: int
    solver_header: str
    models_header: str
    models: str
    value_count: int
    cores: int
    ub_bytes: int
    workspace_bytes: str
    arch: str
    is_static: bool
    constant_format: str
    constant_values: tuple[str, ...]
    code_size: int
    most_size: int
    code_workspace: int
    code_ub: int
