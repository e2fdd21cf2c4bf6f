"""From SVG to PNG, by the optional package resvg-py."""

from __future__ import annotations

from whence.errors import MissingExtraError


def svg_to_png(svg: str, *, width: int | None = None) -> bytes:
    """Return a drawing as PNG.

    Args:
        svg: the drawing.
        width: in pixels; by default the drawing's own.

    Raises:
        MissingExtraError: if resvg-py is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise MissingExtraError(
            "png needs the package resvg-py; install it with: pip install 'whence[plot]'"
        ) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=width, background="#ffffff"))
