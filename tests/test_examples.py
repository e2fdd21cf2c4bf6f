from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
SAID = {
    "log_alone.py": "the expert's task, in the true world: True\nat (10, 3), with empty hands: "
}

SHORT = """
import runpy, sys
from whence.analysis import roughness
roughness.STEPS = roughness.FIRST  # of sampling dynamics, for examples that need not end well
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
ROUGH = {"rat.py"}


@pytest.mark.parametrize("script", EXAMPLES, ids=[p.name for p in EXAMPLES])
def test_examples_run(script: Path, tmp_path: Path) -> None:
    short = ["-c", SHORT] if script.name in ROUGH else []
    command = [sys.executable, "-W", "error", *short, str(script)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert SAID.get(script.name, "") in result.stdout
