"""A format is a module of its own, and needs no mention anywhere else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import whence
from whence import RewardMachine
from whence import io as formats

PACKAGE = Path(whence.__file__).parent
RECIPE = Path(__file__).parents[2] / "docs" / "formats.md"
PROGRAM = """
import sys
from whence import RewardMachine
from whence.cli import main

task = RewardMachine.from_arrows(["a -x/1-> b"])
task.save("m.toy")
assert RewardMachine.load("m.toy") == task
assert open("m.toy").read().startswith("\\n}")
sys.exit(main(["export", "m.toy", "--to", "toy", "-o", "copy"]))
"""


def test_the_recipe_of_the_documentation_adds_a_format_with_one_file(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "whence", ignore=shutil.ignore_patterns("__pycache__"))
    _, _, recipe = RECIPE.read_text().partition("## Adding a format")
    source = recipe.split("```python\n")[1].split("```")[0]
    (tmp_path / "whence" / "io" / "machine_toy.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "copy.toy").read_text() == (tmp_path / "m.toy").read_text()


@pytest.mark.parametrize("kind", ["machine", "world", "demos"])
def test_no_two_formats_of_a_kind_share_an_ending(kind: str) -> None:
    endings = [end for ends in formats._endings(formats._formats(kind)).values() for end in ends]
    assert len(endings) >= 3
    assert len(set(endings)) == len(endings)
    assert not set(endings) & {".svg", ".png"}


def test_what_is_only_written_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("")
    with pytest.raises(whence.errors.FileError, match=r"m\.py: a machine file ends in one of"):
        RewardMachine.load(tmp_path / "m.py")


def test_finding_the_names_of_formats_imports_none() -> None:
    program = (
        "import sys, whence.io as f; before = set(sys.modules); names = f.machine_formats(); "
        "assert 'dot' in names and 'svg' in names; "
        "assert not [m for m in set(sys.modules) - before if m.startswith('whence.io.')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
