"""The studio in a real browser: walk, record, infer, answer, and go on after whatever happens."""

from __future__ import annotations

import os
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.browser import FLAGS, find
from support.studio import Served, served
from whence import Demonstrations, LabeledMDP

PROGRAM = find()
REQUIRED = os.environ.get("WHENCE_BROWSER") == "required"
PATIENCE = 150.0
NASTY = "<img/src=x/onerror=window.pwned=1>"
TINY = "labels: a b\nstarts: S\n\nmap:\na.S.b\n"

pytestmark = pytest.mark.skipif(
    PROGRAM is None and not REQUIRED,
    reason="there is no browser: install chromium to test the studio in one",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    assert PROGRAM is not None, "there is no browser, and WHENCE_BROWSER requires one"
    arguments = [flag for flag in FLAGS if flag not in ("--headless", "--remote-debugging-pipe")]
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=PROGRAM, args=arguments)
        yield found
        found.close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("studio")
    (folder / "tiny.map").write_text(TINY)
    with served(folder / "kept", str(folder / "tiny.map")) as found:
        yield found


class Person:
    """Somebody at a browser of their own.

    Attributes:
        page: what they look at.
        complaints: what the browser says of it.
    """

    def __init__(self, context: Any, url: str) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(1000 * PATIENCE)
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(url)

    def sees(self, place: str, text: str) -> None:
        """Wait until an element has a text in it."""
        self.until(lambda: text in self.page.locator(place).inner_text(), f"{place}: {text}")

    def until(self, true: Any, what: str) -> None:
        """Wait until something is true."""
        end = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < end, f"not seen: {what}"
            time.sleep(0.02)

    def press(self, *keys: str) -> None:
        """Press keys on the map."""
        self.page.focus("#map")
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture
def context(browser: Any) -> Iterator[Any]:
    found = browser.new_context(viewport={"width": 1280, "height": 800})
    yield found
    found.close()


def project(studio: Served, text: str, name: str) -> str:
    """Make a project of a map, with machines of one state alone, and nothing inferred unasked."""
    made: str = studio.ask(f"api/upload?name={name}.map", text.encode())[1]["project"]
    settings = {"most": 1, "rewards": [0, 1], "minutes": 5, "auto": False}
    studio.ask(f"api/project/{made}/infer", {"do": "settings", "settings": settings})
    return made


def at(studio: Served, name: str) -> str:
    return f"http://{studio.host}/{studio.token}/#{name}"


def test_one_walks_by_keys_by_clicks_and_by_buttons(studio: Served, context: Any) -> None:
    person = Person(context, at(studio, project(studio, TINY, "walk")))
    person.sees("#where", "At (2, 0), the start")
    person.press("ArrowRight", "ArrowRight")
    person.sees("#where", "At (4, 0) after 2 steps. Read: b")
    assert "read b" in person.page.inner_text("#announce")
    person.press("Backspace")
    person.sees("#where", "At (3, 0) after 1 step. No label was read yet.")
    person.page.click('[aria-label^="left:"]')
    person.sees("#where", "At (2, 0) after 2 steps")
    box = person.page.locator("#map .tile").first.bounding_box()
    person.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    person.sees("#where", "At (0, 0) after 4 steps. Read: a")
    person.page.click("#elsewhere")
    person.page.keyboard.press("ArrowRight")
    person.page.keyboard.press("Enter")
    person.sees("#where", "At (1, 0), the start")
    assert person.complaints == []


def test_inference_and_answers_change_the_facts(studio: Served, context: Any) -> None:
    """Record, infer, see the fact, record the other, see it change; answer, withdraw."""
    name = project(studio, TINY, "learn")
    person = Person(context, at(studio, name))
    person.sees("#answer", "record a demonstration")
    for keys in (["ArrowRight"] * 4, ["ArrowRight"] * 5):
        person.press(*keys)
        person.sees("#where", f"after {len(keys)} steps")
        person.press("Enter")
        person.sees("#where", "the start")
    person.sees("#demos-title", "Demonstrations: 2")
    person.page.click("#infer")
    person.sees("#stage", "Inferred from 2 demonstrations")
    person.sees("#routes", "b, over and over")
    first = person.page.inner_text("#routes")
    assert person.page.locator("#machine .lit").count() == 1
    still_open = person.page.text_content("#open")  # where to walk is what the question says
    assert "What does" in still_open
    assert "demonstration" not in still_open
    assert person.page.evaluate("document.querySelector('.ways').getAttribute('d').length") > 20

    reply = person.page.locator(".reply")
    person.until(lambda: reply.count() > 0, "a question")
    reply.last.click()
    person.until(lambda: person.page.inner_text("#routes") != first, "other beliefs")
    person.page.click("#answers button")
    person.until(lambda: person.page.locator("#answers .gone").count() == 1, "withdrawn")
    person.until(lambda: person.page.inner_text("#routes") == first, "the beliefs of before")

    person.page.click("#demos li >> nth=0 >> text=Withdraw")
    person.sees("#demos-title", "Demonstrations: 1")
    person.sees("#stage", "demonstrations have changed since")
    assert person.complaints == []

    with person.page.expect_download() as waiting:
        person.page.click("#downloads summary")
        person.page.click("text=all.zip")
    with zipfile.ZipFile(waiting.value.path()) as archive:
        archive.extractall(studio.folder.parent / "out")
    out = studio.folder.parent / "out" / name
    assert len(Demonstrations.load(out / "demos.jsonl", LabeledMDP.load(out / "world.map"))) == 1


def test_a_bad_file_is_told_of_and_nothing_is_lost(studio: Served, context: Any) -> None:
    person = Person(context, at(studio, project(studio, TINY, "bad")))
    person.sees("#where", "the start")
    person.press("ArrowRight")
    person.sees("#where", "after 1 step")
    drop = """([name, text]) => { const data = new DataTransfer();
        data.items.add(new File([text], name));
        dispatchEvent(new DragEvent("drop", {dataTransfer: data, cancelable: true})); }"""
    person.page.evaluate(drop, ["<b>bad<b>.jsonl", '{"states": [2, 9], "actions": [1]}\n'])
    person.sees("#notice", "<b>bad<b>.jsonl was not taken in; nothing else has changed.")
    person.sees("#notice", "state 9")
    assert person.page.locator("#notice b").count() == 0
    person.sees("#where", "after 1 step")
    person.page.evaluate(drop, ["good.jsonl", '{"states": [2, 3, 4], "actions": [1, 1]}\n'])
    person.sees("#demos-title", "Demonstrations: 1")
    person.sees("#where", "after 1 step")


def test_tabs_and_people_do_not_disturb_each_other(
    studio: Served, context: Any, browser: Any
) -> None:
    url = at(studio, project(studio, TINY, "tabs"))
    one = Person(context, url)
    one.sees("#where", "the start")
    one.press("ArrowLeft")
    one.sees("#where", "after 1 step")
    two = Person(context, url)  # a second tab of the same browser sees the same walk
    two.sees("#where", "At (1, 0) after 1 step")
    two.press("ArrowLeft")
    two.sees("#where", "At (0, 0) after 2 steps")
    one.sees("#where", "At (0, 0) after 2 steps")
    with browser.new_context() as other:
        three = Person(other, url)  # another person walks by themselves
        three.sees("#where", "At (2, 0), the start")
        three.press("ArrowRight")
        three.sees("#where", "At (3, 0) after 1 step")
        three.press("Enter")
        one.sees("#demos-title", "Demonstrations: 1")
        two.sees("#demos-title", "Demonstrations: 1")
    one.sees("#where", "At (0, 0) after 2 steps")
    one.page.reload()
    one.sees("#where", "At (0, 0) after 2 steps")


def test_closing_the_browser_loses_nothing(studio: Served, browser: Any) -> None:
    url = at(studio, project(studio, TINY, "closed"))
    with browser.new_context() as first:
        person = Person(first, url)
        person.sees("#where", "the start")
        person.press("ArrowRight")
        person.sees("#where", "after 1 step")
    with browser.new_context() as second:  # remembers nothing
        Person(second, url).sees("#where", "At (3, 0) after 1 step")


def test_after_a_kill_one_goes_on_where_one_was(context: Any, tmp_path: Path) -> None:
    folder, world = tmp_path / "kept", tmp_path / "tiny.map"
    world.write_text(TINY)
    with served(folder, str(world)) as before:
        person = Person(context, before.url)
        person.sees("#where", "the start")
        person.press("ArrowLeft", "ArrowLeft")
        person.sees("#where", "after 2 steps")
        before.kill()
        person.sees("#connection", "does not answer")
        with served(folder, str(world)) as after:
            assert after.url == before.url
            person.until(lambda: not person.page.inner_text("#connection"), "a connection")
            person.press("ArrowRight")
            person.sees("#where", "At (1, 0) after 3 steps. Read: a")


def test_a_map_is_drawn_by_keyboard_and_walked(studio: Served, context: Any) -> None:
    person = Person(context, f"http://{studio.host}/{studio.token}/")
    page = person.page
    page.click("#open-editor")
    page.fill("#map-name", "by hand")
    page.fill("#map-width", "3")
    page.fill("#map-height", "2")
    page.press("#map-height", "Tab")
    page.check('input[value="label"]')
    page.fill("#map-label", NASTY)
    page.focus("#canvas")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowUp")
    assert page.inner_text("#announce") == f"(1, 0): {NASTY}, wall above"
    page.click("#save-map")
    person.sees("#where", "At (0, 0), the start")
    person.press("ArrowRight")
    person.sees("#where", f"Read: {NASTY}")
    assert page.evaluate("[typeof window.pwned, document.images.length]") == ["undefined", 0]
    assert person.complaints == []
    assert LabeledMDP.load(studio.folder / "by hand" / "world.map").grid.walls == ((1, 0, "up"),)  # type: ignore[union-attr]


def test_a_world_without_a_grid_is_a_graph_of_places(studio: Served, context: Any) -> None:
    rows = "episode,state,action,label\n" + "".join(
        f"{e},hall,on,\n{e},kitchen,on,tea\n{e},den,,bed\n" for e in range(3)
    )
    studio.ask("api/upload?name=house.csv", rows.encode())
    person = Person(context, at(studio, "house"))
    person.sees("#where", "At hall, the start")
    person.press("1")
    person.sees("#where", "At kitchen after 1 step. Read: tea")
    assert person.complaints == []


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_nothing_scrolls_sideways(studio: Served, browser: Any, width: int) -> None:
    with browser.new_context(viewport={"width": width, "height": 800}) as context:
        person = Person(context, at(studio, "tiny"))
        person.sees("#where", "At")
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
        person.page.click("#open-start")
        person.page.click("#open-editor")
        assert person.page.evaluate("document.documentElement.scrollWidth") <= width
