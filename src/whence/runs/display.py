"""How a run stands, as a line and as a picture for terminals."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from whence.drawing import terminal
from whence.runs.events import ANALYSING, FINISHED

if TYPE_CHECKING:
    from rich.console import RenderableType

KNOWING = "working out what is known"
BARS = "▁▂▃▄▅▆▇█"
MOST_LINES = 16  # of a drawing
MOST_WORKERS = 8  # that are shown each; of more, the slowest and the fastest
OVER = (ANALYSING, FINISHED)  # nothing of the search is left
WINDOW = 5.0  # seconds over which rates are taken: steps become faster, as more is remembered
RECENT = 2.0  # seconds that are looked at by themselves, too
UNITS_WINDOW = 60.0  # seconds where steps come by units of workers, and the last say little
FEW = 0.5  # seconds of searching below which nothing is said of rates
PHASES = ("finding", "warm")  # steps of one phase say nothing of those of the next


class Pace:
    """How fast a run goes: what it did in the last seconds that were seen, compiling left out.

    Attributes:
        rate: machines a second, or None while that is not known.
        left: seconds until the run ends, or until it next looks whether to end; or None, as
            long as a finder looks for machines beside the chains.
        looking: whether `left` is such a look.
    """

    def __init__(self) -> None:
        self._seen: deque[dict[str, Any]] = deque()
        self.rate: float | None = None
        self.left: float | None = None
        self.looking = False

    def see(self, document: dict[str, Any]) -> None:
        """Take in an event, as a document."""
        seen = self._seen
        if seen and any(seen[-1].get(name) != document.get(name) for name in PHASES):
            seen.clear()
        seen.append(document)
        window, recent = (UNITS_WINDOW, 0.0) if document.get("workers") else (WINDOW, RECENT)
        while len(seen) > 2 and document["seconds"] - seen[1]["seconds"] > window:
            seen.popleft()
        half = next(
            (each for each in seen if document["seconds"] - each["seconds"] <= recent), None
        )
        self._between(seen[0], document, half)

    def see_alone(self, document: dict[str, Any]) -> None:
        """Take in the only event that there is: all since the run began counts."""
        nothing = {"step": 0, "seconds": 0.0, "compiling": 0.0, "evaluations": 0}
        self._between(nothing, document)

    def _between(
        self, before: dict[str, Any], now: dict[str, Any], half: dict[str, Any] | None = None
    ) -> None:
        """Take in what was done between two events; `half` lies between them.

        Who waits is told the shorter of two times: steps become faster, and where they are
        slower for a moment, something else has the machine.
        """
        steps, seconds = _done(before, now)
        self.looking = False
        if seconds < FEW or steps <= 0 or now["event"] in OVER:
            self.rate = self.left = None
            return
        self.rate = (now["evaluations"] - before["evaluations"]) / seconds
        if now.get("finding"):
            self.left = None
            return
        goal = now["steps"]
        look = now.get("look")
        if look is not None and now["step"] < look < goal:
            goal, self.looking = look, True
        recent, took = (0, 0.0) if half is None else _done(half, now)
        each = seconds / steps
        if took >= FEW and recent > 0:
            each = min(each, took / recent)
        self.left = max(goal - now["step"], 0) * each
        most = now.get("most_seconds")
        if most is not None and most - now["seconds"] < self.left:
            self.left, self.looking = max(most - now["seconds"], 0.0), False

    def text(self, waited: float = 0.0) -> str:
        """Return what is left, in words; empty while that is not known.

        Args:
            waited: seconds since the last event. What should be over by then is not told.
        """
        if self.left is None or (waited > RECENT and waited > self.left):
            return ""
        left = _clock(max(self.left - waited, 0.0))
        return (
            f"looks in {left} whether the ladders agree"
            if self.looking
            else f"at most {left} left"
        )


def _done(before: dict[str, Any], now: dict[str, Any]) -> tuple[int, float]:
    """Return the steps that were made between two events, and the seconds, compiling left out."""
    compiled = (now.get("compiling") or 0.0) - (before.get("compiling") or 0.0)
    return now["step"] - before["step"], now["seconds"] - before["seconds"] - compiled


def line(document: dict[str, Any], pace: Pace, waited: float = 0.0) -> str:
    """Return an event in one line, so many seconds after it."""
    passed = _clock(document["seconds"] + waited)
    if document["event"] == ANALYSING:
        return f"{document.get('doing', KNOWING)}, {passed} so far"
    score = document.get("score")
    parts = [
        f"step {document['step']:,} of {document['steps']:,}"
        + (" at most" if document.get("look") is not None else ""),
        "no machine yet" if score is None else f"best score {score:,.2f}",
        *([] if pace.rate is None else [f"{pace.rate:,.0f} machines/s"]),
        f"{passed} so far",
        *([left] if (left := pace.text(waited)) else []),
    ]
    if "round_trips" in document:
        parts.append(_ladders(document))
    if document.get("workers"):
        parts.append(_workers(document)[0][1])
    return "inferring: " + ", ".join(parts)


def picture(
    document: dict[str, Any], drawing: str | None, pace: Pace, waited: float = 0.0
) -> RenderableType:
    """Return an event and the best machine so far, for a terminal, so many seconds after it."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    bar = ProgressBar(total=max(document["steps"], 1), completed=document["step"], width=30)
    head, left = Table.grid(padding=(0, 2)), pace.text(waited)
    passed = _clock(document["seconds"] + waited) + (f", {left}" if left else "")
    done = f"step {document['step']:,} of {document['steps']:,}"
    if document["event"] == ANALYSING:
        head.add_row(Text(document.get("doing", KNOWING), style="bold"), passed)
    else:
        head.add_row(Text("inferring", style="bold"), bar, done, passed)
    facts = Table.grid(padding=(0, 2))
    score = document.get("score")
    facts.add_row("best score", "none yet" if score is None else f"{score:,.2f}")
    rate = "" if pace.rate is None else f", {pace.rate:,.0f}/s"
    facts.add_row("scored", f"{document['evaluations']:,} machines{rate}")
    for name, value in (*_facts(document), *_workers(document)):
        facts.add_row(name, value)
    shown = [] if drawing is None else [Text(""), Text(drawing), Text("")]
    return Group(head, *shown, facts)


def drawing_of(machine: Any) -> str | None:
    """Return a machine as a small drawing, or None if it is too large for one."""
    if machine is None:
        return None
    text = terminal.machine_text(machine)
    return text if text.count("\n") < MOST_LINES else None


def _facts(document: dict[str, Any]) -> list[tuple[str, str]]:
    if "round_trips" not in document:
        if "temperature" in document:
            return [("temperature", f"{document['temperature']:,.0f}")]
        return []
    temperatures = document["temperatures"]
    rates = [rate for rate in document["swap_rates"] if rate is not None]
    stage = "sampling" if document.get("warm") else "warming up: rungs and moves adapt"
    rows = [
        ("stage", stage),
        ("ladders", _ladders(document)),
        ("temperatures", f"{temperatures[0]:,.3g} to {temperatures[-1]:,.3g}"),
    ]
    if rates:
        rows.append(("swap rates", f"{_bars(rates)}  lowest {min(rates):.0%}"))
    return rows


def _workers(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Return who works, how fast each is, and what went wrong and was mended."""
    workers = document.get("workers") or {}
    if not workers:
        return []
    rates = sorted((each["steps_per_second"], name) for name, each in workers.items())
    units = sum(each["units"] for each in workers.values())
    pace = f"{rates[0][0]:,.3g}" + (f" to {rates[-1][0]:,.3g}" if len(rates) > 1 else "")
    sent = (document.get("bytes_sent") or 0) + (document.get("bytes_received") or 0)
    many = f"{len(workers)} workers, {pace} steps/s each, {units:,.0f} units done"
    shown = rates if len(rates) <= MOST_WORKERS else [rates[0], rates[-1]]
    rows = [("workers", many)]
    rows += [
        ("", f"{name}: {rate:,.3g} steps/s, {workers[name]['units']:,.0f} units")
        for rate, name in (shown if len(rates) > 1 else [])
    ]
    rows.append(("sent", f"{sent / max(units, 1) / 1000:,.1f} kB a unit, there and back"))
    mended = document.get("mended") or []
    if mended:
        rows.append(("mended", f"{len(mended)}, the last: {mended[-1]}"))
    return rows


def _ladders(document: dict[str, Any]) -> str:
    trips = " and ".join(str(count) for count in document["round_trips"])
    best = document["best_likelihoods"]
    known = [value for value in best if value is not None]
    same = len(known) == len(best) and max(known) - min(known) < 0.02
    word = "the same best machine" if same else "different best machines"
    return f"{word}, round trips {trips}" if len(best) > 1 else f"round trips {trips}"


def _bars(values: list[float]) -> str:
    top = len(BARS) - 1
    return "".join(BARS[min(max(round(value * top), 0), top)] for value in values)


def _clock(seconds: float) -> str:
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    return (
        f"{hours}:{rest // 60:02d}:{rest % 60:02d}" if hours else f"{rest // 60}:{rest % 60:02d}"
    )
