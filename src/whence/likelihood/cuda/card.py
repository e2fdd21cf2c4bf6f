"""The card: its memory, kernels compiled from their source, and its errors as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from whence.errors import DeviceError, MissingExtraError

HERE = Path(__file__).parent
SHARED = "lanes.cuh"  # what every kernel's source begins with
CURE = 'leave device="cuda" (--device cuda) out to use the cores'

WARP = 32

Kernel = Callable[[int, int, tuple[Any, ...]], None]


class Card(Protocol):
    """What an engine needs of a card; its arrays are the card's own.

    Attributes:
        name: what it is called.
        processors: how many run side by side.
        shared_bytes: fast memory of each that kernels may share.
    """

    name: str
    processors: int
    shared_bytes: int

    def put(self, numbers: npt.NDArray[Any]) -> Any:
        """Return a copy on the card."""

    def get(self, numbers: Any) -> npt.NDArray[Any]:
        """Return a copy in the computer's memory."""

    def empty(self, size: int, kind: type) -> Any:
        """Return room for so many numbers."""

    def free_bytes(self) -> int:
        """Return how much memory is free."""

    def kernel(self, file: str, name: str, options: tuple[str, ...], text: str = "") -> Kernel:
        """Return a kernel, to be called with blocks, shared bytes and arguments.

        Args:
            file: the name of its source.
            name: the kernel's.
            options: what it is compiled with, such as "-DWIDE=1".
            text: what is put in front of its source.
        """

    def seconds(self, run: Callable[[], object]) -> Callable[[], float]:
        """Return a function that does something on the card and tells how long the card took."""

    def guarded(self) -> Any:
        """Return a context in which the card's errors become messages."""


def source(file: str, text: str = "") -> str:
    """Return the source of the kernels in a file, with some text before it."""
    return (HERE / SHARED).read_text("utf-8") + text + (HERE / file).read_text("utf-8")


class FullError(DeviceError):
    """A card without enough memory."""


class CudaCard:
    """A card of Nvidia's, by way of CuPy."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        found = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = found["name"].decode()
        self.processors = int(found["multiProcessorCount"])
        self.shared_bytes = int(found["sharedMemPerBlockOptin"])
        self._kernels: dict[tuple[str, str, tuple[str, ...], str], Kernel] = {}

    def put(self, numbers: npt.NDArray[Any]) -> Any:
        """Return a copy on the card."""
        return self._cupy.asarray(numbers)

    def get(self, numbers: Any) -> npt.NDArray[Any]:
        """Return a copy in the computer's memory."""
        return np.asarray(self._cupy.asnumpy(numbers))

    def empty(self, size: int, kind: type) -> Any:
        """Return room for so many numbers."""
        return self._cupy.empty(size, dtype=kind)

    def free_bytes(self) -> int:
        """Return how much memory is free, what was used before counted."""
        free = int(self._cupy.cuda.runtime.memGetInfo()[0])
        return free + int(self._cupy.get_default_memory_pool().free_bytes())

    def kernel(self, file: str, name: str, options: tuple[str, ...], text: str = "") -> Kernel:
        """Return a kernel; it is compiled once a process, and kept on disk by CuPy."""
        key = file, name, options, text
        if key not in self._kernels:
            module = self._cupy.RawModule(
                code=source(file, text), options=("-std=c++17", *options)
            )
            self._kernels[key] = self._launcher(module.get_function(name))
        return self._kernels[key]

    def _launcher(self, function: Any) -> Kernel:
        def run(blocks: int, shared: int, arguments: tuple[Any, ...]) -> None:
            if shared > function.max_dynamic_shared_size_bytes:
                function.max_dynamic_shared_size_bytes = shared
            function((blocks,), (WARP,), arguments, shared_mem=shared)

        return run

    def seconds(self, run: Callable[[], object]) -> Callable[[], float]:
        """Return a function that does something on the card and tells how long the card took."""
        cuda = self._cupy.cuda

        def timed() -> float:
            begin, end = cuda.Event(), cuda.Event()
            begin.record()
            run()
            end.record()
            end.synchronize()
            return float(cuda.get_elapsed_time(begin, end)) / 1e3

        return timed

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn the card's errors into messages."""
        cuda = self._cupy.cuda
        try:
            yield
        except cuda.memory.OutOfMemoryError as error:
            raise FullError(f"{self.name}: {error}; score fewer machines at a time") from None
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
            raise DeviceError(
                f"{self.name}: {error}; nothing that was written is lost: see whether `whence "
                f"doctor` still finds the card, or {CURE}"
            ) from None


@lru_cache(maxsize=1)
def first_card() -> Card:
    """Return the card that CuPy uses, or say why there is none."""
    try:
        import cupy  # type: ignore[import-not-found]
    except ImportError:
        raise MissingExtraError(
            'device="cuda" needs CuPy; install it: pip install "whence[cuda]", or ' + CURE
        ) from None
    try:
        if cupy.cuda.runtime.getDeviceCount() < 1:
            raise DeviceError(f"there is no CUDA card; {CURE}")
        return CudaCard(cupy)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise DeviceError(f"no CUDA card answers: {error}; {CURE}") from None
