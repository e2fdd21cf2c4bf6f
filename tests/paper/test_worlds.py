"""The built-in worlds under the name that users know them by."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources

import pytest

import whence
import whence.worlds
from whence.paper import worlds


def test_the_public_name_leads_to_the_worlds_of_the_paper() -> None:
    assert set(whence.worlds.__all__) == {
        "BUILT_IN", "World", "coffee", "map_text", "multi_coffee", "recharge",
    }  # fmt: skip
    for name in whence.worlds.__all__:
        assert getattr(whence.worlds, name) is getattr(worlds, name)


@pytest.mark.parametrize(
    "lines",
    [
        "import whence; make = whence.worlds.coffee",
        "import whence.worlds; make = whence.worlds.coffee",
        "import whence.worlds as worlds; make = worlds.coffee",
        "from whence import worlds; make = worlds.coffee",
        "from whence.worlds import coffee as make",
    ],
)
def test_a_new_process_can_import_them_in_every_way(lines: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{lines}; print(make().mdp.n_states)"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout.strip(), done.stderr) == ("108", "")


@pytest.mark.parametrize("name", list(worlds.BUILT_IN))
def test_each_world_is_drawn_from_a_map_that_comes_with_the_package(name: str) -> None:
    drawn = resources.files("whence.paper") / "maps" / f"{name}.map"
    assert worlds.map_text(name) == drawn.read_text(encoding="utf-8")
    assert whence.LabeledMDP.from_map(worlds.map_text(name), source=name) == (
        worlds.BUILT_IN[name](None).mdp
    )
