"""Whether episodes ended, in and out of every format."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from whence import Demonstrations, Episode, LabeledMDP
from whence.errors import DemonstrationsError, FormatError

DEMOS = Demonstrations.from_episodes(
    [
        Episode([0, 1, 2], [0, 0], ended=True),
        Episode([0, 1, 0], [0, 1], ended=False),
        Episode([1, 2], [0]),
    ]
)


@pytest.mark.parametrize("ending", ["jsonl", "npz", "csv", "tsv", "parquet"])
def test_files_say_which_episodes_ended(ending: str, tmp_path: Path) -> None:
    DEMOS.save(tmp_path / f"demos.{ending}")
    again = Demonstrations.load(tmp_path / f"demos.{ending}")
    assert [episode.ended for episode in again] == [True, False, None]
    assert again == DEMOS
    plain = Demonstrations.from_episodes([e._replace(ended=None) for e in DEMOS])
    assert again != plain
    plain.save(tmp_path / f"plain.{ending}")
    assert Demonstrations.load(tmp_path / f"plain.{ending}").ended is None


def test_arrays_say_it_under_a_tag_of_their_own(tmp_path: Path) -> None:
    DEMOS.save(tmp_path / "demos.npz")
    fields = dict(np.load(tmp_path / "demos.npz"))
    assert str(fields["format"]) == "whence/demos/2"
    np.savez(tmp_path / "old.npz", **{**fields, "format": np.array("whence/demos/1")})
    with pytest.raises(FormatError, match="ended needs format 'whence/demos/2'"):
        Demonstrations.load(tmp_path / "old.npz")
    np.savez(tmp_path / "bad.npz", **{**fields, "ended": np.array([1, 5, 0])})
    with pytest.raises(FormatError, match="ended must say 1, 0 or -1 for each of the 3 episodes"):
        Demonstrations.load(tmp_path / "bad.npz")


def test_some_episodes_keep_what_is_known_of_them() -> None:
    assert [e.ended for e in DEMOS.subset([2, 0])] == [None, True]
    assert DEMOS.subset([2]).ended is None


def test_an_episode_that_ended_needs_its_last_state(tmp_path: Path) -> None:
    with pytest.raises(DemonstrationsError, match="episode 0: it ended, but the state that its"):
        Demonstrations.from_episodes([Episode([0, 1], [0, 0], ended=True)])
    path = tmp_path / "demos.jsonl"
    path.write_text('{"states": [0], "actions": [0], "ended": true}\n')
    with pytest.raises(DemonstrationsError, match="line 1: it ended, but the state"):
        Demonstrations.load(path)
    with pytest.raises(DemonstrationsError, match="episode 0: ended is 'yes'; say True, False"):
        Demonstrations.from_episodes([Episode([0, 1], [0], ended="yes")])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("true", "", ""), "line 2, column 'ended': true, but episode 'a' goes on"),
        (("", "", "maybe"), "line 4, column 'ended': 'maybe' is not true or false"),
    ],
)
def test_a_table_says_it_in_the_last_row(
    cells: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "log.csv"
    rows = [f"a,{i},{i},{0 if i < 2 else ''},{cell}" for i, cell in enumerate(cells)]
    path.write_text("\n".join(["episode,step,state,action,ended", *rows, ""]))
    with pytest.raises(DemonstrationsError, match=message):
        Demonstrations.load(path)


def test_columns_may_have_other_names_and_flags_in_every_row() -> None:
    columns = {
        "episode": [0, 0, 0, 1, 1],
        "state": [0, 1, 2, 0, 1],
        "action": [0, 0, None, 0, None],
        "terminated": [False, False, True, False, False],
    }
    demos = Demonstrations.from_table(columns, ended="terminated")
    assert [e.ended for e in demos] == [True, False]
    assert Demonstrations.from_table(columns).ended is None


def test_trajectories_bring_it() -> None:
    given = [
        SimpleNamespace(obs=[0, 1, 2], acts=[0, 0], terminal=True),
        {"obs": [0, 1], "acts": [0], "terminated": False},
        {"obs": [0, 1], "acts": [0]},
    ]
    assert [e.ended for e in Demonstrations.from_trajectories(given)] == [True, False, None]


def test_datasets_of_minari_bring_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("minari")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    dataset = DEMOS.to_minari("whence/ended-v0")
    assert Demonstrations.from_minari(dataset) == DEMOS


def test_nothing_is_made_up_after_the_end_of_a_log() -> None:
    labels = [None, "a", "g"]
    episodes = [e._replace(labels=[labels[s] for s in e.states]) for e in DEMOS]
    log = Demonstrations.from_episodes(episodes)
    world = LabeledMDP.from_demonstrations(log, smoothing=0)
    assert world.n_states == 4
    assert [world.row(2, a)[0].tolist() for a in (0, 1)] == [[3], [3]]
    assert [world.row(3, a)[0].tolist() for a in (0, 1)] == [[3], [3]]
    assert world.label(3) is None
    assert world.unseen is not None
    assert world.unseen.tolist() == [1]
    assert log.check(world).ok
    named = Demonstrations.from_table(log.to_table(), numbers=False)
    assert LabeledMDP.from_demonstrations(named).names == ("0", "1", "2", "end")
    plain = Demonstrations.from_episodes([e._replace(ended=None) for e in episodes])
    assert LabeledMDP.from_demonstrations(plain).n_states == 3
