"""The process beside the studio that infers, so that the studio itself always answers.

    python -m whence.studio.worker

It reads commands from its standard input, one JSON document a line, and writes what it has to say
to its standard output in the same way. SIGINT stops what it does; where its input ends, because
the studio ended or was killed, it stops by itself. What it works on is kept in a run's folder.
"""

from __future__ import annotations

import contextlib
import gc
import os
import queue
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from whence.errors import WhenceError, WhenceWarning
from whence.likelihood.endings import IGNORE, TASK
from whence.model.demos import Demonstrations
from whence.model.mdp import LabeledMDP
from whence.runs.events import Event
from whence.runs.inference import infer
from whence.runs.result import Run
from whence.runs.resuming import load, resume
from whence.runs.reweighing import worn
from whence.studio import asking
from whence.studio.belief import belief_document, machine_parts

CHECKPOINT = 5.0  # seconds
TOLD = 0.5  # seconds between two words of progress
DRAWN = 3.0  # seconds between two drawings of the best machine so far
DISCOUNT = 0.95  # for the way that the best machine so far would go
PRECISION = 0.03  # of probabilities: enough for a bar
FIRST_LOOK = 8.0  # seconds after which a run is looked at for the first time; then twice as long
HELD = 20.0  # seconds to wait for a process that still holds the run


class Ask(msgspec.Struct, frozen=True, tag_field="do", tag=str.lower):
    """A command."""


class Infer(Ask, frozen=True):
    """Infer, into a new folder."""

    world: str
    demos: str
    run: str
    least: int
    most: int
    rewards: tuple[float, ...]
    minutes: float
    before: str = ""  # the run whose answers still hold


class Resume(Ask, frozen=True):
    """Go on with a run."""

    run: str
    before: str = ""


class Open(Ask, frozen=True):
    """Read a run that is finished, for what may be asked about it."""

    run: str


class Reply(Ask, frozen=True):
    """Give a run an answer."""

    run: str
    question: dict[str, Any]
    value: float | str


class Withdraw(Ask, frozen=True):
    """Take an answer back."""

    run: str
    answer: str


Command = Infer | Resume | Open | Reply | Withdraw


class Worker:
    """Does one thing after the other, and says how it goes."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._told = self._drawn = self._looked = 0.0
        self._deaf = self._asked = False
        self.run: Run | None = None
        self.folder = ""

    def say(self, kind: str, **value: Any) -> None:
        """Write one line."""
        with self._whole():
            self._out.write(msgspec.json.encode({"said": kind, **value}) + b"\n")
            self._out.flush()

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """Do something without stopping in the middle of it."""
        before, self._deaf = self._deaf, True
        try:
            yield
        finally:
            self._deaf = before
        if self._asked and not before:
            self._asked = False
            raise KeyboardInterrupt

    def interrupt(self, number: int, frame: object) -> None:
        """Stop at a signal, though not in the middle of what must be whole."""
        if self._deaf:
            self._asked = True
            return
        raise KeyboardInterrupt

    def do(self, command: Command) -> None:
        """Carry out a command; whatever goes wrong is said."""
        try:
            if isinstance(command, Infer):
                self._infer(command)
            elif isinstance(command, Resume):
                self._found(self._resumed(command.run), command.run, command.before)
            elif isinstance(command, Open):
                self._found(load(command.run), command.run)
            else:
                self._answered(command)
            self.say("idle")
        except WhenceError as error:
            self.say("failed", text=str(error))
        except KeyboardInterrupt:
            self.say("stopped")
        except MemoryError:
            self.say("failed", text="there is not enough memory for this; ask for less")

    def _infer(self, asked: Infer) -> None:
        mdp = LabeledMDP.load(asked.world)
        demos = Demonstrations.load(asked.demos, mdp)
        self.say("started", run=asked.run)
        run = infer(
            mdp,
            demos,
            states=(asked.least, asked.most),
            rewards=asked.rewards,
            minutes=asked.minutes,
            endings=TASK if demos.ended is not None and (demos.ended == 1).any() else IGNORE,
            folder=asked.run,
            names=[(asked.world, asked.demos)],
            checkpoint=CHECKPOINT,
            precision=PRECISION,
            on_event=lambda event: self._watch(event, asked.run, mdp),
        )
        self._found(run, asked.run, asked.before)

    def _resumed(self, folder: str) -> Run:
        """Go on with a run, as soon as whoever had it has let go of it."""
        from whence.runs import lock, manifest

        until = time.monotonic() + HELD
        while lock.holder(Path(folder)) is not None and time.monotonic() < until:
            time.sleep(0.2)
        job = manifest.job_of(Path(folder), manifest.read(Path(folder)))
        mdp = job.pairs[0][0]
        self.say("started", run=folder)
        return resume(
            folder,
            copies=True,
            checkpoint=CHECKPOINT,
            on_event=lambda event: self._watch(event, folder, mdp),
        )

    def _found(self, run: Run, folder: str, before: str = "") -> None:
        with self._whole():
            self.run = run if not before else asking.carried(run, before)
            self.folder = folder
        self._tell()

    def _tell(self) -> None:
        """Say what the run believes; then, as long as nobody wants anything, what to ask."""
        assert self.run is not None
        belief = belief_document(self.run, stage="whole")
        self.say("belief", run=self.folder, belief=belief)
        self.say("finished", run=self.folder)
        self.say("questions", run=self.folder, questions=asking.questions_document(self.run))
        if worn(self.run):
            self.say("progress", event="refreshing", step=0, seconds=0.0, evaluations=0)
            self.run = self.run.refreshed(progress=False)
            self._tell()

    def _answered(self, command: Reply | Withdraw) -> None:
        """Weigh the run by an answer, or without one."""
        if self.run is None or self.folder != command.run:
            self.run, self.folder = load(command.run), command.run
        with self._whole():
            if isinstance(command, Reply):
                question = asking.question_of(command.question)
                self.run = self.run.answered(question, command.value, refresh=False)
            else:
                self.run = self.run.withdrawn(command.answer, refresh=False)
        self._tell()

    def _watch(self, event: Event, folder: str, mdp: LabeledMDP) -> None:
        """Say how a run goes on, now and then with the best machine or the sample so far."""
        now = time.monotonic()
        if event.kind == "progress" and now - self._told < TOLD:
            return
        self._told = now
        more: dict[str, Any] = {}
        if event.machine is not None and now - self._drawn >= DRAWN:
            self._drawn = now
            more = {"machine": machine_parts(mdp, event.machine, DISCOUNT)}
        kept = ("event", "step", "steps", "seconds", "look", "evaluations", "most_seconds")
        document = event.document()
        self.say("progress", **{name: document[name] for name in kept}, **more)
        if event.kind == "started":
            self._looked = 0.0
        elif event.kind == "progress" and event.seconds >= max(FIRST_LOOK, 2 * self._looked):
            self._looked = event.seconds
            self._look(folder)

    def _look(self, folder: str) -> None:
        """Say what the sample of the last checkpoint believes; the search is as it was."""
        with contextlib.suppress(WhenceError):
            belief = belief_document(load(folder), stage="so far")
            self.say("belief", run=folder, belief=belief)


def _listen(lines: IO[bytes], waiting: queue.Queue[bytes | None]) -> None:
    """Hand on every line; where there are no more, stop whatever is being done, and end."""
    for line in lines:
        waiting.put(line)
    waiting.put(None)
    os.kill(os.getpid(), signal.SIGINT)


def main() -> None:
    """Read commands and carry them out, until there are no more."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints does not disturb
    warnings.simplefilter("ignore", WhenceWarning)
    worker = Worker(out)
    signal.signal(signal.SIGINT, worker.interrupt)
    if hasattr(os, "nice"):
        os.nice(5)
    waiting: queue.Queue[bytes | None] = queue.Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, waiting), daemon=True).start()
    decoder = msgspec.json.Decoder(Command)
    worker.say("ready")
    while True:
        try:
            line = waiting.get()
            if line is None:
                return
            worker.do(decoder.decode(line))
            gc.collect()  # samples that are seen no more: few objects, so it would take long
        except KeyboardInterrupt:
            continue
        except BrokenPipeError:
            return


if __name__ == "__main__":
    main()
