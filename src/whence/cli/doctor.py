"""whence doctor."""

from __future__ import annotations

import os
import platform
import shutil
from importlib import metadata, util

import click

from whence.cli._console import Output, output_options

PACKAGES = ("numpy", "numba", "msgspec", "click", "rich")


def _cupy() -> str:
    """Return the name that CuPy was installed by: one for each version of CUDA."""
    names = metadata.packages_distributions().get("cupy", ["cupy"])
    return names[0]


EXTRAS = {
    "arviz": ("arviz", "arviz"),
    "bench": ("quantecon", "quantecon"),
    "cuda": ("cupy", _cupy()),
    "excel": ("openpyxl", "openpyxl"),
    "minari": ("minari", "minari"),
    "plot": ("resvg_py", "resvg-py"),
    "tables": ("pyarrow", "pyarrow"),
}


@click.command("doctor")
@output_options
def command(out: Output) -> None:
    """Say what whence runs on: versions, threads, kernel cache, accelerator."""
    from rich.table import Table

    from whence._files import __version__

    facts: dict[str, object] = {
        "whence": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "extras": {name: _extra(*what) for name, what in EXTRAS.items()},
        "threads": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "kernel_cache": _kernel_cache(),
        "accelerator": _accelerator(),
    }
    out.document(facts)
    table = Table(show_header=False)
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _text(value))
    out.show(table)


def _extra(module: str, package: str) -> str | None:
    return metadata.version(package) if util.find_spec(module) else None


def _kernel_cache() -> dict[str, object]:
    """Return where compiled kernels are kept, and whether that folder can be written."""
    from pathlib import Path

    from whence import _files

    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(_files.__file__).parent)
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    return {"folder": str(folder), "writable": os.access(existing, os.W_OK)}


def _accelerator() -> dict[str, object] | None:
    """Return the graphics card and whether it scores machines as the cores do, or None."""
    if not (shutil.which("nvidia-smi") or util.find_spec("cupy")):
        return None
    from whence.errors import WhenceError
    from whence.likelihood.cuda import card, trial

    try:
        found = card.first_card()
        difference = trial.difference(found)
    except WhenceError as error:
        return {"name": None, "works": False, "says": str(error)}
    says = f"scores a machine as the cores do, within {difference:.1e} nats"
    return {"name": found.name, "works": difference <= trial.MOST, "says": says}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{k} {'not installed' if v is None else v}" for k, v in value.items())
    return "none" if value is None else str(value)
