"""Pages and drawings as PDF, by a Chromium that is there; it is asked to load nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from whence.errors import FileError, MissingExtraError

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge", "msedge",
)  # fmt: skip
FLAGS = (
    "--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-quic",
    "--no-pdf-header-footer", "--force-prefers-reduced-motion",
)  # fmt: skip
SECONDS = 120
INCH = 96.0  # pixels


def browser() -> str | None:
    """Return where a Chromium is, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def needed() -> str:
    """Return where a Chromium is, or refuse."""
    found = browser()
    if found is None:
        raise MissingExtraError(
            "pdf needs a Chromium or Chrome, and none is on the path; install one, or open the "
            "HTML or SVG file in any browser and print it to a file"
        )
    return found


def page_pdf(html: str) -> bytes:
    """Return an HTML document as PDF."""
    program = needed()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source, target = folder / "page.html", folder / "page.pdf"
        source.write_text(html, encoding="utf-8")
        as_root = hasattr(os, "geteuid") and os.geteuid() == 0
        command = [
            program, *FLAGS, *(["--no-sandbox"] if as_root else []),
            f"--user-data-dir={folder / 'profile'}", f"--print-to-pdf={target}", source.as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(  # noqa: S603 (a browser, on a file of our own)
                command, capture_output=True, timeout=SECONDS, check=False, text=True
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FileError(f"{program}: printing failed: {error}; try again") from None
        if not target.exists():
            said = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise FileError(f"{program}: printing failed: {said[0]}; print the file by hand")
        return target.read_bytes()


def drawing_pdf(svg: str, width: float, height: float) -> bytes:
    """Return a drawing as PDF, on a page of its own size, in pixels."""
    size = f"{width / INCH:.3f}in {height / INCH:.3f}in"
    style = f"@page {{ size: {size}; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
    return page_pdf(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Machine</title>'
        f"<style>{style}</style></head><body>{svg}</body></html>"
    )
