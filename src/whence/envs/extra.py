"""Whether Gymnasium is there, and the line that installs it where it is not."""

from __future__ import annotations

from whence.errors import MissingExtraError


def need_gymnasium(what: str) -> None:
    """Refuse to go on without Gymnasium, on behalf of `what`."""
    try:
        import gymnasium  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            f"{what} needs the package gymnasium; install it with: pip install 'whence[gym]'"
        ) from None
