"""The meaning of random tensors: NumPy's Philox generator, seeded by both seeds, so the same call gives the same."""

import numpy as np

from autofuse_reference.arrays import Array
from autofuse_reference.operators.call import Call, Meaning


def _generator(call: Call) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=[call.integer("seed") % 2**64, call.integer("seed2") % 2**64]))


def _uniform(call: Call) -> Array:
    """24 random bits, so that 1.0 stays out of reach in float32; 16-bit floats round and may reach it."""
    bits = _generator(call).integers(0, 1 << 24, call.operand("shape"))
    return np.asarray(bits / float(1 << 24))


def _uniform_v2(call: Call) -> tuple[Array, Array]:
    shape, offset = call.operand("shape"), call.array("offset")
    generator = _generator(call)
    source = generator.bit_generator
    assert isinstance(source, np.random.Philox)
    source.advance(int(offset.reshape(-1)[0]))
    bits = generator.integers(0, 1 << 24, shape)
    return np.asarray(bits / float(1 << 24)), offset + np.prod(shape, dtype=np.int64)


def _uniform_int(call: Call) -> Array:
    low, high = int(call.array("min").reshape(())), int(call.array("max").reshape(()))
    return np.asarray(_generator(call).integers(low, high, call.operand("shape")))


def _normal(call: Call) -> Array:
    return _generator(call).standard_normal(call.operand("shape"))


def _truncated_normal(call: Call) -> Array:
    generator, shape = _generator(call), call.operand("shape")
    values = generator.standard_normal(shape)
    while np.any(outside := np.abs(values) > 2):
        values = np.where(outside, generator.standard_normal(shape), values)
    return np.asarray(values)


MEANINGS: tuple[Meaning, ...] = (
    Meaning("RandomUniform", _uniform),
    Meaning("RandomUniformV2", _uniform_v2),
    Meaning("RandomUniformInt", _uniform_int),
    Meaning("RandomStandardNormal", _normal),
    Meaning("TruncatedNormal", _truncated_normal),
)
