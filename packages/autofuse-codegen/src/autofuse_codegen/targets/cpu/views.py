"""What the templates of a CPU kernel see: frozen strings and numbers, nothing to call or compute."""

from attrs import frozen


@frozen
class FunctionView:
    """One phase group of a tiling case: the function of its blocks, and how many there are."""

    function: str
    comment: tuple[str, ...]
    prologue: tuple[str, ...]
    body: tuple[str, ...]
    epilogue: tuple[str, ...]
    blocks: str


@frozen
class CaseView:
    """One tiling case in the kernel template; its groups run one after the other."""

    key: int
    groups: tuple[FunctionView, ...]


@frozen
class PartView:
    """One group of a kernel of several: its part of TilingData, cases that run, and how many blocks it has there."""

    member: str
    cases: tuple[CaseView, ...]
    blocks: str = ""


@frozen
class LevelView:
    """Groups that wait for earlier levels only.

    Those ``alone`` run one after the other, with all blocks of ``together`` behind them in one run of ``function``,
    which is empty where there are none.
    """

    names: str
    alone: tuple[PartView, ...]
    together: tuple[PartView, ...]
    function: str
    blocks: str
    most: str


@frozen
class AlternativeView:
    """One way to run a kernel of several groups: its number in TilingData, and its levels one after the other."""

    number: int
    name: str
    levels: tuple[LevelView, ...]


@frozen
class LaunchView:
    """One launch function of the kernel template, of kernel ``name``, and the values of the constants it passes."""

    function: str
    name: str
    constants: tuple[str, ...]


@frozen
class KernelView:
    """The kernel template; ``alternatives`` only where there are several groups or several of them.

    ``constants`` are the members that launches have values of their own for; with none there is one launch.
    """

    kernel: str
    sources: tuple[str, ...]
    headers: tuple[str, ...]
    tiling_data_header: str
    launch_type: str
    tiling_type: str
    shared_launch: str
    constants_type: str
    constants: tuple[str, ...]
    launches: tuple[LaunchView, ...]
    launch_sizes: tuple[str, ...]
    output_bytes: str
    has_workspace: bool
    cases: tuple[CaseView, ...]
    alternatives: tuple[AlternativeView, ...]
    has_choice: bool


@frozen
class StoreView:
    """A tile size that the tiling function hands on."""

    field: str
    index: int


@frozen
class TilingCaseView:
    """One tiling case in the tiling function."""

    key: int
    stores: tuple[StoreView, ...]


@frozen
class TilingPartView:
    """What the tiling function decides for one group; ``member`` is its part of TilingData, where there are several."""

    member: str
    name: str
    first: int
    count: int
    fields: tuple[str, ...]
    cases: tuple[TilingCaseView, ...]


@frozen
class TilingAlternativeView:
    """What the tiling function may choose: its number in TilingData, when it applies, and the groups it solves."""

    number: int
    name: str
    function: str
    condition: str
    groups: tuple[TilingPartView, ...]


@frozen
class TilingView:
    """The templates of TilingData and of the tiling function; ``alternatives`` only where one is chosen."""

    kernel: str
    symbols: tuple[str, ...]
    symbol_indices: tuple[int, ...]
    solver_header: str
    models_header: str
    tiling_data_header: str
    tiling: str
    tiling_type: str
    models: str
    value_count: int
    groups: tuple[TilingPartView, ...]
    alternatives: tuple[TilingAlternativeView, ...]


@frozen
class InferShapeView:
    """The template of shape inference."""

    kernel: str
    symbols: tuple[str, ...]
    infer_shape: str
    size_lines: tuple[str, ...]
    dims: tuple[str, ...]
