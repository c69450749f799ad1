"""Replace shape arithmetic by what it comes to.

before   s = Shape(x: f32[2, 3]); n = Gather(s, 1); y = Reshape(z, n)
after    n = Const 3; y = Reshape(z, n)                  symbolic contents stay: they become SizesNodes or IndexExprs
"""

import numpy as np
from attrs import evolve, frozen
from autofuse_ir.facts import SymbolFacts, ValueFact
from autofuse_ir.graph import Constant, Graph, Node
from autofuse_ir.operators import Flag, operator
from autofuse_reference.arrays import numpy_dtype, to_tensor_data


@frozen
class FoldKnownContents:
    """Values whose content the facts know as numbers become constants."""

    facts: SymbolFacts
    most_elements: int = 1024

    def __call__(self, graph: Graph) -> Graph:
        """Return ``graph`` with known integer and bool contents as constants."""
        known = {fact.name: fact for fact in self.facts.values if fact.content is not None}
        added: list[Constant] = []
        kept: list[Node] = []
        for node in graph.nodes:
            folded = [self._folded(known.get(name)) for name in node.outputs if name]
            if not folded or any(constant is None for constant in folded) or operator(node.op).has(Flag.RANDOM):
                kept.append(node)
            else:
                added += [constant for constant in folded if constant is not None]
        if not added:
            return graph
        return evolve(graph, nodes=tuple(kept), constants=(*graph.constants, *added))

    def _folded(self, fact: ValueFact | None) -> Constant | None:
        if fact is None or fact.content is None or fact.shape is None or len(fact.content) > self.most_elements:
            return None
        if fact.dtype.is_float or fact.dtype.is_opaque:
            return None
        shape = [dim.constant_value for dim in fact.shape]
        content = [dim.constant_value for dim in fact.content]
        if any(size is None for size in shape) or any(element is None for element in content):
            return None
        array = (
            np.asarray(content, np.int64).astype(numpy_dtype(fact.dtype)).reshape([s for s in shape if s is not None])
        )
        return Constant(fact.name, to_tensor_data(array))
