"""Named groups of arrays and numbers, which kernels are handed by address.

Numba passes a tuple field by field, and an array is seven fields: a function that is given the
room in which machines are solved would take hundreds of arguments, and naming them is most of
what its compilation costs. A group is one pointer to words of eight bytes: each number is one of
them, an array is the address of its first number followed by its shape, and a group within a
group stands where it is named. Attributes are read by name, as those of the tuple are.

A kernel works on its `own` copy of the words, which LLVM takes apart into values: what is
written to arrays cannot change them, so nothing is read twice.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, intrinsic, models, register_model, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

_WORD = ir.IntType(64)
_SIZE = 8  # bytes of a word


class Group(types.Type):
    """The type of a group: the names and the types of its fields, in order."""

    def __init__(self, title: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        described = ";".join(f"{name}:{kind}" for name, kind in fields)
        digest = hashlib.sha256(described.encode()).hexdigest()
        self.fields = fields
        super().__init__(name=f"{title}_{digest[:16]}")  # short: it is a part of many names

    def place(self, name: str) -> tuple[int, types.Type]:
        """Return the first word of a field, and its type."""
        first = 0
        for own, kind in self.fields:
            if own == name:
                return first, kind
            first += _words(kind)
        raise AttributeError(name)


def _words(kind: types.Type) -> int:
    """Return how many words a field takes."""
    if isinstance(kind, Group):
        return sum(_words(own) for _, own in kind.fields)
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


class Handed:
    """A group as Python holds it: its values, and the words that tell kernels where they are."""

    __slots__ = ("_numba_type_", "address", "values", "words")

    def __init__(self, values: Any) -> None:
        words: list[Any] = []
        self._numba_type_ = _TYPES[_noted(values, words)]
        self.values = values  # kept for as long as their addresses are
        self.words = np.array(words, dtype=np.int64)
        self.address = self.words.__array_interface__["data"][0]

    def __reduce__(self) -> Any:
        return Handed, (self.values,)  # a copy's arrays are elsewhere


def _noted(values: Any, words: list[Any]) -> Any:
    """Append the words of a named tuple, an array or a number; return what tells its type."""
    if isinstance(values, np.ndarray):
        if not values.flags.c_contiguous:
            raise ValueError("kernels take arrays without gaps")
        words.append(values.__array_interface__["data"][0])
        words.extend(values.shape)
        return values.dtype, values.ndim
    if isinstance(values, tuple):
        return type(values), *[_noted(value, words) for value in values]
    if isinstance(values, float | np.floating):
        words.append(int(np.float64(values).view(np.int64)))
        return float
    words.append(int(values))
    return type(values)


class _Types(dict[Any, types.Type]):
    """The numba types of what was noted."""

    def __missing__(self, noted: Any) -> types.Type:
        self[noted] = self._made(noted)
        return self[noted]

    def _made(self, noted: Any) -> types.Type:
        if not isinstance(noted, tuple):
            number: types.Type = typeof(noted())
            return number
        kind, *fields = noted
        if isinstance(kind, np.dtype):
            return types.Array(from_dtype(kind), fields[0], "C")
        return Group(
            kind.__name__,
            tuple((name, self[own]) for name, own in zip(kind._fields, fields, strict=True)),
        )


_TYPES = _Types()


@register_model(Group)
class _GroupModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _WORD.as_pointer())


@unbox(Group)
def _unbox(kind, handed, c):
    number = c.pyapi.object_getattr_string(handed, "address")
    address = c.pyapi.long_as_longlong(number)
    c.pyapi.decref(number)
    return NativeValue(c.builder.inttoptr(address, _WORD.as_pointer()))


@infer_getattr
class _Fields(AttributeTemplate):
    key = Group

    def generic_resolve(self, kind, name):
        """Return the type of a field."""
        return dict(kind.fields).get(name)


def _at(builder, words, place):
    """Return the address of a word."""
    return builder.gep(words, [ir.Constant(_WORD, place)])


@lower_getattr_generic(Group)
def _read(context, builder, kind, words, name):
    first, own = kind.place(name)
    place = _at(builder, words, first)
    if isinstance(own, Group):
        return place
    if isinstance(own, types.Array):
        return _array(context, builder, own, words, first)
    if isinstance(own, types.Float):
        return builder.load(builder.bitcast(place, ir.DoubleType().as_pointer()))
    word = builder.load(place)
    if isinstance(own, types.Boolean):
        return builder.icmp_unsigned("!=", word, ir.Constant(_WORD, 0))
    return word


def _array(context, builder, kind, words, first):
    """Return an array whose words begin at one of them."""
    array = make_array(kind)(context, builder)
    address = builder.load(_at(builder, words, first))
    shape = [builder.load(_at(builder, words, first + 1 + i)) for i in range(kind.ndim)]
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [ir.Constant(_WORD, size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data, shape, strides, size, None)
    return array._getvalue()


@intrinsic
def own(typing_context, group):
    """Return a copy of a group's words, which nothing else refers to."""
    if isinstance(group, types.BaseNamedTuple):
        return _of_tuple(group)

    def code(context, builder, signature, args):
        count = _words(signature.return_type)
        copy = cgutils.alloca_once(builder, _WORD, size=count)
        cgutils.raw_memcpy(builder, copy, args[0], ir.Constant(_WORD, count), _SIZE, align=_SIZE)
        return copy

    return group(group), code


def _of_tuple(named):
    """Return how a group is made of a named tuple of arrays."""
    if any(not isinstance(kind, types.Array) or kind.layout != "C" for kind in named):
        raise TypingError("kernels take arrays without gaps")
    kinds = [types.Array(kind.dtype, kind.ndim, "C") for kind in named]
    made = Group(named.instance_class.__name__, tuple(zip(named.fields, kinds, strict=True)))

    def code(context, builder, signature, args):
        words = cgutils.alloca_once(builder, _WORD, size=_words(made))
        for i, (name, kind) in enumerate(made.fields):
            array = make_array(kind)(context, builder, builder.extract_value(args[0], i))
            first, _ = made.place(name)
            builder.store(builder.ptrtoint(array.data, _WORD), _at(builder, words, first))
            for axis, length in enumerate(cgutils.unpack_tuple(builder, array.shape)):
                builder.store(length, _at(builder, words, first + 1 + axis))
        return words

    return made(named), code


@intrinsic
def either(typing_context, first, one, other):
    """Return a copy of the words of `one` group, or of the `other` unless `first`."""

    def code(context, builder, signature, args):
        count = _words(signature.return_type)
        copy = cgutils.alloca_once(builder, _WORD, size=count)
        for k in range(count):
            words = [builder.load(_at(builder, group, k)) for group in args[1:]]
            builder.store(builder.select(args[0], *words), _at(builder, copy, k))
        return copy

    return one(types.boolean, one, other), code
