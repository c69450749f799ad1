"""Every operator on every type that an Ascend target takes, against the interpreter.

What is rounded once, compared, selected or moved has the interpreter's bits. Functions stay within the bounds that are
stated for the target.
"""

import numpy as np
import pytest
from ascend_kernels import TARGETS, Built, Kernel, build, compile_all, inputs_of, is_refused
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_ops import ASC_OPS, AscKind, AscResult, asc_op
from autofuse_ir.dtypes import DType
from autofuse_reference.arrays import numpy_dtype
from autofuse_reference.asc_graph.interpret import interpret
from autofuse_reference.target_math import target_math

SIZES = ({"n": 1, "m": 1}, {"n": 3, "m": 5}, {"n": 17, "m": 33}, {"n": 2, "m": 700})
PER_KERNEL = 6
OPERATORS = [op for op in ASC_OPS if op.kind is AscKind.ELEMENTWISE and op.name != "Cast"]
FORMS = ("flat", "row", "column", "number", "left_number", "one_value")


def operand_dtypes(op: str, dtype: DType) -> list[DType]:
    rule = asc_op(op)
    return [dt.bool_, dtype, dtype] if rule.result is AscResult.SECOND else [dtype] * rule.arity


def constant(op: str, dtype: DType) -> bool | int | float:
    if dtype == dt.bool_:
        return True
    if dtype.is_integer:
        return 3
    return 0.0 if op in ("Minimum", "Maximum") else 1.5


def add(b: Kernel, op: str, dtype: DType, form: str) -> str:
    """Add ``op``; its last operand (the first where a number is left of it) has the shape that ``form`` says.

    Of form "numbers" all operands but the first are numbers.
    """
    values = []
    dtypes = operand_dtypes(op, dtype)
    for number, each in enumerate(dtypes):
        is_special = number == (0 if form == "left_number" else len(dtypes) - 1) and len(dtypes) > 1
        shape = "number" if form == "numbers" and number else form if is_special else "flat"
        axes = {"flat": ("z0", "z1"), "row": ("z1",), "column": ("z0",), "one_value": ()}.get(shape)
        if axes is None:
            values.append(b.scalar(constant(op, each), each))
            continue
        name = f"{shape}{number}_{each.text}"
        values.append(b.reads[name] if name in b.reads else b.remember(name, b.read(name, each, *axes)))
    return b.apply(op, *values)


def domain_of(op: str, dtype: DType) -> str:
    """Return which second operands ``op`` takes without an error: "d"ivisors, e"x"ponents, or "k": any."""
    if not dtype.is_integer:
        return "k"
    return {**dict.fromkeys(("TruncDiv", "FloorDiv", "Mod", "Fmod"), "d"), "Pow": "x"}.get(op, "k")


def within(domain: str, name: str, array: np.ndarray) -> np.ndarray:
    """Return ``array`` for argument ``name`` of a kernel of ``domain``."""
    if domain == "k" or "1_" not in name:
        return array
    if domain == "d":
        return np.where(array == 0, array.dtype.type(3), array)
    return np.where(array < 0, ~array, array) % array.dtype.type(67)


def kernels(forms: list[tuple[str, DType, str]], stem: str, target: str) -> dict[str, Built]:
    """Kernels of several operators each; what the target refuses is left out."""
    found: dict[str, Built] = {}
    taken = [form for form in forms if not is_refused(lambda b, form=form: add(b, *form), target)]
    for domain in "kdx":
        some = [form for form in taken if domain_of(*form[:2]) == domain]
        for number, at in enumerate(range(0, len(some), PER_KERNEL)):
            b = Kernel(f"{domain}_{stem}{number}", {"z0": "n", "z1": "m"})
            for place, (op, dtype, form) in enumerate(some[at : at + PER_KERNEL]):
                b.write(add(b, op, dtype, form), f"y{place}_{op.lower()}_{form}")
            found |= build([b], target)
    return found


def check(built: dict[str, Built], folder, target: str, special: bool = True) -> int:
    """Run all kernels at all sizes; returns how many outputs were compared."""
    emulated = compile_all(built, folder, target)
    count = 0
    for name, each in built.items():
        for number, sizes in enumerate(SIZES):
            arrays = inputs_of(each, sizes, np.random.default_rng(number), special)
            given = [a.name for a in each.bundle.arguments if not a.is_output]
            arrays = [within(name[0], argument, a) for argument, a in zip(given, arrays, strict=True)]
            results = emulated.run(name, arrays, sizes)
            expected = interpret(each.graph, arrays, sizes)
            exact = interpret(each.graph, arrays, sizes, precision="float64")
            names = [a.name for a in each.bundle.arguments if a.is_output]
            for label, found, wanted, ideal in zip(names, results, expected, exact, strict=True):
                compare(f"{name} {label} at {sizes}", label, found, wanted, ideal, target)
                count += 1
    return count


def compare(where: str, label: str, found, wanted, ideal, target: str) -> None:
    found, wanted, ideal = (np.asarray(a).reshape(-1) for a in (found, wanted, ideal))
    if found.dtype.kind not in "fV":
        np.testing.assert_array_equal(found, wanted, err_msg=where)
        return
    dtype = next(d for d in dt.TENSOR_DTYPES if d.is_float and numpy_dtype(d) == found.dtype)
    op = next((op.name for op in ASC_OPS if f"_{op.name.lower()}_" in label), "Cast")
    allowed = target_math(target).ulp_from_rounded(op, dtype)
    bits = f"u{found.dtype.itemsize}"
    same = (found.view(bits) == wanted.view(bits)) | (np.isnan(found) & np.isnan(wanted))
    if allowed:
        with np.errstate(all="ignore"):
            unit = np.abs(np.spacing(wanted if dtype != dt.bfloat16 else wanted.astype(np.float32)))
            unit = unit.astype(np.float64) * (2.0**16 if dtype == dt.bfloat16 else 1.0)
            same |= np.abs(found.astype(np.float64) - ideal.astype(np.float64)) <= allowed * unit
    wrong = np.flatnonzero(~same)
    assert wrong.size == 0, f"{where}: {wrong.size} wrong, first {found[wrong[0]]}, not {wanted[wrong[0]]}"


def casts(pairs: list[tuple[DType, DType]], stem: str, target: str) -> dict[str, Built]:
    def one(b: Kernel, source: DType, to: DType) -> str:
        name = f"x_{source.text}"
        value = b.reads[name] if name in b.reads else b.remember(name, b.read(name, source, "z0", "z1"))
        return b.cast(value, to)

    taken = [pair for pair in pairs if not is_refused(lambda b, pair=pair: one(b, *pair), target)]
    found: dict[str, Built] = {}
    for number, at in enumerate(range(0, len(taken), PER_KERNEL)):
        b = Kernel(f"k_{stem}{number}", {"z0": "n", "z1": "m"})
        for place, (source, to) in enumerate(taken[at : at + PER_KERNEL]):
            b.write(one(b, source, to), f"y{place}_cast_{source.text}_{to.text}")
        found |= build([b], target)
    return found


def test_each_operator_computes_what_the_interpreter_does(tmp_path):
    """Every second operator on one type, taking turns; the sweep below has all."""
    forms = []
    for number, op in enumerate(OPERATORS[::2]):
        known = [
            d
            for d in filter(op.computes_on, dt.TENSOR_DTYPES)
            if not is_refused(lambda b, op=op, d=d: add(b, op.name, d, "flat"), "ascend-a2")
        ]
        if known:
            forms.append((op.name, known[number % len(known)], "flat"))
    assert len(forms) > 20
    assert check(kernels(forms, "k", "ascend-a2"), tmp_path, "ascend-a2") > 80


def test_operands_of_every_shape_are_taken(tmp_path):
    forms = [(op, d, form) for op, d in (("Sub", dt.float32), ("Maximum", dt.float16)) for form in FORMS[1:]]
    check(kernels(forms, "k", "ascend-a2"), tmp_path, "ascend-a2")


@pytest.mark.parametrize("dtype", [dt.int64, dt.int32], ids=lambda d: d.text)
def test_what_is_composed_has_room_where_no_other_operator_takes_more(dtype: DType, tmp_path):
    """Each operator is a kernel of its own, with numbers, which take pieces of the room themselves."""
    built: dict[str, Built] = {}
    for op in (
        "Add",
        "Mul",
        "Maximum",
        "Lt",
        "LeftShift",
        "RightShift",
        "Select",
        "TruncDiv",
        "FloorDiv",
        "Mod",
        "Pow",
    ):
        for form in ("number", "left_number", "numbers"):
            if len(operand_dtypes(op, dtype)) + (form != "numbers") >= 3:
                built |= kernels([(op, dtype, form)], f"{op.lower()}_{form}", "ascend-a2")
    assert len(built) >= 18
    check(built, tmp_path, "ascend-a2")


def test_casts_convert_as_the_interpreter_does(tmp_path):
    pairs = [(dt.float32, to) for to in dt.TENSOR_DTYPES] + [(source, dt.int8) for source in dt.TENSOR_DTYPES]
    check(casts(pairs, "k", "ascend-a2"), tmp_path, "ascend-a2")


def test_operators_of_sizes_and_numbers_alone_are_computed(tmp_path):
    """No operand is a tensor: the first becomes one of a single element."""
    b = Kernel("k_sizes", {"z0": "n", "z1": "m"})
    count, one = b.cast(b.size("n*m"), dt.float32), b.scalar(1.0, dt.float32)
    found = {
        "mul": b.op("Mul", count, b.scalar(0.5, dt.float32)),
        "div": b.op("Div", one, count),
        "tanh": b.op("Tanh", b.cast(b.size("m"), dt.float32)),
        "cast": b.cast(b.op("TruncDiv", b.size("n*m"), b.scalar(2, dt.int64)), dt.float32),
        "select": b.op("Select", b.op("Gt", b.size("m"), b.scalar(2, dt.int64)), one, count),
    }
    x = b.read("x", dt.float32, "z0", "z1")
    for place, (op, value) in enumerate(found.items()):
        b.write(b.apply("Add", value, b.apply("Mul", x, b.scalar(0.0, dt.float32))), f"y{place}_{op}_alone")
    check(build([b], "ascend-a2"), tmp_path, "ascend-a2", special=False)


@pytest.mark.thorough
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [d for d in dt.TENSOR_DTYPES if d != dt.float64], ids=lambda d: d.text)
def test_every_operator_form_and_type(dtype, target, tmp_path):
    forms = []
    for op in OPERATORS:
        if op.computes_on(dtype):
            several = FORMS if asc_op(op.name).arity > 1 else FORMS[:1]
            forms += [(op.name, dtype, form) for form in several]
    built = kernels(forms, "k", target) | casts([(dtype, to) for to in dt.TENSOR_DTYPES], "c", target)
    check(built, tmp_path, target)
