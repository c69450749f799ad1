"""Kernels that between them use every form of the emitter, and the sizes to run them at."""

from collections.abc import Callable

from ascend_kernels import Kernel
from attrs import frozen
from autofuse_ir import dtypes as dt
from autofuse_ir.asc_builder import Operand
from autofuse_ir.asc_graph import Bounds
from autofuse_ir.dims import as_dim

F = dt.float32


@frozen
class Sample:
    """A kernel, and (sizes, cores) to run it at: several tiles, tails, rows that end inside a block."""

    make: Callable[[], Kernel]
    runs: tuple[tuple[dict[str, int], int], ...]


def abs_add() -> Kernel:
    b = Kernel("abs_add", {"z0": 128, "z1": 7})
    x, w = b.read("x", F, "z0", "z1"), b.read("w", F, "z0", "z1")
    b.write(b.op("Add", b.op("Abs", x), w), "y")
    return b


def bias_gelu() -> Kernel:
    b = Kernel("bias_gelu", {"z0": "n", "z1": "m"})
    a = b.apply("Add", b.read("x", F, "z0", "z1"), b.read("bias", F, "z1"))
    e = b.apply("Erf", b.apply("Mul", a, b.scalar(0.7071067811865476, F)))
    b.write(b.apply("Mul", b.apply("Mul", a, b.scalar(0.5, F)), b.apply("Add", e, b.scalar(1.0, F))), "y")
    return b


def masked_softcap() -> Kernel:
    """Compare, logic in bits and in bytes, select by both, a half input in a float32 kernel."""
    b = Kernel("masked_softcap", {"z0": "n", "z1": "m"})
    x = b.cast(b.read("x", dt.float16, "z0", "z1"), F)
    limit = b.scalar(3.0, F)
    capped = b.apply("Mul", limit, b.op("Tanh", b.apply("Div", x, limit)))
    inside = b.op("LogicalAnd", b.apply("Lt", x, limit), b.apply("Gt", x, b.scalar(-3.0, F)))
    kept = b.apply("Select", inside, x, capped)
    mask = b.read("mask", dt.bool_, "z0", "z1")
    b.write(b.apply("Select", b.op("LogicalNot", mask), kept, b.scalar(-1e9, F)), "y")
    b.write(b.apply("Ge", kept, x), "g")
    return b


def quantise() -> Kernel:
    """Columns and one value for all, constants on the left, integers of 8 bits."""
    b = Kernel("quantise", {"z0": "n", "z1": "m"})
    x, scale, zero = b.read("x", F, "z0", "z1"), b.read("scale", F, "z0"), b.read("zero", F)
    scaled = b.op("Round", b.apply("Add", b.apply("Div", x, scale), zero))
    low = b.apply("Maximum", scaled, b.scalar(0.0, F))
    b.write(b.cast(b.apply("Minimum", b.scalar(127.0, F), low), dt.int8), "y")
    b.write(b.apply("Sub", b.scalar(1.0, F), x), "rest")
    return b


def residual() -> Kernel:
    """What is loaded is stored, too, and what is stored is used on."""
    b = Kernel("residual", {"z0": "n", "z1": "m"})
    x, r, w = b.read("x", F, "z0", "z1"), b.read("r", F, "z0", "z1"), b.read("w", F, "z1")
    b.write(x, "copy")
    total = b.op("Add", x, r)
    b.write(total, "sum")
    b.write(b.apply("Mul", total, w), "y")
    return b


def integers() -> Kernel:
    """8 and 64 bits, shifts, and logic of words with constants."""
    b = Kernel("integers", {"z0": "n"})
    x, w = b.read("x", dt.int8, "z0"), b.read("w", dt.int8, "z0")
    b.write(b.op("Add", x, w), "y")
    wide = b.read("v", dt.int32, "z0")
    low = b.op("BitwiseAnd", b.op("RightShift", wide, b.scalar(3, dt.int32)), b.scalar(255, dt.int32))
    b.write(b.cast(low, dt.int64), "z")
    return b


def long_integers() -> Kernel:
    """64 bits by their halves: arithmetic, order, selection by bits and by bytes, shifts, a longer word."""
    b = Kernel("long_integers", {"z0": "n"})
    x, w = b.read("x", dt.int64, "z0"), b.read("w", dt.int64, "z0")
    u = b.cast(b.read("u", dt.uint32, "z0"), dt.uint64)
    total = b.op("Sub", b.op("Add", b.op("Mul", x, w), b.scalar(5, dt.int64)), w)
    larger = b.op("Maximum", total, b.op("RightShift", x, b.scalar(40, dt.int64)))
    b.write(b.op("Select", b.op("Lt", larger, w), larger, x), "y")
    b.write(b.op("Eq", x, w), "same")
    b.write(b.op("LeftShift", u, b.scalar(7, dt.uint64)), "moved")
    return b


def quotients() -> Kernel:
    """Division by what is no zero, powers and shifts by tensors; 64 bits by the scalar unit."""
    b = Kernel("quotients", {"z0": "n", "z1": "m"})
    x, w = b.read("x", dt.int32, "z0", "z1"), b.read("w", dt.int32, "z0", "z1")
    odd = b.apply("BitwiseOr", w, b.scalar(1, dt.int32))
    b.write(b.op("FloorDiv", x, odd), "y")
    few = b.apply("BitwiseAnd", w, b.scalar(15, dt.int32))
    b.write(b.op("Pow", b.op("RightShift", x, few), few), "z")
    b.write(b.op("Fmod", b.cast(x, dt.int64), b.cast(odd, dt.int64)), "rest")
    return b


def spread() -> Kernel:
    """Three axes, one of which each input lacks; bytes and 16 bits among them."""
    b = Kernel("spread", {"z0": "n", "z1": "k", "z2": "m"})
    x, c = b.read("x", F, "z0", "z2"), b.read("c", F, "z0", "z1")
    h, m = b.read("h", dt.float16, "z1", "z2"), b.read("m", dt.bool_, "z1")
    b.write(b.apply("Select", m, b.apply("Add", x, c), b.cast(h, F)), "y")
    return b


def many() -> Kernel:
    """More inputs and outputs than there are events for."""
    b = Kernel("many", {"z0": "n"})
    values = [b.read(f"x{i}", F, "z0") for i in range(6)]
    total = values[0]
    for number, value in enumerate(values[1:]):
        total = b.op("Add", total, value)
        b.write(total, f"y{number}")
    return b


def brain_floats() -> Kernel:
    b = Kernel("brain_floats", {"z0": "n", "z1": "m"})
    x, w = b.read("x", dt.bfloat16, "z0", "z1"), b.read("w", dt.bfloat16, "z1")
    b.write(b.op("Exp", b.apply("Mul", x, w)), "y")
    return b


def uniform() -> Kernel:
    """Values that all elements share: computed on one, and a number from the sizes."""
    b = Kernel("uniform", {"z0": "n", "z1": "m"})
    x, u = b.read("x", F, "z0", "z1"), b.read("u", F)
    b.write(b.apply("Mul", x, b.op("Sqrt", b.op("Exp", u))), "y")
    b.write(b.apply("Div", x, b.cast(b.size("n*m"), F)), "z")
    return b


def positions() -> Kernel:
    """A triangle, and rows and columns by number."""
    b = Kernel("positions", {"z0": "n", "z1": "m"})
    row, column = b.axis_index("z0", dt.int32), b.axis_index("z1")
    kept = b.apply("Le", b.cast(column, dt.int32), row)
    b.write(b.apply("Select", kept, b.read("x", F, "z0", "z1"), b.scalar(0.0, F)), "y")
    b.write(column, "c")
    b.write(row, "r")
    return b


def elements() -> Kernel:
    """Loads that are no rows: transposed, padded, reversed, every second element, a broadcast that sizes decide."""
    b = Kernel("elements", {"z0": "n", "z1": "m"})
    t = b.load(b.input("x_t", F), ("m", "n"), ("z1", "z0"))
    place = (("z0", 1, -1), ("z1", 1, -1))
    p = b.load(b.input("p", F), ("n-1", "m-2"), place, bounds=Bounds.FILL, fill=2.5)
    r = b.load(b.input("r", F), ("n", "m"), ("z0", ("z1", -1, "m-1")))
    s = b.load(b.input("s", dt.float16), ("n", "2*m"), ("z0", ("z1", 2, 1)))
    d = b.load(b.input("d", F), ("n", "d"), ("z0", ("z1", "select(d == 1, 0, 1)", 0)))
    b.write(b.op("Add", b.op("Add", b.op("Add", t, p), b.op("Sub", r, d)), b.cast(s, F)), "y")
    b.write(t, "copy")
    return b


def embedding() -> Kernel:
    """Rows at indices that were loaded and at one that is computed; all of them may be wrong."""
    b = Kernel("embedding", {"z0": "n", "z1": "m"})
    ids = b.read("ids", dt.int64, "z0")
    words = b.load(b.input("words", F), ("v", "m"), (Operand(0), "z1"), indices=(ids,), bounds=Bounds.ERROR)
    kinds = b.op("Abs", b.read("kinds", dt.int32, "z0"))
    kind = b.load(b.input("k", F), (60, "m"), (Operand(0), "z1"), indices=(kinds,), bounds=Bounds.FILL, fill=1.5)
    b.write(b.op("Add", words, kind), "y")
    return b


def lookups() -> Kernel:
    """More gathers of rows by computed indices than there are events, and an index that is gathered itself."""
    b = Kernel("lookups", {"z0": "n", "z1": "m"})
    ids = b.op("Abs", b.read("ids", dt.int32, "z0"))
    chained = b.load(b.input("next", dt.int32), ("v",), (Operand(0),), indices=(ids,), bounds=Bounds.FILL, fill=1)
    total = b.wide(b.read("x", F, "z1"))
    for number, index in enumerate((ids, chained) * 5):
        table = b.input(f"t{number}", F)
        rows = b.load(table, ("v", "m"), (Operand(0), "z1"), indices=(index,), bounds=Bounds.FILL, fill=0.5)
        total = b.op("Add", total, rows)
    b.write(total, "y")
    return b


def picked() -> Kernel:
    """An index for each element."""
    b = Kernel("picked", {"z0": "n", "z1": "m"})
    ids = b.read("ids", dt.int32, "z0", "z1")
    table = b.load(b.input("x", F), ("n", "v"), ("z0", Operand(0)), indices=(ids,), bounds=Bounds.ERROR)
    b.write(b.op("Neg", table), "y")
    return b


def concat() -> Kernel:
    """Three pieces side by side, of which the middle one is computed."""
    b = Kernel("concat", {"z0": "n", "z1": "m+19"})
    column = b.axis_index("z1", dt.int32)
    pieces = []
    for name, width, start in (("first", "m", 0), ("second", 8, "m"), ("third", 11, "m+8")):
        at = ("z0", ("z1", 1, as_dim(0) - as_dim(start)))
        pieces.append(b.load(b.input(name, F), ("n", width), at, bounds=Bounds.FILL, fill=0.0))
    second = b.op("Abs", pieces[1])
    in_second = b.apply("Lt", column, b.cast(b.size("m+8"), dt.int32))
    in_first = b.apply("Lt", column, b.cast(b.size("m"), dt.int32))
    b.write(b.apply("Select", in_first, pieces[0], b.apply("Select", in_second, second, pieces[2])), "y")
    return b


def transposed() -> Kernel:
    """Columns as rows, of words and of bytes, and rows from the end."""
    b = Kernel("transposed", {"z0": "n", "z1": "m"})
    t = b.load(b.input("t", F), ("m", "n"), ("z1", "z0"))
    c = b.load(b.input("c", dt.bool_), ("m", "n"), ("z1", "z0"))
    w = b.load(b.input("w", dt.int64), ("n", "m"), ("z0", ("z1", -1, "m-1")))
    b.write(b.op("Neg", t), "y")
    b.write(b.op("LogicalNot", c), "c_t")
    b.write(w, "w_r")
    return b


def mirrored() -> Kernel:
    """Rows from the end and columns as rows, both with a border around them; words and bytes."""
    b = Kernel("mirrored", {"z0": "n", "z1": "m"})
    around = {"bounds": Bounds.FILL, "fill": 1}
    x = b.load(b.input("x", F), ("n", "m"), (("z0", 1, -1), ("z1", -1, "m-3")), **around)
    t = b.load(b.input("t", F), ("m", "n"), (("z1", 1, -3), ("z0", 1, 1)), **around)
    c = b.load(b.input("c", dt.int8), ("m", "n"), (("z1", 1, -3), ("z0", 1, 1)), **around)
    b.write(b.op("Add", x, t), "y")
    b.write(b.op("BitwiseNot", c), "c_t")
    return b


def far() -> Kernel:
    """Elements that are too far apart to copy what lies between, for some sizes."""
    b = Kernel("far", {"z0": "n", "z1": "m"})
    b.write(b.op("Neg", b.load(b.input("x", F), ("n", "m", "k"), ("z0", "z1", 0))), "y")
    return b


def running() -> Kernel:
    """Sums along rows and along columns."""
    b = Kernel("running", {"z0": "n", "z1": "m"})
    x = b.op("Neg", b.read("x", F, "z0", "z1"))
    b.write(b.scan("CumSum", x, "z1"), "rows")
    b.write(b.scan("CumSum", x, "z1", exclusive=True), "before")
    return b


def running_down() -> Kernel:
    b = Kernel("running_down", {"z0": "n", "z1": "m"})
    x = b.op("Neg", b.read("x", F, "z0", "z1"))
    b.write(b.scan("CumSum", x, "z0"), "sums")
    b.write(b.scan("CumProd", x, "z0", exclusive=True), "products")
    return b


ROWS = (({"n": 5_000, "m": 37}, 1), ({"n": 3, "m": 5}, 2), ({"n": 2, "m": 90_001}, 1))
LINES = (({"n": 200_001}, 1), ({"n": 37}, 1))

SMALL = (({"n": 300, "m": 37, "v": 90}, 1), ({"n": 3, "m": 5, "v": 90}, 2))

SAMPLES: dict[str, Sample] = {
    "abs_add": Sample(abs_add, (({}, 1),)),
    "bias_gelu": Sample(bias_gelu, ROWS),
    "masked_softcap": Sample(masked_softcap, ROWS),
    "quantise": Sample(quantise, ROWS),
    "residual": Sample(residual, ROWS),
    "integers": Sample(integers, LINES),
    "long_integers": Sample(long_integers, (({"n": 20_001}, 1), ({"n": 37}, 1))),
    "quotients": Sample(quotients, (({"n": 90, "m": 37}, 1), ({"n": 3, "m": 5}, 1))),
    "spread": Sample(
        spread,
        (
            ({"n": 900, "k": 9, "m": 37}, 1),
            ({"n": 2, "k": 3, "m": 5}, 1),
            ({"n": 2, "k": 2_000, "m": 37}, 1),
            ({"n": 2, "k": 2, "m": 30_001}, 1),
        ),
    ),
    "many": Sample(many, LINES),
    "brain_floats": Sample(brain_floats, ROWS),
    "uniform": Sample(uniform, ROWS),
    "positions": Sample(positions, ROWS),
    "embedding": Sample(embedding, (*SMALL, ({"n": 4, "m": 40_001, "v": 90}, 1))),
    "lookups": Sample(lookups, tuple(({"n": n, "m": m, "v": 90}, 2) for n, m in ((300, 37), (60, 5), (300, 137)))),
    "picked": Sample(
        picked, (*SMALL, *(({"n": n, "m": m, "v": v}, 1) for n, m in ((3, 5), (2, 20_001)) for v in (90, 9_001)))
    ),
    "concat": Sample(concat, (({"n": 700, "m": 37}, 1), ({"n": 3, "m": 5}, 2), ({"n": 700, "m": 32}, 1))),
    "transposed": Sample(transposed, (({"n": 150, "m": 300}, 1), ({"n": 3, "m": 5}, 2), ({"n": 2, "m": 8_001}, 1))),
    "mirrored": Sample(mirrored, (({"n": 150, "m": 300}, 1), ({"n": 3, "m": 5}, 2), ({"n": 2, "m": 8_001}, 1))),
    "far": Sample(far, tuple(({"n": 30, "m": 137, "k": k}, 1) for k in (1, 2, 150))),
    "running": Sample(running, (*SMALL, ({"n": 5_000, "m": 37, "v": 0}, 1))),
    "running_down": Sample(running_down, SMALL),
    "elements": Sample(
        elements, (({"n": 400, "m": 37, "d": 37}, 1), ({"n": 3, "m": 5, "d": 1}, 2), ({"n": 2, "m": 9_009, "d": 1}, 1))
    ),
}
