"""What the reasons for not fusing mean, in words for those who wrote the model."""

from collections.abc import Mapping

from autofuse_ir.fused_graph import Reason

MEANINGS: Mapping[Reason, str] = {
    Reason.HOST_OPERATOR: "an operator without a vector form (a convolution, a matrix product, control flow), so the "
    "host runs it",
    Reason.DTYPE_NOT_SUPPORTED: "kernels of this target do not compute on the element type",
    Reason.RANK_UNKNOWN: "the number of dimensions is not known when compiling",
    Reason.STRUCTURAL_OPERAND_UNKNOWN: "an operand that shapes the loops (axes, a permutation) is known only in a call",
    Reason.AXES_DO_NOT_MAP: "no one order of loops holds the values of both",
    Reason.WOULD_MAKE_CYCLE: "a step outside needs the one and is needed by the other",
    Reason.TOO_MANY_INPUTS: "the kernel would have more inputs than the target or the options allow",
    Reason.TOO_MANY_OUTPUTS: "the kernel would have more outputs than the target or the options allow",
    Reason.TOO_LARGE: "the kernel would have more operators than the options allow",
    Reason.TILING_GROUPS_DO_NOT_MERGE: "the axes of both cannot be split alike: one reduces what the other needs whole",
    Reason.NO_BENEFIT: "the cost model sees no gain at the hints",
    Reason.MORE_PEAK_MEMORY: "more memory would be in use at once",
    Reason.SWITCHED_OFF: "the options exclude the operator, its type or its family",
    Reason.OUTSIDE_SCOPE: "the operator lies outside the scopes that the options name",
}
"""A sentence for each reason, without its end."""
