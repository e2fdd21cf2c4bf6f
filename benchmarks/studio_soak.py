"""Does the studio stay quick, small and itself? Long use by a script, attacks, and latency.

python benchmarks/studio_soak.py [--minutes 60] [--round 3] \
    [--part use|attacks|latency|answers|story|pictures]

`use` walks, takes back, records, withdraws, brings files, infers, answers and takes answers back
for so long, a round every three seconds, and records the resident memory of the studio and of its
worker twenty times; it fails where that of the last three lies more than five percent above that
of the third to the fifth. `attacks` opens 1,000 connections that say nothing,
then offers 10,000 requests a second for ten seconds, then a gigabyte. `latency` measures, in a
browser, a key press to the drawn step on coffee and on 50 by 50 cells, `answers` how long an
answer takes to change the facts on coffee and on multi coffee. `story` gives the studio
demonstrations of coffee from (2, 1), walks one more from where it asks for one, and says what is
believed of what `o` pays before and after. `pictures` makes those of the
documentation, in docs/images.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

import whence
from support.browser import find
from support.studio import Served, served

ROOT = Path(__file__).parents[1]
TINY = "labels: a b\nstarts: S\n\nmap:\na.S.b\n"
ROOMS = """slip: 0.1
labels: c=coffee o=office *=plant
starts: S

map:
+---+---+
|S..|..o|
|... .*.|
|..c|...|
+---+---+
"""
ALLOWED = 1.05
DRAWN = """(key) => new Promise((done) => {
  const began = performance.now();
  const seen = new MutationObserver(() => {
    seen.disconnect();
    requestAnimationFrame(() => done(performance.now() - began));
  });
  seen.observe(document.getElementById("where"), {childList: true, subtree: true});
  document.getElementById("map").dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
})"""


def resident(process: int) -> float:
    """Return the resident memory of a process in MiB; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    path = Path(f"/proc/{process}/task/{process}/children")
    return [int(number) for number in path.read_text().split()]


@contextmanager
def page(url: str, **viewport: Any) -> Iterator[Any]:
    """Open a page of the studio in a browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox"])
        size = {"width": 1280, "height": 800} | viewport
        found = browser.new_page(viewport=size)
        found.set_default_timeout(600_000)
        found.goto(url)
        found.wait_for_selector("#where code")
        yield found
        browser.close()


def until(true: Any, seconds: float = 600.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise SystemExit("it did not happen")
        time.sleep(0.05)


def once(studio: Served, number: int) -> None:
    """Use everything once."""
    who = f"person{number % 7:02d}"
    walk = studio.ask(f"api/project/tiny?who={who}")[1]["walk"]
    for at in range(20):
        change = {"do": "undo"} if at % 5 == 4 else {"do": "step", "action": (at + number) % 4}
        asked = {"who": who, "revision": walk["revision"], **change}
        walk = studio.ask("api/project/tiny/walk", asked)[1]["walk"]
    studio.ask("api/project/tiny/walk", {"who": who, "revision": walk["revision"], "do": "record"})
    studio.ask("api/upload?name=bad.map", b"nonsense")
    studio.ask("api/project/tiny/file/all.zip")
    listed = studio.ask(f"api/project/tiny?who={who}")[1]["demos"]["listed"]
    for demo in listed[:-3]:
        gone = {"do": "withdraw", "index": 0, "digest": demo["digest"]}
        studio.ask("api/project/tiny/demos", gone)


def answered(studio: Served, number: int) -> None:
    """Infer, answer the first question that there is, or take the last answer back."""
    found = studio.ask("api/project/tiny/belief")[1]["belief"] or {}
    standing = [each for each in found.get("answers", []) if not each["withdrawn"]]
    finite = [each for each in found.get("questions") or [] if each["answers"]]
    if standing and number % 2:
        studio.ask("api/project/tiny/ask", {"do": "withdraw", "id": standing[-1]["id"]})
    elif finite:
        first = {"do": "answer", "id": finite[0]["id"], "value": finite[0]["answers"][0]}
        studio.ask("api/project/tiny/ask", first)
    if number % 3 == 0:
        studio.ask("api/project/tiny/infer", {"do": "start"})


def use(studio: Served, minutes: float, pace: float) -> bool:
    """Use the studio for so long; returns whether memory stayed where it was."""
    settings = {"least": 2, "most": 2, "rewards": [0, 1], "minutes": 1, "auto": False}
    studio.ask("api/project/tiny/infer", {"do": "settings", "settings": settings})
    began, sizes = time.monotonic(), []
    for number in itertools.count():
        once(studio, number)
        if number % 10 == 0:
            answered(studio, number // 10)
        time.sleep(max(0.0, began + pace * (number + 1) - time.monotonic()))
        passed = (time.monotonic() - began) / 60
        if passed > len(sizes) * minutes / 20:
            worker = max((resident(each) for each in children(studio.process.pid)), default=0.0)
            sizes.append((resident(studio.process.pid), worker))
            kept = sum(1 for _ in (studio.folder / "tiny" / "runs").glob("*"))
            print(
                f"{passed:6.1f} min  {number + 1:6d} rounds  studio {sizes[-1][0]:.1f} MiB  "
                f"worker {worker:.1f} MiB  {kept} runs",
                flush=True,
            )
        if passed > minutes:
            break
    good = True
    for name, column in zip(("studio", "worker"), zip(*sizes, strict=True), strict=True):
        early, late = statistics.median(column[2:5]), statistics.median(column[-3:])
        print(f"{name}: {early:.1f} MiB at first, {late:.1f} MiB at the end")
        good = good and late <= ALLOWED * early
    return good


def attacks(studio: Served) -> bool:
    """Attack the studio; returns whether it answers quickly afterwards."""
    port = int(studio.host.partition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
    print(f"1,000 silent connections: an answer in {answer(studio):.0f} ms")
    for each in silent:
        each.close()
    flooded: list[Flood] = []
    thread = threading.Thread(target=lambda: flooded.append(asyncio.run(flood(studio.host))))
    thread.start()
    slow = [answer(studio) for _ in range(10)]
    thread.join()
    print(f"a flood: {flooded[0]}; meanwhile answers in {max(slow):.0f} ms at most")
    with socket.create_connection(("127.0.0.1", port)) as sent:
        head = f"POST /{studio.token}/api/upload?name=a.map HTTP/1.1\r\nHost: {studio.host}\r\n"
        sent.sendall(f"{head}Content-Length: {1 << 30}\r\n\r\n".encode())
        print("a gigabyte:", sent.recv(100).split(b"\r\n")[0].decode())
    size = resident(studio.process.pid)
    print(f"afterwards: an answer in {answer(studio):.0f} ms, {size:.1f} MiB resident")
    return studio.ask("api/studio")[0] == 200


class Flood(NamedTuple):
    """Requests of a flood: offered, taken by the machine's network, and answered."""

    seconds: float
    offered: int
    taken: int
    answered: int


async def flood(host: str, seconds: float = 10.0, rate: int = 10_000, lines: int = 50) -> Flood:
    """Offer so many requests a second without waiting for answers, over some connections.

    What a connection does not take, because the studio has not read what came before, is offered
    and not sent.
    """
    name, port = host.split(":")
    request = f"GET /no/token HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    beat, began = 0.05, time.monotonic()
    share = max(1, round(rate * beat / lines))
    counts = Counter[str]()

    async def line() -> None:
        reader, writer = await asyncio.open_connection(name, int(port))
        listening = asyncio.create_task(count_answers(reader, counts))
        for number in range(round(seconds / beat)):
            counts["offered"] += share
            if writer.transport.get_write_buffer_size() == 0 and not writer.is_closing():
                counts["taken"] += share
                writer.write(request * share)
            await asyncio.sleep(max(0.0, began + beat * (number + 1) - time.monotonic()))
        await asyncio.sleep(0.5)
        writer.close()
        listening.cancel()

    await asyncio.gather(*(line() for _ in range(lines)))
    passed = time.monotonic() - began
    return Flood(round(passed, 1), counts["offered"], counts["taken"], counts["answered"])


async def count_answers(reader: asyncio.StreamReader, counts: Counter[str]) -> None:
    """Count the answers that come."""
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(1 << 16):
            counts["answered"] += part.count(b"HTTP/1.1 ")


def answer(studio: Served) -> float:
    """Return how long an answer takes, in milliseconds."""
    began = time.perf_counter()
    assert studio.ask("api/studio")[0] == 200
    return 1000 * (time.perf_counter() - began)


def large() -> str:
    """Return a map of 50 by 50 cells."""
    rng = np.random.default_rng(0)
    marks = rng.choice(list(".#abcd"), p=[0.9, 0.06, 0.01, 0.01, 0.01, 0.01], size=(50, 50))
    marks[0, 0] = "S"
    rows = "\n".join("".join(row) for row in marks)
    return f"slip: 0.1\nlabels: a b c d\nstarts: S\n\nmap:\n{rows}\n"


def latency(studio: Served) -> bool:
    """Measure a key press to the drawn step; returns whether the median is below 50 ms."""
    studio.ask("api/upload?name=large.map", large().encode())
    studio.ask("api/new", {"world": "coffee"})
    good = True
    for name in ("tiny", "coffee", "large"):
        with page(f"http://{studio.host}/{studio.token}/#{name}") as opened:
            keys = ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp"] * 25
            times = sorted(opened.evaluate(DRAWN, key) for key in keys)
        middle = statistics.median(times)
        print(f"{name}: median {middle:.1f} ms, nine in ten below {times[89]:.1f} ms")
        good = good and middle < 50
    return good


def answers(studio: Served) -> bool:
    """Measure an answer to the changed facts; returns whether every one takes less than 1 s."""
    good = True
    for name, world, states in (
        ("coffee", whence.worlds.coffee((2, 1)), 3),
        ("multi", whence.worlds.multi_coffee(), 4),
    ):
        times = answering(studio, f"asked-{name}", world, states)
        print(f"{name}: answers change the facts in {', '.join(f'{t:.2f}' for t in times)} s")
        good = good and bool(times) and max(times) < 1
    return good


def answering(studio: Served, name: str, world: Any, states: int) -> list[float]:
    """Return how long answers take until what is believed has changed, in seconds."""
    given(studio, name, world, {"least": states, "most": states, "minutes": 0.4}, 6)
    times = []
    for number in range(3):
        until(lambda: (belief(studio, name) or {}).get("questions") is not None)
        finite = [each for each in belief(studio, name)["questions"] if each["answers"]]
        if not finite:
            break
        chosen = {"do": "answer", "id": finite[0]["id"], "value": finite[0]["answers"][0]}
        began = time.perf_counter()
        studio.ask(f"api/project/{name}/ask", chosen)
        until(lambda count=number + 1: len(belief(studio, name)["answers"]) == count)
        times.append(time.perf_counter() - began)
    return times


def given(studio: Served, name: str, world: Any, settings: dict[str, Any], episodes: int) -> None:
    """Bring a world and demonstrations to the studio, which infers at once."""
    demos = whence.simulate(
        world.mdp, world.task, world.expert, episodes=episodes, length=40, seed=0
    )
    for ending, write in (("map", world.mdp.save), ("jsonl", demos.save)):
        write(studio.folder.parent / f"{name}.{ending}")
    data = (studio.folder.parent / f"{name}.map").read_bytes()
    studio.ask(f"api/upload?name={name}.map", data)
    every = {"rewards": list(world.rewards), "auto": True} | settings
    studio.ask(f"api/project/{name}/infer", {"do": "settings", "settings": every})
    lines = (studio.folder.parent / f"{name}.jsonl").read_bytes()
    studio.ask(f"api/upload?name={name}.jsonl&project={name}", lines)


def story(studio: Served) -> bool:
    """Walk one demonstration from where the studio says; returns whether it settles `o`."""
    world = whence.worlds.coffee((2, 1))
    given(studio, "story", world, {"least": 3, "most": 3, "minutes": 9}, 8)
    with page(f"http://{studio.host}/{studio.token}/#story") as opened:
        until(lambda: opened.inner_text("#stage").startswith("Inferred"))
        until(lambda: belief(studio)["questions"] is not None)
        before = belief(studio)
        print("before:", before["answer"], paid(studio, before))
        (asked,) = [each for each in before["questions"] if each["kind"] == "demonstration"]
        print(f"asked for: {asked['text']} {asked['gain']:.3f} nats, error {asked['error']:.3f}")
        told = [each for each in before["open"] if each["labels"] == ["o"]]
        print("would tell what `o` pays:", [each["start_name"] for each in told])
        walk_there(studio, opened, world, asked["state"])
        until(lambda: opened.inner_text("#stage").startswith("Inferred from 9 "))
        after = belief(studio)
    pays = paid(studio, after)
    print("after:", after["answer"], pays)
    return pays.get(0.0, 0.0) > 0.95


def paid(studio: Served, found: dict[str, Any]) -> dict[float, float]:
    """Return what `o` pays at the beginning, with probabilities; the truth is 0."""
    run = whence.load(studio.folder / "story" / "runs" / str(found["run"]))
    assert run.posterior is not None
    return dict(run.posterior.pays("o"))


def belief(studio: Served, name: str = "story") -> dict[str, Any]:
    """Return what the studio believes, of the story or of another project."""
    found: dict[str, Any] = studio.ask(f"api/project/{name}/belief")[1]["belief"]
    return found


def walk_there(studio: Served, opened: Any, world: Any, start: int) -> None:
    """Walk as the true expert would from a place, by keys, and record it."""
    policy = whence.plan(world.mdp, world.task, 0.92)
    names = {"up": "ArrowUp", "right": "ArrowRight", "down": "ArrowDown", "left": "ArrowLeft"}
    script = """async ([state]) => { const api = await import("./page/api.js");
      const who = localStorage.getItem("whence-who-story");
      const { walk } = await api.project("story", who);
      await api.walk("story", { who, revision: walk.revision, do: "begin", state }); }"""
    opened.evaluate(script, [start])
    opened.reload()
    opened.wait_for_selector("#where code")
    for _ in range(60):
        who = opened.evaluate("localStorage.getItem('whence-who-story')")
        walk = studio.ask(f"api/project/story?who={who}")[1]["walk"]
        memory = 0
        for symbol in walk["read"]:
            memory = world.task.transitions[memory][world.task.alphabet.index(symbol)]
        if memory == world.task.n_states - 1:
            break
        action = world.mdp.actions[int(policy.actions[memory, walk["states"][-1]])]
        opened.evaluate(DRAWN, names[action])
    print("walked:", opened.inner_text("#where"))
    opened.check("#ended")
    opened.focus("#map")
    opened.keyboard.press("Enter")


def pictures(studio: Served) -> bool:
    """Make the pictures of the documentation."""
    images = ROOT / "docs" / "images"
    studio.ask("api/upload?name=rooms.map", ROOMS.encode())
    with page(f"http://{studio.host}/{studio.token}/#rooms") as opened:
        for number in range(3):
            go(opened, 2)
            go(opened, 17)
            if number == 0:
                opened.screenshot(path=images / "studio-walk.png")
            opened.focus("#map")
            opened.keyboard.press("Enter")
            until(lambda count=number + 1: f": {count}" in opened.inner_text("#demos-title"))
        until(lambda: opened.inner_text("#stage").startswith("Inferred from 3 "))
        until(lambda: "Thinking" not in opened.inner_text("#question"))
        opened.screenshot(path=images / "studio-belief.png")
        opened.click("#open-start")
        opened.click("#edit-this")
        opened.screenshot(path=images / "studio-draw.png")
        opened.click("#leave-editor")
        opened.screenshot(path=images / "studio-light.png")
        opened.emulate_media(color_scheme="dark")
        opened.screenshot(path=images / "studio-dark.png")
        opened.set_viewport_size({"width": 400, "height": 800})
        opened.screenshot(path=images / "studio-phone.png", full_page=True)
    return True


def go(opened: Any, state: int) -> None:
    """Walk to a place, as a click would, until it is reached."""
    there = f"({state % 6}, {state // 6})"
    for _ in range(60):
        if f"At {there}" in opened.inner_text("#where"):
            return
        script = """async (state) => {
          const api = await import("./page/api.js");
          const who = localStorage.getItem("whence-who-rooms");
          const { walk } = await api.project("rooms", who);
          await api.walk("rooms", { who, revision: walk.revision, do: "toward", state }); }"""
        opened.evaluate(script, state)
        time.sleep(0.3)


PARTS = {
    "use": use, "attacks": attacks, "latency": latency, "answers": answers, "story": story,
    "pictures": pictures,
}  # fmt: skip


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--round", type=float, default=3.0, help="seconds")
    parser.add_argument("--part", choices=PARTS, default="use")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        world = Path(folder) / "tiny.map"
        world.write_text(TINY)
        with served(Path(folder) / "studio", str(world)) as studio:
            part: Any = PARTS[asked.part]
            more = (asked.minutes, asked.round) if asked.part == "use" else ()
            good = part(studio, *more)
    print(json.dumps({"part": asked.part, "good": good}))
    sys.exit(not good)


if __name__ == "__main__":
    main()
