"""Kernels of several groups: tiling data, host code, and launches with fewer cores than their parts would take."""

import ctypes
import re
import subprocess
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from ascend_kernels import Kernel, backend_of, write_sources
from attrs import evolve
from autofuse_codegen.stage import emit
from autofuse_ir import dtypes as dt
from autofuse_ir.checks import verify
from autofuse_ir.dims_eval import evaluate
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.target import load_target
from autofuse_schedule.stage import schedule
from autofuse_tiling.stage import tile

EXPORTED = """
    AutofuseTiling AutofuseTilingWithConfig GetTilingDataSize GetWorkspaceSize AutofuseIsStaticShape GenConstTilingData
    FindBestTilingKey GetTilingKeyForStatic GetTilingDataRepr
"""
WITH_CANN = "TilingParse TilingFunc GetSymbolTilingCacheKey DfxInputSymbolInfo InferShape GetKernelBin"


def part(name: str, reads: tuple[str, ...], makes: str, op: str, sizes: tuple[object, object]) -> Kernel:
    kernel = Kernel(name, {"z0": sizes[0], "z1": sizes[1]})
    kernel.write(kernel.apply(op, *(kernel.read(value, dt.float32, "z0", "z1") for value in reads)), makes)
    return kernel


def joint(sizes: tuple[object, object] = ("n", "m")) -> tuple[FusedAscBackend, SymbolFacts]:
    """`a` and `b` side by side, then their product: ``y = abs(x) * -w``."""
    kernels = (
        part("first", ("x",), "a", "Abs", sizes),
        part("second", ("w",), "b", "Neg", sizes),
        part("third", ("a", "b"), "y", "Mul", sizes),
    )
    parts: list[AscBackend] = []
    values = {}
    symbols = {}
    for kernel in kernels:
        node, facts = backend_of(kernel.build())
        parts.append(node)
        values |= {value.name: value for value in facts.values}
        symbols |= {symbol.name: symbol for symbol in facts.symbols}
    node = FusedAscBackend("joined", ("x", "w"), ("y",), tuple(parts), ("a", "b"))
    return node, SymbolFacts(tuple(symbols.values()), tuple(values.values()))


def emitted(sizes: tuple[object, object] = ("n", "m")) -> KernelBundle:
    node, facts = joint(sizes)
    target = load_target("ascend-a2")
    scheduled = schedule(node, facts, target)
    verify(scheduled)
    return emit(scheduled, tile(scheduled, facts, target), facts, target)


def host_of(bundle: KernelBundle, folder: Path) -> ctypes.CDLL:
    write_sources(bundle, folder)
    parts = [f"joined_{name}.cpp" for name in ("host", "candidates", "tiling_func", "infer_shape")]
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    command = ["g++", *flags, *parts, "af_tiling_solver.cpp", "-o", "host.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "host.so"))


def test_tiling_data_has_a_struct_for_each_group() -> None:
    bundle = emitted()
    text = next(file.text for file in bundle.files if file.path == "joined_tiling_data.h")
    whole = text[text.index("struct AfTiling_joined {") :]
    names = re.findall(r"^  \w+ (\w+);", whole, re.MULTILINE)
    assert names[:5] == ["block_dim", "corenum", "ub_size", "hbm_size", "tiling_key"]
    for number in range(3):
        assert {f"graph{number}_tiling_key", f"graph{number}_result0_g0_tiling_data"} <= set(names)
        own = text[text.index(f"struct AfTiling_joined_graph{number} {{") :].partition("}")[0]
        assert re.search(r"int64_t z0z1t_size;|int64_t z0t_size;", own)
        assert "q0_size" in own
    assert {"n", "m"} <= set(names)


def test_host_code_of_several_groups_has_all_symbols_and_sizes(tmp_path: Path) -> None:
    bundle = emitted()
    host = host_of(bundle, tmp_path)
    for name in EXPORTED.split():
        assert hasattr(host, name)
    text = next(file.text for file in bundle.files if file.path == "joined_host.cpp")
    for name in WITH_CANN.split():
        assert re.search(rf'^extern "C" \S+ {name}\(', text, re.MULTILINE)
    assert host.GetTilingDataSize() == bundle.tiling_bytes
    data, workspace, blocks = ctypes.create_string_buffer(bundle.tiling_bytes), ctypes.c_uint32(), ctypes.c_uint64()
    assert host.AutofuseTiling(500, 300, data, ctypes.byref(workspace), ctypes.byref(blocks), 48, 0) == 0
    assert workspace.value == evaluate(bundle.workspace_bytes, {"m": 500, "n": 300}) == host.GetWorkspaceSize(data)
    assert 1 < blocks.value <= 48


@pytest.mark.parametrize("cores", [1, 2, 3, 48])
def test_parts_share_the_cores_that_a_launch_is_given(cores: int, tmp_path: Path) -> None:
    bundle = emitted()
    host = host_of(bundle, tmp_path)
    library = sim.compile(tmp_path / "joined.cpp", "ascend-a2", output=tmp_path / "k.so", include_dirs=[tmp_path])
    sizes = {"m": 300, "n": 100}
    data = ctypes.create_string_buffer(bundle.tiling_bytes)
    assert host.af_joined_tiling((ctypes.c_int64 * 2)(*sizes.values()), ctypes.c_int64(cores), data) == 0
    blocks = int.from_bytes(data.raw[:4], "little")
    assert blocks == cores if cores < 4 else 4 < blocks <= cores
    rng = np.random.default_rng(cores)
    x, w = (rng.normal(size=(100, 300)).astype(np.float32) for _ in range(2))
    y = np.zeros((100, 300), np.float32)
    need = evaluate(bundle.workspace_bytes, sizes)
    sim.run(library, bundle.launch, [x, w, y], tiling=data.raw, block_dim=blocks, workspace=need)
    np.testing.assert_array_equal(y, np.abs(x) * -w)


def test_tiling_data_of_several_groups_can_be_compiled_in(tmp_path: Path) -> None:
    bundle = emitted((20, 30))
    host = host_of(bundle, tmp_path)
    host.GenConstTilingData.restype = ctypes.c_char_p
    text = host.GenConstTilingData(None, 0, 0)
    (tmp_path / "constant.h").write_bytes(text)
    flags = ['-DAF_CONST_TILING_DATA="constant.h"', "-Werror"]
    source = tmp_path / "joined.cpp"
    library = sim.compile(source, "ascend-a2", output=tmp_path / "k.so", include_dirs=[tmp_path], flags=flags)
    data = ctypes.create_string_buffer(bundle.tiling_bytes)
    assert host.af_joined_tiling((ctypes.c_int64 * 1)(), ctypes.c_int64(48), data) == 0
    x, w, y = (np.full((20, 30), value, np.float32) for value in (-2, 3, 0))
    need = evaluate(bundle.workspace_bytes, {})
    blocks = int.from_bytes(data.raw[:4], "little")
    sim.run(library, bundle.launch, [x, w, y], tiling=b"", block_dim=blocks, workspace=need)
    np.testing.assert_array_equal(y, np.full((20, 30), -6, np.float32))


def test_values_between_groups_need_not_have_names_of_their_own() -> None:
    """An internal value called as the workspace of a group."""
    node, facts = joint()
    renamed = {"a": "graph2_workspace", "b": "status"}
    parts = tuple(
        evolve(
            each,
            inputs=tuple(renamed.get(name, name) for name in each.inputs),
            outputs=tuple(renamed.get(name, name) for name in each.outputs),
        )
        for each in node.parts
    )
    values = tuple(evolve(value, name=renamed.get(value.name, value.name)) for value in facts.values)
    node = evolve(node, parts=parts, internal=tuple(renamed.values()))
    target = load_target("ascend-a2")
    facts = evolve(facts, values=values)
    scheduled = schedule(node, facts, target)
    bundle = emit(scheduled, tile(scheduled, facts, target), facts, target)
    text = next(file.text for file in bundle.files if file.path == "joined.cpp")
    assert "GM_ADDR const status_2 = workspace" in text
