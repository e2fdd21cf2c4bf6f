"""What is kept of compiled kernels is stale as soon as any of their sources is another."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import whence
from whence.likelihood import kernels
from whence.likelihood.kernels.compiling import KernelCache

CALLEE = """
from whence.likelihood.kernels.compiling import part

@part
def number():
    return {}
"""
CALLER = """
from numba import njit
from whence.likelihood.kernels.callee import number
from whence.likelihood.kernels.compiling import kernel

@kernel
def stamped():
    return number()

@njit(cache=True)
def unstamped():
    return number()
"""
PROGRAM = """
from whence.likelihood.kernels import caller
found = caller.stamped(), caller.unstamped()
hits = [sum(ask.stats.cache_hits.values()) for ask in (caller.stamped, caller.unstamped)]
print(*found, *hits)
"""


def test_an_edit_in_another_file_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "site" / "whence"
    shutil.copytree(
        Path(whence.__file__).parent, folder, ignore=shutil.ignore_patterns("__pycache__")
    )
    package = folder / "likelihood" / "kernels"
    (package / "caller.py").write_text(CALLER)
    (package / "callee.py").write_text(CALLEE.format(1))
    assert _run(tmp_path) == [1, 1, 0, 0]
    assert _run(tmp_path) == [1, 1, 1, 1]
    (package / "callee.py").write_text(CALLEE.format(2))
    assert _run(tmp_path) == [2, 1, 0, 1]  # numba alone gives the old number
    assert _run(tmp_path) == [2, 1, 1, 1]


def test_every_kernel_that_is_kept_bears_the_stamp() -> None:
    kept = {}
    for module in pkgutil.iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            path = value.stats.cache_path if hasattr(value, "stats") else None
            if path is not None:
                kept[name] = value._cache
    assert {"fit_machines", "read_hubs", "score_batch", "solve_hubs"} <= kept.keys()
    assert all(isinstance(cache, KernelCache) for cache in kept.values())


def _run(folder: Path) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM],
        env=os.environ
        | {"PYTHONPATH": str(folder / "site"), "NUMBA_CACHE_DIR": str(folder / "cache")},
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]
