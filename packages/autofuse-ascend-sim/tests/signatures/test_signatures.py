"""The headers declare exactly what the signature table says: kernels are also compiled against the vendor's headers."""

import re
import shutil
import subprocess
from pathlib import Path

import autofuse_ascend_sim as sim
import pytest
from attrs import evolve
from autofuse_ascend_sim.signatures.declared import declared_names
from autofuse_ascend_sim.signatures.probe import Probe, function_probes, probes, translation_unit
from autofuse_ascend_sim.signatures.table import ARCHITECTURES, Parameter, functions, resources

COMPILERS = [
    pytest.param(name, marks=pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed"))
    for name in ("g++", "clang++")
]


def compile_text(text: str, architecture: str, folder: Path, compiler: str = "g++", mode: str = "-fsyntax-only") -> str:
    """What the compiler says about `text`."""
    source = folder / "unit.cpp"
    source.write_text(text)
    unlimited = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    command = [compiler, "-std=c++17", mode, unlimited, f"-I{sim.include_dir()}", f"-D__NPU_ARCH__={architecture}"]
    result = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
    return result.stdout if mode == "-E" else result.stderr


def broken(promises: tuple[Probe, ...], output: str) -> list[str]:
    """The promises that a compiler's output says are not kept."""
    lines = {int(number) for number in re.findall(r"^probe:(\d+):", output, re.M)}
    unplaced = [] if lines or " error: " not in output else [output]
    return [promises[number - 1].promise for number in sorted(lines)] + unplaced


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_headers_declare_every_signature_of_the_table(architecture: str, compiler: str, tmp_path: Path) -> None:
    promises = probes(architecture)
    assert len(promises) > 2000
    assert broken(promises, compile_text(translation_unit(promises), architecture, tmp_path, compiler)) == []


def test_a_signature_that_differs_is_found(tmp_path: Path) -> None:
    add = next(row for row in functions("2201") if row.name == "Add" and row.form == "binary_mask")
    swapped = evolve(add, parameters=(*add.parameters[:3], add.parameters[4], add.parameters[3], add.parameters[5]))
    other_default = evolve(add, template=(add.template[0], Parameter("isSetMask", "bool", "false")))
    renamed = evolve(add, name="Plus")
    for row in (swapped, other_default, renamed):
        promises = function_probes(row)
        output = compile_text(translation_unit(promises), "2201", tmp_path)
        assert broken(promises, output), row
    promises = function_probes(add)
    assert broken(promises, compile_text(translation_unit(promises), "2201", tmp_path)) == []


def test_a_field_that_differs_is_found(tmp_path: Path) -> None:
    promises = tuple(p for p in probes("2201") if "DataCopyParams::blockLen" in p.promise)
    changed = tuple(evolve(p, code=p.code.replace("uint16_t", "uint32_t")) for p in promises)
    assert broken(changed, compile_text(translation_unit(changed), "2201", tmp_path))


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_headers_declare_nothing_that_the_table_lacks(architecture: str, tmp_path: Path) -> None:
    text = compile_text('#include "kernel_operator.h"\n', architecture, tmp_path, mode="-E")
    known = {row.name for other in ARCHITECTURES for row in functions(other)}
    for kind in ("enum", "struct", "class", "constant"):
        for other in ARCHITECTURES:
            known |= {re.split(r"[<:]", row["name"])[0] for row in resources(kind, other)}
    declared = declared_names(text)
    assert {"Add", "Cast", "LocalTensor", "TPipe", "CMPMODE", "DataCopyParams", "SoftMax"} <= declared
    ours = {name for name in declared if name.lower().startswith("af")}
    assert sorted(declared - known - ours - ALSO_DOCUMENTED) == []


# Names of the vendor's headers that the table does not spell out.
ALSO_DOCUMENTED = {
    # whole-tensor operators
    "operator",
    # aliases and constants
    "QuePosition", "MASK_PLACEHOLDER_LIST", "NCHW_CONV_ADDR_LIST_SIZE", "ONE_BLK_SIZE", "ONE_REPEAT_BYTE_SIZE",
    "MAX_REPEAT_TIMES", "DEFAULT_BLK_STRIDE", "DEFAULT_REP_STRIDE", "DEFAULT_BLK_NUM", "Hardware", "TransposeType",
    "CumSumAlgorithm", "defaultCumSumConfig", "BinaryDefaultType", "DEFAULT_BINARY_CONFIG", "kDefaultNdDmaConfig",
    "NdDmaLoopInfo", "DEFAULT_SYNC_ALL_CONFIG",
    # configurations of algorithms on 350
    *(f"{name}Config" for name in ("Exp", "Ln", "Sqrt", "Rsqrt", "Reciprocal", "Div")),
    *(f"DEFAULT_{name}_CONFIG" for name in ("EXP", "LN", "SQRT", "RSQRT", "RECIPROCAL", "DIV")),
    # classes whose members need a running pipe
    "printf",
    # named by the documentation without a signature
    "GeGLU", "LogSoftMax", "GroupNorm", "BatchNorm", "DropOut", "ConfusionTranspose", "TopK", "Sort", "Sort32",
    "MrgSort", "Mmad", "LoadData", "Fixpipe",
}  # fmt: skip


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_api_that_is_not_covered_is_an_error_that_names_it(architecture: str, tmp_path: Path) -> None:
    rows = functions(architecture)
    covered = {row.name for row in rows if not row.uncovered and not row.listed_only}
    missing = sorted({row.name for row in rows if row.uncovered or row.listed_only} - covered)
    assert "SoftMax" in missing
    calls = "".join(
        f'#line {n} "probe"\nvoid call_{n}() {{ AscendC::{name}(1); }}\n' for n, name in enumerate(missing, 1)
    )
    output = compile_text('#include "kernel_operator.h"\n' + calls, architecture, tmp_path)
    unnamed = [name for name in missing if f"AscendC::{name} is not covered by autofuse-ascend-sim" not in output]
    assert unnamed == []


@pytest.mark.parametrize("call", ["g.SetShapeInfo(0)", "g.GetShapeInfo()"])
def test_a_member_that_is_not_covered_is_an_error_that_names_it(call: str, tmp_path: Path) -> None:
    text = f'#include "kernel_operator.h"\nvoid f(AscendC::GlobalTensor<float> g) {{ {call}; }}\n'
    name = call[2:].partition("(")[0]
    output = compile_text(text, "2201", tmp_path)
    assert f"AscendC::{name} is not covered by autofuse-ascend-sim" in output


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_an_element_type_that_an_api_does_not_take_is_an_error_that_names_it(architecture: str, tmp_path: Path) -> None:
    """Every element-wise count form is instantiated with all types; exactly the documented ones compile."""
    types = (
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "half",
        "bfloat16_t",
        "float",
    )
    forms = {"unary_count": "t", "binary_count": "t, t", "scalar_count": "t, E(1)"}
    # FusedMulAddRelu calls MulAddRelu, whose error the compiler gives once.
    rows = [row for row in functions(architecture) if row.form in forms and row.name != "FusedMulAddRelu"]
    calls = [(row, name) for row in rows for name in types]
    text = '#include "kernel_operator.h"\nusing namespace AscendC;\n'
    for number, (row, name) in enumerate(calls, 1):
        call = f"{row.name}(t, {forms[row.form]}, int32_t(8));"
        text += f'#line {number} "probe"\nvoid call_{number}(LocalTensor<{name}> t) {{ using E = {name}; {call} }}\n'
    output = compile_text(text, architecture, tmp_path)
    refused = {int(n) for n in re.findall(r"^probe:(\d+):\d+:\s+required from here", output, re.M)}
    taken = {(row.name, row.form): {i.arguments[0][1] for i in row.instantiations} for row in rows}
    wrong = [
        f"{row.name}<{name}> is {'refused' if number in refused else 'accepted'}"
        for number, (row, name) in enumerate(calls, 1)
        if (number in refused) == (name in taken[row.name, row.form])
    ]
    assert wrong == []
    assert "AscendC::Exp: this element type is not supported" in output
