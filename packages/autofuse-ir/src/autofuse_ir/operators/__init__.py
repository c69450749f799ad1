"""The operator table: names, signatures, attributes, dtype rules and flags of every operator."""

from autofuse_ir.operators.bind import Bound, attr_of, bind, bind_outputs, input_names
from autofuse_ir.operators.check import NodeFinding, check_node
from autofuse_ir.operators.dtype_classes import promote
from autofuse_ir.operators.model import Family, Flag, Operator, Param, ParamKind, Result
from autofuse_ir.operators.result_dtypes import result_dtypes
from autofuse_ir.operators.table import all_operators, has_operator, operator

__all__ = [
    "Bound",
    "Family",
    "Flag",
    "NodeFinding",
    "Operator",
    "Param",
    "ParamKind",
    "Result",
    "all_operators",
    "attr_of",
    "bind",
    "bind_outputs",
    "check_node",
    "has_operator",
    "input_names",
    "operator",
    "promote",
    "result_dtypes",
]
