"""whence doctor."""

from __future__ import annotations

import os
import platform
import re
import shutil
from importlib import metadata, util

import click

from whence.cli._console import Output, output_options

PACKAGES = ("numpy", "numba", "msgspec", "click", "rich")
NEED = re.compile(r"([\w.-]+)")  # the package that a requirement names
EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")


@click.command("doctor")
@output_options
def command(out: Output) -> None:
    """Say what whence runs on: versions, threads, kernel cache, accelerator."""
    from rich.table import Table

    from whence._files import __version__
    from whence.report.pdf import browser

    facts: dict[str, object] = {
        "whence": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: _version(name) for name in PACKAGES},
        "extras": extras(),
        "threads": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "kernel_cache": _kernel_cache(),
        "accelerator": _accelerator(),
        "browser": browser(),
    }
    out.document(facts)
    table = Table(show_header=False)
    for name, value in facts.items():
        table.add_row(name.replace("_", " "), _text(value))
    out.show(table)


def extras() -> dict[str, dict[str, str | None]]:
    """Return the packages that each extra of whence needs, with the versions that are there.

    Nothing where whence is not installed, but found on the path: its extras are not written there.
    """
    if _version("whence") is None:
        return {}
    found: dict[str, dict[str, str | None]] = {
        name: {} for name in metadata.metadata("whence").get_all("Provides-Extra") or ()
    }
    for requirement in metadata.requires("whence") or ():
        extra, need = EXTRA.search(requirement), NEED.match(requirement)
        if extra is not None and need is not None and need[1] != "whence":
            found.setdefault(extra[1], {})[need[1]] = _version(need[1])
    return dict(sorted(found.items()))


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


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
        return "\n".join(
            f"{name}{':' if isinstance(each, dict) else ''} {_inner(each)}"
            for name, each in value.items()
        )
    return "none" if value is None else str(value)


def _inner(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_inner(each)}" for name, each in value.items()) or "whence"
    return "not installed" if value is None else str(value)
