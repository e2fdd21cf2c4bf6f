"""How far to trust a run: what was checked, and what to do about each doubt."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from whence.runs.result import Run
from whence.search.settings import Exhaustive, Tempering

FOLDER = "RUN"  # where nobody said where the run is kept
FLAGS = ("--repair", "--as-is")
VALUED = (
    "--episode", "--order", "--state", "--action", "--label", "--ended", "--gaps", "--available",
)  # fmt: skip
IMPRECISE = "a probability that is reported has an error"
OF_THE_WORLD = ("dynamics", "state-action pairs", "had a choice")  # words of such doubts
LONGER = 2  # times the steps that were made


def checks(run: Run) -> tuple[str, ...]:
    """Return what was checked and found in order: the search, the expert's model, the dynamics."""
    return (_search(run), *_expert(run), _dynamics(run))


def _search(run: Run) -> str:
    if run.exact is not None:
        return f"the search: all {sum(run.exact.machines):,} machines were scored"
    sample = run.posterior
    if sample is None:
        return f"the search: nothing, since {unweighed(run)}"
    if sample.agreement is None:
        return "the search: made once, so that there is nothing to compare it with"
    times = int(sample.drawn.ladder.max(initial=1)) + 1
    often = "twice" if times == 2 else f"{times} times"
    return f"the search: made {often}, independently, with the same result"


def unweighed(run: Run) -> str:
    """Return why a run has no probabilities, in words."""
    if isinstance(run.settings, Tempering):
        return "the warm-up did not end, and draws count from then on"
    if isinstance(run.settings, Exhaustive):
        return "not all machines were scored"
    return f"the method, {run.method}, gives no probabilities"


def _expert(run: Run) -> list[str]:
    given = [name for name in ("alpha", "lapse", "discount") if name not in run.inferred]
    parts = []
    if run.inferred:
        parts.append(f"{' and '.join(run.inferred)} inferred")
    if given:
        parts.append(f"{', '.join(given)} taken as given")
    if "alpha" in run.inferred and "discount" not in run.inferred:
        parts.append("no other discount explains much more")
    return [f"the expert: {'; '.join(parts)}"]


def _dynamics(run: Run) -> str:
    if run.rough is not None:
        return (
            "the dynamics: estimated from the log; probabilities are over all that it allows for"
        )
    if any(mdp.unseen is not None for mdp, _ in run.job.pairs):
        return "the dynamics: estimated from the log; what it never shows changes nothing"
    return "the dynamics: the world's own"


def rough(doubt: str, run: Run) -> bool:
    """Return whether a doubt is about how fine some figures are, and the sentence stands.

    That is so where a probability has a larger error than was asked for, but not that of the
    sentence.
    """
    if not doubt.startswith(IMPRECISE) or run.found is None:
        return False
    return run.found.confidence[1] <= getattr(run.settings, "precision", 0.0)


def grave(run: Run) -> tuple[str, ...]:
    """Return the doubts for which the sentence should not be trusted yet."""
    return tuple(doubt for doubt in run.doubts if not rough(doubt, run))


def cure(doubt: str, run: Run, folder: str | None = None) -> str:
    """Return the command that does something about a doubt.

    Args:
        doubt: one of `run.doubts`.
        run: what is doubted.
        folder: where the run is kept.
    """
    kept = FOLDER if folder is None else folder
    if not run.provisional and any(
        word in doubt for word in ("dynamics", "state-action pairs", "had a choice")
    ):
        return shlex.join(["whence", "world", _world(run), *_of_table(run)])
    if "discount" in doubt:
        return _again(run, kept, ["--discount", "infer"])
    if "than chance does" in doubt:
        return _again(run, kept, ["--states", f"1-{run.states[-1] + 2}"])
    if "one ladder" in doubt:
        return _again(run, kept, ["--ladders", "2"])
    if "can have produced" in doubt:
        return _again(run, kept, ["--alpha", "infer"])
    return longer(run, kept)


def sampled(run: Run, folder: str | None = None) -> str:
    """Return the command that does a run again with a method that gives probabilities."""
    return _again(run, FOLDER if folder is None else folder, ["--method", "tempering"])


def longer(run: Run, folder: str | None = None) -> str:
    """Return the command that goes on with a run for as many steps again, or to its end."""
    kept = FOLDER if folder is None else folder
    if run.provisional:  # which has steps left
        return shlex.join(["whence", "resume", kept])
    steps = max(LONGER * run.steps, getattr(run.settings, "warm_up", 0) * LONGER, 1)
    return shlex.join(["whence", "resume", kept, "--steps", str(steps)])


def _world(run: Run) -> str:
    """Return what the user called the world."""
    if run.manifest is None:
        return "WORLD"
    return run.manifest.inputs[0].world.name or "WORLD"


def _of_table(run: Run) -> list[str]:
    """Return the options that say how the table of a run is read."""
    typed = (None if run.manifest is None else run.manifest.command) or []
    found: list[str] = []
    for at, word in enumerate(typed):
        if word in FLAGS or ("=" in word and word.split("=")[0] in VALUED):
            found.append(word)
        elif word in VALUED:
            found += typed[at : at + 2]
    return found


def _again(run: Run, folder: str, options: Sequence[str]) -> str:
    """Return the command of a run with one option changed and another folder."""
    typed = None if run.manifest is None else run.manifest.command
    if not typed or "infer" not in typed[:2]:
        typed = ["whence", "infer", _world(run), "DEMOS", "-o", folder]
    kept = _without(typed, options[0])
    place = next((at for at, word in enumerate(kept) if word in ("-o", "--output")), None)
    fresh = f"{folder.rstrip('/')}-2"
    if place is None:
        kept += ["-o", fresh]
    else:
        kept[place + 1] = fresh
    return shlex.join([*kept, *options])


def _without(words: Sequence[str], option: str) -> list[str]:
    """Return a command without an option and its value."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == option:
            skip = True
        elif not word.startswith(option + "="):
            kept.append(word)
    return kept
