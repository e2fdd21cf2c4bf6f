"""Every reader takes its input or refuses it by name, in little time and little memory."""

from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whence
from support.readers import READERS, header, npy, read
from whence.errors import DemonstrationsError, FileError, FormatError, MachineError, WorldError
from whence.io import demos_jsonl, demos_npz, machine_json, world_json, world_npz
from whence.io import world_map as drawing
from whence.model.grid import Grid

CORPUS = Path(__file__).parents[1] / "corpus"
BASE, TIMES = 2**26, 200  # a reader holds no more than BASE bytes and TIMES the input's size
WORLD: dict[str, Any] = {
    "format": "whence/mdp/1", "states": 2, "actions": ["go"], "alphabet": ["a"], "initial": 0,
    "labels": [None, "a"], "transitions": [[0, 0, 1, 1.0], [1, 0, 0, 1.0]],
}  # fmt: skip
MACHINE: dict[str, Any] = {
    "format": "whence/machine/1", "alphabet": ["a"], "transitions": [[0]], "rewards": [[1]],
}  # fmt: skip
EMPTY = {
    "format": npy(np.array("whence/demos/1")), "states": npy(np.zeros(0, int)),
    "state_offsets": npy(np.zeros(1, int)), "actions": npy(np.zeros(0, int)),
    "action_offsets": npy(np.zeros(1, int)),
}  # fmt: skip


def world(**changes: object) -> bytes:
    return json.dumps(WORLD | changes).encode()


def machine(**changes: object) -> str:
    return json.dumps(MACHINE | changes)


def archive(members: Mapping[str, bytes], packed: bool = False) -> bytes:
    buffer = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", kind) as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "path", sorted(CORPUS.glob("*/*")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_what_was_once_found_stays_mended(path: Path) -> None:
    read(path.parent.name, path.read_bytes())


def test_every_reader_has_seeds() -> None:
    assert {path.name for path in CORPUS.iterdir()} == set(READERS)


@pytest.mark.parametrize("name", READERS)
@given(data=st.data())
@settings(max_examples=30, deadline=None)
def test_cut_doubled_and_spoilt_files_are_refused_or_read(name: str, data: st.DataObject) -> None:
    seeds = sorted((CORPUS / name).iterdir())
    content = bytearray(data.draw(st.sampled_from(seeds)).read_bytes())
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
    content[start:stop] = data.draw(st.binary(max_size=20)) * data.draw(st.integers(0, 3))
    read(name, bytes(content))


def hostile() -> dict[str, tuple[str, bytes]]:
    """Return small files that claim much, repeat much, or nest deeply."""
    many = [str(i) for i in range(20_000)]
    zeros = npy(np.zeros(10**8, np.int8))
    wide = b"labels: a\nstarts: S\nmap:\nS" + b"." * 30_000 + b"\n" + b".\n" * 30_000
    return {
        "10^12 states": ("world-json", world(states=10**12)),
        "many pairs": ("world-json", world(states=20_000, labels=[None] * 20_000, actions=many)),
        "huge number": ("world-json", world(initial=10**400)),
        "nesting": ("world-json", b'{"format":' + b"[" * 10**6),
        "nesting in a field": ("world-json", b'{"format":"whence/mdp/1","grid":' + b"[" * 10**5),
        "large alphabet": (
            "machine-json",
            machine(alphabet=many, transitions=[[0] * 20_000], rewards=[[1] * 20_000]).encode(),
        ),
        "many names": (
            "machine-json",
            machine(names=many, transitions=[[0]] * 20_000, rewards=[[1]] * 20_000).encode(),
        ),
        "many arrows": ("arrows", "\n".join(f"a{i} -s{i}-> b{i}" for i in many).encode()),
        "dashes": ("arrows", b"a" + b" -x" * 20_000),
        "arrow heads": ("arrows", b"a -x" + b"-> " * 20_000 + b"\x0b"),
        "many drawn states": (
            "dot",
            b"// " + machine(alphabet=[], transitions=[[]] * 9_999, rewards=[[]] * 9_999).encode(),
        ),
        "brackets": ("dot", b'// {"format":"whence/machine/1","alphabet":' + b"[" * 10**5),
        "many ends": (
            "tikz",
            b"% "
            + machine(
                alphabet=many[:9_999], transitions=[[*range(1, 10_000)]], rewards=[[0] * 9_999]
            ).encode(),
        ),
        "negations": (
            "icarte",
            b"0\n[1]\n(0,1,'" + b"!" * 10**5 + b"',ConstantRewardFunction(0))",
        ),
        "comments": ("mermaid", b"flowchart LR\n" + (b"%% " + machine().encode() + b"\n") * 10**4),
        "ragged drawing": ("map", wide),
        "blank drawing": ("map", b"labels: a\nstarts: S\nmap:\n" + b"\n" * 10**5),
        "lines": ("demos-jsonl", b"{}\n" * 10**5),
        "empty strings": ("demos-npz", archive(EMPTY | {"alphabet": header("<U0", (10**9,))})),
        "10^12 numbers": ("demos-npz", archive(EMPTY | {"states": header("<i8", (10**12,))})),
        "less than none": ("demos-npz", archive(EMPTY | {"states": header("<i8", (-1,))})),
        "zip bomb": ("demos-npz", archive(EMPTY | {"states": zeros}, packed=True)),
        "digits": ("numbers", b"9" * 10**5),
    }


@pytest.mark.parametrize("what", hostile())
def test_a_small_hostile_file_takes_little_memory(what: str) -> None:
    name, data = hostile()[what]
    tracemalloc.start()
    try:
        read(name, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < BASE + TIMES * len(data)


def test_more_pairs_than_rows_names_the_first_pair_without_one() -> None:
    data = world(actions=["go", "stay"])
    with pytest.raises(FormatError, match=r"state 0, action 1 \(stay\).*sum to 0.*1 more pair"):
        world_json.loads(data, "w.json")


@pytest.mark.parametrize(
    ("claim", "culprit"),
    [
        ({"alphabet": header("<U0", (10**9,))}, "not an npz file"),
        ({"states": header("<i8", (-1,))}, "not an npz file"),
        ({"states": npy(np.zeros(10**8, np.int8))}, "claim to unpack to 100000"),
        ({"states": b"no header"}, "not an npz file"),
        ({"alphabet": header("<U1", (1,)) + b"\xff\xff\xff\x7f"}, "not an npz file"),
        ({"alphabet": header(">U1", (1,)) + b"\0\0\xd8\0"}, "not an npz file"),
    ],
)
def test_an_archive_that_claims_too_much_is_refused(claim: dict[str, bytes], culprit: str) -> None:
    with pytest.raises(FormatError, match=culprit):
        demos_npz.loads(archive(EMPTY | claim, packed=True), "d.npz")


def test_an_array_that_stands_twice_is_refused() -> None:
    buffer = io.BytesIO(archive(EMPTY))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(buffer, "a") as file,
    ):
        file.writestr("states.npy", EMPTY["states"])
    with pytest.raises(FormatError, match="two arrays 'states'; keep one"):
        demos_npz.loads(buffer.getvalue(), "d.npz")


def test_a_pickle_in_an_archive_is_not_opened() -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (pytest.fail, ("code from a file was run",))

    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=True, states=np.array([Trap()], dtype=object))
    with pytest.raises(FormatError, match="without object arrays"):
        world_npz.loads(buffer.getvalue(), "w.npz")


@pytest.mark.parametrize("key", ["states", "\\u0073tates"])
def test_a_key_that_stands_twice_is_refused_by_name(key: str) -> None:
    text = world().decode().replace('"states": 2', f'"states": 2, "{key}": 2')
    with pytest.raises(FormatError, match=r"w\.json: the key 'states' appears twice; keep"):
        world_json.loads(text.encode(), "w.json")
    with pytest.raises(FormatError, match=r"m\.json: the key 'rewards' appears twice"):
        machine_json.loads(machine()[:-1] + ', "rewards": [[2]]}', "m.json")
    line = f'{{"states": [0], "actions": [0]}}\n{{"states": [0], "{key}": [1], "actions": [0]}}'
    with pytest.raises(FormatError, match=r"d\.jsonl, line 2: the key 'states' appears"):
        demos_jsonl.loads(line.encode(), "d.jsonl")


def test_keys_of_different_objects_and_texts_that_look_like_keys_are_no_repeats() -> None:
    text = world(
        names=['"states":', '{"a": {'], grid={"width": 2, "height": 1, "cells": [[0, 0], [1, 0]]}
    )
    found = world_json.loads(text, "w.json")
    assert found.names == ('"states":', '{"a": {')
    line = b'{"states": [0], "actions": [0], "labels": ["states"], "history": ["a", "labels"]}'
    assert demos_jsonl.loads(line, "d.jsonl")[0].history == ("a", "labels")


def test_a_ragged_drawing_names_the_short_line() -> None:
    text = "labels: a\nstarts: S\nmap:\nS" + "." * 5_000 + "\n" + ".\n" * 5_000
    with pytest.raises(FormatError, match="line 5, column 2: a cell is missing"):
        drawing.loads(text, "w.map")


def test_a_grid_of_nothing_but_rock_is_refused() -> None:
    with pytest.raises(WorldError, match="10000 by 10000 cells for 2 states"):
        Grid(10_000, 10_000, [(0, 0), (1, 1)])


def test_arrows_beyond_what_a_table_holds_are_refused() -> None:
    with pytest.raises(MachineError, match="20001 states and 1 symbols are too many"):
        whence.RewardMachine.from_arrows([f"a{i} -x-> a{i + 1}" for i in range(20_000)])


@pytest.mark.parametrize(
    ("arrow", "parts"),
    [
        ("a -x-> b", ("a", "x", "b")),
        ("a b  -x -> b c", ("a b", "x", "b c")),
        ("- --/1->  -", ("-", "-", "-")),
        ("a -b -c-> d ->", ("a", "b -c", "d ->")),
        ("a\n-x->\nb", ("a", "x", "b")),
    ],
)
def test_arrows_are_cut_at_the_first_dash_and_the_last_head(
    arrow: str, parts: tuple[str, str, str]
) -> None:
    found = whence.RewardMachine.from_arrows([arrow])
    names = (parts[0],) if parts[0] == parts[2] else (parts[0], parts[2])
    assert found.alphabet == (parts[1],)
    assert found.state_names == names


@pytest.mark.parametrize(
    "arrow", ["a -> b", "a --> b", "-x-> b", "a -x->b", "a -x-> ", "a\nb -x-> c"]
)
def test_what_is_no_arrow_is_refused(arrow: str) -> None:
    with pytest.raises(MachineError, match="cannot be read"):
        whence.RewardMachine.from_arrows([arrow])


def test_a_device_and_a_circle_of_links_are_refused(tmp_path: Path) -> None:
    device, circle = tmp_path / "zero.json", tmp_path / "circle.json"
    device.symlink_to("/dev/zero")
    circle.symlink_to(circle)
    with pytest.raises(FileError, match="not a file but a device"):
        whence.LabeledMDP.load(device)
    with pytest.raises(FileError, match="cannot be read"):
        whence.LabeledMDP.load(circle)
    with pytest.raises(FileError, match="cannot be read"):
        whence.LabeledMDP.load("a\0b.json")


def test_a_link_to_a_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_bytes(world())
    (tmp_path / "link.json").symlink_to("w.json")
    assert whence.LabeledMDP.load(tmp_path / "link.json").n_states == 2


def test_a_long_corridor_is_walked_to_its_end() -> None:
    text = "labels: a\nstarts: S\nmap:\nS" + "." * 20_000 + "a#.\n"
    with pytest.warns(whence.WhenceWarning, match="never"):
        found = drawing.loads(
            text.replace("labels: a", "labels: a b").replace("#.", "#b"), "w.map"
        )
    assert found.reachable().sum() == 20_002
    assert found.reachable(within=7).sum() == 8


@pytest.mark.parametrize("target", [2**63, 10**19, -1, 1.5e300])
def test_a_target_far_out_of_range_is_named(target: float) -> None:
    with pytest.raises(MachineError, match=r"state 1, symbol 0: target -?\d+ does not exist"):
        whence.RewardMachine(["a"], np.array([[0], [target]]), [[0], [1]])


@pytest.mark.parametrize("kind", ["c16", "M8[s]", "O", "U1", "S1"])
def test_an_empty_array_of_any_kind_is_empty(kind: str) -> None:
    nothing = np.zeros(0, dtype=kind)
    offsets = np.zeros(1, dtype=np.int64)
    assert len(whence.Demonstrations.from_flat(nothing, offsets, nothing, offsets)) == 0
    assert whence.RewardMachine((), *[np.zeros((1, 0), dtype=kind)] * 2).n_states == 1
    with pytest.raises(WorldError, match="sum to 0"):
        whence.LabeledMDP.from_triples(nothing, states=1, actions=1, labels=[None])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alphabet": ("a", "a")}, "symbols must differ, none empty"),
        ({"alphabet": ("a", "")}, "symbols must differ, none empty"),
        ({"history": [1]}, "history: a symbol outside of 0 to 0"),
        ({"history": [-1]}, "history: a symbol outside of 0 to 0"),
        ({"labels": [0]}, "1 labels for 2 states; give one a state"),
        ({"labels": [0, 1]}, "labels: a symbol outside of -2 to 0"),
        ({"labels": [0, -2]}, "some labels are said and others left"),
        ({"labels": [0, -3]}, "labels holds numbers outside"),
        ({"states": [0, -1]}, "a negative state or action"),
        ({"states": [[0, 1]]}, "states is not a flat array"),
        ({"states": [0, 2**31]}, "states holds numbers outside"),
        ({"state_offsets": [0, 3]}, "state_offsets do not fit"),
        ({"state_offsets": [1, 2]}, "state_offsets must start at 0"),
        ({"action_offsets": [0, 1, 0]}, "action_offsets must start at 0 and never fall"),
        ({"history_offsets": [0, 2]}, "history_offsets do not fit"),
    ],
)
def test_flat_demonstrations_that_do_not_fit_together_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    flat: dict[str, Any] = {
        "states": [0, 1], "state_offsets": [0, 2], "actions": [0], "action_offsets": [0, 1],
        "alphabet": ("a",), "labels": [0, -1], "history": [0], "history_offsets": [0, 1],
    }  # fmt: skip
    assert len(whence.Demonstrations.from_flat(**flat)) == 1
    with pytest.raises(DemonstrationsError, match=message):
        whence.Demonstrations.from_flat(**flat | changes)
