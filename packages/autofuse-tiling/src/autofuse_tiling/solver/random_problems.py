"""Random tiling problems: like those of kernels, or like nothing sensible.

*Plausible* problems have the shape of real cases: tiles over axes, buffers in local memory, blocks over cores, costs
per tile and per byte. They keep the solver's assumption of monotony. *Wild* ones are random expressions over random
sizes up to the ends of int64; for them only agreement and safety are promised.
"""

from random import Random

from autofuse_tiling.solver import bytecode as bc
from autofuse_tiling.solver.bytecode import Expression
from autofuse_tiling.solver.problem import Constraint, Group, Pipe, Problem, Variable

Drawn = tuple[tuple[Problem, ...], tuple[int, ...]]


def plausible(random: Random, largest: int = 1 << 20) -> Drawn:
    """Return one to three cases over shared symbols (sizes of axes, cores, local bytes) and their values."""
    rank = random.randint(1, 3)
    sizes = [_size(random, largest) for _ in range(rank)]
    cores = random.choice([1, 2, 3, 4, 8, 20, 40, 48, 64])
    local_bytes = random.choice([256, 1024, 4096, 32 << 10, 184 << 10, 192 << 10])
    symbols = (*(f"s{axis}" for axis in range(rank)), "cores", "local_bytes")
    cases = tuple(_plausible_case(random, rank, symbols) for _ in range(random.choice([1, 1, 1, 2, 3])))
    return cases, (*sizes, cores, local_bytes)


def _size(random: Random, largest: int) -> int:
    if random.random() < 0.15:
        return random.choice([0, 1, 2, 3])
    return min(largest, int(float(largest) ** random.random()) + random.randint(0, 3))


def _plausible_case(random: Random, rank: int, symbols: tuple[str, ...]) -> Problem:
    axes = range(rank)
    size, (cores, local_bytes) = [bc.load(axis) for axis in axes], (bc.load(rank), bc.load(rank + 1))
    split = sorted(random.sample(axes, random.randint(1, min(2, rank))))
    tile = {axis: bc.load(len(symbols) + at) for at, axis in enumerate(split)}
    iterations = bc.load(len(symbols) + len(split))

    element = random.choice([1, 2, 4, 8])
    volume: Expression = bc.integer(1)
    outer: Expression = bc.integer(1)
    for axis in axes:
        # Axes inside a split one stay whole in the tile, those outside are looped over.
        whole = axis > split[0] and axis not in tile
        volume = volume * (tile[axis] if axis in tile else bc.maximum(size[axis], 1) if whole else bc.integer(1))
        if not whole:
            outer = outer * (bc.ceildiv(size[axis], tile[axis]) if axis in tile else size[axis])

    padded = bc.ceildiv(volume * element, 32) * 32
    usage = padded * random.randint(1, 6) + random.choice([0, 0, 32, 8192])
    blocks = bc.ceildiv(outer, iterations)
    variables = [
        Variable(
            f"t{axis}",
            bc.integer(1),
            size[axis],
            random.choice([1, 1, 8, 16, 32]),
            random.choice([0, at, at, len(split) - at]),
        )
        for at, axis in enumerate(split)
    ]
    variables.append(Variable("b", bc.integer(1), outer, group=Group.BLOCK))
    tiles_run = bc.to_real(bc.minimum(iterations, outer))

    def pipe(name: str) -> Pipe:
        per_tile, per_byte = random.choice([5.0, 27.01, 160.0, 882.09]), random.choice([0.01, 0.0206, 0.1, 0.5])
        cost = tiles_run * (bc.to_real(volume * element) * per_byte + per_tile)
        if random.random() < 0.3:  # bandwidth shared by the blocks
            cost = cost * (bc.real(1.0) + bc.to_real(blocks) / random.choice([16.0, 64.0]))
        return Pipe(name, cost)

    return Problem(
        symbols,
        tuple(variables),
        (Constraint("local_memory", usage, local_bytes), Constraint("cores", blocks, cores, Group.BLOCK)),
        bc.to_real(blocks) * random.choice([0.0, 1.0, 37.37, 300.0]) + random.choice([0.0, 571.0]),
        tuple(pipe(name) for name in ("MTE2", "VEC", "MTE3")[: random.randint(1, 3)]),
    )


_EXTREMES = (0, 1, -1, 2, 7, 32, 2**31 - 1, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63))


def wild(random: Random) -> Drawn:
    """Return one or two cases of random expressions, groups, priorities and alignments, and extreme values."""
    symbols = tuple(f"s{at}" for at in range(random.randint(0, 4)))
    cases = tuple(_wild_case(random, symbols) for _ in range(random.randint(1, 2)))
    return cases, tuple(_wild_size(random) for _ in symbols)


def _wild_size(random: Random) -> int:
    return random.choice([random.choice(_EXTREMES), random.randint(0, 100), 1 << random.randint(0, 62)])


def _wild_case(random: Random, symbols: tuple[str, ...]) -> Problem:
    groups = [random.choice(list(Group)) for _ in range(random.randint(0, 4))]
    count = len(symbols)
    everything = list(range(count + len(groups)))
    outer = list(range(count))
    local = outer + [count + at for at, group in enumerate(groups) if group is Group.LOCAL]

    def bound(readable: list[int], top: bool) -> Expression:
        if random.random() < 0.6:
            return bc.integer(random.choice([1, 7, 1000, 2**31 - 1, 2**62]) if top else random.choice([0, 1, 1, 8]))
        return _integer(random, readable, 2)

    variables = tuple(
        Variable(
            f"v{at}",
            bound(outer, False),
            bound(outer if group is Group.LOCAL else local, True),
            random.choice([1, 1, 8, 24, 2**31, 2**63 - 1]),
            random.randint(-1, 2),
            group,
        )
        for at, group in enumerate(groups)
    )

    def constraint(at: int) -> Constraint:
        group = random.choice(list(Group))
        usage = _integer(random, local if group is Group.LOCAL else everything, 4)
        return Constraint(f"c{at}", usage, _integer(random, outer, 1), group)

    constraints = tuple(constraint(at) for at in range(random.randint(0, 3)))
    pipes = tuple(Pipe(f"p{at}", _real(random, everything, 4)) for at in range(random.randint(0, 3)))
    return Problem(symbols, variables, constraints, _real(random, everything, 2), pipes)


def _integer(random: Random, readable: list[int], depth: int) -> Expression:
    if depth == 0 or random.random() < 0.15:
        if readable and random.random() < 0.8:
            return bc.load(random.choice(readable))
        return bc.integer(random.choice([random.choice(_EXTREMES), random.randint(1, 100)]))
    a, b = _integer(random, readable, depth - 1), _integer(random, readable, depth - 1)
    match random.randrange(13):
        case 0 | 1:
            return a + b
        case 2 | 3:
            return a * b
        case 4:
            return a - b
        case 5:
            return a // b
        case 6:
            return bc.ceildiv(a, b)
        case 7:
            return a % b
        case 8:
            return bc.minimum(a, b)
        case 9:
            return bc.maximum(a, b)
        case 10:
            test = random.choice([bc.equal, bc.not_equal, bc.less, bc.less_equal])
            return bc.select(test(a, b), b, a)
        case 11:
            return bc.less(bc.to_real(a), bc.to_real(b))
        case _:
            return bc.less_equal(bc.to_real(a), bc.to_real(b))


def _real(random: Random, readable: list[int], depth: int) -> Expression:
    if depth == 0 or random.random() < 0.15:
        if random.random() < 0.3:
            return bc.real(random.choice([0.0, -0.0, 1.0, 0.1, 1e-300, 1e308, random.uniform(-5, 5)]))
        return bc.to_real(_integer(random, readable, 1))
    a, b = _real(random, readable, depth - 1), _real(random, readable, depth - 1)
    match random.randrange(7):
        case 0 | 1:
            return a + b
        case 2:
            return a * b
        case 3:
            return a - b
        case 4:
            return a / b
        case 5:
            return bc.minimum(a, b) if random.random() < 0.5 else bc.maximum(a, b)
        case _:
            return bc.select(bc.less(a, b), b, a)


def draw(seed: int, index: int) -> Drawn:
    """Return the random problem number ``index`` of a run: every fourth is wild."""
    random = Random(f"{seed}/{index}")
    if index % 4 == 3:
        return wild(random)
    return plausible(random, random.choice([50, 5000, 1 << 20, 2**31 - 1]))
