"""The source of the kernels, run by Python instead of a compiler, gives the same answers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import whence

HERE = Path(__file__).parent
PLACES = (HERE, HERE.parent, Path(whence.__file__).parents[1])


@pytest.mark.slow
@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="NumPy 1 makes a float of an unsigned and a Python integer; compiled code does not",
)
def test_the_kernels_are_right_without_their_compiler() -> None:
    done = subprocess.run(
        [sys.executable, str(HERE / "kernels_program.py")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(str(place) for place in PLACES)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "67 problems agree\n"
