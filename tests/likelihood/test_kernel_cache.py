from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whence

PROGRAM = """
import whence
world = whence.worlds.coffee()
demos = whence.simulate(world.mdp, world.task, world.expert, episodes=3, length=20, seed=0)
posterior = whence.Posterior(world.mdp, demos, expert=world.expert)
print(whence.__file__)
print(posterior.log_likelihood(world.task.transitions[None], world.task.rewards[None])[0])
"""


@pytest.mark.slow
def test_scoring_works_where_no_folder_can_be_written(tmp_path: Path) -> None:
    """A file in the place of each folder keeps even a superuser from making it."""
    package = tmp_path / "site" / "whence"
    shutil.copytree(
        Path(whence.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for inner in (package, *(p for p in package.rglob("*") if p.is_dir())):
        (inner / "__pycache__").write_text("")
    blocked = tmp_path / "file"
    blocked.write_text("")
    before = sorted(tmp_path.rglob("*"))
    places = ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "LOCALAPPDATA")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ
        | {name: str(blocked / "below") for name in places}
        | {"PYTHONPATH": str(tmp_path / "site")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    where, value = done.stdout.splitlines()
    assert Path(where).is_relative_to(package)
    assert sorted(tmp_path.rglob("*")) == before
    assert float(value) == _score()


def _score() -> float:
    world = whence.worlds.coffee()
    demos = whence.simulate(world.mdp, world.task, world.expert, episodes=3, length=20, seed=0)
    posterior = whence.Posterior(world.mdp, demos, expert=world.expert)
    found = posterior.log_likelihood(world.task.transitions[None], world.task.rewards[None])
    return float(found[0])
