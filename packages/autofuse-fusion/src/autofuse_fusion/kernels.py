"""Writes the AscGraph of a group."""

from collections.abc import Sequence

import numpy as np
from attrs import define, field
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_graph import AscGraph, Axis, AxisKind
from autofuse_ir.dtypes import DType
from autofuse_ir.fused_graph import AscBackend, RemovedRounding
from autofuse_ir.operators import input_names, operator
from autofuse_ir.target import TargetSpec
from autofuse_ir.tensor_data import TensorData
from autofuse_reference.arrays import to_array

from autofuse_fusion.axes import Layout
from autofuse_fusion.groups import Group
from autofuse_fusion.index_map import Position
from autofuse_fusion.lower.access import access_map
from autofuse_fusion.lower.call import Call, Frame, Results, arguments_of
from autofuse_fusion.lower.indexing import LeafLoader
from autofuse_fusion.lower.table import lowering_of
from autofuse_fusion.lower.views.expose import is_narrow
from autofuse_fusion.lower.writer import KernelWriter, Tensor
from autofuse_fusion.precision import computes_in, is_half
from autofuse_fusion.tidy import tidied
from autofuse_fusion.units import Number, Operand, Read, Size, Unit
from autofuse_fusion.values import Values


@define(eq=False)
class Kernel:
    """A finished kernel, and the roundings it leaves out."""

    backend: AscBackend
    removed: tuple[RemovedRounding, ...]


def write_kernel(name: str, group: Group, values: Values, target: TargetSpec, kept: frozenset[str]) -> Kernel:
    """Return the kernel of ``group``. ``kept`` are the 16-bit values that are rounded as the program says."""
    assembly = _Assembly(name, group, values, target, kept)
    assembly.run()
    graph = tidied(AscGraph(name, assembly.writer.axes, tuple(assembly.writer.nodes)))
    operators = tuple(dict.fromkeys(name for unit in group.units for name in _operators(unit, values)))
    backend = AscBackend(name, tuple(assembly.inputs), tuple(group.outputs), graph, operators)
    return Kernel(backend, tuple(assembly.removed))


@define(eq=False)
class _Assembly:
    name: str
    group: Group
    values: Values
    target: TargetSpec
    kept: frozenset[str]
    writer: KernelWriter = field(init=False)
    removed: list[RemovedRounding] = field(factory=list)
    inputs: dict[str, str] = field(factory=dict)
    _made: dict[str, Tensor] = field(factory=dict)

    def run(self) -> None:
        axes = tuple(Axis(f"z{k}", AxisKind.ORIGINAL, size) for k, size in enumerate(self.group.nest))
        self.writer = KernelWriter(axes)
        for value, layouts in self.group.inputs.items():
            source = self.values.behind(value)
            if source is not None and source not in self.inputs:
                dtype = self.values.fact(source).dtype
                self.inputs[source] = self.writer.data(len(self.inputs), dtype, layouts[0])
        for unit in self.group.units:
            self._unit(unit)
        for index, (value, layout) in enumerate(self.group.outputs.items()):
            dtype = self.values.fact(value).dtype
            access = access_map(axes, layout, self.values.shape(value), self.values.sizes)
            self.writer.store(self.writer.cast(self._made[value], dtype), index, layout, access)

    def _unit(self, unit: Unit) -> None:
        lowering = lowering_of(unit.node.op)
        assert lowering is not None
        self.writer.source = (unit.node.name,)
        results = unit.outputs
        declared = self.values.fact(results[0]).dtype
        dtypes: dict[str, DType] = {}
        op = operator(unit.node.op)
        names = input_names(op, len(unit.node.inputs))
        found: dict[str, list[Tensor]] = {}
        halves: set[str] = set()
        is_gather = unit.node.op == "Index"
        for position, (param, operand) in enumerate(zip(names, unit.operands, strict=True)):
            value = unit.node.inputs[position]
            if value is not None:
                dtypes.setdefault(param, self.values.fact(value).dtype)
                if is_half(self.values.fact(value).dtype):
                    halves.add(param)
            if is_gather and position == 0:
                continue
            tensor = self._operand(operand, unit, lowering.moves)
            if tensor is not None:
                found.setdefault(param, []).append(tensor)
        self._join_widths(found, halves)
        frame = Frame(
            unit.shape, unit.reduced, unit.count, unit.is_inner, dict(unit.indexed), unit.scanned, unit.index_dtype
        )
        if is_gather:
            made: Results = self._gathered(unit, found["indices"])
        else:
            made = lowering.write(Call(unit.node, self.writer, arguments_of(op, found), dtypes, declared, frame))
        listed = made if isinstance(made, tuple) else (made,)
        for value, tensor in zip((name for name in unit.node.outputs), listed, strict=False):
            if value:
                self._made[value] = self._rounded(tensor, value, unit)

    def _join_widths(self, found: dict[str, list[Tensor]], halves: set[str]) -> None:
        """Widen 16-bit operands of a unit where another one, which was not rounded, is wide."""
        if any(tensor.dtype == dt.float32 for param in halves for tensor in found.get(param, ())):
            for param in (name for name in found if name in halves):
                found[param] = [self.writer.cast(tensor, dt.float32) for tensor in found[param]]

    def _operand(self, operand: Operand, unit: Unit, moves: bool) -> Tensor | None:
        """Return an operand in the dtype its operator computes in; as it is stored where the operator only moves it."""
        match operand:
            case None:
                return None
            case Number(data):
                # 16-bit constants are exact in fp32.
                dtype = data.dtype if moves else computes_in(data.dtype, unit.node.op, self.target)
                return self.writer.scalar(_item(data), dtype)
            case Size(value, expression):
                return self.writer.size(expression, self.values.fact(value).dtype)
            case Read(value, layout):
                tensor = self._made.get(value)
                if tensor is None:
                    tensor = self._loaded(value, layout)
                return (
                    tensor if moves else self.writer.cast(tensor, computes_in(tensor.dtype, unit.node.op, self.target))
                )

    def _loaded(self, value: str, layout: Layout, indices: Sequence[Tensor] = ()) -> Tensor:
        """Return a tensor from outside, or a leaf of one, that lies on the axes as ``layout`` says."""
        dtype, shape = self.values.fact(value).dtype, self.values.shape(value)
        leaf = self.values.leaves.get(value)
        if leaf is None:
            access = access_map(self.writer.axes, layout, shape, self.values.sizes)
            return self.writer.load(self.inputs[value], dtype, layout, access)
        counting = dt.int32 if is_narrow(self.target) else dt.int64
        loader = LeafLoader(self.writer, layout, shape, self.values.sizes, counting)
        if isinstance(leaf, Position):
            return loader.position(leaf.place, dtype)
        return loader.load(self.inputs[leaf.source], dtype, leaf, indices)

    def _gathered(self, unit: Unit, indices: Sequence[Tensor]) -> Tensor:
        table = unit.operands[0]
        assert isinstance(table, Read)
        return self._loaded(table.value, table.layout, indices)

    def _rounded(self, tensor: Tensor, value: str, unit: Unit) -> Tensor:
        """Return a result as its readers see it: rounded to its declared dtype, or in the wider one."""
        declared = self.values.fact(value).dtype
        if not is_half(declared):
            return self.writer.cast(tensor, declared)
        if value in self.kept or tensor.dtype == declared:
            return self.writer.cast(tensor, declared)
        if self._is_read_inside(value):
            self.removed.append(RemovedRounding(self.name, unit.node.name, declared.name))
        return tensor

    def _is_read_inside(self, value: str) -> bool:
        return any(read.value == value for unit in self.group.units for read in unit.reads)


def _operators(unit: Unit, values: Values) -> tuple[str, ...]:
    """Return the operators that a unit is made from: the views it reads through, and its own."""
    seen = (name for read in unit.reads for name in values.through.get(read.value, ()))
    return (*seen, unit.node.name)


def _item(data: TensorData) -> bool | int | float:
    array = to_array(data).reshape(())
    if data.dtype.is_float:
        return float(array.astype(np.float64))
    return bool(array) if data.dtype == dt.bool_ else int(array)
