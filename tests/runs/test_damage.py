from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whence
from runs import small
from whence.errors import FileError, WhenceError
from whence.runs import checkpoint, searching
from whence.runs.events import Event
from whence.runs.status import status_document


@pytest.fixture(scope="module")
def halfway(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run that was killed after 30 steps of 60."""
    folder = tmp_path_factory.mktemp("runs") / "halfway"

    def stop(event: Event) -> None:
        if event.step == 30:
            raise RuntimeError

    before = searching.EVENT_SECONDS
    searching.EVENT_SECONDS = 0.0
    with pytest.raises(RuntimeError):
        small.infer("tempering", folder=folder, checkpoint=0.0, on_event=stop)
    searching.EVENT_SECONDS = before
    return folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    small.infer("tempering", folder=folder)
    return folder


def _copy(folder: Path, tmp_path: Path) -> Path:
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    shutil.copytree(folder, tmp_path / "run")
    return tmp_path / "run"


def test_a_journal_cut_anywhere_does_not_matter(
    halfway: Path, whole: Path, tmp_path: Path
) -> None:
    length = (halfway / "journal.jsonl").stat().st_size
    assert length > 2_000
    ends = [length - short for short in (12, 7, 2, 1, 0)]
    for cut in [*range(0, length, 3_001), *ends]:  # benchmarks/journal_cuts.py makes every cut
        folder = _copy(halfway, tmp_path)
        with (folder / "journal.jsonl").open("r+b") as file:
            file.truncate(cut)
        assert status_document(folder)["status"] == "killed"
        whence.resume(folder)
        assert small.contents(folder) == small.contents(whole)
        lines = (folder / "journal.jsonl").read_bytes().splitlines()
        assert all(json.loads(line)["event"] for line in lines)


@pytest.mark.parametrize("name", ["checkpoint.npz", "steps/000003.npz", "manifest.json"])
def test_a_damaged_file_is_refused_or_harmless(
    halfway: Path, whole: Path, tmp_path: Path, name: str
) -> None:
    rng = np.random.default_rng(0)
    data = (halfway / name).read_bytes()
    refused = 0
    for number in range(40):
        folder = _copy(halfway, tmp_path)
        damaged = bytearray(data)
        if number % 2:
            damaged = damaged[: int(rng.integers(0, len(data)))]
        else:
            damaged[int(rng.integers(0, len(data)))] ^= int(rng.integers(1, 256))
        (folder / name).write_bytes(bytes(damaged))
        try:
            whence.resume(folder)
        except WhenceError as error:
            refused += str(folder) in str(error)
            assert (folder / name).read_bytes() == bytes(damaged)
        else:
            assert small.contents(folder) == small.contents(whole)
    assert refused >= 20


def test_numbers_out_of_range_are_refused(halfway: Path, tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "state.chains.machines.transitions": 2,
        "state.chains.machines.paid": -1,
        "state.best.machines.n_states": 9,
        "state.chains.experts.discount": 1,
        "state.replica": 3,
    }
    for name, value in changes.items():
        folder = _copy(halfway, tmp_path)
        with np.load(folder / checkpoint.NAME) as archive:
            fields = {key: archive[key] for key in archive.files}
        fields[name].flat[0] = value
        if name == "state.replica":
            fields[name][:] = value
        np.savez(folder / checkpoint.NAME, **fields)
        with pytest.raises(WhenceError, match="out of range"):
            whence.resume(folder)


def test_links_are_not_followed(halfway: Path, tmp_path: Path) -> None:
    for name in ("best.json", "checkpoint.npz", "journal.jsonl", "lock", "inputs/world-1.npz"):
        folder = _copy(halfway, tmp_path)
        outside = tmp_path / "precious"
        (folder / name).touch()  # some versions of the lock's library remove its file
        shutil.copy(folder / name, outside)
        before = outside.read_bytes()
        (folder / name).unlink()
        (folder / name).symlink_to(outside)
        with pytest.raises(WhenceError, match=name):
            whence.resume(folder)
        assert outside.read_bytes() == before


@pytest.mark.parametrize("name", ["manifest.json", "inputs/demos-1.npz", "steps/000003.npz"])
def test_a_missing_file_is_named(halfway: Path, tmp_path: Path, name: str) -> None:
    folder = _copy(halfway, tmp_path)
    (folder / name).unlink()
    with pytest.raises(WhenceError, match=Path(name).name):
        whence.resume(folder)


def test_a_run_without_a_checkpoint_begins_again(
    halfway: Path, whole: Path, tmp_path: Path
) -> None:
    folder = _copy(halfway, tmp_path)
    (folder / checkpoint.NAME).unlink()
    with pytest.raises(WhenceError, match="stopped as it began"):
        whence.load(folder)
    whence.resume(folder)
    assert small.contents(folder) == small.contents(whole)


def test_a_full_disk_loses_nothing(
    halfway: Path, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync
    for after in range(9):
        folder = _copy(halfway, tmp_path)
        left = [after]

        def full(handle: int, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(handle)

        with monkeypatch.context() as context:
            context.setattr(os, "fsync", full)
            with pytest.raises(FileError, match="no space left on device"):
                whence.resume(folder, checkpoint=0.0)
        assert not list(folder.rglob(".*"))
        whence.resume(folder)
        assert small.contents(folder) == small.contents(whole)


def test_a_journal_of_nonsense_is_not_shown(whole: Path, tmp_path: Path) -> None:
    folder = _copy(whole, tmp_path)
    good = status_document(folder)["last"]
    assert (good["event"], good["step"]) == ("finished", 60)
    nonsense = [
        b"", b"{}", b"[]", b'{"event": 1}', b'{"event": "progress"}', b"\xff", b"[" * 10_000,
    ]  # fmt: skip
    changes: list[dict[str, Any]] = [{"step": "many"}, {"swap_rates": 3}, {"round_trips": []}]
    nonsense += [json.dumps(good | change).encode() for change in changes]
    with (folder / "journal.jsonl").open("ab") as file:
        file.writelines(line + b"\n" for line in nonsense)
    assert status_document(folder)["last"] == good
