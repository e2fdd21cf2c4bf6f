"""A card that is none: the kernels' source, compiled for this computer, lane after lane.

What it finds is what a card would find, but for the last digits; it is slow, and shows nothing of
how lanes run side by side but which of them exchange values.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from whence.likelihood.cuda.card import FullError, Kernel, source

SHIM = Path(__file__).parent / "emulation.h"
COMPILER = shutil.which("g++")


class EmulatedCard:
    """Stands where a card stands."""

    name = "emulated"
    processors = 2
    shared_bytes = 227 * 1024

    def __init__(self, memory: int = 2**30) -> None:
        self._memory = memory
        self._folder = Path(tempfile.gettempdir()) / "whence-emulated"
        self._folder.mkdir(exist_ok=True)
        self._kernels: dict[tuple[str, str, tuple[str, ...], str], Kernel] = {}

    def put(self, numbers: npt.NDArray[Any]) -> Any:
        """Return a copy."""
        return np.array(numbers)

    def get(self, numbers: Any) -> npt.NDArray[Any]:
        """Return a copy."""
        return np.array(numbers)

    def empty(self, size: int, kind: type) -> Any:
        """Return numbers that must not be read before they are written."""
        if size * np.dtype(kind).itemsize > self._memory:
            raise FullError("emulated: out of memory")
        result: Any = np.empty(size, dtype=kind)
        result.view(np.uint8)[:] = 0xFF  # as floating point: not a number
        return result

    def free_bytes(self) -> int:
        """Return how much memory is free."""
        return self._memory

    def seconds(self, run: Callable[[], object]) -> Callable[[], float]:
        """Return a function that does something, and says that it took a second."""

        def timed() -> float:
            run()
            return 1.0

        return timed

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Let errors pass."""
        yield

    def kernel(self, file: str, name: str, options: tuple[str, ...], text: str = "") -> Kernel:
        """Return a kernel; compiled once."""
        key = file, name, options, text
        if key not in self._kernels:
            function = getattr(self._library(file, options, text), f"launch_{name}")
            self._kernels[key] = _launcher(function)
        return self._kernels[key]

    def _library(self, file: str, options: tuple[str, ...], text: str) -> ctypes.CDLL:
        code = f'#include "{SHIM}"\n' + source(file, text)
        names = re.findall(r"__launch_bounds__\(WARP[^)]*\) (\w+)\(", code)
        code += "\n" + "\n".join(f"KERNEL({name})" for name in names) + "\n"
        stamp = (code + SHIM.read_text("utf-8") + str(options)).encode()
        library = self._folder / f"{hashlib.sha256(stamp).hexdigest()[:24]}.so"
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
                own = Path(scratch) / "kernels.cpp"
                own.write_text(code, "utf-8")
                made = Path(scratch) / "kernels.so"
                flags = ["-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-ffp-contract=off"]
                assert COMPILER is not None
                subprocess.run([COMPILER, *flags, *options, "-o", made, own], check=True)
                made.replace(library)
        return ctypes.CDLL(str(library))


def _launcher(function: Any) -> Kernel:
    def run(blocks: int, shared: int, arguments: tuple[Any, ...]) -> None:
        held = [_place(argument) for argument in arguments]
        places = (ctypes.c_void_p * len(held))(*(ctypes.addressof(place) for place in held))
        function(ctypes.c_int(blocks), ctypes.c_size_t(shared), places)

    return run


def _place(argument: Any) -> Any:
    """Return an argument as C keeps it."""
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    if isinstance(argument, np.float64):
        return ctypes.c_double(float(argument))
    return ctypes.c_longlong(int(argument))
