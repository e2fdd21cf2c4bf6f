"""How kernels are compiled, and kept on disk from one process to the next.

Numba keys what it keeps on the source file of the function that is called. A kernel is built
from functions of several files, so an edit of one of them would go unseen. What is kept of a
kernel therefore bears a stamp over the sources of all kernels: any edit of any of them makes
all of it stale.
"""

from __future__ import annotations

import gc
import hashlib
import sys
import warnings
from functools import cache
from importlib import resources
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from whence.errors import WhenceWarning

SECONDS = 10  # of one core, from an empty cache to the first score
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INNER = OPTIONS | {"no_cpython_wrapper": True}
UNCOUNTED = {"_nrt": False}  # makes no arrays, and does not count those that it is given


def kernel(function: Any, **options: Any) -> Any:
    """Compile what Python calls, with a disk cache where one can be had."""
    compiled = njit(**OPTIONS, **options)(function)
    if compiled is not function:  # numba's compiler may have been turned off
        try:
            compiled._cache = KernelCache(function)
        except RuntimeError:  # no folder for the cache can be written
            return compiled
    return compiled


def lean_kernel(function: Any) -> Any:
    """Do as `kernel` does for a function that makes no arrays.

    The arrays that it is given are not counted, since each count would be an instruction that
    waits for memory.
    """
    return kernel(function, **UNCOUNTED)


class _PartLibrary(JITCodeLibrary):
    """The code of a part, which is neither optimised nor turned into instructions by itself.

    A kernel that takes it in has both done for the whole. It cannot be called from Python, and
    raises nothing, so that numba need not keep an environment for it.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> _PartLibrary:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        pass


class _PartCompiler(Compiler):
    """Numba's own, but what it makes is for kernels alone."""

    def compile_extra(self, function: Any) -> Any:
        codegen = self.state.targetctx.codegen()
        self.state.library = _PartLibrary(codegen, function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


def part(function: Any) -> Any:
    """Compile what kernels call, and what makes no arrays; it is kept as a part of them."""
    compiler = {"pipeline_class": _PartCompiler}
    return njit(**UNCOUNTED, forceinline=True, **compiler, **INNER)(function)


def maker(function: Any) -> Any:
    """Compile what kernels call to make arrays."""
    return njit(**INNER)(function)


def inlined(function: Any) -> Any:
    """Compile into every caller, which may fix some of the arguments."""
    return njit(inline="always", **OPTIONS)(function)


class _Announcer(event.Listener):
    """Says on stderr that kernels are being compiled, the first time that any is.

    Numba tells of a compilation only where nothing was kept. Who ignores warnings of this package,
    as `-q` does, is not told.
    """

    def __init__(self) -> None:
        self.told = False

    def on_start(self, started: Any) -> None:
        """Tell before the first of this package's kernels is compiled."""
        compiled = started.data["dispatcher"]
        if _is_ours(started) and not self.told and not _ignored():
            self.told = True
            sys.stderr.write(f"compiling the kernels, {_how_often(compiled)}: about {SECONDS} s\n")
            sys.stderr.flush()

    def on_end(self, ended: Any) -> None:
        """Say nothing more."""


def _is_ours(started: Any) -> bool:
    """Return whether this package's function is compiled."""
    module: str = started.data["dispatcher"].py_func.__module__
    return module.startswith("whence.")


def _ignored() -> bool:
    """Return whether warnings of this package are ignored wherever they come from."""
    for action, message, category, module, _ in warnings.filters:
        if message is None and module is None and issubclass(WhenceWarning, category):
            return action == "ignore"
    return False


def _how_often(compiled: Any) -> str:
    if compiled.stats.cache_path is None:
        return "in every process since no folder for them can be written"
    return "once on this machine"


class _Collector(event.Listener):
    """Lets no garbage be collected while a kernel is compiled, which leaves hardly any.

    Numba's compiler makes so many objects that to look through them again and again takes more
    than a tenth of its time. It holds a lock, so that one compilation at a time gets here.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.paused = False

    def on_start(self, started: Any) -> None:
        """Stop collecting, where the outermost function to be compiled is this package's."""
        if self.depth == 0 and _is_ours(started) and gc.isenabled():
            gc.disable()
            self.paused = True
        self.depth += 1

    def on_end(self, ended: Any) -> None:
        """Go on collecting after the outermost function."""
        self.depth -= 1
        if self.depth == 0 and self.paused:
            self.paused = False
            gc.enable()


event.register("numba:compile", _Announcer())
event.register("numba:compile", _Collector())


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
