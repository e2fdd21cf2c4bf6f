"""One project of the studio: a world, walks that go on, demonstrations, and what is asked for.

Its methods are called one at a time, and each leaves the folder whole: whoever is killed in
between finds everything again.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from whence import _files as files
from whence.errors import ArgumentError, FileError, WhenceError
from whence.io import demos_jsonl
from whence.model.checks import check
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP
from whence.studio import files as places
from whence.studio import walking
from whence.studio.scenery import Scenery
from whence.studio.walking import Walk

WHO = re.compile(r"[a-z0-9]{8,32}", re.ASCII)
MOST_WALKS = 100
LISTED = 100  # demonstrations that the page lists, the last ones
MOST_WITHDRAWN = 1000  # demonstrations that can be brought back
MOST_BYTES = 64 * 2**20  # of all demonstrations
SHOWN_LABELS = 12
MOST_LEVELS = 8  # that a machine may pay


class ConflictError(WhenceError):
    """Somebody else has changed what one wanted to change."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How to infer.

    Attributes:
        least: states of a machine.
        most: states of a machine.
        rewards: the levels that machines may pay.
        minutes: at most.
        auto: whether to infer anew whenever demonstrations change.
    """

    least: int = 1
    most: int = 3
    rewards: tuple[float, ...] = (0.0, 1.0)
    minutes: float = 5.0
    auto: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most <= 8:
            raise ArgumentError(f"states: {self.least} to {self.most}; choose from 1 to 8")
        if not 0 < self.minutes <= 600:
            raise ArgumentError(f"minutes: {self.minutes:g}; choose more than 0, at most 600")
        if not 2 <= len(self.rewards) <= MOST_LEVELS:
            raise ArgumentError(f"rewards: name 2 to {MOST_LEVELS} levels, such as 0, 1")


class State(msgspec.Struct, frozen=True):
    """What is kept of a project besides its files.

    Attributes:
        settings: how to infer.
        wanted: whether inference was asked for, and has not come to its end.
        run: the number of the last run; 0 where there is none.
        episodes: how many demonstrations that run has.
        digest: of those, and of its settings.
    """

    settings: Settings = Settings()
    wanted: bool = False
    run: int = 0
    episodes: int = 0
    digest: str = ""


class _Kept(msgspec.Struct, frozen=True):
    """A walk in its file; `recording` is where it becomes a demonstration, just before it does."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    history: tuple[str, ...]
    seed: int
    revision: int
    recording: tuple[int, str] | None = None


class Project:
    """A project, as its folder has it.

    Attributes:
        name: what it is called.
        folder: where it is.
        lines: its demonstrations, as the file has them.
        state: what is kept besides.
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.name
        self.folder = folder
        for part in (places.WALKS, places.RUNS):
            files.own(folder, part).mkdir(exist_ok=True)
        self.lines = _lines(folder / places.DEMOS)
        self.state = _state(folder)
        self._keeping = threading.Lock()
        self._walks: dict[str, Walk] = {}
        self._told: dict[bytes, dict[str, Any]] = {}

    @cached_property
    def scenery(self) -> Scenery:
        """The world, as the page shows it."""
        path = places.world_file(self.folder)
        assert path is not None  # a folder without one is no project
        return Scenery(LabeledMDP.load(path))

    @property
    def mdp(self) -> LabeledMDP:
        """The world."""
        return self.scenery.mdp

    @property
    def world_path(self) -> Path:
        """The file of the world."""
        path = places.world_file(self.folder)
        assert path is not None
        return path

    @property
    def demos_path(self) -> Path:
        """The file of the demonstrations."""
        return self.folder / places.DEMOS

    def run_folder(self, number: int) -> Path:
        """Return the folder of a run."""
        return files.own(self.folder, places.RUNS) / str(number)

    # Walks

    def walk(self, who: str) -> Walk:
        """Return somebody's walk, a new one where there is none yet."""
        if not WHO.fullmatch(who):
            raise ArgumentError("who: 8 to 32 letters and digits")
        if who not in self._walks:
            if len(self._walks) >= 2 * MOST_WALKS:
                self._walks.pop(next(iter(self._walks)))  # it has its file, if it has a step
            self._walks[who] = self._kept(who) or walking.begun(self.mdp, _seed())
        return self._walks[who]

    def change(self, who: str, revision: int, changed: Walk) -> Walk:
        """Put a walk in the place of the one that somebody saw.

        Raises:
            ConflictError: where it was changed since, in another tab.
        """
        if self.walk(who).revision != revision:
            raise ConflictError("this walk was changed in another tab; here is how it stands now")
        self._keep(who, changed)
        return changed

    def orphan(self, taken: set[str]) -> str | None:
        """Return whose walk goes on though nobody looks at it any more, the latest one."""
        found = sorted(
            (path for path in self._walk_files() if path.stem not in taken),
            key=lambda path: path.stat().st_mtime,
        )
        for path in reversed(found):
            walk = self._kept(path.stem)
            if walk is not None and walk.actions:
                return path.stem
        return None

    def _walk_files(self) -> list[Path]:
        folder = files.own(self.folder, places.WALKS)
        return [path for path in folder.glob("*.json") if WHO.fullmatch(path.stem)]

    def _kept(self, who: str) -> Walk | None:
        """Return a walk from its file, unless it became a demonstration since."""
        path = files.own(self.folder, f"{places.WALKS}/{who}.json")
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
        except (OSError, msgspec.DecodeError):
            return None
        if kept.recording is not None:
            index, digest = kept.recording
            if index < len(self.lines) and _digest(self.lines[index]) == digest:
                return None
        walk = Walk(kept.states, kept.actions, kept.history, kept.seed, kept.revision)
        fits = all(0 <= state < self.mdp.n_states for state in walk.states)
        return walk if fits and len(walk.states) == len(walk.actions) + 1 else None

    def _keep(self, who: str, walk: Walk, recording: tuple[int, str] | None = None) -> None:
        if who not in self._walks and len(self._walk_files()) >= MOST_WALKS:
            self._forget_one()
        kept = _Kept(walk.states, walk.actions, walk.history, walk.seed, walk.revision, recording)
        path = files.own(self.folder, f"{places.WALKS}/{who}.json")
        places.replace_quickly(path, msgspec.json.encode(kept))
        self._walks[who] = walk

    def _forget_one(self) -> None:
        """Make room for a walk: the oldest of no step goes, else the oldest."""
        found = sorted(self._walk_files(), key=lambda path: path.stat().st_mtime)
        empty = [path for path in found if not getattr(self._kept(path.stem), "actions", ())]
        oldest = (empty or found)[0]
        self._walks.pop(oldest.stem, None)
        oldest.unlink(missing_ok=True)

    # Demonstrations

    def record(self, who: str, revision: int, ended: bool | None, subject: str | None) -> Walk:
        """Make a demonstration of a walk; returns the next walk."""
        walk = self.walk(who)
        if walk.revision != revision:
            raise ConflictError("this walk was changed in another tab; here is how it stands now")
        demo = walking.as_episode(walk, ended=ended, subject=subject)
        (line,) = demos_jsonl.episode_lines(Demonstrations.from_episodes([demo]))
        self._keep(who, walk, (len(self.lines), _digest(line)))
        self._write([*self.lines, line])
        following = walking.begun(self.mdp, _seed(), revision=walk.revision + 1)
        self._keep(who, following)
        return following

    def add(self, demos: Demonstrations) -> int:
        """Add demonstrations that fit the world; returns how many."""
        check(demos, self.mdp).raise_any()
        fresh = demos_jsonl.episode_lines(demos)
        if not fresh:
            raise ArgumentError("there are no episodes in the file")
        self._write([*self.lines, *fresh])
        return len(fresh)

    def withdraw(self, index: int, digest: str) -> None:
        """Take a demonstration back; it is kept among those withdrawn."""
        if not 0 <= index < len(self.lines) or _digest(self.lines[index]) != digest:
            raise ConflictError("the demonstrations were changed meanwhile; look again")
        line = self.lines[index]
        gone = files.own(self.folder, places.WITHDRAWN)
        files.write_bytes(gone, _joined([*_lines(gone), line][-MOST_WITHDRAWN:]))
        self._write([*self.lines[:index], *self.lines[index + 1 :]])

    def restore(self) -> None:
        """Bring back what was withdrawn last."""
        path = files.own(self.folder, places.WITHDRAWN)
        gone = _lines(path)
        if not gone:
            raise ArgumentError("nothing was withdrawn")
        self._write([*self.lines, gone[-1]])
        files.write_bytes(path, _joined(gone[:-1]))

    def _write(self, lines: list[bytes]) -> None:
        data = _joined(lines)
        if len(data) > MOST_BYTES:
            raise ArgumentError(
                f"demonstrations of more than {MOST_BYTES >> 20} MiB are too many for the studio; "
                "use whence infer"
            )
        files.write_bytes(files.own(self.folder, places.DEMOS), data)
        self.lines = lines

    def demos_document(self) -> dict[str, Any]:
        """Return the demonstrations for the page, the last ones one by one."""
        first = max(0, len(self.lines) - LISTED)
        listed = [
            self._described(line) | {"index": first + at}
            for at, line in enumerate(self.lines[first:])
        ]
        return {
            "count": len(self.lines),
            "listed": listed,
            "withdrawn": len(_lines(self.folder / places.WITHDRAWN)),
        }

    def _described(self, line: bytes) -> dict[str, Any]:
        if line not in self._told:
            if len(self._told) > 4 * LISTED:
                self._told.clear()
            (episode,) = demos_jsonl.loads(line, places.DEMOS, self.mdp)
            own = episode.labels
            shown = [self.mdp.label(s) for s in episode.states] if own is None else list(own)
            read = [*episode.history, *(symbol for symbol in shown[1:] if symbol is not None)]
            self._told[line] = {
                "digest": _digest(line),
                "steps": len(episode.actions),
                "start": self.mdp.state_name(episode.states[0]) if len(episode.states) else "",
                "states": list(episode.states[: walking.LONGEST]),
                "read": read[:SHOWN_LABELS],
                "more": max(0, len(read) - SHOWN_LABELS),
                "ended": episode.ended,
                "subject": episode.subject,
            }
        return self._told[line]

    # Runs

    @property
    def digest(self) -> str:
        """What a run of all demonstrations, with the settings of now, would be about."""
        settings = msgspec.json.encode(self.state.settings)
        return hashlib.sha256(_joined(self.lines) + settings).hexdigest()[:16]

    def keep(self, **changes: Any) -> None:
        """Change what is kept besides the files."""
        with self._keeping:
            self.state = msgspec.structs.replace(self.state, **changes)
            path = files.own(self.folder, "studio.json")
            files.write_bytes(path, msgspec.json.encode(self.state))

    def belief(self) -> dict[str, Any] | None:
        """Return what was found last, for the page."""
        try:
            data = files.own(self.folder, "belief.json").read_bytes()
            found: dict[str, Any] = msgspec.json.decode(data)
        except (OSError, FileError, msgspec.DecodeError):
            return None
        return found if isinstance(found, dict) else None

    def keep_belief(self, document: dict[str, Any]) -> None:
        """Keep what was found, for the page."""
        path = files.own(self.folder, "belief.json")
        places.replace_quickly(path, msgspec.json.encode(document))


def _seed() -> int:
    return secrets.randbelow(2**53)


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:16]


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _lines(path: Path) -> list[bytes]:
    """Return the lines of a file that are not blank; none where there is no file."""
    if path.is_symlink() or not path.is_file():
        return []
    return [line for line in files.read_bytes(path).splitlines() if line.strip()]


def _state(folder: Path) -> State:
    try:
        return msgspec.json.decode(files.own(folder, "studio.json").read_bytes(), type=State)
    except (OSError, msgspec.DecodeError, WhenceError):
        return State()
