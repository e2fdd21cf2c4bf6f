"""How kernels are compiled, and kept on disk from one process to the next.

Numba keys what it keeps on the source file of the function that is called. A kernel is built
from functions of several files, so an edit of one of them would go unseen. What is kept of a
kernel therefore bears a stamp over the sources of all kernels: any edit of any of them makes
all of it stale.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from typing import Any

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
INNER = OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def kernel(function: Any) -> Any:
    """Compile what Python calls, with a disk cache where one can be had."""
    compiled = njit(**OPTIONS)(function)
    if compiled is not function:  # numba's compiler may have been turned off
        try:
            compiled._cache = KernelCache(function)
        except RuntimeError:  # no folder for the cache can be written
            return compiled
    return compiled


def part(function: Any) -> Any:
    """Compile what kernels call; it is kept as a part of them.

    It neither makes nor returns arrays: those that it is given are not counted, since each count
    would be an instruction that waits for memory.
    """
    return njit(_nrt=False, forceinline=True, **INNER)(function)


def maker(function: Any) -> Any:
    """Compile what kernels call to make arrays."""
    return njit(**INNER)(function)


def inlined(function: Any) -> Any:
    """Compile into every caller, which may fix some of the arguments."""
    return njit(inline="always", **OPTIONS)(function)


@cache
def sources_stamp() -> bytes:
    """Return a digest of all sources from which kernels are made."""
    digest = hashlib.sha256()
    files = [file for file in resources.files(__package__).iterdir() if file.name.endswith(".py")]
    for file in sorted(files, key=lambda file: file.name):
        text = file.read_bytes()
        digest.update(f"{file.name} {len(text)} ".encode())
        digest.update(text)
    return digest.digest()


class _StampedImpl(CompileResultCacheImpl):
    """Numba's own, but what it keeps is stale as soon as any kernel's source is another."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        own = self.locator.get_source_stamp()
        self.locator.get_source_stamp = lambda: (own, sources_stamp())


class KernelCache(FunctionCache):
    """Files of one kernel, in the folder that numba would use."""

    _impl_class = _StampedImpl
