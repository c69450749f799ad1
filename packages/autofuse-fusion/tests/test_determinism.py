"""The same result under every hash seed."""

import os
import subprocess
import sys

PROGRAM = """
import hashlib
from autofuse_fusion.stage import fuse
from autofuse_ir import dtypes as dt
from autofuse_ir.builder import GraphBuilder
from autofuse_ir.target import load_target
from autofuse_symshape.stage import infer

b = GraphBuilder("mixed")
x = b.input("x", ("n", "m"), dt.float16)
y = b.input("y", ("d",), dt.float16)
values = [x]
for k in range(40):
    op = ("Add", "Mul", "Maximum")[k % 3]
    values.append(b.op(op, values[-1], y if k % 5 == 0 else values[(k * 7) % len(values)]))
    if k % 9 == 0:
        values.append(b.op("Lgamma", values[-1]))
    if k % 4 == 0:
        values.append(b.op("Exp", values[k % len(values)]))
graph, facts = infer(b.build(outputs={"a": values[-1], "b": values[-7], "c": values[5]}))
fused = fuse(graph, facts, load_target("cpu"))
print(hashlib.sha256(repr(fused).encode()).hexdigest(), len(fused.nodes), len(fused.refusals))
"""


def test_the_hash_seed_changes_nothing() -> None:
    seen = set()
    for seed in ("0", "1", "4242"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        seen.add(run.stdout)
    assert len(seen) == 1
    assert "0x" not in next(iter(seen))
