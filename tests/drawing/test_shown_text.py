"""Facts about text in drawings: made visible, measured, shortened."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whence.drawing import text


@given(st.text())
def test_everything_is_legal_xml(anything: str) -> None:
    element = ElementTree.fromstring(f'<a b="{text.xml(anything)}">{text.xml(anything)}</a>')
    assert (element.text or "") == text.visible(anything)
    assert len(element.attrib["b"]) == len(text.visible(anything))


@given(st.text(alphabet=st.characters()))
def test_nothing_visible_controls_a_terminal(anything: str) -> None:
    shown = text.visible(anything)
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in shown)
    assert text.plain(anything).isascii()
    assert text.visible(shown) == shown


@given(st.text(), st.integers(min_value=3, max_value=40))
def test_short_texts_fit(anything: str, width: int) -> None:
    shown = text.visible(anything)
    short = text.shorten(shown, width)
    assert text.cells(short) <= width
    assert short == shown or "…" in short


def test_both_ends_stay() -> None:
    assert text.shorten("after_the_third_coffee_7", 11) == "after…fee_7"


@pytest.mark.parametrize(
    ("shown", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("☕", 2), ("", 0)]
)
def test_display_width(shown: str, width: int) -> None:
    assert text.cells(shown) == width
    assert text.cells(text.padded(shown, 9)) == 9


def test_widths_are_no_smaller_than_those_of_the_font() -> None:
    # Advance widths of DejaVu Sans, in thousandths of its size.
    advances = {"a": 613, "i": 278, "m": 974, "W": 989, "M": 863, "O": 787, "0": 636, "|": 337}
    for character, advance in advances.items():
        assert text.pixels(character, 1000) >= advance


def test_labels_wrap_and_count() -> None:
    assert text.label(["a", "b"], 0, width=9) == ["a, b | 0"]
    assert text.label(["aaaa", "bbbb", "cccc"], 1.5, width=10) == ["aaaa, bbbb,", "cccc | 1.5"]
    many = text.label(["aaaa"] * 9, 0, width=4, lines=2)
    assert many == ["aaaa,", "aaaa,", "and 7 more | 0"]
    assert text.amount(1 / 3) == "0.3333"


def test_drawing_imports_neither_rich_nor_resvg() -> None:
    code = (
        "import sys, whence.drawing, whence.drawing.terminal as t; "
        "assert not {'rich', 'resvg_py'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
