"""From SVG to PNG."""

from __future__ import annotations

import struct
import sys

import pytest

from whence import RewardMachine
from whence.drawing import machine_svg, svg_to_png
from whence.errors import MissingExtraError

MACHINE = RewardMachine(["a"], [[1], [0]], [[1], [0]])


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def test_it_has_the_size_asked_for() -> None:
    pytest.importorskip("resvg_py")
    svg = machine_svg(MACHINE)
    width, height = size(svg_to_png(svg))
    assert f'width="{width}' in svg or f'width="{width - 1}.' in svg
    twice = size(svg_to_png(svg, width=2 * width))
    assert twice[0] == 2 * width
    assert twice[1] == pytest.approx(2 * height, abs=2)


def test_a_missing_package_answers_with_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'whence\[plot\]'"):
        svg_to_png(machine_svg(MACHINE))
