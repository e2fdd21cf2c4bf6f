from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from whence.errors import FileError
from whence.runs import lock

HOLD = """
import sys
from pathlib import Path
from whence.runs import lock
with lock.held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def _files(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_a_run_is_held_once_and_free_again(tmp_path: Path) -> None:
    assert lock.holder(tmp_path) is None
    with lock.held(tmp_path):
        assert lock.holder(tmp_path) == os.getpid()
        for _ in range(2):  # whoever was refused did not spoil what the next one reads
            with (
                pytest.raises(FileError, match=f"process {os.getpid()} is working on this run"),
                lock.held(tmp_path),
            ):
                raise AssertionError
    assert lock.holder(tmp_path) is None
    with lock.held(tmp_path):
        assert lock.holder(tmp_path) == os.getpid()


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    assert lock.holder(tmp_path) == process.pid
    with (
        pytest.raises(FileError, match=f"process {process.pid} is .*; wait for it, or stop it"),
        lock.held(tmp_path),
    ):
        raise AssertionError
    process.kill()
    process.communicate()
    assert lock.holder(tmp_path) is None
    with lock.held(tmp_path):
        assert lock.holder(tmp_path) == os.getpid()


def test_asking_who_holds_a_run_touches_nothing(tmp_path: Path) -> None:
    assert lock.holder(tmp_path) is None
    assert not list(tmp_path.iterdir())
    with lock.held(tmp_path):
        before = _files(tmp_path)
        assert lock.holder(tmp_path) == os.getpid()
        assert _files(tmp_path) == before


@pytest.mark.parametrize("name", [lock.NAME, lock.HOLDER])
def test_a_link_in_place_of_either_file_is_refused(name: str, tmp_path: Path) -> None:
    run, outside = tmp_path / "run", tmp_path / "outside"
    run.mkdir()
    outside.write_text("precious")
    (run / name).symlink_to(outside)
    with pytest.raises(FileError, match=f"{name}: a link"), lock.held(run):
        raise AssertionError
    assert lock.holder(run) is None
    assert outside.read_text() == "precious"
    (run / name).unlink()
    with lock.held(run):  # the refusal let go of the lock
        assert lock.holder(run) == os.getpid()


def test_a_lock_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / lock.NAME).mkdir()
    with (
        pytest.raises(FileError, match=r"lock: cannot be locked: .*may write"),
        lock.held(tmp_path),
    ):
        raise AssertionError


@pytest.mark.skipif(sys.platform == "win32", reason="replaces a call that Windows does not have")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK])
def test_a_file_system_without_locks_is_refused(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.flock", refuse)
    for _ in range(2):  # and no file whose mere existence would lock the run
        with (
            pytest.raises(FileError, match=r"cannot be locked: .* a file system that knows locks"),
            lock.held(tmp_path),
        ):
            raise AssertionError
