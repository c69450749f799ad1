"""What one Ascend kernel is written from."""

from attrs import frozen
from autofuse_ir.schedule import ScheduleResult
from autofuse_ir.target import TargetSpec
from autofuse_ir.tiling import TilingModel

from autofuse_codegen.targets.ascendc.arguments import Place


@frozen
class Request:
    """A kernel named ``kernel``: its schedule and its tiling model for a target.

    ``parameters`` names arguments and values between parts, ``names`` the fields of sizes.
    """

    kernel: str
    schedule: ScheduleResult
    model: TilingModel
    target: TargetSpec
    parameters: dict[Place, str]
    names: dict[str, str]
