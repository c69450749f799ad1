"""Tilings to measure, and the time predicted for one: host code answers what the tiling model says in Python."""

import ctypes
import re
import subprocess
from pathlib import Path

import autofuse_ascend_sim as sim
import numpy as np
import pytest
from ascend_kernels import Kernel, backend_of, write_sources
from ascend_samples import SAMPLES
from attrs import evolve, frozen
from autofuse_codegen.stage import emit
from autofuse_ir.dims import le, symbol
from autofuse_ir.facts import SymbolFacts
from autofuse_ir.fused_graph import AscBackend, FusedAscBackend
from autofuse_ir.kernels import KernelBundle
from autofuse_ir.schedule import Alternative, ScheduleResult
from autofuse_ir.target import load_target
from autofuse_ir.tiling import TilingModel
from autofuse_reference.arrays import numpy_dtype
from autofuse_schedule.stage import schedule
from autofuse_tiling.candidates import candidates, predicted_cycles
from autofuse_tiling.evaluate import Choice
from autofuse_tiling.stage import tile
from reduction_samples import softmax
from test_parts import joint

A2 = load_target("ascend-a2")
EXPORTED = """
    AutofuseTiling AutofuseTilingWithConfig GetTilingDataSize GetWorkspaceSize AutofuseIsStaticShape GenConstTilingData
    FindBestTilingKey GetTilingKeyForStatic GetTilingKeyKernelTypeForStatic GetTilingDataRepr GenerateTopnSolutions
    EvaluateModeledPerf
"""
"""The original's symbols that need no headers of CANN."""
PLENTY = 2000


@frozen(eq=False)
class Host:
    """The host library of a kernel, and the tiling model it was made from."""

    bundle: KernelBundle
    model: TilingModel
    library: ctypes.CDLL

    def best(self, sizes: dict[str, int], most: int, cores: int = 0) -> list[tuple[bytes, int, int, float]]:
        """Tiling data, bytes of workspace, blocks and cycles of the best ``most`` tilings."""
        data = ctypes.create_string_buffer(self.bundle.tiling_bytes * most)
        workspaces, blocks, cycles = (kind * most for kind in (ctypes.c_uint32, ctypes.c_uint64, ctypes.c_double))
        found = workspaces(), blocks(), cycles()
        values = [ctypes.c_uint32(sizes[s]) for s in self.bundle.symbols]
        function = self.library.GenerateTopnSolutions
        function.restype = ctypes.c_int64
        count = function(*values, cores, 0, most, data, *found)
        assert 0 <= count <= most
        size = self.bundle.tiling_bytes
        whole = [data.raw[size * n : size * (n + 1)] for n in range(count)]
        return list(zip(whole, *(each[:count] for each in found), strict=True))

    def predicted(self, data: bytes) -> float:
        function = self.library.EvaluateModeledPerf
        function.restype = ctypes.c_double
        return float(function(data))


def host_of(node: AscBackend | FusedAscBackend, facts: SymbolFacts, folder: Path) -> Host:
    return host_of_schedule(schedule(node, facts, A2), facts, folder)


def host_of_schedule(scheduled: ScheduleResult, facts: SymbolFacts, folder: Path) -> Host:
    model = tile(scheduled, facts, A2)
    bundle = emit(scheduled, model, facts, A2)
    write_sources(bundle, folder)
    parts = [f"{scheduled.name}_{part}.cpp" for part in ("host", "candidates", "tiling_func", "infer_shape")]
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-shared", "-fPIC"]
    command = ["g++", *flags, "-ffp-contract=off", *parts, "af_tiling_solver.cpp", "-o", f"{scheduled.name}_host.so"]
    subprocess.run(command, cwd=folder, check=True)
    return Host(bundle, model, ctypes.CDLL(str(folder / f"{scheduled.name}_host.so")))


def host_of_kernel(kernel: Kernel, folder: Path) -> Host:
    return host_of(*backend_of(kernel.build()), folder)


def fields_of(bundle: KernelBundle, data: bytes) -> dict[str, int]:
    """The numbers of tiling data; those of a part stand behind its name and a dot."""
    text = next(f.text for f in bundle.files if f.path.endswith("_tiling_data.h") and "autofuse" not in f.path)
    structs = {
        name: re.findall(r"^  (\w+) (\w+);", body, re.MULTILINE)
        for name, body in re.findall(r"struct (\w+) \{\n(.*?)\n\};", text, re.DOTALL)
    }
    found: dict[str, int] = {}

    def read(struct: str, prefix: str, at: int) -> int:
        for kind, name in structs[struct]:
            if kind in structs:
                at = read(kind, f"{name}.", at)
                continue
            width = 8 if kind == "int64_t" else 4
            found[prefix + name] = int.from_bytes(data[at : at + width], "little", signed=width == 8)
            at += width
        return at

    read(next(name for name in structs if not re.search(r"_graph\d+$", name)), "", 0)
    return found


def agree(host: Host, sizes: dict[str, int], cores: int, most: int) -> int:
    """Check the best tilings against the twin's; return how many there are."""
    best = host.best(sizes, most, cores)
    expected = candidates(host.model, sizes, cores, most)
    assert [cycles for _, _, _, cycles in best] == [each.cycles for each in expected]
    for (data, workspace, blocks, cycles), each in zip(best, expected, strict=True):
        assert host.predicted(data) == cycles == predicted_cycles(host.model, sizes, cores, each.choices)
        fields = fields_of(host.bundle, data)
        assert (fields["hbm_size"], fields["block_dim"], fields["corenum"]) == (workspace, blocks, cores)
        names = [condition.alternative for condition in host.model.conditions]
        first = fields.get("alternative", 0) * len(each.choices)  # alternatives here have equally many groups
        assert not names or names[fields["alternative"]] == each.alternative
        places = (
            [f"graph{first + n}_result0_g0_tiling_data." for n in range(len(each.choices))]
            if "graph0_tiling_key" in fields
            else [""]
        )
        for place, choice in zip(places, each.choices, strict=True):
            check_part(host.model, fields, place, choice)
    return len(best)


def check_part(model: TilingModel, fields: dict[str, int], place: str, choice: Choice) -> None:
    group = next((case.alternative, case.group) for case in model.cases if case.key == choice.key)
    first = min(case.key for case in model.cases if (case.alternative, case.group) == group)
    assert fields[f"{place}tiling_key"] == choice.key - first
    assert fields[f"{place}block_dim"] == choice.blocks
    for name, tile_size in choice.tile_sizes:
        assert fields[place + name] == tile_size


def test_host_code_has_the_symbols_of_the_original(tmp_path: Path) -> None:
    host = host_of_kernel(SAMPLES["abs_add"].make(), tmp_path)
    for name in EXPORTED.split():
        assert hasattr(host.library, name), name


@pytest.mark.parametrize("name", ["bias_gelu", "masked_softcap"])
def test_the_best_tilings_are_those_of_the_python_twin(name: str, tmp_path: Path) -> None:
    host = host_of_kernel(SAMPLES[name].make(), tmp_path)
    seen = 0
    for sizes in ((1, 1), (5, 33), (1000, 777), (4096, 4096), (3, 100_000)):
        values = dict(zip(host.bundle.symbols, sizes, strict=False))
        for cores, most in ((48, 5), (40, PLENTY), (1, 3)):
            seen = max(seen, agree(host, values, cores, most))
    assert seen > 10


def test_the_best_tilings_of_several_templates(tmp_path: Path) -> None:
    """Cases of different templates stand in one list; the key says which."""
    host = host_of_kernel(softmax(), tmp_path)
    keys = set()
    for sizes in ((64, 100), (3, 30_000), (500, 4096)):
        values = dict(zip(host.bundle.symbols, sizes, strict=True))
        agree(host, values, 48, PLENTY)
        keys |= {fields_of(host.bundle, data)["tiling_key"] for data, _, _, _ in host.best(values, PLENTY)}
    assert len(keys) > 1


def test_the_first_is_what_the_tiling_function_decides(tmp_path: Path) -> None:
    host = host_of_kernel(SAMPLES["bias_gelu"].make(), tmp_path)
    for sizes in ({"m": 37, "n": 64}, {"m": 4096, "n": 4096}, {"m": 0, "n": 5}):
        data = ctypes.create_string_buffer(host.bundle.tiling_bytes)
        workspace, blocks = ctypes.c_uint32(), ctypes.c_uint64()
        values = [ctypes.c_uint32(sizes[s]) for s in host.bundle.symbols]
        assert host.library.AutofuseTiling(*values, data, ctypes.byref(workspace), ctypes.byref(blocks), 48, 0) == 0
        (first,) = host.best(sizes, 1, 48)
        assert first[:3] == (data.raw[: host.bundle.tiling_bytes], workspace.value, blocks.value)


def test_the_best_tilings_of_several_parts(tmp_path: Path) -> None:
    """Each part is tiled by itself; the cycles are those of all, one after the other."""
    node, facts = joint()
    host = host_of(node, facts, tmp_path)
    for sizes in ({"m": 300, "n": 100}, {"m": 3000, "n": 1111}):
        assert agree(host, sizes, 48, 50) == 50
        data = ctypes.create_string_buffer(host.bundle.tiling_bytes)
        values = (ctypes.c_int64 * 2)(*(sizes[s] for s in host.bundle.symbols))
        assert host.library.af_joined_tiling(values, ctypes.c_int64(48), data) == 0
        assert host.best(sizes, 1, 48)[0][0] == data.raw[: host.bundle.tiling_bytes]


def test_the_best_tilings_of_several_alternatives(tmp_path: Path) -> None:
    """Those of all that apply stand in one list; the tiling data say whose they are."""
    node, facts = joint()
    scheduled = schedule(node, facts, A2)
    (general,) = scheduled.alternatives
    groups = tuple(
        evolve(group, implementations=tuple(evolve(i, name=f"{i.name}_small") for i in group.implementations[:1]))
        for group in general.groups
    )
    small = Alternative("small", groups, le(symbol("m"), 300))
    host = host_of_schedule(evolve(scheduled, alternatives=(general, small)), facts, tmp_path)
    for sizes, expected in (({"m": 300, "n": 100}, {0, 1}), ({"m": 301, "n": 100}, {0})):
        agree(host, sizes, 48, 50)
        best = host.best(sizes, 50, 48)
        assert {fields_of(host.bundle, data)["alternative"] for data, _, _, _ in best} == expected
        data = ctypes.create_string_buffer(host.bundle.tiling_bytes)
        values = (ctypes.c_int64 * 2)(*(sizes[s] for s in host.bundle.symbols))
        assert host.library.af_joined_tiling(values, ctypes.c_int64(48), data) == 0
        chosen, first = (fields_of(host.bundle, each) for each in (data.raw[: host.bundle.tiling_bytes], best[0][0]))
        assert chosen["alternative"] == first["alternative"]
        assert chosen["block_dim"] == first["block_dim"]
    no_alternative = best[0][0][:20] + (2).to_bytes(4, "little") + best[0][0][24:]
    assert host.predicted(no_alternative) < 0


def test_every_tiling_to_measure_gives_the_same_result(tmp_path: Path) -> None:
    kernel = softmax()
    host = host_of_kernel(kernel, tmp_path)
    name = host.bundle.name
    source = tmp_path / f"{name}.cpp"
    library = sim.compile(source, "ascend-a2", output=tmp_path / "k.so", include_dirs=[tmp_path], flags=["-O0"])
    (given,) = [a for a in host.bundle.arguments if not a.is_output]
    x = np.random.default_rng(0).normal(size=(33, 150)).astype(numpy_dtype(given.dtype))
    sizes = dict(zip(host.bundle.symbols, (150, 33), strict=True))
    results = []
    best = host.best(sizes, 12)
    assert len({data for data, _, _, _ in best}) == 12
    for data, workspace, blocks, _ in best:
        y = np.zeros_like(x)
        key = fields_of(host.bundle, data)["tiling_key"]
        sim.run(library, host.bundle.launch, [x, y], tiling=data, block_dim=blocks, workspace=workspace, tiling_key=key)
        results.append(y)
    for y in results:
        np.testing.assert_array_equal(y, results[0])
    np.testing.assert_allclose(results[0].sum(1), 1, rtol=1e-5)


def test_what_is_no_tiling_has_no_time_and_what_fits_nowhere_no_tilings(tmp_path: Path) -> None:
    host = host_of_kernel(SAMPLES["bias_gelu"].make(), tmp_path)
    ((data, _, _, _),) = host.best({"m": 3, "n": 5}, 1)
    assert host.predicted(data) > 0
    assert host.predicted(data[:16] + (99).to_bytes(4, "little") + data[20:]) < 0
    function = host.library.GenerateTopnSolutions
    assert function(3, 5, 48, 1024, 5, None, None, None, None) == -1, "less UB than tiles are sized for"
    assert function(3, 5, 48, 0, 5, None, None, None, None) == 5, "nothing is written where nothing is wanted"
    assert function(3, 5, 48, 0, 0, None, None, None, None) == 0


def test_the_kernel_type_of_static_kernels_is_told(tmp_path: Path) -> None:
    for name, expected in (("abs_add", b"KERNEL_TYPE_AIV_ONLY"), ("bias_gelu", b"")):
        host = host_of_kernel(SAMPLES[name].make(), tmp_path)
        host.library.GetTilingKeyKernelTypeForStatic.restype = ctypes.c_char_p
        assert host.library.GetTilingKeyKernelTypeForStatic() == expected
    node, facts = joint((20, 30))
    host = host_of(node, facts, tmp_path)
    host.library.GetTilingKeyKernelTypeForStatic.restype = ctypes.c_char_p
    assert host.library.GetTilingKeyKernelTypeForStatic() == b"KERNEL_TYPE_MIX_AIV_1_0", "it waits between its parts"
