"""Vector instructions: what kernels do to a row of LANES numbers at once."""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

from whence.likelihood.kernels.constants import LANES, LARGEST_SHORT, MAGIC


class _Vector(types.Type):
    """LANES numbers in vector registers."""

    def __init__(self):
        super().__init__(name="whence_vector")


_VECTOR = _Vector()
_IR = ir.VectorType(ir.DoubleType(), LANES)
_SHORT = ir.VectorType(ir.FloatType(), LANES)
_WHOLE = ir.VectorType(ir.IntType(64), LANES)


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _IR)


def _place(context, builder, signature, args, kind=_IR):
    """Return the address of row args[1] of the array args[0]."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    start = builder.mul(args[1], ir.Constant(args[1].type, LANES))
    return builder.bitcast(builder.gep(data, [start]), kind.as_pointer())


@intrinsic
def load(typing_context, array, row):
    """Return row `row` of a contiguous array of rows of LANES numbers."""

    def code(context, builder, signature, args):
        return builder.load(_place(context, builder, signature, args), align=8)

    return _VECTOR(array, types.uintp), code


@intrinsic
def store(typing_context, array, row, vector):
    """Write a row."""

    def code(context, builder, signature, args):
        builder.store(args[2], _place(context, builder, signature, args), align=8)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _VECTOR), code


@intrinsic
def load_short(typing_context, array, row):
    """Return row `row` of a contiguous array of rows of LANES 32-bit numbers."""

    def code(context, builder, signature, args):
        place = _place(context, builder, signature, args, _SHORT)
        return builder.fpext(builder.load(place, align=4), _IR)

    return _VECTOR(array, types.uintp), code


@intrinsic
def store_short(typing_context, array, row, vector):
    """Write a row of 32-bit numbers; larger ones become the largest."""

    def code(context, builder, signature, args):
        place = _place(context, builder, signature, args, _SHORT)
        value = args[2]
        for sign, edge in (("<", LARGEST_SHORT), (">", -LARGEST_SHORT)):
            edges = ir.Constant(_IR, [edge] * LANES)
            value = builder.select(builder.fcmp_ordered(sign, value, edges), value, edges)
        builder.store(builder.fptrunc(value, _SHORT), place, align=4)
        return context.get_dummy_value()

    return types.void(array, types.uintp, _VECTOR), code


@intrinsic
def spread(typing_context, number):
    """Return a vector of one number."""

    def code(context, builder, signature, args):
        empty = ir.Constant(_IR, ir.Undefined)
        first = builder.insert_element(empty, args[0], ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(first, empty, zeros)

    return _VECTOR(types.float64), code


@intrinsic
def times(typing_context, a, b):
    """Return a * b."""

    def code(context, builder, signature, args):
        return builder.fmul(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def times_plus(typing_context, a, b, c):
    """Return a * b + c, rounded once."""

    def code(context, builder, signature, args):
        kind = ir.FunctionType(_IR, [_IR, _IR, _IR])
        fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        return builder.call(fused, args)

    return _VECTOR(_VECTOR, _VECTOR, _VECTOR), code


@intrinsic
def times_plus_where(typing_context, code, a, b, c):
    """Return a * b + c, rounded once, in the lanes whose bit is set in `code`; else c."""

    def code_of(context, builder, signature, args):
        kind = ir.FunctionType(_IR, [_IR, _IR, _IR])
        fused = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
        bits = builder.trunc(args[0], ir.IntType(LANES))
        chosen = builder.bitcast(bits, ir.VectorType(ir.IntType(1), LANES))
        return builder.select(chosen, builder.call(fused, args[1:]), args[3])

    return _VECTOR(types.uint32, _VECTOR, _VECTOR, _VECTOR), code_of


@intrinsic
def plus(typing_context, a, b):
    """Return a + b."""

    def code(context, builder, signature, args):
        return builder.fadd(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def minus(typing_context, a, b):
    """Return a - b."""

    def code(context, builder, signature, args):
        return builder.fsub(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def larger(typing_context, a, b):
    """Return the larger number, a lane each."""

    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", args[0], args[1]), args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def smaller(typing_context, a, b):
    """Return the smaller number, a lane each."""

    def code(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def pick(typing_context, array, start, lanes, row):
    """Return array[start + lanes[row * LANES + j]], one a lane j."""

    def code(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        index = context.make_array(signature.args[2])(context, builder, args[2]).data
        own = builder.gep(data, [args[1]])
        first = builder.mul(args[3], ir.Constant(args[3].type, LANES))
        result = ir.Constant(_IR, ir.Undefined)
        for j in range(LANES):
            place = builder.add(first, ir.Constant(first.type, j))
            lane = builder.zext(builder.load(builder.gep(index, [place])), ir.IntType(64))
            number = builder.load(builder.gep(own, [lane]))
            result = builder.insert_element(result, number, ir.Constant(ir.IntType(32), j))
        return result

    return _VECTOR(array, types.uintp, lanes, types.uintp), code


def _bits(builder, value):
    return builder.bitcast(value, _WHOLE)


def _all(number):
    return ir.Constant(_WHOLE, [number] * LANES)


@intrinsic
def over(typing_context, a, b):
    """Return a / b."""

    def code(context, builder, signature, args):
        return builder.fdiv(args[0], args[1])

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def better(typing_context, new, old, chosen, other):
    """Return `chosen` in the lanes where new > old, else `other`."""

    def code(context, builder, signature, args):
        mask = builder.fcmp_ordered(">", args[0], args[1])
        return builder.select(mask, args[2], args[3])

    return _VECTOR(_VECTOR, _VECTOR, _VECTOR, _VECTOR), code


@intrinsic
def scaled(typing_context, number, power):
    """Return number * 2^power for whole powers that leave it a normal number."""

    def code(context, builder, signature, args):
        magic = ir.Constant(_IR, [MAGIC] * LANES)
        whole = _bits(builder, builder.fadd(args[1], magic))
        bits = builder.add(_bits(builder, args[0]), builder.shl(whole, _all(52)))
        return builder.bitcast(bits, _IR)

    return _VECTOR(_VECTOR, _VECTOR), code


@intrinsic
def exponent(typing_context, number):
    """Return the whole k with number = m 2^k and m around 1, for normal numbers above 0."""

    def code(context, builder, signature, args):
        shifted = builder.add(_bits(builder, args[0]), _all((1024 << 52) - 0x3FE6A09E667F3BCD))
        whole = builder.or_(builder.lshr(shifted, _all(52)), _all(0x4330000000000000))
        return builder.fsub(
            builder.bitcast(whole, _IR), ir.Constant(_IR, [2.0**52 + 1024.0] * LANES)
        )

    return _VECTOR(_VECTOR), code
