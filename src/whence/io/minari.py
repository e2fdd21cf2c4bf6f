"""Demonstrations from and to datasets of Minari 0.5, the optional package."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from whence.errors import DemonstrationsError, FileError, MissingExtraError
from whence.io.table_writer import columns
from whence.io.trajectories import Label, Meaning, Record, from_records
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP

LABEL, STATE, ACTION, SUBJECT = "label", "state_name", "action_name", "subject"  # keys of infos
ALGORITHM = "whence"


def load(
    dataset: Any,
    *,
    state: Meaning | None,
    action: Meaning | None,
    label: Label,
    mdp: LabeledMDP | None,
) -> Demonstrations:
    """Read a dataset; see `Demonstrations.from_minari`."""
    opened, source = _opened(dataset)
    episodes = opened.iterate_episodes()
    return from_records(
        _records(episodes, named=state is None and action is None),
        state=state,
        action=action,
        label=label,
        mdp=mdp,
        source=source,
    )


def save(demos: Demonstrations, dataset_id: str, mdp: LabeledMDP | None) -> Any:
    """Write a dataset; see `Demonstrations.to_minari`."""
    minari, gymnasium, buffer = _packages()
    if not len(demos):
        raise DemonstrationsError(
            f"{demos.source}: no episodes; Minari keeps no dataset without any, so add one"
        )
    short = np.flatnonzero((np.diff(demos.state_offsets) <= demos.lengths) | (demos.lengths == 0))
    if len(short):
        raise DemonstrationsError(
            f"{demos.place(int(short[0]))}: Minari wants at least one action, and the state that "
            "the last one led to; add it or leave the episode out"
        )
    buffers = [_buffer(buffer, demos, i, infos) for i, infos in enumerate(_infos(demos, mdp))]
    n_states = int(demos.states.max(initial=0)) + 1 if mdp is None else mdp.n_states
    n_actions = int(demos.actions.max(initial=0)) + 1 if mdp is None else mdp.n_actions
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of metadata that demonstrations do not have
        try:
            return minari.create_dataset_from_buffers(
                dataset_id,
                buffers,
                observation_space=gymnasium.spaces.Discrete(n_states),
                action_space=gymnasium.spaces.Discrete(n_actions),
                algorithm_name=ALGORITHM,
            )
        except (ValueError, OSError) as error:
            raise FileError(f"{dataset_id}: cannot be written: {error}") from None


def _opened(dataset: Any) -> tuple[Any, str]:
    if not isinstance(dataset, str | os.PathLike):
        return dataset, "dataset"
    minari, _, _ = _packages()
    folder = Path(dataset)
    try:
        if folder.is_dir():
            inner = folder / "data"
            return minari.MinariDataset(str(inner if inner.is_dir() else folder)), str(dataset)
        return minari.load_dataset(str(dataset)), str(dataset)
    except (OSError, ValueError, KeyError, AssertionError) as error:
        raise FileError(
            f"{dataset}: not a Minari dataset: {error}; give an id of `minari list local`, or "
            "a folder"
        ) from None


def _records(episodes: Iterator[Any], *, named: bool) -> Iterator[Record]:
    """Return episodes as records; the names that `save` wrote stand in for the numbers."""
    for episode in episodes:
        infos = episode.infos if isinstance(episode.infos, dict) else {}
        n = len(episode.actions) + 1
        columns_of = {k: v for k, v in infos.items() if isinstance(v, list | tuple | np.ndarray)}
        texts = {k: [_text(x) for x in v] for k, v in columns_of.items() if len(v) == n}
        obs, acts = episode.observations, episode.actions
        if named and STATE in texts:
            obs = texts[STATE]
        if named and ACTION in texts:
            acts = texts[ACTION][:-1]
        about = [{k: v[i] for k, v in texts.items()} for i in range(n)]
        yield Record(obs, acts, about, _ended(episode), _subject(texts.get(SUBJECT, [])))


def _ended(episode: Any) -> bool | None:
    """Return whether an episode terminated; None where it did not and was not truncated either."""
    last = {
        name: bool(flags[-1])
        for name in ("terminations", "truncations")
        if (flags := getattr(episode, name, None)) is not None and len(flags)
    }
    if last.get("terminations"):
        return True
    return False if last.get("truncations") else None


def _subject(said: list[Any]) -> str | None:
    """Return who acted, where an episode has one and the same name throughout."""
    names = {name if isinstance(name, str) else None for name in said}
    return names.pop() if len(names) == 1 else None


def _text(value: Any) -> Any:
    """Return strings, which come back as bytes, as strings; an empty one becomes None."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return None if value == "" else value


def _infos(demos: Demonstrations, mdp: LabeledMDP | None) -> list[dict[str, list[str]]]:
    """Return what goes with each observation, by episode: label, names, and who acted."""
    table = columns(demos, mdp)
    texts = {}
    if LABEL in table:
        texts[LABEL] = ["" if symbol is None else symbol for symbol in table[LABEL]]
    if isinstance(table["state"][0], str):
        texts[STATE] = table["state"]
    if any(isinstance(action, str) for action in table["action"]):
        texts[ACTION] = ["" if action is None else action for action in table["action"]]
    if SUBJECT in table:
        texts[SUBJECT] = ["" if subject is None else subject for subject in table[SUBJECT]]
    bounds = zip(demos.state_offsets[:-1].tolist(), demos.state_offsets[1:].tolist(), strict=True)
    return [{key: column[a:b] for key, column in texts.items()} for a, b in bounds]


def _buffer(kind: Any, demos: Demonstrations, number: int, infos: dict[str, list[str]]) -> Any:
    episode = demos[number]
    steps = len(episode.actions)
    return kind(
        id=number,
        observations=np.array(episode.states, dtype=np.int64),
        actions=np.array(episode.actions, dtype=np.int64),
        rewards=[0.0] * steps,
        terminations=[False] * (steps - 1) + [episode.ended is True],
        truncations=[False] * (steps - 1) + [episode.ended is False],
        infos=infos,
    )


def _packages() -> tuple[Any, Any, Any]:
    try:
        import gymnasium
        import minari
        from minari.data_collector import EpisodeBuffer
    except ImportError:
        raise MissingExtraError(
            "datasets of Minari need the package minari; install it with: "
            "pip install 'whence[minari]'"
        ) from None
    return minari, gymnasium, EpisodeBuffer
