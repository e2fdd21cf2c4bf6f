"""The same seed, other versions of Python: is the result the same, bit for bit?

python benchmarks/versions.py PYTHON [PYTHON ...]

Each PYTHON is an interpreter with whence installed, such as .venv-3.12/bin/python.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "tests" / "support" / "repeated.py"
ASK = (
    "import sys, numpy, numba; print(sys.version.split()[0], numpy.__version__, numba.__version__)"
)


def main() -> None:
    """Print what each prints, and fail where two differ."""
    found: dict[str, str] = {}
    for python in [sys.executable, *sys.argv[1:]]:
        about = subprocess.check_output([python, "-c", ASK], text=True).split()
        name = f"Python {about[0]}, NumPy {about[1]}, numba {about[2]}"
        found[name] = subprocess.check_output([python, str(PROGRAM), "2"], text=True)
        print(f"{name}\n{found[name]}", flush=True)
    same = len(set(found.values())) == 1
    print(f"{len(found)} versions, {'all the same' if same else 'DIFFERENT'}")
    sys.exit(not same)


if __name__ == "__main__":
    main()
