"""What a browser makes of a report."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import studies
from support.browser import Page, browser, find
from whence.report import Study, write

PROGRAM = find()
# Where WHENCE_BROWSER is `required`, as in continuous integration, a missing browser is a failure.
REQUIRED = os.environ.get("WHENCE_BROWSER") == "required"

pytestmark = pytest.mark.skipif(
    PROGRAM is None and not REQUIRED,
    reason="there is no browser: install chromium to test reports in one",
)


@pytest.fixture
def page() -> Iterator[Page]:
    assert PROGRAM is not None, "there is no browser, and WHENCE_BROWSER requires one"
    with browser(PROGRAM) as opened:
        yield opened


def shown(page: Page, study: Study, folder: Path, *, width: int = 1100) -> Path:
    path = folder / "report with spaces & <b>.html"
    write(path, study)
    page.screen(width)
    page.open(path)
    return path


def test_a_report_opens_without_complaint_or_request(page: Page, tmp_path: Path) -> None:
    path = shown(page, studies.grid(), tmp_path)
    assert page.requests == [path.resolve().as_uri()]
    assert page.complaints == []
    ids = page.value("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert ids == [
        "answer", "facts", "next", "worlds", "replay", "machine", "alternatives", "prediction",
        "fit", "diagnostics", "episodes", "recipe",
    ]  # fmt: skip
    sizes = page.value(
        "[...document.querySelectorAll('section')].map(s => s.getBoundingClientRect().height)"
    )
    assert min(sizes) > 60


def test_nothing_runs_whatever_labels_say(page: Page, tmp_path: Path) -> None:
    path = shown(page, studies.nasty(), tmp_path)
    assert page.value("[typeof window.pwned, document.title, document.scripts.length]") == [
        "undefined", "What does the expert want?", 0,
    ]  # fmt: skip
    assert page.value("document.querySelectorAll('img, iframe, [onload], [onerror]').length") == 0
    assert page.requests == [path.resolve().as_uri()]
    assert page.complaints == []
    text = page.value("document.body.textContent")
    for name in studies.NASTY[:4]:
        assert name in text


def test_a_page_without_a_policy_would_be_caught(page: Page, tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(f"<!DOCTYPE html><title>x</title>{studies.NASTY[0]}{studies.NASTY[1]}")
    page.open(bad)
    assert page.value("typeof window.pwned") == "number"
    assert page.value("document.title") == "pwned"
    assert len(page.requests) == 2


@pytest.mark.parametrize("width", [320, 400, 1100])
@pytest.mark.parametrize("make", [studies.grid, studies.two_worlds, studies.chain, studies.nasty])
def test_the_page_never_scrolls_sideways(
    page: Page, tmp_path: Path, make: object, width: int
) -> None:
    shown(page, make(), tmp_path, width=width)  # type: ignore[operator]
    assert page.value("document.documentElement.scrollWidth") <= width
    page.value("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.value("document.documentElement.scrollWidth") <= width


def test_dark_is_dark_and_paper_is_light(page: Page, tmp_path: Path) -> None:
    shown(page, studies.grid(), tmp_path)
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.value(ground) == "rgb(255, 255, 255)"
    page.screen(1100, dark=True)
    assert page.value(ground) == "rgb(18, 22, 27)"
    state = "getComputedStyle(document.querySelector('rect.background')).fill"
    assert page.value(state) == "rgb(26, 32, 39)"
    scheme = {"name": "prefers-color-scheme", "value": "dark"}
    page.call("Emulation.setEmulatedMedia", media="print", features=[scheme])
    assert page.value(ground) == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_the_keyboard_reaches_the_skip_link_first_and_unfolds(page: Page, tmp_path: Path) -> None:
    shown(page, studies.grid(), tmp_path)
    tab = {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9}
    page.call("Input.dispatchKeyEvent", type="keyDown", **tab)
    assert page.value("document.activeElement.textContent") == "Skip to the content"
    assert page.value("document.activeElement.getBoundingClientRect().left") >= 0
    page.value("document.querySelector('summary').focus()")
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"}
    page.call("Input.dispatchKeyEvent", type="keyDown", **enter)
    page.call("Input.dispatchKeyEvent", type="keyUp", **enter)
    assert page.value("document.querySelector('details').open") is True


def test_the_first_screen_has_the_answer_whole(page: Page, tmp_path: Path) -> None:
    shown(page, studies.grid(), tmp_path)
    page.screen(1280, 800)
    for part in (
        ".lead",
        ".sure",
        ".surer",
        ".first figure:nth-child(1)",
        ".first figure:nth-child(2)",
    ):
        box = f"document.querySelector('{part}').getBoundingClientRect()"
        assert 0 < page.value(f"{box}.top") < page.value(f"{box}.bottom") < 800
    sides = (
        "[...document.querySelectorAll('.first figure')].map(f => f.getBoundingClientRect().top)"
    )
    left, right = page.value(sides)
    assert left == right  # beside each other
    page.screen(400, 800)
    left, right = page.value(sides)
    assert left < right
