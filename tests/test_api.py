from __future__ import annotations

import subprocess
import sys

import pytest

import whence


def test_all_is_sorted_complete_and_importable() -> None:
    assert whence.__all__ == sorted(whence.__all__)
    for name in whence.__all__:
        assert getattr(whence, name) is not None


def test_import_and_help_load_neither_numba_nor_optional_packages() -> None:
    code = (
        "import sys, whence, whence.cli\n"
        "try: whence.cli.run(['--help'])\n"
        "except SystemExit: pass\n"
        "extras = {'arviz', 'minari', 'gymnasium', 'pandas', 'polars', 'pyarrow'}\n"
        "extras |= {'resvg_py', 'scipy', 'starlette', 'uvicorn', 'xarray'}\n"
        "print(sorted(({'numba', 'rich'} | extras) & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "[]", result.stdout + result.stderr


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("OddEpisode", "Outlier"),
        ("Telling", "OpenQuestion"),
        ("odd_episodes", "outliers"),
        ("telling_sequences", "open_questions"),
    ],
)
def test_old_names_still_work_and_name_the_new_ones(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"whence.{old} is whence.{new} now"):
        assert getattr(whence, old) is getattr(whence, new)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = whence.nonsense
