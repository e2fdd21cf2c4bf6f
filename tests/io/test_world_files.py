from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

import whence
from support.problems import random_world
from whence import LabeledMDP
from whence.errors import FileError, FormatError
from whence.paper.worlds import BUILT_IN


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.filterwarnings("ignore::whence.WhenceWarning")
def test_worlds_read_back_what_they_write(tmp_path: Path, seed: int, ending: str) -> None:
    rng = np.random.default_rng(seed)
    mdp = random_world(rng, states=7, actions=3, symbols=seed % 4, successors=3)
    mdp.save(tmp_path / f"w{ending}")
    assert LabeledMDP.load(tmp_path / f"w{ending}") == mdp


@pytest.mark.parametrize("ending", [".json", ".npz", ".map"])
@pytest.mark.parametrize("name", BUILT_IN)
def test_grids_survive_every_format(tmp_path: Path, name: str, ending: str) -> None:
    mdp = BUILT_IN[name](None).mdp
    mdp.save(tmp_path / f"w{ending}")
    assert LabeledMDP.load(tmp_path / f"w{ending}") == mdp


def test_names_survive(tmp_path: Path) -> None:
    mdp = LabeledMDP.from_dense([[[1.0]]], labels=["é"], names=['a"b\\'], actions=["go\n"])
    for ending in (".json", ".npz"):
        mdp.save(tmp_path / f"w{ending}")
        assert LabeledMDP.load(tmp_path / f"w{ending}") == mdp


def test_the_json_document_is_the_documented_one(tmp_path: Path) -> None:
    whence.worlds.coffee().mdp.save(tmp_path / "c.json")
    document = msgspec.json.decode((tmp_path / "c.json").read_bytes())
    assert document["format"] == "whence/mdp/1"
    assert document["states"] == 108
    assert document["actions"] == ["up", "right", "down", "left"]
    assert document["alphabet"] == ["c", "o", "*"]
    assert document["initial"] == 46
    assert document["labels"].count(None) == 108 - 9
    assert sum(p for s, a, _, p in document["transitions"] if (s, a) == (5, 2)) == pytest.approx(1)


def test_npz_labels_may_be_strings(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "w.npz",
        format="whence/mdp/1",
        states=2,
        actions=["go"],
        alphabet=["a"],
        initial=0,
        labels=["", "a"],
        transitions=[[0, 0, 1, 1], [1, 0, 0, 1]],
    )
    assert LabeledMDP.load(tmp_path / "w.npz").labels.tolist() == [-1, 0]


GOOD: dict[str, object] = {
    "format": "whence/mdp/1",
    "states": 2,
    "actions": ["go"],
    "alphabet": ["a"],
    "initial": 0,
    "labels": [None, "a"],
    "transitions": [[0, 0, 1, 1.0], [1, 0, 0, 1.0]],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "whence/machine/1"}, "this file must say 'whence/mdp/1'"),
        ({"format": 3}, "Expected `str`"),
        ({"states": 3}, "labels for 3 states"),
        ({"states": "two"}, r"Expected `int`, got `str` - at `\$.states`"),
        ({"labels": [None, "b"]}, "state 1: label 'b'"),
        ({"initial": 7}, "initial state 7"),
        ({"transitions": [[0, 0, 1, 1.0], [1, 0, 0]]}, r"transitions\[1\]"),
        ({"transitions": [[0, 0, 1, 1.0]]}, "state 1, action 0"),
        ({"colour": "red"}, "unknown field `colour`; known are format, states"),
        ({"grid": {"width": 1, "height": 1, "cells": [[0, 0]]}}, "places 1 states of 2"),
        ({"grid": {"width": 1, "height": 2, "cells": [[0, 0], [0, 5]]}}, "outside"),
        ({"grid": {"width": 1, "height": 2, "cells": [[0, 0], [0, 0]]}}, "share a cell"),
    ],
)
def test_bad_documents_name_file_and_culprit(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(msgspec.json.encode(GOOD | change))
    with pytest.raises(FormatError, match=message) as caught:
        LabeledMDP.load(path)
    assert str(caught.value).startswith(str(path))


def test_bad_syntax_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"format": "whence/mdp/1",\n"states": ,}')
    with pytest.raises(FormatError, match="line 2"):
        LabeledMDP.load(path)
    path.write_text('{"format": "whence')
    with pytest.raises(FormatError, match="not valid JSON"):
        LabeledMDP.load(path)


def test_bad_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    path.write_bytes(b"no archive")
    with pytest.raises(FormatError, match="not an npz file"):
        LabeledMDP.load(path)
    np.savez(path, format="whence/mdp/1", states=1)
    with pytest.raises(FormatError, match="no array 'actions'"):
        LabeledMDP.load(path)
    np.savez(path, format=np.array([{}], dtype=object))
    with pytest.raises(FormatError, match="not an npz file of plain arrays"):
        LabeledMDP.load(path)


def test_missing_files_endings_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        LabeledMDP.load(tmp_path / "none.json")
    with pytest.raises(FileError, match=r"ends in one of \.json, \.map, \.npz"):
        LabeledMDP.load(tmp_path / "w.yaml")
    with pytest.raises(FileError, match="cannot be written"):
        whence.worlds.coffee().mdp.save(tmp_path / "none" / "w.json")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "w.map"
    path.write_text("mine")
    with pytest.raises(whence.WhenceError):
        LabeledMDP.from_dense([[[1.0]]], labels=[None]).save(path)
    assert path.read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["w.map"]


def test_text_that_is_no_utf8_and_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_bytes(b"\xef\xbb\xbf" + msgspec.json.encode(GOOD))
    assert LabeledMDP.load(path).n_states == 2
    path.write_bytes(msgspec.json.encode(GOOD).replace(b"go", b"g\xff"))
    with pytest.raises(FormatError, match="0xff is not UTF-8"):
        LabeledMDP.load(path)


NO_WALLS = np.zeros((0, 3), dtype=np.int64)


def _arrays(**changes: object) -> dict[str, object]:
    return {
        "format": "whence/mdp/1",
        "states": 2,
        "actions": ["go"],
        "alphabet": ["a"],
        "initial": 0,
        "labels": [-1, 0],
        "transitions": [[0.0, 0, 1, 1], [1, 0, 0, 1]],
    } | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"transitions": np.array([[0, 0, 1, 1], [1, 0, 0, 1]]) * 1j}, "not numbers"),
        ({"labels": [0.5, 0.5]}, r"labels must be int\[S\]"),
        ({"states": 2.0}, "states must be one whole number"),
        ({"actions": [1]}, "actions must be a flat array of strings"),
        ({"initial": [0, 1]}, "initial must be a state, or rows"),
        ({"grid_cells": [[0, 0], [1, 0]]}, "grid_size must be"),
        (
            {"grid_size": [2, 1], "grid_cells": [[0, 0], [2**32 + 1, 0]], "grid_walls": NO_WALLS},
            "outside of 2 by 1",
        ),
        (
            {"grid_size": [10**9, 10**9], "grid_cells": [[0, 0], [1, 0]], "grid_walls": NO_WALLS},
            "are the most",
        ),
    ],
)
def test_bad_arrays_are_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    np.savez(tmp_path / "w.npz", **_arrays(**changes))  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=message):
        LabeledMDP.load(tmp_path / "w.npz")


def test_a_single_array_is_no_archive(tmp_path: Path) -> None:
    with (tmp_path / "w.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(FormatError, match="one array, not an archive"):
        LabeledMDP.load(tmp_path / "w.npz")


def test_damaged_archives_are_refused_or_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", **_arrays())  # type: ignore[arg-type]
    whole = (tmp_path / "w.npz").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for position in rng.integers(0, len(whole), size=3):
            damaged[position] = int(rng.integers(256))
        (tmp_path / "w.npz").write_bytes(bytes(damaged))
        try:
            LabeledMDP.load(tmp_path / "w.npz")
        except whence.WhenceError:
            refused += 1
    assert refused > 100


def test_links_are_followed_and_read_only_files_kept(tmp_path: Path) -> None:
    mdp = LabeledMDP.from_dense([[[1.0]]], labels=[None])
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    mdp.save(link)
    assert link.is_symlink()
    assert LabeledMDP.load(target) == mdp
